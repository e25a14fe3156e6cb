//! What a command reads, and the folder of its run: no report is written over them.
//!
//! Every reading of a file tells it here, whoever reads, so that a new command cannot forget it. What was told holds for the
//! command that runs on this thread, until it ends.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::Error;

use super::output::OutFile;

#[derive(Default)]
struct Guarded {
    /// Where reports go.
    outs: Vec<PathBuf>,
    /// Files, by their real paths.
    files: BTreeSet<PathBuf>,
    /// Folders of runs, by their real paths.
    runs: BTreeSet<PathBuf>,
}

thread_local! {
    static GUARDED: RefCell<Guarded> = RefCell::default();
}

/// One command's time.
pub struct Watch(());

impl Watch {
    /// A command begins that writes these files.
    ///
    /// # Errors
    /// Two of them are one file.
    pub fn begin(outs: &[OutFile]) -> Result<Watch, Error> {
        let mut places = BTreeSet::new();
        if let Some(twice) = outs.iter().find(|out| !places.insert(place(&out.path))) {
            return Err(Error::Usage(format!("--out names {} twice: give each format a file of its own", twice.path.display())));
        }
        let outs = outs.iter().map(|out| out.path.clone()).collect();
        GUARDED.with_borrow_mut(|guarded| *guarded = Guarded { outs, ..Guarded::default() });
        Ok(Watch(()))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        GUARDED.with_borrow_mut(|guarded| *guarded = Guarded::default());
    }
}

/// The command reads or keeps this file, which need not be there yet.
///
/// # Errors
/// A report would be written over it.
pub fn file(path: &Path) -> Result<(), Error> {
    GUARDED.with_borrow_mut(|guarded| guarded.files.insert(place(path)));
    reports()
}

/// The command reads or writes the folder of a run.
///
/// # Errors
/// A report would be written into it.
pub fn run_folder(folder: &Path) -> Result<(), Error> {
    GUARDED.with_borrow_mut(|guarded| guarded.runs.insert(place(folder)));
    reports()
}

/// The command has read all files that lie in a folder but these.
///
/// # Errors
/// A report would be written over one of the others.
pub fn all_below<'a>(folder: &Path, but: impl Iterator<Item = &'a str>) -> Result<(), Error> {
    let but: BTreeSet<PathBuf> = but.map(|path| place(Path::new(path))).collect();
    let folder = place(folder);
    GUARDED.with_borrow_mut(|guarded| {
        let outs: Vec<PathBuf> = guarded.outs.iter().map(|out| place(out)).collect();
        let read = outs.into_iter().filter(|out| out.starts_with(&folder) && out.is_file() && !but.contains(out));
        guarded.files.extend(read);
    });
    reports()
}

/// Whether every report has a file of its own, as far as is known by now.
///
/// # Errors
/// A report would be written over what the command reads, or into the folder of a run.
pub fn reports() -> Result<(), Error> {
    GUARDED.with_borrow(|guarded| guarded.outs.iter().try_for_each(|out| guarded.allows(out)))
}

impl Guarded {
    fn allows(&self, out: &Path) -> Result<(), Error> {
        let at = place(out);
        if self.files.contains(&at) {
            return Err(Error::Usage(format!(
                "--out would write over {}, which this command reads: give the report a file of its own",
                out.display()
            )));
        }
        match self.runs.iter().find(|run| at.starts_with(run)) {
            Some(run) => Err(Error::Usage(format!(
                "--out would write over what a run keeps: {} lies in {}, a run's folder. Give the report a place outside of it",
                out.display(),
                run.display()
            ))),
            None => Ok(()),
        }
    }
}

/// Links that lead to links are followed so often.
const LINKS: usize = 40;

/// Where a path leads, whatever its spelling and through whatever links. Of what is not there yet, the folder is looked at.
fn place(path: &Path) -> PathBuf {
    let mut path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for _ in 0..LINKS {
        if let Ok(real) = std::fs::canonicalize(&path) {
            return real;
        }
        // A link that leads to nothing yet is written through.
        let Ok(target) = std::fs::read_link(&path) else { break };
        path = path.parent().map_or_else(|| target.clone(), |folder| folder.join(&target));
    }
    let mut behind = PathBuf::new();
    let mut folder = path.as_path();
    while let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) {
        behind = if behind.as_os_str().is_empty() { name.into() } else { Path::new(name).join(&behind) };
        folder = parent;
        if let Ok(real) = std::fs::canonicalize(folder) {
            return real.join(behind);
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Format;

    fn out(path: PathBuf) -> OutFile {
        OutFile { format: Format::Json, path }
    }

    #[test]
    fn a_path_is_known_by_where_it_leads() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("inner/deep")).unwrap();
        std::fs::write(root.join("there"), "").unwrap();
        let check = |path: &str, expect: &str| assert_eq!(place(&root.join(path)), root.join(expect), "{path}");
        check("there", "there");
        check("./there", "there");
        check("inner/../there", "there");
        check("not-yet", "not-yet");
        check("inner/../not-yet", "not-yet");
        check("inner/deep/../../not/yet", "not/yet");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root.join("inner"), root.join("linked")).unwrap();
            std::os::unix::fs::symlink("there", root.join("one")).unwrap();
            std::os::unix::fs::symlink("inner/later", root.join("dangling")).unwrap();
            std::os::unix::fs::symlink("round", root.join("round")).unwrap();
            check("linked/not-yet", "inner/not-yet");
            check("linked/deep/../not-yet", "inner/not-yet");
            check("one", "there");
            check("dangling", "inner/later");
            check("round", "round");
        }
    }

    #[test]
    fn what_is_read_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("kept")).unwrap();
        for name in ["read", "skipped", "other"] {
            std::fs::write(at(name), "").unwrap();
        }
        let check = |name: &str, told: &dyn Fn() -> Result<(), Error>, refused: bool| {
            let _watch = Watch::begin(&[out(at(name))]).unwrap();
            let done = told();
            assert_eq!(done.is_err(), refused, "{name}: {done:?}");
            assert_eq!(reports().is_err(), refused, "{name}: it is known from then on");
        };
        check("read", &|| file(&at("read")), true);
        check("kept/../read", &|| file(&at("read")), true);
        check("other", &|| file(&at("read")), false);
        check("later", &|| file(&at("kept/../later")), true);
        check("kept/report", &|| run_folder(&at("kept")), true);
        check("kept/sub/report", &|| run_folder(&at("kept/")), true);
        check("kept-report", &|| run_folder(&at("kept")), false);
        let skipped = at("skipped").display().to_string();
        check("read", &|| all_below(folder.path(), std::iter::once(skipped.as_str())), true);
        check("skipped", &|| all_below(folder.path(), std::iter::once(skipped.as_str())), false);
        check("later", &|| all_below(folder.path(), std::iter::once(skipped.as_str())), false);
        // The next command has read nothing yet.
        assert!(reports().is_ok());
    }

    #[test]
    fn two_reports_do_not_share_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let check = |one: &str, other: &str, refused: bool| {
            let outs = [one, other].map(|name| out(folder.path().join(name)));
            assert_eq!(Watch::begin(&outs).is_err(), refused, "{one} {other}");
        };
        check("a", "a", true);
        check("a", "./a", true);
        check("a", "b", false);
    }
}
