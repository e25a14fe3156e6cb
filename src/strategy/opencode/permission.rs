//! Permission rules: how a question is decided, what a child is handed, which tools a list of rules hides.

use serde_json::Value;

use super::profile::Profile;
use super::text::TOOL;
use super::wildcard::matches;

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It goes on.
    Allow,
    /// The user is asked.
    Ask,
    /// It is refused.
    Deny,
}

impl Action {
    /// Every action.
    pub const ALL: [Action; 3] = [Action::Allow, Action::Ask, Action::Deny];

    /// Its name in configurations.
    pub const fn name(self) -> &'static str {
        match self {
            Action::Allow => "allow",
            Action::Ask => "ask",
            Action::Deny => "deny",
        }
    }
}

/// One rule. In a list of rules the last one that matches holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The permission's name, with wildcards.
    pub permission: String,
    /// What of it, with wildcards.
    pub pattern: String,
    /// What it does.
    pub action: Action,
    /// Whether its action stands before its pattern where it is shown: so do rules that a configuration writes as
    /// `NAME: ACTION`, for every pattern.
    pub action_first: bool,
}

impl Rule {
    /// A rule as `NAME: {PATTERN: ACTION}` writes it, and as sessions hold it.
    pub fn new(permission: impl Into<String>, pattern: impl Into<String>, action: Action) -> Rule {
        Rule { permission: permission.into(), pattern: pattern.into(), action, action_first: false }
    }

    /// A rule as `NAME: ACTION` writes it.
    pub fn of_all(permission: impl Into<String>, action: Action) -> Rule {
        Rule { action_first: true, ..Rule::new(permission, "*", action) }
    }

    /// Whether it says the same, however it is written.
    fn says(&self, other: &Rule) -> bool {
        (&self.permission, &self.pattern, self.action) == (&other.permission, &other.pattern, other.action)
    }

    /// Compact JSON.
    fn shown(&self) -> String {
        let [permission, pattern, action] = [&*self.permission, &*self.pattern, self.action.name()].map(Value::from);
        match self.action_first {
            true => format!(r#"{{"permission":{permission},"action":{action},"pattern":{pattern}}}"#),
            false => format!(r#"{{"permission":{permission},"pattern":{pattern},"action":{action}}}"#),
        }
    }
}

/// What the rules say of a question; where none matches, the user is asked.
pub fn decide<'a>(permission: &str, pattern: &str, rules: impl DoubleEndedIterator<Item = &'a Rule>) -> Action {
    let matching = |rule: &&Rule| matches(permission, &rule.permission) && matches(pattern, &rule.pattern);
    rules.rev().find(matching).map_or(Action::Ask, |rule| rule.action)
}

/// The rules whose name matches a permission, whatever their pattern and action, as a JSON list in their order.
pub(super) fn relevant<'a>(permission: &str, rules: impl Iterator<Item = &'a Rule>) -> String {
    let shown: Vec<String> = rules.filter(|rule| matches(permission, &rule.permission)).map(Rule::shown).collect();
    format!("[{}]", shown.join(","))
}

/// Whether a tool is left out of a request: the last rule with its permission's name denies everything. The tools that
/// write share one name.
pub(super) fn hides<'a>(tool: &str, rules: impl DoubleEndedIterator<Item = &'a Rule>) -> bool {
    let permission = if matches!(tool, "edit" | "write" | "apply_patch" | "multiedit") { "edit" } else { tool };
    let last = rules.rev().find(|rule| matches(permission, &rule.permission));
    last.is_some_and(|rule| rule.pattern == "*" && rule.action == Action::Deny)
}

/// The rules of a child's session, made of those of its parent's session and of all rules of its agent: what the parent's
/// denies, and whatever it says of outer directories; then denies of the product's own.
pub fn derive(parent: &[Rule], agent: &[Rule], primary_tools: &[String], profile: &Profile) -> Vec<Rule> {
    let inherited = |rule: &&Rule| rule.action == Action::Deny || rule.permission == "external_directory";
    let first = parent.iter().filter(inherited).filter(|_| profile.inherits).cloned().collect();
    with_denies(first, agent, primary_tools, profile)
}

/// The second step. A default deny is left out where the agent has any rule of that name, a deny of it too, but not where
/// a wildcard covers the name; what the first step brought is not said twice.
pub(super) fn with_denies(first: Vec<Rule>, agent: &[Rule], primary_tools: &[String], profile: &Profile) -> Vec<Rule> {
    let named = |name: &str| agent.iter().any(|rule| rule.permission == name);
    let defaults = profile.denied.iter().filter(|deny| !(deny.unless_named && named(deny.tool))).map(|deny| deny.tool);
    let denies = defaults.chain(primary_tools.iter().map(String::as_str)).map(|tool| Rule::new(tool, "*", Action::Deny));
    let more: Vec<Rule> = denies.filter(|deny| !first.iter().any(|rule| rule.says(deny))).collect();
    first.into_iter().chain(more).collect()
}

/// What the question about a delegation comes to; the error is the list for the refusal.
pub(super) fn may_delegate(agent: &str, caller: &[Rule], session: &[Rule]) -> Result<Action, String> {
    let rules = || caller.iter().chain(session);
    match decide(TOOL, agent, rules()) {
        Action::Deny => Err(relevant(TOOL, rules())),
        other => Ok(other),
    }
}
