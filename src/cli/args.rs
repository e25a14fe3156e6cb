//! What can be typed.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::check::Allowance;
use crate::model::profile::MODELS;
use crate::model::wire::{Calls, Rendering, Wire};
use crate::plan::{CACHE_OF_MODEL, COLD, KEY_OF_RUN, KEY_OF_THREAD, MEASURED, NONE, WARM};
use crate::report::Format;
use crate::scenario::{Briefing, Fallback, Size};
use crate::tokens::Encoding;

use super::console::{Colour, Level};
use super::output::OutFile;
use super::player::Player;

/// Measures what each way of handing context to a sub-agent costs: tokens, time and answer quality, per strategy.
#[derive(Debug, Parser)]
#[command(name = "ctxbench", version, max_term_width = 100, disable_help_subcommand = true, after_help = AFTER_HELP)]
pub struct Typed {
    /// What is typed with any command.
    #[command(flatten)]
    pub global: Global,
    /// The command; none: `run`.
    #[command(subcommand)]
    pub command: Option<Command>,
}

const AFTER_HELP: &str = "Without a command it runs the built-in suite, as `ctxbench run` does.\n\n\
                          Exit codes: 0 fine, 1 internal or I/O error, 2 usage, 3 bad input, 4 conformance failures, 10 to 13 \
                          as `check` says in its last line (10 limit exceeded, 11 not comparable, 12 nothing checked, 13 a cell failed), \
                          14 spending cap reached, 130 interrupted, 143 terminated.";

/// What is typed with any command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct Global {
    /// What standard output gets
    #[arg(long, global = true, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Writes one format more into a file; may be repeated
    #[arg(long, global = true, value_name = "FORMAT=PATH")]
    pub out: Vec<OutFile>,
    /// Says nothing on standard error but what ended the command
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// When to colour
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Colour::Auto)]
    pub color: Colour,
    /// How much is said on standard error
    #[arg(long, global = true, value_enum, value_name = "LEVEL", default_value_t = Level::Warn)]
    pub log: Level,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run scenarios or recordings through strategies
    Run(RunArgs),
    /// Run scenarios with a model at a provider, and keep all that it says in a cassette
    Record(RecordArgs),
    /// Run from a cassette, strictly: no provider is asked
    Replay(ReplayArgs),
    /// Look at cassettes
    #[command(subcommand)]
    Cassette(CassetteCommand),
    /// Show what each thread of a cell was really sent
    Show(ShowArgs),
    /// List what there is, one line each
    List(ListArgs),
    /// Read recordings: sessions, delegations, spend
    Import(ImportArgs),
    /// Play vectors of what real systems did through the strategies
    Conformance(ConformanceArgs),
    /// Hold cells to budgets.toml and to what budgets.lock has accepted
    Check(CheckArgs),
    /// Explain a cell's budgets: its limits, its requests, its difference to what was accepted
    Explain(ExplainArgs),
    /// Compare two runs cell by cell: differences with intervals, wins and losses, a test
    Diff(DiffArgs),
    /// Vary one parameter of a scenario, and find where the best strategy changes
    Sweep(SweepArgs),
    /// Print a run's results at other prices, tokens untouched
    Reprice(RepriceArgs),
    /// Check scenario files
    Validate(ValidateArgs),
    /// Print a JSON schema
    Schema(SchemaArgs),
}

/// `reprice`.
#[derive(Debug, Args)]
pub struct RepriceArgs {
    /// A run's folder
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// The price table; none: the one that is built in
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
}

/// What decides a cell's figures beside its id.
#[derive(Clone, Debug, Args)]
pub struct MeasureArgs {
    /// The model whose window and latency runs take, or `none` [default: a recording's own where known, else gpt-6-sol]
    #[arg(long = "as", value_name = "MODEL", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(MODELS.iter().map(|model| model.name).chain(["none"])))]
    pub as_model: Option<String>,
    /// The model whose prices, window, prompt cache and latency children take, or `none` [default: that of --as]
    #[arg(long, value_name = "MODEL", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(MODELS.iter().map(|model| model.name).chain(["none"])))]
    pub child_model: Option<String>,
    /// The encoding that tokens are counted in
    #[arg(long, value_name = "ENCODING", default_value = Encoding::O200kBase.name(),
          value_parser = PossibleValuesParser::new(Encoding::ALL.map(Encoding::name)))]
    pub tokenizer: String,
    /// The engine that counts them
    #[arg(long, value_name = "NAME", default_value = "tiktoken")]
    pub engine: String,
    /// What requests hold of real clients' prompts and tools: nothing, or what was measured, as sizes
    #[arg(long, value_name = "SCAFFOLD", default_value = NONE, value_parser = PossibleValuesParser::new([NONE, MEASURED]))]
    pub scaffold: String,
    /// The prompt cache that requests meet: by the rules of the model's provider (`model`), none (`off`), or rules by name
    /// (`anthropic`, `anthropic/claude-code`, `openai`, `vllm`, ...: `ctxbench list models`)
    #[arg(long, value_name = "RULES", default_value = CACHE_OF_MODEL)]
    pub cache: String,
    /// Whose routing key a thread sends, where the provider has one: the run's, or its own
    #[arg(long, value_name = "WHOSE", default_value = KEY_OF_RUN, value_parser = PossibleValuesParser::new([KEY_OF_RUN, KEY_OF_THREAD]))]
    pub cache_key: String,
    /// Whether the root's history lies in the cache when a run begins
    #[arg(long, value_name = "START", default_value = COLD, value_parser = PossibleValuesParser::new([COLD, WARM]))]
    pub cache_start: String,
    /// A price table instead of the one that is built in
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
}

/// `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Built-in scenarios, scenario files, recordings, or folders of them; none: the built-in suite
    #[arg(value_name = "SCENARIO or PATH")]
    pub what: Vec<String>,
    /// A strategy: ID[@PROFILE][:KEY=VALUE,...]; may be repeated; none: the default rows (`ctxbench list strategies`)
    #[arg(long, short, value_name = "SPEC")]
    pub strategy: Vec<String>,
    /// Who plays the threads: `reader` for scenarios, `held` for recordings (the defaults); `script`: a scenario's own script.
    /// `reader:KEY=VALUE,...` (`ctxbench list models`) falls short of the ideal reader; may be repeated, to compare readers;
    /// `live:PROVIDER/NAME`: a model at a provider; `cassette:NAME`: what one said
    #[arg(long, value_name = "MODEL")]
    pub model: Vec<Player>,
    /// The size of scenarios
    #[arg(long, default_value = Size::Small.name(), value_parser = size())]
    pub size: Size,
    /// How many seeds, from 0 [default: 1; in a replay all that were recorded]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub seeds: Option<u64>,
    /// How many threads work [default: one a core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub jobs: Option<u64>,
    /// Keeps results, ledger and threads in this folder; without it nothing is written
    #[arg(long, value_name = "DIR")]
    pub run_dir: Option<PathBuf>,
    /// Goes on with the run in that folder: what is done is kept, the rest is run; with nothing there it begins
    #[arg(long, requires = "run_dir")]
    pub resume: bool,
    /// Stops behind the first cell that fails against its scenario's expectation
    #[arg(long)]
    pub fail_fast: bool,
    /// What a delegating thread writes into a task
    #[arg(long, default_value = Briefing::Same.name(), value_parser = briefing())]
    pub briefing: Briefing,
    /// What the parent does about a delegation that failed, in place of the scenario's own rule
    #[arg(long, value_parser = fallback())]
    pub fallback: Option<Fallback>,
    /// How it is measured.
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// How a provider is asked.
    #[command(flatten)]
    pub live: LiveArgs,
}

/// How a provider is asked.
#[derive(Debug, Args)]
#[command(next_help_heading = "Models at providers (--model live:PROVIDER/NAME)")]
pub struct LiveArgs {
    /// Where the provider's wires begin, for any that is compatible: https://HOST/v1
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// The wire [default: the provider's own]
    #[arg(long, value_parser = named(&Wire::ALL, Wire::name))]
    pub wire: Option<Wire>,
    /// The file that holds the key, which nobody else may read [default: the provider's variable, OPENAI_API_KEY for one]
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// Takes replies as streams
    #[arg(long)]
    pub stream: bool,
    /// The temperature [default: the provider's]
    #[arg(long, value_name = "T")]
    pub temperature: Option<f64>,
    /// The most tokens of a reply
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_output_tokens: u32,
    /// How a thread's items stand in a request: as the wire has them, or as plain text for models that know no tools
    #[arg(long, default_value = Rendering::Native.name(), value_parser = named(&Rendering::ALL, Rendering::name))]
    pub rendering: Rendering,
    /// Who decides what a thread does: the model; or the reader, and the model writes the answers
    #[arg(long, value_name = "WHO", default_value = Calls::Model.name(), value_parser = named(&Calls::ALL, Calls::name))]
    pub calls: Calls,
    /// Goes on from the provider's kept response and sends only what is new (wire responses)
    #[arg(long)]
    pub previous_response: bool,
    /// Sets no prompt-cache breakpoints (wire messages)
    #[arg(long)]
    pub no_breakpoints: bool,
    /// A field that is sent besides, as JSON: --field 'reasoning={"effort":"low"}'; may be repeated
    #[arg(long, value_name = "NAME=JSON", value_parser = field)]
    pub field: Vec<(String, serde_json::Value)>,
    /// Stops before a request that could pass this sum
    #[arg(long, value_name = "USD", value_parser = positive)]
    pub max_usd: Option<f64>,
    /// Stops before a request that could pass this many input and output tokens, all cells together
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u64>,
    /// How long nothing may be received
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0, value_parser = positive)]
    pub patience: f64,
    /// The most attempts at one request
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub attempts: u32,
    /// How long to wait before the second attempt; every further wait is twice as long
    #[arg(long, value_name = "SECONDS", default_value_t = 0.5, value_parser = positive)]
    pub first_wait: f64,
    /// The most requests on their way at one time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub at_once: u32,
    /// The most requests a minute
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub a_minute: Option<u32>,
    /// A judge that scores final answers by the scenario's rubric: live:PROVIDER/NAME; may be repeated, to see whether they agree
    #[arg(long, value_name = "MODEL")]
    pub judge: Vec<Player>,
}

/// `record`.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// What is run, as with `run`; --model live:PROVIDER/NAME says with whom.
    #[command(flatten)]
    pub run: RunArgs,
    /// The cassette; what it holds already is not asked again
    #[arg(long, value_name = "FILE", help_heading = "Cassette")]
    pub cassette: PathBuf,
    /// What is not looked at when requests are compared: a field (/seed), or a regular expression over texts; may be repeated
    #[arg(long, value_name = "FIELD or REGEX", help_heading = "Cassette")]
    pub mask: Vec<String>,
    /// What is kept nowhere: a regular expression over the texts of requests and replies; may be repeated
    #[arg(long, value_name = "REGEX", help_heading = "Cassette")]
    pub redact: Vec<String>,
}

/// `replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The cassette
    #[arg(value_name = "CASSETTE")]
    pub cassette: PathBuf,
    /// What is run of it; nothing typed: all that was recorded to its end.
    #[command(flatten)]
    pub run: RunArgs,
}

/// `cassette`.
#[derive(Debug, Subcommand)]
pub enum CassetteCommand {
    /// Check that cassettes are whole and unchanged
    Verify(CassetteArgs),
    /// Count what is in cassettes, and compare counted tokens with those that the provider reported
    Stat(StatArgs),
    /// Rewrite a cassette without what no replay asks for
    Prune(PruneArgs),
}

/// `cassette stat`.
#[derive(Debug, Args)]
pub struct StatArgs {
    /// Cassettes
    #[arg(required = true, value_name = "CASSETTE")]
    pub files: Vec<PathBuf>,
    /// The encoding that requests are counted in, to compare with what was reported
    #[arg(long, value_name = "ENCODING", default_value = Encoding::O200kBase.name(),
          value_parser = PossibleValuesParser::new(Encoding::ALL.map(Encoding::name)))]
    pub tokenizer: String,
}

/// `cassette verify`.
#[derive(Debug, Args)]
pub struct CassetteArgs {
    /// Cassettes
    #[arg(required = true, value_name = "CASSETTE")]
    pub files: Vec<PathBuf>,
}

/// `cassette prune`.
#[derive(Debug, Args)]
pub struct PruneArgs {
    /// The cassette
    #[arg(value_name = "CASSETTE")]
    pub file: PathBuf,
    /// Keeps cells that match this glob (SCENARIO/STRATEGY/SEED) alone; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<String>,
}

impl RunArgs {
    /// What `run` means with nothing typed behind it.
    ///
    /// # Errors
    /// None is known: every argument has a default or may be absent.
    pub fn bare() -> Result<RunArgs, clap::Error> {
        let command = RunArgs::augment_args(clap::Command::new("run"));
        RunArgs::from_arg_matches(&command.try_get_matches_from(["run"])?)
    }
}

/// `show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// A cell's id, as `run` prints it: SCENARIO/STRATEGY@PROFILE/MODEL/SEED
    pub cell: String,
    /// Reads the cell from a run's folder instead of running it again
    #[arg(long, value_name = "DIR", conflicts_with = "from")]
    pub run_dir: Option<PathBuf>,
    /// The scenario file, recording or folder that the cell is of; may be repeated; not needed for built-in scenarios
    #[arg(long, value_name = "PATH")]
    pub from: Vec<PathBuf>,
    /// The same cell under this strategy beside it: what each child was sent, what came back, tokens by origin
    #[arg(long, value_name = "STRATEGY")]
    pub vs: Option<String>,
    /// Only this thread, its texts in full (`/`, `/1`, `/1/2`)
    #[arg(long, value_name = "PATH")]
    pub thread: Option<String>,
    /// Only this request, in full
    #[arg(long, value_name = "N", conflicts_with_all = ["thread", "vs"])]
    pub request: Option<u32>,
    /// What this model's provider bills for each request, beside the run's count: frames, tools, hidden prompt
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["request", "vs"])]
    pub framing: Option<String>,
    /// How it was measured.
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// `list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// What to list; none: everything
    #[arg(value_enum)]
    pub what: Option<Listed>,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Listed {
    /// The built-in scenarios.
    Scenarios,
    /// Strategies with their profiles and options.
    Strategies,
    /// Who can play threads, and whose window and latency they can take.
    Models,
    /// What is measured.
    Metrics,
    /// What can be written.
    Formats,
    /// Price tables.
    Prices,
}

/// `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Recordings, or folders of them
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Fails when anything could not be read as it should
    #[arg(long)]
    pub strict: bool,
    /// Which product wrote them
    #[arg(long, value_name = "SOURCE", default_value = "auto", value_parser = PossibleValuesParser::new(super::import::source_names()))]
    pub source: String,
    /// The name of one more tool that delegates; may be repeated
    #[arg(long, value_name = "NAME")]
    pub delegation_tool: Vec<String>,
}

/// `conformance`.
#[derive(Debug, Args)]
pub struct ConformanceArgs {
    /// Files of vectors (`ctxbench-conformance/1`) or of what a client sent (`ctxbench-wire/1`)
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Prints the files with what the strategies give, whatever the files expect
    #[arg(long)]
    pub emit: bool,
}

/// Where budgets and what was accepted stand.
#[derive(Debug, Args)]
pub struct BudgetArgs {
    /// The budgets [default: budgets.toml]
    #[arg(long, value_name = "FILE")]
    pub budgets: Option<PathBuf>,
    /// What was accepted [default: budgets.lock]
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,
    /// Takes what was accepted from this revision of git instead of the file
    #[arg(long, value_name = "REV")]
    pub against: Option<String>,
    /// Lets figures grow by this at most, beside what the budgets say: "1%", "+200", 0
    #[arg(long, value_name = "ALLOWANCE", value_parser = Allowance::parse)]
    pub grow: Option<Allowance>,
    /// Lets scores drop by this at most, beside what the budgets say
    #[arg(long, value_name = "ALLOWANCE", value_parser = Allowance::parse)]
    pub drop: Option<Allowance>,
    /// Limits of level `warn` fail as well
    #[arg(long)]
    pub strict: bool,
    /// What cannot be compared fails, and nothing is written; as with CI set
    #[arg(long)]
    pub locked: bool,
}

/// `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Folders of runs (`run --run-dir`), or scenarios and recordings beside the built-in suite and ./scenarios; none: those
    #[arg(value_name = "RUN_DIR or SCENARIO or DIR")]
    pub what: Vec<String>,
    /// The files.
    #[command(flatten)]
    pub files: BudgetArgs,
    /// Writes what was measured into the lock, and prints what changed; a value beyond max or min is not accepted
    #[arg(long, conflicts_with_all = ["against", "locked"])]
    pub accept: bool,
    /// Accepts cells that match this glob alone
    #[arg(long, value_name = "GLOB", requires = "accept")]
    pub only: Vec<String>,
    /// Accepts this metric alone
    #[arg(long, value_name = "METRIC", requires = "accept")]
    pub metric: Option<String>,
    /// How many threads work [default: one a core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub jobs: Option<u64>,
}

/// `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A cell's id, as `check` prints it
    pub cell: String,
    /// The files.
    #[command(flatten)]
    pub files: BudgetArgs,
    /// Every request beside the accepted one
    #[arg(long)]
    pub diff_lock: bool,
    /// Reads the cell from a run's folder instead of running it again; may be repeated
    #[arg(long, value_name = "DIR", conflicts_with = "from")]
    pub run_dir: Vec<PathBuf>,
    /// The scenario file, recording or folder that the cell is of; may be repeated; not needed for built-in scenarios and
    /// ./scenarios
    #[arg(long, value_name = "PATH")]
    pub from: Vec<PathBuf>,
}

/// `diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// A folder of a run (`run --run-dir`), or a results document (`run --format json`)
    #[arg(value_name = "RUN_A")]
    pub run_a: String,
    /// Another, or the same
    #[arg(value_name = "RUN_B")]
    pub run_b: String,
    /// The strategy of RUN_A to compare, with --right [default: every strategy with itself]
    #[arg(long, value_name = "SPEC")]
    pub left: Option<String>,
    /// The strategy of RUN_B
    #[arg(long, value_name = "SPEC")]
    pub right: Option<String>,
    /// A metric; may be repeated [default: those of the tables]
    #[arg(long, value_name = "METRIC")]
    pub metric: Vec<String>,
}

/// `sweep`.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// A built-in scenario or a scenario file
    pub scenario: String,
    /// The parameter and its values: KEY=FROM..TO, or KEY=FROM..TO..STEP; where the best changes, every value is looked at
    #[arg(long, value_name = "KEY=FROM..TO")]
    pub vary: String,
    /// A strategy; may be repeated; none: the default rows
    #[arg(long, short, value_name = "SPEC")]
    pub strategy: Vec<String>,
    /// A metric; may be repeated [default: parent.final_context, total.input, latency.end_to_end, quality]
    #[arg(long, value_name = "METRIC")]
    pub metric: Vec<String>,
    /// The size whose other parameters it takes
    #[arg(long, default_value = Size::Small.name(), value_parser = size())]
    pub size: Size,
    /// What a delegating thread writes into a task
    #[arg(long, default_value = Briefing::Same.name(), value_parser = briefing())]
    pub briefing: Briefing,
    /// What the parent does about a delegation that failed, in place of the scenario's own rule
    #[arg(long, value_parser = fallback())]
    pub fallback: Option<Fallback>,
    /// How it is measured.
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// `validate`.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// Scenario files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// `schema`.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Of what
    #[arg(value_enum)]
    pub what: SchemaOf,
}

/// What has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// Scenario files.
    Scenario,
    /// `run --format json`.
    Results,
    /// A line of `ledger.jsonl`.
    Ledger,
    /// `budgets.toml`.
    Budgets,
    /// `check --format json`.
    Check,
    /// A line of a cassette.
    Cassette,
}

/// A value by its name, so that clap knows the names and suggests near ones.
fn named<T: Copy + Send + Sync + 'static>(values: &'static [T], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(values.iter().map(|&value| name(value)))
        .try_map(move |text| values.iter().copied().find(|&value| name(value) == text).ok_or("unknown"))
}

fn field(text: &str) -> Result<(String, serde_json::Value), String> {
    let (name, json) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or("a field is written NAME=JSON")?;
    let value =
        serde_json::from_str(json).map_err(|why| format!("what stands behind `{name}=` is no JSON ({why}); a text needs quotes"))?;
    Ok((name.to_owned(), value))
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("`{text}` is no number above 0"))
}

fn size() -> impl TypedValueParser<Value = Size> {
    named(&Size::ALL, Size::name)
}

fn briefing() -> impl TypedValueParser<Value = Briefing> {
    named(&[Briefing::Terse, Briefing::Same, Briefing::Known, Briefing::Auto], Briefing::name)
}

fn fallback() -> impl TypedValueParser<Value = Fallback> {
    named(&[Fallback::GiveUp, Fallback::Itself], Fallback::name)
}
