//! `list`: what there is, one line each. Loads no vocabulary.

use serde::Serialize;

use crate::error::Error;
use crate::metrics::METRICS;
use crate::model::profile::MODELS;
use crate::model::reader::{READER, curves};
use crate::prices::{ModelPrices, PriceTable, Rates};
use crate::report::Format;
use crate::strategy::{RETURN_OPTIONS, Registry};

use super::args::{Global, ListArgs, Listed};
use super::console::Console;
use super::output::emit;

const MODEL_LINES: [(&str, &str); 8] = [
    (READER, "simulated: acts on the text that it can see, and on nothing else"),
    ("reader:stale=first|last", "the same, but of several visible values of a topic it takes the one that stands first or last"),
    ("reader:unknown=guess", "the same, but what it does not know it invents"),
    ("reader:attention=CURVE", "the same, but it uses what it sees as often as a published curve says"),
    ("script", "the script of the scenario file: exact replies by thread and turn"),
    ("held", "a recording: its steps held fixed, openings and returns are the strategy's"),
    ("live:PROVIDER/NAME", "a model at a provider, now: openai, anthropic, local, compatible (with --base-url)"),
    ("cassette:NAME", "what a provider's model once said under that strategy, replayed"),
];

/// One line.
#[derive(Clone, Debug, Serialize)]
struct Entry {
    kind: &'static str,
    name: String,
    about: String,
}

/// Lists one kind of thing, or all of them.
pub fn list(args: &ListArgs, registry: &Registry, global: &Global, console: &Console) -> Result<(), Error> {
    let all = [Listed::Scenarios, Listed::Strategies, Listed::Models, Listed::Metrics, Listed::Formats, Listed::Prices];
    let kinds: Vec<Listed> = args.what.map_or(all.to_vec(), |what| vec![what]);
    let groups: Vec<(Listed, Vec<Entry>)> = kinds.into_iter().map(|kind| (kind, entries(kind, registry))).collect();
    emit("list", global.format, &global.out, console, &|format, _| match format {
        Format::Human => Some(human(&groups)),
        Format::Json => {
            let entries: Vec<&Entry> = groups.iter().flat_map(|group| &group.1).collect();
            serde_json::to_string_pretty(&serde_json::json!({"format": "ctxbench-list/1", "entries": entries})).ok().map(|text| text + "\n")
        }
        Format::Markdown if args.what == Some(Listed::Strategies) => Some(strategies_table(registry)),
        _ => None,
    })
}

fn heading(kind: Listed) -> &'static str {
    match kind {
        Listed::Scenarios => "scenarios",
        Listed::Strategies => "strategies",
        Listed::Models => "models",
        Listed::Metrics => "metrics",
        Listed::Formats => "formats",
        Listed::Prices => "prices",
    }
}

fn entries(kind: Listed, registry: &Registry) -> Vec<Entry> {
    let entry = |kind, name: &str, about: String| Entry { kind, name: name.to_owned(), about };
    match kind {
        Listed::Scenarios => super::inputs::builtin_lines().into_iter().map(|(name, about)| entry("scenario", &name, about)).collect(),
        Listed::Strategies => registry.list().iter().map(|one| entry("strategy", one.id, strategy_line(one))).collect(),
        Listed::Models => {
            let players = MODEL_LINES.iter().map(|(name, about)| entry("model", name, (*about).to_owned()));
            let profiles = MODELS.iter().map(|model| {
                entry(
                    "profile",
                    model.name,
                    format!(
                        "for --as: window {} tokens, latency profile {}, prompt cache {}",
                        model.window,
                        model.latency.name,
                        model.cache.unwrap_or("unknown")
                    ),
                )
            });
            let curves = curves().map(|curve| {
                let over = match curve.measured() {
                    Some((least, most)) => format!("for reader:attention, over lengths of {least} to {most} tokens"),
                    None => "for reader:attention, over positions in the context".to_owned(),
                };
                entry("curve", curve.name, over)
            });
            let rules = crate::cache::Profile::names().map(|name| {
                let clients =
                    crate::cache::Profile::builtin(name).map(|rules| rules.clients.keys().cloned().collect::<Vec<_>>().join(", "));
                let clients =
                    clients.ok().filter(|clients| !clients.is_empty()).map(|clients| format!("; clients: {clients} ({name}/CLIENT)"));
                entry("cache", name, format!("for --cache: a provider's prompt cache{}", clients.unwrap_or_default()))
            });
            players.chain(profiles).chain(rules).chain(curves).collect()
        }
        Listed::Metrics => METRICS
            .iter()
            .map(|metric| {
                entry("metric", metric.name, format!("{} ({}, better: {})", metric.about, metric.unit.name(), metric.better.name()))
            })
            .collect(),
        Listed::Formats => Format::ALL.iter().map(|format| entry("format", format.name(), format.about().to_owned())).collect(),
        // No price table stands in this version: nothing is priced, and every cost says so.
        Listed::Prices => price_lines().into_iter().map(|(name, about)| entry("price", &name, about)).collect(),
    }
}

/// What each model of the built-in table costs.
fn price_lines() -> Vec<(String, String)> {
    let Ok(table) = PriceTable::builtin() else { return vec![] };
    let line = |model: &ModelPrices| {
        let Rates { input, read, writes, output } = &model.rates;
        let mut parts = vec![format!("input {input}")];
        parts.extend(read.map(|read| format!("cached {read}")));
        parts.extend(writes.iter().map(|(lifetime, price)| format!("written for {lifetime} {price}")));
        parts.push(format!("output {output}"));
        parts.extend(model.steps.iter().map(|step| format!("above {} tokens input {}", step.above, step.rates.input)));
        format!("{}, of {}; dollars for a million tokens: {}", model.provider, table.dated, parts.join(", "))
    };
    table.models.iter().map(|model| (model.name.clone(), line(model))).collect()
}

fn strategy_line(one: &crate::strategy::Registered) -> String {
    let mut line = format!("{}; profiles {}", one.about, one.profiles.join(", "));
    for option in one.options {
        let of = if option.profiles.is_empty() { String::new() } else { format!(" (of {})", option.profiles.join(", ")) };
        line += &format!("; {option}{of}");
    }
    if one.returns {
        let keys: Vec<&str> = RETURN_OPTIONS.iter().map(|option| option.key).collect();
        line += &format!("; {}", keys.join(", "));
    }
    line
}

/// What each strategy hands down and hands back, as a table for pages.
fn strategies_table(registry: &Registry) -> String {
    let mut text = String::from("| strategy | what goes down | what comes back |\n| --- | --- | --- |\n");
    for one in registry.list() {
        let profiles: Vec<String> = one.profiles.iter().map(|profile| format!("`@{profile}`")).collect();
        let options: Vec<String> = one.options.iter().map(|option| format!("`{}`", option.to_string().replace('|', "\\|"))).collect();
        let options = if options.is_empty() { String::new() } else { format!("; {}", options.join("; ")) };
        text += &format!("| `{}` {}{options} | {} | {} |\n", one.id, profiles.join(" "), one.down, one.back);
    }
    text
}

fn human(groups: &[(Listed, Vec<Entry>)]) -> String {
    let mut text = String::new();
    for (at, (kind, entries)) in groups.iter().enumerate() {
        if groups.len() > 1 {
            text += &format!("{}{}\n", if at > 0 { "\n" } else { "" }, heading(*kind));
        }
        let indent = if groups.len() > 1 { "  " } else { "" };
        let width = entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
        for entry in entries {
            text += &format!("{indent}{:<width$}  {}\n", entry.name, entry.about);
        }
        if entries.is_empty() {
            text += &format!("{indent}(none in this version)\n");
        }
    }
    text
}
