//! The names of tools.

/// .NET (`SanitizeAgentName`): each run of characters other than ASCII digits and letters becomes one `_`; nothing is
/// trimmed, nothing is put in front.
pub fn dotnet(agent: &str) -> String {
    let mut name = String::with_capacity(agent.len());
    let mut inside = false;
    for c in agent.chars() {
        let kept = c.is_ascii_alphanumeric();
        if kept {
            name.push(c);
        } else if !inside {
            name.push('_');
        }
        inside = !kept;
    }
    name
}

/// Python (`_sanitize_agent_name`): other characters become `_`, runs of `_` one, none at the ends; `agent` for nothing,
/// `_` before a digit.
pub fn python(agent: &str) -> String {
    let words: Vec<&str> = agent.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let name = words.join("_");
    match name.chars().next() {
        None => "agent".into(),
        Some(first) if first.is_ascii_digit() => format!("_{name}"),
        Some(_) => name,
    }
}
