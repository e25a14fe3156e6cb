//! Paths as a prompt names them: resolved against the worktree, and looked up among the world's files.

use std::collections::{BTreeMap, BTreeSet};

/// The place that a prompt's paths are resolved in.
pub(super) struct Place<'a> {
    /// The worktree, absolute.
    pub(super) worktree: &'a str,
    /// The user's home, absolute.
    pub(super) home: &'a str,
    /// The files, by paths that are absolute or relative to the worktree. A path with a slash at its end is a folder.
    pub(super) files: &'a BTreeMap<String, String>,
}

/// What stands at a path.
pub(super) enum Entry<'a> {
    File(&'a str),
    /// The names in it, folders with a slash at their end.
    Folder(BTreeSet<String>),
}

impl<'a> Place<'a> {
    /// A name as an absolute path without a slash at its end: `~/` is the home, anything else is resolved against the
    /// worktree.
    pub(super) fn absolute(&self, name: &str) -> String {
        match (name.strip_prefix("~/"), name.starts_with('/')) {
            (Some(rest), _) => plain(&format!("{}/{rest}", self.home)),
            (None, true) => plain(name),
            (None, false) => plain(&format!("{}/{name}", self.worktree)),
        }
    }

    /// The text of a file.
    pub(super) fn file(&self, path: &str) -> Option<&'a str> {
        let inside = path.strip_prefix(self.worktree).and_then(|rest| rest.strip_prefix('/'));
        let plain = inside.and_then(|inside| self.files.get(inside)).or_else(|| self.files.get(path));
        let written_otherwise = || self.files.iter().find(|(key, _)| self.key(key) == path).map(|(_, text)| text);
        plain.or_else(written_otherwise).map(String::as_str)
    }

    /// What stands at an absolute path. The worktree itself is always there.
    pub(super) fn entry(&self, path: &str) -> Option<Entry<'a>> {
        if let Some(text) = self.file(path) {
            return Some(Entry::File(text));
        }
        let folder = if path == "/" { "/".to_owned() } else { format!("{path}/") };
        let mut names = BTreeSet::new();
        let mut is_there = false;
        let worktree = format!("{}/", self.worktree);
        for key in self.files.keys().map(|key| self.key(key)).chain([worktree]) {
            let Some(rest) = key.strip_prefix(&folder) else { continue };
            is_there = true;
            match rest.split_once('/') {
                Some((name, _)) => names.insert(format!("{name}/")),
                None if rest.is_empty() => false,
                None => names.insert(rest.to_owned()),
            };
        }
        is_there.then_some(Entry::Folder(names))
    }

    /// A key of the files as an absolute path; a folder keeps its slash.
    fn key(&self, key: &str) -> String {
        let slash = if key.ends_with('/') { "/" } else { "" };
        format!("{}{slash}", self.absolute(key))
    }
}

/// An absolute path without `.`, `..`, empty parts and a slash at its end.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// The folder that an absolute path stands in.
pub(super) fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((folder, _)) => folder,
    }
}

/// The way from a folder to a path, both absolute.
pub(super) fn relative(folder: &str, path: &str) -> String {
    let (from, to): (Vec<&str>, Vec<&str>) = (folder.split('/').collect(), path.split('/').collect());
    let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = from.iter().skip(shared).map(|_| "..");
    up.chain(to.into_iter().skip(shared)).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expect: &str) {
        let files = BTreeMap::new();
        let place = Place { worktree: "/w/tree", home: "/h", files: &files };
        assert_eq!(place.absolute(name), expect, "{name}");
    }

    #[test]
    fn names_are_resolved() {
        check("a.txt", "/w/tree/a.txt");
        check("./a//b/../c/", "/w/tree/a/c");
        check("../x", "/w/x");
        check("../../../x", "/x");
        check("/etc/hosts", "/etc/hosts");
        check("~/notes", "/h/notes");
        check("~x", "/w/tree/~x");
        check(".", "/w/tree");
        check("/", "/");
    }

    #[test]
    fn what_stands_at_a_path() {
        let files = ["a.txt", "src/b.rs", "src/deep/c.rs", "/out/t1", "empty/"].map(|path| (path.to_owned(), path.to_owned()));
        let files = BTreeMap::from(files);
        let place = Place { worktree: "/w", home: "/h", files: &files };
        let shown = |path: &str| match place.entry(path) {
            None => "nothing".to_owned(),
            Some(Entry::File(text)) => format!("file {text}"),
            Some(Entry::Folder(names)) => format!("folder {}", names.into_iter().collect::<Vec<_>>().join(" ")),
        };
        assert_eq!(shown("/w/a.txt"), "file a.txt");
        assert_eq!(shown("/w/src"), "folder b.rs deep/");
        assert_eq!(shown("/w/src/deep/c.rs"), "file src/deep/c.rs");
        assert_eq!(shown("/w/empty"), "folder ");
        assert_eq!(shown("/w"), "folder a.txt empty/ src/");
        assert_eq!(shown("/"), "folder out/ w/");
        assert_eq!(shown("/out/t1"), "file /out/t1");
        assert_eq!(shown("/w/src/b"), "nothing");
        assert_eq!(shown("/w/a.txt/b"), "nothing");
    }

    #[test]
    fn the_way_between() {
        assert_eq!(relative("/home/user/project", "/home/user/.local/x"), "../.local/x");
        assert_eq!(relative("/w", "/w/a/b"), "a/b");
        assert_eq!((parent("/a/b"), parent("/a"), parent("/")), ("/a", "/", "/"));
    }
}
