//! Which strategies there are, and how a spec becomes one.
//!
//! A crate of its own adds a strategy by [`Registry::register`]; everything else (specs, cell ids, errors, lists) then
//! treats it as a built-in one.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::claude_code::{Mode, PROFILES as CLAUDE_CODE_PROFILES};
use super::codex::profile::names;
use super::codex::{self, ForkContext, ForkTurns, V1_PROFILES, V2_PROFILES};
use super::deerflow::{ContextMode, Profile as Snapshot};
use super::filter::Rule;
use super::maf::{dotnet, python};
use super::opencode::{PROFILES, Profile};
use super::return_contract::Contracted;
use super::{
    ArtifactRef, ClaudeCode, CodexV1, CodexV2, DeerFlow, FullCopy, Inline, LearnClaudeCode, MafDotNet, MafPython, OpenCode, ReturnContract,
    ReturnFormat, SpawnAgent, Spec, SpecFault, Strategy, SummaryReturn, UnknownStrategy,
};

/// One strategy with all that may be chosen about it.
#[derive(Clone, Copy, Debug)]
pub struct Registered {
    /// Its id.
    pub id: &'static str,
    /// Its profiles (versions of a real system, say), the default first.
    pub profiles: &'static [&'static str],
    /// Its options.
    pub options: &'static [OptionSpec],
    /// The specs that stand among the default rows of a run.
    pub rows: &'static [&'static str],
    /// What it is, in a line.
    pub about: &'static str,
    /// What goes down: what a child opens with, with what its options and profiles make of it.
    pub down: &'static str,
    /// What comes back to the parent.
    pub back: &'static str,
    /// Whether children return anything; then the [options of every return](RETURN_OPTIONS) hold for it too.
    pub returns: bool,
    /// Makes it as chosen.
    pub build: fn(&Choice) -> Box<dyn Strategy>,
}

impl Registered {
    /// Its own options, then those of every strategy with returns.
    pub fn all_options(&self) -> impl Iterator<Item = &'static OptionSpec> + use<> {
        let of_returns: &'static [OptionSpec] = if self.returns { &RETURN_OPTIONS } else { &[] };
        self.options.iter().chain(of_returns)
    }
}

const RETURN_MAX: &str = "return_max";
const RETURN_FORMAT: &str = "return_format";
const FORMATS: [&str; ReturnFormat::ALL.len()] = [ReturnFormat::ALL[0].name(), ReturnFormat::ALL[1].name(), ReturnFormat::ALL[2].name()];

/// What may be asked of a return under any strategy that has returns ([`ReturnContract`]): the most tokens of a child's last
/// message, and its form.
pub const RETURN_OPTIONS: [OptionSpec; 2] = [
    OptionSpec { key: RETURN_FORMAT, words: &FORMATS, numbers: None, default: FORMATS[0], profiles: &[] },
    OptionSpec { key: RETURN_MAX, words: &["none"], numbers: Some((1, 1_000_000)), default: "none", profiles: &[] },
];

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Its key.
    pub key: &'static str,
    /// Its values by word.
    pub words: &'static [&'static str],
    /// Whole numbers that it takes as well: the least and the greatest.
    pub numbers: Option<(u64, u64)>,
    /// The value that holds when none is given.
    pub default: &'static str,
    /// The profiles that have it; empty: all.
    pub profiles: &'static [&'static str],
}

impl OptionSpec {
    /// Whether it takes a value. Numbers are written in one way only: no sign, no leading zero.
    pub fn takes(&self, value: &str) -> bool {
        let number = value.parse::<u64>().ok().filter(|number| number.to_string() == value);
        self.words.contains(&value) || number.is_some_and(|number| self.numbers.is_some_and(|(low, high)| (low..=high).contains(&number)))
    }

    /// Its values as a person may write them.
    pub fn values(&self) -> Vec<String> {
        let numbers = self.numbers.map(|(low, high)| format!("{low}..{high}"));
        self.words.iter().map(|word| (*word).to_owned()).chain(numbers).collect()
    }

    fn is_of(&self, profile: &str) -> bool {
        self.profiles.is_empty() || self.profiles.contains(&profile)
    }
}

impl fmt::Display for OptionSpec {
    /// `KEY=VALUE|VALUE|...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.values().join("|"))
    }
}

/// A strategy, a profile of it and its options: what a cell names.
#[derive(Clone, Debug)]
pub struct Choice {
    registered: Registered,
    profile: &'static str,
    /// What differs from the default.
    options: BTreeMap<&'static str, String>,
}

impl Choice {
    /// The strategy's id.
    pub fn id(&self) -> &'static str {
        self.registered.id
    }

    /// The profile.
    pub fn profile(&self) -> &'static str {
        self.profile
    }

    /// An option's value, given or default; empty for an option that the profile does not have.
    pub fn option(&self, key: &str) -> &str {
        if let Some(value) = self.options.get(key) {
            return value;
        }
        let spec = self.registered.all_options().find(|option| option.key == key && option.is_of(self.profile));
        spec.map_or("", |option| option.default)
    }

    /// The strategy.
    pub fn build(&self) -> Arc<dyn Strategy> {
        let strategy: Arc<dyn Strategy> = Arc::from((self.registered.build)(self));
        match self.return_contract() {
            contract if contract == ReturnContract::default() => strategy,
            contract => Arc::new(Contracted { strategy, contract, id: self.to_string() }),
        }
    }

    fn return_contract(&self) -> ReturnContract {
        let format = ReturnFormat::ALL.into_iter().find(|format| format.name() == self.option(RETURN_FORMAT));
        ReturnContract { max_tokens: self.option(RETURN_MAX).parse().ok(), format: format.unwrap_or_default() }
    }
}

impl fmt::Display for Choice {
    /// `ID@PROFILE[:non-default options, sorted by key]`, as in a cell id.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.registered.id, self.profile)?;
        for (at, (key, value)) in self.options.iter().enumerate() {
            write!(f, "{}{key}={value}", if at == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

impl PartialEq for Choice {
    /// Ids are unique in a registry, so equal names are equal choices.
    fn eq(&self, other: &Choice) -> bool {
        (self.registered.id, self.profile, &self.options) == (other.registered.id, other.profile, &other.options)
    }
}

impl Eq for Choice {}

/// Why a strategy cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("strategy `{id}` cannot be registered: {why}")]
pub struct RegistryError {
    /// Its id.
    pub id: String,
    /// What is wrong with it and what to do.
    pub why: String,
}

/// All strategies that a program knows, in order.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    all: Vec<Registered>,
}

impl Registry {
    /// The strategies of this crate.
    pub fn builtin() -> Registry {
        Registry { all: BUILTIN.to_vec() }
    }

    /// Adds a strategy behind the others. Its id is new, it has a profile, its options' defaults are among their values,
    /// its rows are specs of it, and no name holds what has a meaning in specs and cell ids.
    pub fn register(&mut self, one: Registered) -> Result<(), RegistryError> {
        let fault = |why: String| Err(RegistryError { id: one.id.to_owned(), why });
        if self.all.iter().any(|known| known.id == one.id) {
            return fault("the id is taken; choose another".into());
        }
        if one.profiles.is_empty() {
            return fault("it has no profile; give it one, `1` say".into());
        }
        let options = one.options.iter().flat_map(|option| option.words.iter().chain([&option.key]));
        for &name in [one.id].iter().chain(one.profiles).chain(options) {
            if name.is_empty() || name == "*" || name.contains(|c: char| "@:,=/".contains(c) || c.is_whitespace() || c.is_control()) {
                return fault(format!("`{name}` is no name; names are not empty or `*` and hold none of `@ : , = /` and no blanks"));
            }
        }
        for (at, option) in one.options.iter().enumerate() {
            if !option.takes(option.default) {
                return fault(format!("the default `{}` of the option `{}` is not among its values", option.default, option.key));
            }
            if let Some(profile) = option.profiles.iter().find(|profile| !one.profiles.contains(profile)) {
                return fault(format!("the option `{}` is of a profile `{profile}` that it does not have", option.key));
            }
            if one.options[..at].iter().any(|other| other.key == option.key) {
                return fault(format!("the option `{}` is there twice", option.key));
            }
            if RETURN_OPTIONS.iter().any(|common| common.key == option.key) {
                return fault(format!("`{}` is an option of every strategy; choose another name", option.key));
            }
        }
        if let Some(at) = (1..one.profiles.len()).find(|&at| one.profiles[..at].contains(&one.profiles[at])) {
            return fault(format!("the profile `{}` is there twice", one.profiles[at]));
        }
        self.all.push(one);
        for &row in one.rows {
            let known = self.parse(row).map(|choices| choices.iter().all(|choice| choice.id() == one.id));
            if known != Ok(true) {
                self.all.pop();
                return fault(match known {
                    Err(why) => format!("a default row is no spec: {why}"),
                    Ok(_) => format!("the default row `{row}` is of another strategy"),
                });
            }
        }
        Ok(())
    }

    /// Every strategy with its profiles and options.
    pub fn list(&self) -> &[Registered] {
        &self.all
    }

    /// What a spec means: one choice, or with the profile `*` one a profile.
    pub fn parse(&self, spec: &str) -> Result<Vec<Choice>, UnknownStrategy> {
        let taken = Spec::parse(spec);
        let unknown = |fault, given: &str, known| UnknownStrategy { spec: spec.to_owned(), fault, given: given.to_owned(), known };
        let Some(&registered) = self.all.iter().find(|one| one.id == taken.id) else {
            return Err(unknown(SpecFault::Id, &taken.id, self.all.iter().map(|one| one.id.to_owned()).collect()));
        };
        let profiles: Vec<&'static str> = match taken.profile.as_deref() {
            None => registered.profiles.iter().copied().take(1).collect(),
            Some("*") => registered.profiles.to_vec(),
            Some(name) => registered.profiles.iter().copied().filter(|&profile| profile == name).collect(),
        };
        if profiles.is_empty() {
            let known = registered.profiles.iter().map(|&profile| profile.to_owned()).collect();
            let given = taken.profile.as_deref().unwrap_or_default();
            return Err(unknown(SpecFault::Profile { strategy: registered.id }, given, known));
        }
        let mut choices = Vec::with_capacity(profiles.len());
        for profile in profiles {
            let of_profile = || registered.all_options().filter(|option| option.is_of(profile));
            let name = format!("{}@{profile}", registered.id);
            let keys = || of_profile().map(|option| option.key.to_owned()).collect::<Vec<String>>();
            let mut options = BTreeMap::new();
            for (at, setting) in taken.options.iter().enumerate() {
                let Some(option) = of_profile().find(|option| option.key == setting.key) else {
                    return Err(unknown(SpecFault::Key { profile: name }, &setting.key, keys()));
                };
                if taken.options[..at].iter().any(|earlier| earlier.key == setting.key) {
                    return Err(unknown(SpecFault::Twice { profile: name }, &setting.key, keys()));
                }
                let value = setting.value.as_deref().unwrap_or_default();
                if !option.takes(value) {
                    return Err(unknown(SpecFault::Value { key: option.key }, value, option.values()));
                }
                if value != option.default {
                    options.insert(option.key, value.to_owned());
                }
            }
            choices.push(Choice { registered, profile, options });
        }
        Ok(choices)
    }

    /// What a run compares when nothing is asked for, in the order of the registry.
    pub fn default_rows(&self) -> Vec<Choice> {
        // Every row was parsed when its strategy was registered; a test parses those of the built-in ones.
        self.all.iter().flat_map(|one| one.rows).flat_map(|row| self.parse(row).unwrap_or_default()).collect()
    }
}

const CODEX_V1_PROFILES: [&str; V1_PROFILES.len()] = names(&V1_PROFILES);

const CODEX_V2_PROFILES: [&str; V2_PROFILES.len()] = names(&V2_PROFILES);

const FORK_CONTEXT: [&str; ForkContext::ALL.len()] = [ForkContext::ALL[0].name(), ForkContext::ALL[1].name(), ForkContext::ALL[2].name()];

const OPENCODE_PROFILES: [&str; PROFILES.len()] = [PROFILES[0].name, PROFILES[1].name];

const MAF_PYTHON_PROFILES: [&str; python::PROFILES.len()] = [python::PROFILES[0].name, python::PROFILES[1].name];

/// One session an agent, or one a call.
const SESSION: OptionSpec = OptionSpec { key: "session", words: &["fresh", "kept"], numbers: None, default: "fresh", profiles: &[] };

const RULES: [&str; Rule::ALL.len()] = {
    let mut names = [""; Rule::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = Rule::ALL[at].name();
        at += 1;
    }
    names
};

const DEERFLOW: [&str; Snapshot::ALL.len()] =
    [Snapshot::ALL[0].name(), Snapshot::ALL[1].name(), Snapshot::ALL[2].name(), Snapshot::ALL[3].name()];

/// Those of its profiles whose calls have a mode.
const SNAPSHOTS: [&str; 3] = [Snapshot::V2.name(), Snapshot::V1.name(), Snapshot::V3.name()];

const MODES: [&str; Mode::ALL.len()] = [Mode::ALL[0].name(), Mode::ALL[1].name()];

const CONTEXT_MODES: [&str; ContextMode::ALL.len()] = [ContextMode::ALL[0].name(), ContextMode::ALL[1].name(), ContextMode::ALL[2].name()];

/// In the order of the default rows.
const BUILTIN: [Registered; 13] = [
    Registered {
        id: "inline",
        profiles: &["1"],
        options: &[],
        rows: &["inline"],
        about: "no delegation: the parent does the work itself, with the sub-agents' tools",
        down: "nothing: no delegation",
        back: "–",
        returns: false,
        build: |_| Box::new(Inline),
    },
    Registered {
        id: "full-copy",
        profiles: &["1"],
        options: &[OptionSpec { key: "in_flight", words: &RULES, numbers: None, default: RULES[0], profiles: &[] }],
        rows: &["full-copy"],
        about: "the child opens with all that the parent has; its last text comes back",
        down: "all that the parent has, then the task; `in_flight` says what becomes of unanswered calls",
        back: "the child's last text",
        returns: true,
        build: |choice| Box::new(FullCopy { in_flight: Rule::named(choice.option("in_flight")).unwrap_or_default() }),
    },
    Registered {
        id: "maf-dotnet",
        profiles: &dotnet::PROFILES,
        options: &[SESSION],
        rows: &["maf-dotnet"],
        about: "Microsoft Agent Framework's agents as tools (.NET): the task alone goes down; all that the child said comes back, as JSON",
        down: "the task alone; with `session=kept` behind the child's earlier tasks",
        back: "the texts of all the child's messages, narration included, as a JSON string with quotes and escapes; calls run one by one",
        returns: true,
        build: |choice| Box::new(MafDotNet { kept: choice.option("session") == "kept", ..MafDotNet::default() }),
    },
    Registered {
        id: "maf-python",
        profiles: &MAF_PYTHON_PROFILES,
        options: &[
            OptionSpec { key: "propagate_session", words: &["false", "true"], numbers: None, default: "false", profiles: &[] },
            SESSION,
        ],
        rows: &["maf-python"],
        about: "Microsoft Agent Framework's agents as tools (Python): the task alone goes down; all that the child said comes back",
        down: "the task alone; with `propagate_session` behind the parent's ended turns",
        back: "the texts of all the child's messages, narration included, joined with nothing; calls run side by side",
        returns: true,
        build: |choice| {
            let is = |key, value| choice.option(key) == value;
            let profile = python::Profile::named(choice.profile()).unwrap_or(&python::PROFILES[0]);
            let (propagate_session, kept) = (is("propagate_session", "true"), is("session", "kept"));
            Box::new(MafPython { profile, propagate_session, kept, ..MafPython::default() })
        },
    },
    Registered {
        id: "opencode",
        profiles: &OPENCODE_PROFILES,
        options: &[OptionSpec {
            key: "background",
            words: &["false", "true"],
            numbers: None,
            default: "false",
            profiles: &[OPENCODE_PROFILES[0]],
        }],
        rows: &["opencode"],
        about: "OpenCode's task tool: the child opens with the prompt alone; the text of its last message comes back, resumable",
        down: "the prompt alone, with the files and folders that it names by `@`",
        back: "the last text of the child's last message, in a wrapper that names the session (an older one in 005201e); cut at 2,000 lines or 51,200 bytes; resumable; `background`",
        returns: true,
        build: |choice| {
            let profile = Profile::named(choice.profile()).unwrap_or(&PROFILES[0]);
            Box::new(OpenCode { profile, background: choice.option("background") == "true", ..OpenCode::default() })
        },
    },
    Registered {
        id: "codex-v1",
        profiles: &CODEX_V1_PROFILES,
        options: &[OptionSpec { key: "fork_context", words: &FORK_CONTEXT, numbers: None, default: FORK_CONTEXT[0], profiles: &[] }],
        rows: &["codex-v1:fork_context=false", "codex-v1:fork_context=true"],
        about: "Codex v1: the task alone or a filtered fork goes down; the final text comes back in a notice, and in a wait too",
        down: "the task alone, or with `fork_context=true` a filtered history: what users and final answers said",
        back: "a notice with the final text, and the same text again in the result of a wait",
        returns: true,
        build: |choice| {
            let profile = codex::Profile::of_v1(choice.profile()).unwrap_or(&V1_PROFILES[0]);
            Box::new(CodexV1 { profile, fork_context: ForkContext::named(choice.option("fork_context")).unwrap_or_default() })
        },
    },
    Registered {
        id: "codex-v2",
        profiles: &CODEX_V2_PROFILES,
        options: &[OptionSpec {
            key: "fork_turns",
            words: &ForkTurns::WORDS,
            numbers: Some((1, 1_000_000)),
            default: ForkTurns::WORDS[0],
            profiles: &[],
        }],
        rows: &["codex-v2@0.171", "codex-v2@0.160:fork_turns=none", "codex-v2@0.160:fork_turns=all", "codex-v2@0.160:fork_turns=3"],
        about: "Codex v2: agents with paths and mailboxes; a fork is filtered (to 0.163) or verbatim (0.171); one mail a child's turn",
        down: "0.171: all of the parent's history, verbatim; 0.163 to 0.130: filtered, of the last N turns with `fork_turns=N` (0.163 takes any N as all); then the task as mail (0.130: as JSON in an assistant message)",
        back: "one mail for each turn of the child; waits carry no text",
        returns: true,
        build: |choice| {
            let profile = codex::Profile::named(choice.profile()).unwrap_or(&V2_PROFILES[0]);
            Box::new(CodexV2 { profile, fork_turns: ForkTurns::named(choice.option("fork_turns")).unwrap_or_default() })
        },
    },
    Registered {
        id: "deerflow",
        profiles: &DEERFLOW,
        options: &[OptionSpec {
            key: "context_mode",
            words: &CONTEXT_MODES,
            numbers: None,
            default: CONTEXT_MODES[0],
            profiles: &SNAPSHOTS,
        }],
        rows: &["deerflow@v2:context_mode=isolated", "deerflow@v2:context_mode=snapshot"],
        about: "DeerFlow's task tool: the prompt alone, or a snapshot of the parent's history as data; limits, and a ledger in the parent",
        down: "the prompt alone, or with `context_mode=snapshot` the visible history as data (v1 leaks hidden messages, v3 keeps documents, f1f4af9 has no snapshots)",
        back: "the last message's text, a preview if it is long; limits, and a ledger in every request of the parent",
        returns: true,
        build: |choice| {
            let profile = Snapshot::named(choice.profile()).unwrap_or_default();
            Box::new(DeerFlow { profile, context_mode: ContextMode::named(choice.option("context_mode")).unwrap_or_default() })
        },
    },
    Registered {
        id: "learn-claude-code",
        profiles: &["0f691a0"],
        options: &[],
        rows: &["learn-claude-code"],
        about: "the sub-agents of a course on coding agents: the prompt alone goes down, the last response's text comes back; one by one",
        down: "the prompt alone, under a one-sentence system text",
        back: "the text of the last response, after thirty at most; children run one after another",
        returns: true,
        build: |_| Box::new(LearnClaudeCode),
    },
    Registered {
        id: "spawn-agent",
        profiles: &["article-18"],
        options: &[],
        rows: &["spawn-agent"],
        about: "a teaching agent's fan-out tool: the task alone goes down, all that the child wrote comes back; side by side",
        down: "the task alone",
        back: "all that the child wrote, over all its rounds",
        returns: true,
        build: |_| Box::new(SpawnAgent),
    },
    Registered {
        id: "summary-return",
        profiles: &["1"],
        options: &[OptionSpec { key: "max_words", words: &[], numbers: Some((1, 1_000_000)), default: "100", profiles: &[] }],
        rows: &["summary-return"],
        about: "the task alone goes down, and that the answer be short; the last text comes back, at most 100 words of it",
        down: "the task alone, with a sentence that limits the answer to `max_words`",
        back: "the child's last text, cut behind `max_words` words",
        returns: true,
        build: |choice| Box::new(SummaryReturn { max_words: choice.option("max_words").parse().unwrap_or(SummaryReturn::WORDS) }),
    },
    Registered {
        id: "artifact-ref",
        profiles: &["1"],
        options: &[OptionSpec { key: "summary_words", words: &[], numbers: Some((1, 1_000_000)), default: "40", profiles: &[] }],
        rows: &["artifact-ref"],
        about: "the task alone goes down; the child keeps its report in a file and returns the path with a summary; the parent reads it on demand",
        down: "the task alone, with a sentence that asks for the report in an artefact and for a summary of `summary_words`",
        back: "a path and a summary; the whole report when the parent reads it",
        returns: true,
        build: |choice| Box::new(ArtifactRef { summary_words: choice.option("summary_words").parse().unwrap_or(ArtifactRef::WORDS) }),
    },
    Registered {
        id: "claude-code",
        profiles: &CLAUDE_CODE_PROFILES,
        options: &[
            OptionSpec { key: "mode", words: &MODES, numbers: None, default: MODES[0], profiles: &[] },
            OptionSpec { key: "background", words: &["false", "true"], numbers: None, default: "false", profiles: &[] },
        ],
        rows: &[],
        about: "Claude Code's Agent tool: the prompt alone or an unfiltered fork goes down; the last text comes back, in the call or a notice",
        down: "the prompt (under `--scaffold measured` behind the client's reminders), or with `mode=fork` the whole history, unfiltered",
        back: "the last text and a line of usage; with `background` an acknowledgement and a notice",
        returns: true,
        build: |choice| {
            let mode = Mode::named(choice.option("mode")).unwrap_or_default();
            Box::new(ClaudeCode { mode, background: choice.option("background") == "true" })
        },
    },
];
