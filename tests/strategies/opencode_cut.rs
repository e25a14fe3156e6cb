//! OpenCode's cut of long results.

use ctxbench::strategy::{End, Order};

use crate::hand::reply;
use crate::opencode::{body, delegated};

/// A child's report, what the parent reads, and whether the whole was saved.
fn returned(report: &str) -> (String, Option<(String, String)>) {
    let (_, orders) = delegated(&[report], &End::Done);
    let saved = orders.iter().find_map(|order| match order {
        Order::Write { path, text } => Some((path.clone(), text.clone())),
        _ => None,
    });
    if saved.is_some() {
        assert!(matches!(orders[0], Order::Write { .. }), "saved before it is told");
    }
    (reply(&orders).0, saved)
}

fn check_cut(report: &str, kept_lines: usize, notice: &str) {
    let (text, saved) = returned(report);
    let (path, whole) = saved.expect("it is too large");
    assert_eq!(body(&whole), report);
    let (kept, rest) = text.split_once("\n\n...").expect("it says so");
    assert_eq!(kept.split('\n').count(), kept_lines);
    assert!(whole.starts_with(&format!("{kept}\n")));
    let expect = format!(
        "{notice} truncated...\n\nThe tool call succeeded but the output was truncated. Full output saved to: {path}\nUse the Task tool to have \
         explore agent process this file with Grep and Read (with offset/limit). "
    );
    assert!(rest.starts_with(&expect), "{rest}");
}

#[test]
fn a_long_report_is_cut_with_its_wrapper() {
    let lines = |count: usize| vec!["x"; count].join("\n");
    // 1,996 lines and 4 of the wrapper.
    let (text, saved) = returned(&lines(1996));
    assert_eq!((saved.is_none(), text.split('\n').count()), (true, 2000));
    check_cut(&lines(1997), 2000, "1 lines");
    check_cut(&lines(5000), 2000, "3004 lines");
    // In bytes: the two lines before the text with their breaks' one between, and the two after it with a break each.
    let (head, tail) = (60 + 1 + 13, 1 + 14 + 1 + 7);
    let room = 51_200 - head - 1 - tail;
    let (text, saved) = returned(&"y".repeat(room));
    assert_eq!((saved.is_none(), text.len()), (true, 51_200));
    // One byte more: the last line, `</task>`, goes.
    check_cut(&"y".repeat(room + 1), 4, "8 bytes");
    // The closing tag of the result fits to the byte.
    check_cut(&"y".repeat(room + 8), 4, "8 bytes");
    check_cut(&"y".repeat(room + 9), 3, "23 bytes");
    // Bytes of UTF-8, not characters; a line that does not fit goes whole.
    check_cut(&"é".repeat(30_000), 2, &format!("{} bytes", 1 + 60_000 + tail));
    // Lines and bytes both over: the limit that stops the adding is named.
    check_cut(&vec!["z".repeat(99); 3000].join("\n"), 2 + 511, &format!("{} bytes", 100 * (3000 - 511) + tail));
    check_cut(&lines(60_000), 2000, "58004 lines");
}

#[test]
fn a_failure_is_never_cut() {
    let (_, orders) = delegated(&[], &End::Failed("e".repeat(60_000)));
    assert!(reply(&orders).0.len() > 60_000);
    assert_eq!(orders.len(), 1);
}
