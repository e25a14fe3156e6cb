//! The budgets of this project hold: also the test of `assert_budgets!`.

use std::fs;

use ctxbench::cli::budgets_hold;
use ctxbench::strategy::Registry;

#[test]
fn our_budgets_hold() {
    ctxbench::assert_budgets!();
}

#[test]
fn budgets_that_do_not_hold_fail_with_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let budgets = "version = 1\n[[budget]]\nscenario = \"tiny-task\"\nstrategy = \"opencode\"\n\"parent.input_total\" = { max = 10 }\n";
    write("budgets.toml", budgets);
    write("budgets.lock", "ctxbench-lock/1\ntokenizer o200k_base\n");
    let before = fs::read_dir(folder.path()).unwrap().count();
    let report = budgets_hold(folder.path(), &[], &Registry::builtin()).unwrap_err();
    assert!(report.contains("OVER NEW parent.input_total") && report.contains("exit 11"), "{report}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before, "nothing is written");
    write("budgets.toml", "version = 2\n");
    let report = budgets_hold(folder.path(), &[], &Registry::builtin()).unwrap_err();
    assert!(report.contains("version = 1"), "{report}");
}
