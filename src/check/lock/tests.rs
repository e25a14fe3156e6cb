use super::super::trail::MAX_REQUESTS;
use super::*;
use crate::transcript::Origin;
use proptest::prelude::*;

fn refused(text: &str) -> String {
    Lock::parse(text).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_read_says_why_and_what_to_do() {
    let check = |text: &str, words: &[&str]| {
        let said = refused(text);
        words.iter().for_each(|word| assert!(said.contains(word), "{said}"));
    };
    let head = "ctxbench-lock/1\ntokenizer o200k_base\n\n";
    check("", &["line 1", "empty", "--accept"]);
    check("ctxbench-lock/2\n", &["version 2", "newer"]);
    check("[[budget]]\n", &["begins with `ctxbench-lock/1`"]);
    check("ctxbench-lock/1\n", &["tokenizer NAME"]);
    check(&format!("{head}<<<<<<< ours\n"), &["line 4", "conflict marker", "git checkout --ours"]);
    check(&format!("{head}c/a@1/r/0 m 1 f\n=======\n"), &["line 5", "conflict marker"]);
    check(&format!("{head}c/a@1/r/0 m 1 f\nc/a@1/r/0 m 2 f\n"), &["line 5", "two things are said of c/a@1/r/0", "check --accept"]);
    check(&format!("{head}c%1b/a@1/r/0 m 1 f\n"), &["line 4", "no line of the lock"]);
    check(&format!("{head}tokenizer cl100k_base\n"), &["two tokenizers"]);
    check(&format!("{head}c/a@1/r/0 m one f\n"), &["line 4", "no line of the lock"]);
    check(&format!("{head}c/a@1/r/0 m 1\n"), &["no line of the lock"]);
    check(&format!("{head}c/a@1/r/0 m 3 f own=1 user=1\n"), &["line 4", "the tokens of `m` by origin sum to 2, not to 3", "--accept"]);
    check(&format!("{head}c/a@1/r/0 m 2.0 f own=2\n"), &["line 4", "sum to 2, not to 2.0"]);
    check(&format!("{head}c/a@1/r/0 m 1 f own=-1 user=2\n"), &["of `m`, own is below 0: -1"]);
    let most = i64::MAX;
    check(&format!("{head}c/a@1/r/0 m 1 f own={most} user={most}\n"), &["sum to 18446744073709551614, not to 1"]);
    check(&format!("{head}c/a@1/r/0 quality 1.1 f\n"), &["line 4", "`quality` is a share from 0 to 1: 1.1"]);
    check(&format!("{head}c/a@1/r/0 requests -4 f\n"), &["`requests` is never below 0: -4"]);
    check(&format!("{head}c/a@1/r/0 total.input 1.5 f\n"), &["`total.input` is a count: 1.5 is no whole number"]);
    check(&format!("{head}  01234567 0 / in - out 0 same 0 items -\n"), &["belongs to no cell"]);
    let key = key("c/a@1/r/0");
    check(&format!("{head}c/a@1/r/0 m 1 f\n  {key} 0 / in - out 0\n"), &["no request of the lock"]);
    let request = |output: u32| format!("  {key} 0 / in - out {output} same 0 items -\n");
    check(&format!("{head}c/a@1/r/0 m 1 f\n{}{}", request(1), request(2)), &["line 6", "two things are said"]);
    let many: String = (0..=MAX_REQUESTS).map(|seq| format!("  {key} {seq} / in - out 1 same 0 items -\n")).collect();
    check(&format!("{head}c/a@1/r/0 m 1 f\n{many}"), &["no request of the lock"]);
}

#[test]
fn a_figure_that_a_union_merge_left_twice_counts_once() {
    // Lines of one cell twice, and a request among those of another.
    let line = |cell: &str, seq: u32| format!("  {} {seq} / in own=1 out 2 same 0 items -\n", key(cell));
    let (b, c) = ("b/a@1/r/0", "c/a@1/r/0");
    let figures = "c/a@1/r/0 m 1 f own=1\n\nb/a@1/r/0 m 2 f\nc/a@1/r/0 m 1 f own=1\n";
    let text = format!("ctxbench-lock/1\ntokenizer o200k_base\n\n{figures}{}{}{}{}", line(c, 1), line(b, 0), line(c, 0), line(c, 1));
    let lock = Lock::parse(&text).unwrap();
    let seqs = |cell: &str| lock.cells[cell].trail.exchanges.iter().map(|exchange| exchange.seq).collect::<Vec<_>>();
    assert_eq!((seqs(b), seqs(c)), (vec![0], vec![0, 1]));
    assert_eq!(lock.cells.len(), 2);
    assert_eq!(lock.figure("c/a@1/r/0", "m").unwrap().split, Some(Split::from([("own".to_owned(), 1)])));
    assert!(lock.text().starts_with("ctxbench-lock/1\ntokenizer o200k_base\n\nb/a@1/r/0 m 2 f\n"), "{}", lock.text());
    assert_eq!(Lock::parse(&lock.text()), Ok(lock));
}

#[test]
fn cells_that_two_branches_accepted_are_left_out_and_named() {
    let text = "ctxbench-lock/1\ntokenizer o200k_base\n\nb/a@1/r/0 m 2 f\n\nc/a@1/r/0 m 1 f\nc/a@1/r/0 m 1 g\n";
    let (lock, twice) = Lock::parse_merged(text).unwrap();
    assert_eq!(lock.cells.keys().collect::<Vec<_>>(), ["b/a@1/r/0"]);
    assert_eq!(twice, [Twice { line: 7, cell: "c/a@1/r/0".into() }]);
}

fn any_mark() -> impl Strategy<Value = Mark> {
    ("[ -~äü]{1,12}", 0..Origin::ALL.len(), proptest::option::of(any::<u64>()), "[0-9a-f]{8}")
        .prop_map(|(what, origin, tokens, digest)| Mark { what, origin: Origin::ALL[origin], tokens, digest })
}

fn any_exchange() -> impl Strategy<Value = Exchange> {
    let marks = || proptest::collection::vec(any_mark(), 0..3);
    (0..1_u32, "/[0-9/]{0,4}", 0..9_u64, any::<u64>(), proptest::option::of(marks()), 0..9_usize, marks(), 0..3_usize).prop_map(
        |(seq, thread, user, output, head, same, items, more)| {
            let input = if user > 0 { vec![(Origin::User, user)] } else { vec![] };
            Exchange { seq, thread, input, output, head, same, items, more }
        },
    )
}

fn any_cell() -> impl Strategy<Value = LockedCell> {
    let number = prop_oneof![any::<i64>().prop_map(Number::Whole), (-1e6..1e6_f64).prop_map(|real| Number::real(real).unwrap())];
    let split = proptest::collection::btree_map("[a-z_]{1,6}", 0..i64::MAX / 4, 1..3);
    let summed = split.prop_map(|split| (Number::Whole(split.values().sum()), Some(split)));
    let number = prop_oneof![number.prop_map(|value| (value, None)), summed];
    let figure = (number, "[0-9a-f]{16}").prop_map(|((value, split), fingerprint)| Figure { value, fingerprint, split });
    let figures = proptest::collection::btree_map("[a-z.]{1,8}", figure, 1..4);
    (figures, proptest::collection::vec(any_exchange(), 0..4), 0..3_usize).prop_map(|(figures, mut exchanges, more)| {
        (0..).zip(&mut exchanges).for_each(|(seq, exchange)| exchange.seq = seq);
        LockedCell { figures, trail: Trail { exchanges, more } }
    })
}

proptest! {
    #[test]
    fn any_text_is_answered(text in "(ctxbench-lock/1\ntokenizer x\n)?[ -~\n]{0,80}") {
        let _ = Lock::parse(&text);
    }

    #[test]
    fn what_is_written_reads_back(cells in proptest::collection::btree_map("[!-~ äß]{1,20}", any_cell(), 0..4)) {
        let lock = Lock { tokenizer: "o200k_base".into(), cells };
        prop_assert_eq!(Lock::parse(&lock.text()), Ok(lock));
    }
}
