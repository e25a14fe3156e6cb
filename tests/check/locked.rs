//! Locked mode writes nothing, anywhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::project::Project;

/// Every file and folder with its content and the time of its last change.
fn tree(root: &Path) -> BTreeMap<PathBuf, (Option<Vec<u8>>, SystemTime)> {
    let mut seen = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let changed = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).expect("readable");
        seen.insert(folder.clone(), (None, changed(&folder)));
        for entry in fs::read_dir(&folder).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                seen.insert(path.clone(), (Some(fs::read(&path).expect("readable")), changed(&path)));
            }
        }
    }
    seen
}

#[test]
fn locked_mode_writes_nothing_anywhere() {
    // Home and the folder for temporary files lie in the tree that is watched.
    let check = |project: &Project, args: &[&str], ci: bool, code: i32| {
        fs::create_dir_all(project.path("home")).unwrap();
        fs::create_dir_all(project.path("temporary")).unwrap();
        let before = tree(project.folder.path());
        let mut command = project.command();
        command.env("HOME", project.path("home")).env("TMPDIR", project.path("temporary")).env("XDG_CACHE_HOME", project.path("home"));
        if ci {
            command.env("CI", "true");
        }
        let output = command.arg("check").args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(tree(project.folder.path()), before, "{args:?}");
    };
    let grown = Project::accepted();
    grown.edit("scenarios/lookup.yaml", "about: Reads a file", "about: Simply reads a file");
    for (args, ci) in [(&[][..], true), (&["--locked"], false), (&["--format", "json"], true), (&["--accept"], true)] {
        let code = if args == ["--accept"] { 2 } else { 11 };
        check(&grown, args, ci, code);
        check(&Project::new(), args, ci, code);
        check(&Project::accepted(), args, ci, if code == 2 { 2 } else { 0 });
    }
    // A proposal that an earlier check at home left stays as it is.
    let proposed = Project::new();
    proposed.check(&[]);
    check(&proposed, &[], true, 11);
    assert!(proposed.path("budgets.lock.new").exists());
    // The same at home does write: the watching sees it.
    let home = Project::new();
    let before = tree(home.folder.path());
    home.check(&[]);
    assert_ne!(tree(home.folder.path()), before);
}
