//! Locks and git: branches that accept different cells, and a lock of another revision.

use std::process::Command;

use super::project::{BUDGETS, Project, scenario};

fn git(project: &Project, args: &[&str]) -> (bool, String) {
    let mut command = Command::new("git");
    command.current_dir(project.folder.path()).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let names = ["-c", "user.name=tester", "-c", "user.email=tester@example.com", "-c", "init.defaultBranch=main"];
    let output = command.args(names).args(args).output().expect("git is there");
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
}

fn done(project: &Project, args: &[&str]) {
    let (fine, said) = git(project, args);
    assert!(fine, "git {args:?}: {said}");
}

fn commit(project: &Project, message: &str) {
    done(project, &["add", "--all"]);
    done(project, &["commit", "--quiet", "--message", message]);
}

/// Two cells that stand beside each other in the lock, committed.
fn repository(strategies: &str) -> Project {
    let project = Project::new();
    project.write("budgets.toml", &BUDGETS.replace("\"opencode\"", strategies));
    project.check(&["--accept"]).expect(0, &[]);
    done(&project, &["init", "--quiet"]);
    commit(&project, "begin");
    project
}

#[test]
fn branches_that_accept_different_cells_merge() {
    let project = repository("[\"full-copy\", \"learn-claude-code\"]");
    // One change moves both cells; each branch accepts one of them.
    project.edit("scenarios/lookup.yaml", "about: Reads a file", "about: Simply reads a file");
    commit(&project, "a word more");
    done(&project, &["checkout", "--quiet", "-b", "one"]);
    project.check(&["--accept", "--only", "*/full-copy@1/*"]).expect(0, &["2 figures", "full-copy"][1..].as_ref());
    commit(&project, "accept one");
    done(&project, &["checkout", "--quiet", "-b", "two", "main"]);
    project.check(&["--accept", "--only", "*/learn-claude-code@*"]).expect(0, &[]);
    commit(&project, "accept the other");
    let (merged, said) = git(&project, &["merge", "--quiet", "--no-edit", "one"]);
    assert!(merged, "{said}");
    project.check_in_ci(&[]).expect(0, &[]);
    // As if both had been accepted at once.
    let lock = project.read("budgets.lock");
    project.check(&["--accept"]).expect(0, &["no figure"]);
    assert_eq!(project.read("budgets.lock"), lock);
}

#[test]
fn branches_that_add_cells_in_one_place_merge_with_the_union_driver() {
    let project = repository("\"opencode\"");
    project.write(".gitattributes", "budgets.lock merge=union\n");
    project.edit("budgets.toml", "scenario = \"lookup\"", "scenario = \"lookup*\"");
    commit(&project, "every lookup");
    for (branch, id) in [("one", "lookup-a"), ("two", "lookup-b")] {
        done(&project, &["checkout", "--quiet", "-b", branch, "main"]);
        project.write(&format!("scenarios/{id}.yaml"), &scenario(id));
        project.check(&["--accept"]).expect(0, &[id]);
        commit(&project, id);
    }
    let (merged, said) = git(&project, &["merge", "--quiet", "--no-edit", "one"]);
    assert!(merged, "{said}");
    project.check_in_ci(&[]).expect(0, &["3 cells"]);
    // No request was taken for one of the other cell, alike as they are.
    let lock = project.read("budgets.lock");
    for id in ["lookup", "lookup-a", "lookup-b"] {
        let cell = format!("{id}/opencode@1.18.33/reader/0");
        let explained = project.run(&["explain", &cell]);
        assert!(explained.out.contains("the requests are those that were accepted"), "{}\n{lock}", explained.out);
    }
    project.check(&["--accept"]).expect(0, &["no figure"]);
}

#[test]
fn two_branches_that_accept_one_cell_differently_are_told_apart() {
    let project = repository("\"opencode\"");
    project.write(".gitattributes", "budgets.lock merge=union\n");
    commit(&project, "union");
    for (branch, words) in [("one", "Simply reads a file"), ("two", "Simply and quietly reads a file")] {
        done(&project, &["checkout", "--quiet", "-b", branch, "main"]);
        project.edit("scenarios/lookup.yaml", "about: Reads a file", &format!("about: {words}"));
        project.check(&["--accept"]).expect(0, &[]);
        done(&project, &["add", "budgets.lock"]);
        done(&project, &["commit", "--quiet", "--message", branch]);
        done(&project, &["checkout", "--quiet", "scenarios"]);
    }
    git(&project, &["merge", "--quiet", "--no-edit", "one"]);
    let merged = project.read("budgets.lock");
    project.check(&[]).expect(3, &["budgets.lock, line", "two things are said of lookup/opencode@1.18.33/reader/0", "check --accept"]);
    project.check(&["--accept", "--metric", "quality"]).expect(3, &["two things are said"]);
    assert_eq!(project.read("budgets.lock"), merged);
    project.check(&["--accept"]).expect(0, &["2 figures"]);
    project.check_in_ci(&[]).expect(0, &[]);
}

#[test]
fn a_lock_of_another_revision_can_be_checked_against() {
    let project = repository("\"opencode\"");
    project.edit("scenarios/lookup.yaml", "about: Reads a file", "about: Simply reads a file");
    project.check(&["--accept"]).expect(0, &[]);
    commit(&project, "a word more");
    project.check(&[]).expect(0, &[]);
    project.check(&["--against", "HEAD"]).expect(0, &["HEAD:budgets.lock"]);
    let before = std::fs::read_dir(project.folder.path()).unwrap().count();
    project.check(&["--against", "HEAD~1"]).expect(10, &["HEAD~1:budgets.lock", "GREW", "tool read_file"]);
    assert_eq!(std::fs::read_dir(project.folder.path()).unwrap().count(), before, "another revision's lock proposes nothing");
    project.check(&["--against", "nowhere"]).expect(3, &["git has no budgets.lock in nowhere"]);
    project.check(&["--against", "--help"]).expect_usage("--against");
    project.check(&["--against", "HEAD", "--accept"]).expect_usage("cannot be used with");
}
