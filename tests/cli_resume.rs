//! `run --resume` with the real binary: killed runs go on to the bytes of an undisturbed one.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

#[path = "worlds/folder.rs"]
mod folder;

use folder::files;

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("ctxbench"));
    command.args(args).current_dir(folder);
    command
}

fn ctxbench(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().expect("the binary runs")
}

fn check(folder: &Path, args: &[&str], code: i32, words: &[&str]) -> String {
    let output = ctxbench(folder, args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    for word in words {
        assert!(said.contains(word), "{args:?} does not say `{word}`: {said}");
    }
    String::from_utf8(output.stdout).expect("results are UTF-8")
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

/// Waits until a file has grown to `bytes` or the process has ended, and so many microseconds more, then kills the process.
/// Whether it was killed.
fn kill_at(mut child: Child, file: &Path, bytes: u64, more: u64) -> bool {
    while size(file) < bytes && child.try_wait().unwrap().is_none() {
        // A breath for the process that is watched; what counts is the size.
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    std::thread::sleep(std::time::Duration::from_micros(more));
    child.kill().unwrap();
    !child.wait().unwrap().success()
}

/// A number that every run of the tests draws anew, unless `CTXBENCH_KILLS` gives the one of a run that failed.
fn drawn() -> u64 {
    let clock = || std::time::UNIX_EPOCH.elapsed().map_or(1, |since| since.as_nanos() as u64);
    std::env::var("CTXBENCH_KILLS").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(clock)
}

/// Numbers of a seed, evenly spread (SplitMix64).
fn numbers(mut seed: u64) -> impl FnMut() -> u64 {
    move || {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// A run of so many cells, killed so often at random moments, against one that nobody disturbed.
fn killed_and_resumed(seeds: u64, kills: usize) {
    let seed = drawn();
    let mut number = numbers(seed);
    let seeds = seeds.to_string();
    let args = [&["run", "tiny-task", "-s", "inline", "-s", "opencode", "--seeds", &seeds][..], &["--format", "json"]].concat();
    let args = [&args[..], &["--out", "csv=r.csv", "--run-dir", "kept", "--resume"]].concat();
    let (whole, cut) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let expect = check(whole.path(), &args, 0, &[]);
    let total = size(&whole.path().join("kept/results.jsonl"));
    let results = cut.path().join("kept/results.jsonl");
    // The first kill comes with the first bytes, the others anywhere before the end: a size of the results, and some
    // microseconds more, so that any of the files may be the one that is being written.
    let mut moments: Vec<u64> = (1..kills).map(|_| number() % total).chain([1]).collect();
    moments.sort_unstable();
    let mut killed = 0;
    for at in moments {
        let child = command(cut.path(), &args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        killed += usize::from(kill_at(child, &results, at, number() % 3_000));
        assert!(size(&results) >= at.min(total), "CTXBENCH_KILLS={seed}: nothing that was committed is lost");
    }
    assert!(killed * 2 >= kills, "CTXBENCH_KILLS={seed}: only {killed} processes lived long enough to be killed");
    let printed = check(cut.path(), &args, 0, &[]);
    assert!(printed == expect, "CTXBENCH_KILLS={seed}: the printed results hold all cells");
    let (whole, cut) = (files(whole.path()), files(cut.path()));
    assert_eq!(whole.keys().collect::<Vec<_>>(), cut.keys().collect::<Vec<_>>(), "CTXBENCH_KILLS={seed}");
    whole.iter().for_each(|(name, bytes)| assert!(cut[name] == *bytes, "CTXBENCH_KILLS={seed}: {name} differs"));
}

#[test]
fn a_run_that_is_killed_again_and_again_ends_in_the_same_bytes() {
    killed_and_resumed(100, 4);
}

#[test]
fn ten_kills_at_random_moments_of_a_run_of_two_thousand_cells() {
    killed_and_resumed(1000, 10);
}

const RUN: [&str; 8] = ["run", "tiny-task", "-s", "inline", "--run-dir", "kept", "--format", "json"];

#[test]
fn with_nothing_there_it_begins_and_a_done_run_is_printed_again() {
    let folder = tempfile::tempdir().unwrap();
    let resume = [&RUN[..], &["--resume", "--log", "info"]].concat();
    let first = check(folder.path(), &resume, 0, &["0 of 1 cells are kept in kept"]);
    let before = files(folder.path());
    assert_eq!(check(folder.path(), &resume, 0, &["1 of 1 cells are kept in kept"]), first);
    assert_eq!(files(folder.path()), before);
    check(folder.path(), &RUN, 2, &["kept holds a run already", "--resume"]);
}

#[test]
fn what_no_run_wrote_is_not_overwritten() {
    for (name, more) in [("ledger.jsonl", &[][..]), ("threads/parts.jsonl", &[]), ("run.json", &["--resume"])] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kept").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "my own notes").unwrap();
        check(folder.path(), &[&RUN[..], more].concat(), 2, &[name, "another --run-dir"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), "my own notes");
    }
    // Killed while it wrote its first file: it begins anew.
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("kept")).unwrap();
    fs::write(folder.path().join("kept/run.json"), "{\n  \"form").unwrap();
    check(folder.path(), &[&RUN[..], &["--resume"]].concat(), 0, &[]);
}

#[test]
fn two_outputs_do_not_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    check(folder.path(), &["run", "tiny-task", "--out", "json=o", "--out", "csv=o"], 2, &["--out names o twice"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn another_configuration_is_refused_by_its_first_difference() {
    let folder = tempfile::tempdir().unwrap();
    check(folder.path(), &RUN, 0, &[]);
    let before = files(folder.path());
    for (more, words) in [
        (&["--seeds", "2"][..], "settings.seeds is 1 there and 2 now"),
        (&["--size", "medium"], "settings.size is small there and medium now"),
        (&["--tokenizer", "cl100k_base"], "tokenizer is o200k_base there and cl100k_base now"),
        (&["--as", "none"], "settings.as is gpt-6-sol there and null now"),
        (&["-s", "opencode"], "tiny-task under opencode@1.18.33 is in this run only"),
        (&["auth-lookup"], "auth-lookup under inline@1 is in this run only"),
    ] {
        check(folder.path(), &[&RUN[..], &["--resume"], more].concat(), 2, &["kept holds another run", words, "another --run-dir"]);
    }
    assert_eq!(files(folder.path()), before);
    // What does not change any figure may differ.
    check(folder.path(), &[&RUN[..], &["--resume", "--jobs", "2", "--out", "csv=r.csv"]].concat(), 0, &[]);
}

#[test]
fn lost_ledger_lines_cost_their_cells_and_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let args = [&RUN[..], &["--seeds", "5", "--resume"]].concat();
    let printed = check(folder.path(), &args, 0, &[]);
    let before = files(folder.path());
    let ledger = folder.path().join("kept/ledger.jsonl");
    let text = fs::read_to_string(&ledger).unwrap();
    // Two exchanges a cell: what is left ends inside the third one.
    let left: usize = text.split_inclusive('\n').take(5).map(str::len).sum();
    fs::write(&ledger, &text[..left]).unwrap();
    assert_eq!(check(folder.path(), &args, 0, &["3 cells of kept were not whole in all of its files: they are run again"]), printed);
    assert_eq!(files(folder.path()), before);
}

#[test]
fn a_second_run_in_the_same_folder_is_refused_while_the_first_lives() {
    let folder = tempfile::tempdir().unwrap();
    let long = [&RUN[..], &["--seeds", "1000000"]].concat();
    let mut first = command(folder.path(), &long).stdout(Stdio::null()).spawn().unwrap();
    let results = folder.path().join("kept/results.jsonl");
    while size(&results) == 0 && first.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    check(folder.path(), &[&long[..], &["--resume"]].concat(), 2, &["another run is writing into kept"]);
    check(folder.path(), &RUN, 2, &["another run is writing into kept"]);
    first.kill().unwrap();
    first.wait().unwrap();
    // The lock went with its process: now the configuration is what is looked at.
    check(folder.path(), &[&RUN[..], &["--resume"]].concat(), 2, &["settings.seeds is 1000000 there and 1 now"]);
}

#[test]
fn a_cell_of_a_killed_run_can_be_shown() {
    let folder = tempfile::tempdir().unwrap();
    check(folder.path(), &RUN, 0, &[]);
    for name in ["results.jsonl", "ledger.jsonl", "threads/requests.jsonl", "threads/parts.jsonl"] {
        let path = folder.path().join("kept").join(name);
        let mut text = fs::read(&path).unwrap();
        // Torn in the middle of a character.
        text.extend(b"{\"cell\":\"tiny-ta\xe2\x80");
        fs::write(&path, text).unwrap();
    }
    let show = ["show", "tiny-task/inline@1/reader/0"];
    let kept = check(folder.path(), &[&show[..], &["--run-dir", "kept"]].concat(), 0, &[]);
    assert_eq!(kept, check(folder.path(), &show, 0, &[]));
}

#[test]
fn fail_fast_stops_behind_the_first_failure_and_can_be_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/tiny-task.yaml");
    let text = fs::read_to_string(suite).unwrap().replace("id: tiny-task\n", "id: narrow\n");
    fs::write(folder.path().join("narrow.yaml"), format!("{text}\nwindow: 50\n")).unwrap();
    let args = ["run", "tiny-task", "narrow.yaml", "auth-lookup", "-s", "inline", "--run-dir", "kept", "--format", "json"];
    let cells = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["cells"].as_array().unwrap().len();
    let fast = check(folder.path(), &[&args[..], &["--fail-fast"]].concat(), 13, &["1 of 2 cells failed", "1 were not run"]);
    assert_eq!(cells(&fast), 2);
    let rest = check(folder.path(), &[&args[..], &["--resume"]].concat(), 13, &["1 of 3 cells failed"]);
    assert_eq!(cells(&rest), 3);
}
