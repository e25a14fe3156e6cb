//! Agent paths: `/root` and what lies below it.

/// The root's path.
pub(super) const ROOT: &str = "/root";

/// Another absolute path that the product knows.
const OTHER_ROOT: &str = "/morpheus";

/// A child's path below its parent's. The error is the call's result.
pub(super) fn below(parent: &str, name: &str) -> Result<String, String> {
    check_name(name)?;
    Ok(format!("{parent}/{name}"))
}

/// The path that a reference means for an agent: absolute, or below the agent itself. The error is the call's result.
pub(super) fn resolve(own: &str, reference: &str) -> Result<String, String> {
    if reference.is_empty() {
        return Err("agent path must not be empty".into());
    }
    if let Some(rest) = reference.strip_prefix('/') {
        if reference == OTHER_ROOT {
            return Ok(reference.into());
        }
        let mut names = rest.split('/');
        if names.next() != Some("root") {
            return Err("absolute agent paths must start with `/root` or be `/morpheus`".into());
        }
        if reference.ends_with('/') {
            return Err("absolute agent path must not end with `/`".into());
        }
        names.try_for_each(check_name)?;
        return Ok(reference.into());
    }
    if reference.ends_with('/') {
        return Err("relative agent path must not end with `/`".into());
    }
    reference.split('/').try_for_each(check_name)?;
    Ok(format!("{own}/{reference}"))
}

/// Whether a text is an absolute path.
pub(super) fn is_absolute(path: &str) -> bool {
    path.starts_with('/') && resolve("", path).is_ok()
}

fn check_name(name: &str) -> Result<(), String> {
    let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    match name {
        "" => Err("agent_name must not be empty".into()),
        "root" | "." | ".." => Err(format!("agent_name `{name}` is reserved")),
        _ if name.contains('/') => Err("agent_name must not contain `/`".into()),
        _ if name.chars().all(known) => Ok(()),
        _ => Err("agent_name must use only lowercase letters, digits, and underscores".into()),
    }
}

/// A name for a task, made of the first of these texts that holds a letter or a digit: lower case, every run of other
/// characters one underscore.
pub(super) fn task_name(texts: [&str; 2]) -> String {
    let name = |text: &str| {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("_")
    };
    match texts.into_iter().map(name).find(|name| !name.is_empty()) {
        Some(name) if name != "root" => name,
        _ => "task".into(),
    }
}
