//! A run that was cut anywhere goes on to the same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::*;

const FILES: [&str; 4] = ["results.jsonl", "ledger.jsonl", "threads/requests.jsonl", "threads/parts.jsonl"];

/// Two scenarios, of which one overflows, two strategies, of which one panics: records of every kind.
fn mixed(seeds: u64) -> Plan {
    let narrow = Scenario { window: Some(1), expects_failure: Some("overflow".into()), ..scenario("narrow") };
    plan(seeds, vec![scenario("s"), narrow], &["a@1", "panics@1", "b@1"])
}

fn files(folder: &Path) -> BTreeMap<&'static str, Vec<u8>> {
    FILES.into_iter().chain(["run.json"]).map(|name| (name, fs::read(folder.join(name)).unwrap())).collect()
}

/// Resumes (or begins) and gives what a listener heard.
fn go_on(plan: &Plan, folder: &Path) -> Result<(Vec<String>, usize), Error> {
    let (directory, kept) = RunDirectory::resume(folder, plan)?;
    let cells = kept.cells();
    let mut heard = Heard::default();
    {
        let mut sinks: Vec<Box<dyn Sink + '_>> = vec![Box::new(directory), Box::new(Listener(&mut heard))];
        let tally = super::super::resume(plan, kept, &meter(), 2, &AtomicBool::new(false), &mut sinks)?;
        assert_eq!(tally.done, plan.len());
    }
    assert_eq!(heard.ends, [plan.len()]);
    Ok((heard.cells.iter().map(|record| serde_json::to_string(&record.result).unwrap()).collect(), cells))
}

/// A whole run of a plan in a folder of its own.
fn undisturbed(plan: &Plan) -> (tempfile::TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let (heard, kept) = go_on(plan, folder.path()).unwrap();
    assert_eq!(kept, 0);
    (folder, heard)
}

fn copied(from: &Path) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("run");
    fs::create_dir_all(to.join("threads")).unwrap();
    for (name, bytes) in files(from) {
        fs::write(to.join(name), bytes).unwrap();
    }
    (folder, to)
}

fn cut(folder: &Path, name: &str, bytes: usize) {
    let all = fs::read(folder.join(name)).unwrap();
    fs::write(folder.join(name), &all[..bytes.min(all.len())]).unwrap();
}

#[test]
fn a_killed_run_goes_on_behind_its_last_whole_cell() {
    let plan = mixed(2);
    let (whole, heard) = undisturbed(&plan);
    let expect = files(whole.path());
    let results = &expect["results.jsonl"];
    // Around every end of a line, and somewhere inside.
    let ends = results.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
    let places: Vec<usize> = ends.flat_map(|end| [end - 40, end, end + 1, end + 2]).chain([0, 1]).collect();
    for at in places {
        let (_guard, folder) = copied(whole.path());
        cut(&folder, "results.jsonl", at);
        let lines = results.iter().take(at).filter(|byte| **byte == b'\n').count();
        let (again, kept) = go_on(&plan, &folder).unwrap();
        assert_eq!(kept, lines, "cut at {at}");
        assert!(again == heard && files(&folder) == expect, "cut at {at}");
    }
}

#[test]
fn a_run_that_is_done_is_read_back_and_nothing_is_run() {
    let plan = mixed(2);
    let (whole, heard) = undisturbed(&plan);
    let before = files(whole.path());
    assert_eq!(go_on(&plan, whole.path()).unwrap(), (heard, plan.len()));
    assert_eq!(files(whole.path()), before);
}

#[test]
fn a_kill_while_run_json_is_written_leaves_nothing_to_keep() {
    let plan = mixed(1);
    let (whole, heard) = undisturbed(&plan);
    for left in [0, 10] {
        let (_guard, folder) = copied(whole.path());
        cut(&folder, "run.json", left);
        FILES.iter().for_each(|name| fs::remove_file(folder.join(name)).unwrap());
        assert_eq!(go_on(&plan, &folder).unwrap(), (heard.clone(), 0));
        assert_eq!(files(&folder), files(whole.path()));
    }
}

fn refused(plan: &Plan, folder: &Path, words: &[&str]) {
    let before = files(folder);
    match go_on(plan, folder) {
        Err(Error::Usage(said)) => assert!(words.iter().all(|word| said.contains(word)), "{said}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(files(folder), before, "nothing was touched");
}

#[test]
fn another_run_is_not_gone_on_with() {
    let (whole, _) = undisturbed(&mixed(2));
    refused(&mixed(3), whole.path(), &["settings.seeds is 2 there and 3 now", "another --run-dir"]);
    let other = plan(2, vec![scenario("s"), scenario("narrow")], &["a@1", "b@1"]);
    refused(&other, whole.path(), &["s under panics@1 stands where this run has s under b@1"]);
    fs::write(whole.path().join("run.json"), "{").unwrap();
    refused(&mixed(2), whole.path(), &["run.json is missing or damaged", "put it back"]);
}

#[test]
fn a_cell_of_another_fingerprint_is_named() {
    let (whole, _) = undisturbed(&mixed(1));
    let path = whole.path().join("results.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let print = mixed(1).cell(1).unwrap().fingerprint().to_string();
    fs::write(&path, text.replace(&print, "0123456789abcdef")).unwrap();
    refused(&mixed(1), whole.path(), &["results.jsonl:2 holds s/panics@1/reads/0 with the fingerprint 0123456789abcdef", &print]);
}

#[test]
fn two_runs_do_not_write_into_one_folder() {
    let plan = mixed(1);
    let folder = tempfile::tempdir().unwrap();
    let first = RunDirectory::create(folder.path(), &plan).unwrap();
    for second in [RunDirectory::create(folder.path(), &plan).err(), RunDirectory::resume(folder.path(), &plan).err()] {
        assert!(matches!(second, Some(Error::Usage(said)) if said.contains("another run is writing into")));
    }
    drop(first);
    // The file stays; the lock does not.
    assert!(folder.path().join("lock").exists());
    assert!(RunDirectory::resume(folder.path(), &plan).is_ok());
    assert!(matches!(RunDirectory::create(folder.path(), &plan).err(), Some(Error::Usage(said)) if said.contains("--resume")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Each file cut anywhere on its own, as a failing machine may leave them, with or without a torn tail of zeros.
    #[test]
    fn files_cut_anywhere_go_on_to_the_same_bytes(cuts in prop::array::uniform4(prop::option::of(0.0f64..1.0)), zeros in 0usize..9) {
        let plan = mixed(3);
        let (whole, heard) = undisturbed(&plan);
        let expect = files(whole.path());
        let (_guard, folder) = copied(whole.path());
        for (name, place) in FILES.into_iter().zip(cuts) {
            let Some(place) = place else { continue };
            let all = &expect[name];
            let left = (all.len() as f64 * place) as usize;
            let mut bytes = all[..left].to_vec();
            bytes.extend(std::iter::repeat_n(0u8, zeros));
            fs::write(folder.join(name), bytes).unwrap();
        }
        let (again, kept) = go_on(&plan, &folder).unwrap();
        prop_assert_eq!(again, heard);
        prop_assert_eq!(files(&folder), expect);
        prop_assert!(cuts.iter().any(Option::is_some) || kept == plan.len());
    }
}
