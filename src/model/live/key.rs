//! A provider's key: from the environment or from a file that nobody else may read, and shown to nobody.

use std::fmt;
use std::path::{Path, PathBuf};

/// A key. It is not printed, whatever prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The variable is not set.
    #[error("the provider wants a key: set {0}, or name a file with --key-file")]
    Unset(String),
    /// The file cannot be read.
    #[error("the key file {} cannot be read: {source}", path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Others may read the file.
    #[error("others may read the key file {} (mode {mode:o}): chmod 600 it", path.display())]
    Open {
        /// The path.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// There is no key in it.
    #[error("{0} holds no key, or one that no header can carry: it should be one line of visible characters")]
    Unfit(String),
}

impl Key {
    /// The key that an environment variable holds; `None`: it is not set, or empty.
    ///
    /// # Errors
    /// It holds what no header can carry.
    pub fn of_variable(name: &str) -> Result<Option<Key>, KeyError> {
        match std::env::var(name) {
            Ok(text) if !text.trim().is_empty() => Key::new(&text, name).map(Some),
            Err(std::env::VarError::NotUnicode(_)) => Err(KeyError::Unfit(name.to_owned())),
            _ => Ok(None),
        }
    }

    /// The key that stands in a file.
    ///
    /// # Errors
    /// It cannot be read, others may read it too, or there is no key in it.
    pub fn of_file(path: &Path) -> Result<Key, KeyError> {
        let source = |source| KeyError::File { path: path.to_owned(), source };
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(path).map_err(source)?.permissions().mode() & 0o777;
            if mode & 0o077 != 0 {
                return Err(KeyError::Open { path: path.to_owned(), mode });
            }
        }
        Key::new(&std::fs::read_to_string(path).map_err(source)?, &path.display().to_string())
    }

    fn new(text: &str, from: &str) -> Result<Key, KeyError> {
        let text = text.trim();
        let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Key(text.to_owned())) } else { Err(KeyError::Unfit(from.to_owned())) }
    }

    /// What is sent, and what must stand nowhere else.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_printed() {
        let key = Key::new(" sk-secret \n", "x").unwrap();
        assert_eq!(key.secret(), "sk-secret");
        assert_eq!(format!("{key:?}"), "Key(…)");
    }

    #[test]
    fn what_is_no_key_is_said_without_it() {
        for text in ["", "two words", "line\nbreak", "ключ"] {
            let said = Key::new(text, "the variable").unwrap_err().to_string();
            assert!(said.starts_with("the variable holds no key"), "{said}");
            assert!(text.is_empty() || !said.contains(text), "{said}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_may_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "sk-secret\n").unwrap();
        let allow = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        allow(0o644);
        let said = Key::of_file(&path).unwrap_err().to_string();
        assert!(said.contains("chmod 600") && !said.contains("sk-secret"), "{said}");
        allow(0o600);
        assert_eq!(Key::of_file(&path).unwrap().secret(), "sk-secret");
        assert!(Key::of_file(&folder.path().join("none")).unwrap_err().to_string().contains("cannot be read"));
    }
}
