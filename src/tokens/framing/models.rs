//! Names of models, as requests spell them.

/// A model's name without the provider before it and the deployment behind it: `us.anthropic.claude-opus-4-1-20250805-v1:0` is
/// `claude-opus-4-1-20250805`.
pub(super) fn bare(model: &str) -> &str {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.rsplit_once("anthropic.").map_or(name, |(_, name)| name);
    let name = name.split_once(':').map_or(name, |(name, _)| name);
    match name.rsplit_once("-v") {
        Some((name, version)) if is_number(version) => name,
        _ => name,
    }
}

/// A bare name without its release: `gpt-4o-2024-11-20` is `gpt-4o`, `claude-sonnet-4@20250514` is `claude-sonnet-4`.
pub(super) fn undated(model: &str) -> &str {
    let name = bare(model);
    let name = name.strip_suffix("-latest").unwrap_or(name);
    if let Some((name, release)) = name.rsplit_once(['-', '@'])
        && release.len() == 8
        && is_number(release)
    {
        return name;
    }
    let mut rest = name;
    for len in [2, 2, 4] {
        match rest.rsplit_once('-') {
            Some((before, part)) if part.len() == len && is_number(part) => rest = before,
            _ => return name,
        }
    }
    rest
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_provider_a_model_and_a_release() {
        fn check(model: &str, expect_bare: &str, expect_undated: &str) {
            assert_eq!((bare(model), undated(model)), (expect_bare, expect_undated), "{model}");
        }
        check("gpt-4o", "gpt-4o", "gpt-4o");
        check("gpt-4o-2024-11-20", "gpt-4o-2024-11-20", "gpt-4o");
        check("openai/gpt-4o-mini-2024-07-18", "gpt-4o-mini-2024-07-18", "gpt-4o-mini");
        check("claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5");
        check("us.anthropic.claude-opus-4-1-20250805-v1:0", "claude-opus-4-1-20250805", "claude-opus-4-1");
        check("claude-sonnet-4@20250514", "claude-sonnet-4@20250514", "claude-sonnet-4");
        check("claude-3-opus-latest", "claude-3-opus-latest", "claude-3-opus");
        // Versions are no dates.
        check("claude-opus-5-5", "claude-opus-5-5", "claude-opus-5-5");
        check("gpt-4-0613", "gpt-4-0613", "gpt-4-0613");
        check("", "", "");
        check("-", "-", "-");
        check("2024-08-06", "2024-08-06", "2024-08-06");
    }
}
