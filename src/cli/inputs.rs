//! What is to be run: built-in names, scenario files, recordings, folders. What a file is, its content decides.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::error::nearest::suggestion_or_stop;
use crate::import::{Imported, Options};
use crate::model::held::HeldError;
use crate::model::profile::{MODELS, ModelProfile, model_profile};
use crate::model::reader::{Reader, ReaderProfile};
use crate::model::script::Script;
use crate::plan::{Casting, Remark, Subject};
use crate::results::Evidence;
use crate::scenario::file::{ScenarioErrors, ScenarioFile};
use crate::scenario::{Briefing, Fallback, Scenario, Size, builtin, builtin_names};
use crate::score::Scorer;

use super::console::Console;
use super::guarded;
use super::import::{read_found, read_recordings};
use super::provided::ProvidedModel;

/// How scenarios are compiled and played.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// The size of scenarios.
    pub size: Size,
    /// The brief.
    pub briefing: Briefing,
    /// The override about failed delegations.
    pub fallback: Option<Fallback>,
    /// The model whose window and latency they take, if that was typed; `Some(None)`: none.
    pub as_model: Option<Option<ModelProfile>>,
    /// Who plays, if that was typed.
    pub model: Option<&'a str>,
    /// The readers that play, each for itself; none: the ideal one.
    pub readers: &'a [ReaderProfile],
    /// The model at a provider or in a cassette that plays, if one does.
    pub provided: Option<&'a ProvidedModel>,
    /// Where to say what is left out.
    pub console: &'a Console,
}

/// The text of a file.
pub fn read_text(path: &Path) -> Result<String, Error> {
    guarded::file(path)?;
    std::fs::read_to_string(path).map_err(|why| match why.kind() {
        std::io::ErrorKind::InvalidData => Error::Input(format!("{}: it is not UTF-8 text: save it as UTF-8", path.display())),
        _ => Error::path("read", path, why),
    })
}

/// A scenario file, whose long texts may stand in files of its folder.
pub fn scenario_file(text: &str, path: &Path) -> Result<ScenarioFile, ScenarioErrors> {
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let beside = Arc::new(move |inside: &str| {
        let path = folder.join(inside);
        // That a report would be written over it is said before one is.
        let _ = guarded::file(&path);
        std::fs::read_to_string(&path).map_err(|why| Error::path("read", &path, why).to_string())
    });
    ScenarioFile::parse_beside(text, &path.display().to_string(), beside)
}

/// A name and a line for each built-in scenario.
pub fn builtin_lines() -> Vec<(String, String)> {
    let mut lines = Vec::new();
    // Variants stand behind their file's own scenario: each file is parsed once.
    let mut last: Option<(&str, ScenarioFile)> = None;
    for name in builtin_names() {
        let Some(text) = builtin(name) else { continue };
        if last.as_ref().is_none_or(|(known, _)| *known != text) {
            last = ScenarioFile::parse(text, name).ok().map(|file| (text, file));
        }
        if let Some((_, file)) = &last {
            let sizes: Vec<&str> = file.sizes().iter().map(|size| size.name()).collect();
            lines.push((name.to_owned(), format!("{} ({})", file.title(name), sizes.join(", "))));
        }
    }
    lines
}

/// Everything that was asked for, in the order in which it was typed; nothing typed: the built-in suite.
pub fn subjects(what: &[String], wanted: &Wanted<'_>) -> Result<Vec<Subject>, Error> {
    let mut found = Found::default();
    if what.is_empty() {
        for name in builtin_names() {
            found.builtin(name, wanted, Strictness::Offered)?;
        }
    }
    for one in what {
        found.typed(one, wanted)?;
    }
    found.finish(wanted.console)
}

/// What a check chooses from: the built-in suite, what lies in ./scenarios, and what is named; what is named later stands for
/// what has the same name. What lacks the wanted size or script is passed over, and so are built-in scenarios that `wants` says
/// no to.
pub fn offered(what: &[String], wanted: &Wanted<'_>, wants: &dyn Fn(&str) -> bool) -> Result<Vec<Subject>, Error> {
    let mut all: Vec<Subject> = Vec::new();
    let mut add = |subjects: Vec<Subject>| {
        let names: Vec<(String, String)> = subjects.iter().map(|one| (one.id.clone(), one.model.clone())).collect();
        all.retain(|one| !names.contains(&(one.id.clone(), one.model.clone())));
        all.extend(subjects);
    };
    let mut suite = Found::default();
    for name in builtin_names().into_iter().filter(|name| wants(name)) {
        suite.builtin(name, wanted, Strictness::Offered)?;
    }
    add(suite.whole()?);
    let folder = Path::new("scenarios");
    if folder.is_dir() {
        let mut found = Found { lenient: true, ..Found::default() };
        found.below(folder, wanted)?;
        add(found.whole()?);
    }
    for one in what {
        let mut found = Found { lenient: true, ..Found::default() };
        found.typed(one, wanted)?;
        add(found.whole()?);
    }
    Ok(all)
}

/// One scenario: a built-in one by its name, or the first of a file.
pub fn one_scenario(what: &str, console: &Console) -> Result<(ScenarioFile, String), Error> {
    let wrong = |errors: ScenarioErrors| Error::Input(errors.render(console.colour_err));
    if let Some(text) = builtin(what) {
        return Ok((ScenarioFile::parse(text, what).map_err(wrong)?, what.to_owned()));
    }
    let path = Path::new(what);
    if !looks_like_path(what) && !path.exists() {
        return Err(Error::Usage(unknown_scenario(what)));
    }
    let text = read_text(path)?;
    if !is_yaml(path, text.as_bytes()) {
        let why = "it is no scenario file, which is YAML (a recording has no parameters to vary)";
        return Err(Error::Input(format!("{}: {why}: give a built-in scenario or a scenario file", path.display())));
    }
    let file = scenario_file(&text, path).map_err(wrong)?;
    let id = file.ids().first().cloned().unwrap_or_default();
    Ok((file, id))
}

const NOTHING: &str = "no scenario, and no recording of a known format with a delegation, was found there";

/// Whether a scenario that lacks the wanted size or script is an error or left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strictness {
    /// It was asked for by name.
    Asked,
    /// It is one of many.
    Offered,
}

#[derive(Default)]
struct Found {
    subjects: Vec<Subject>,
    /// What is wrong with scenario files: all of it.
    wrong: Vec<String>,
    /// The scenarios that are not run, and why.
    left_out: Vec<String>,
    /// Whether what is named may lack the wanted size or player.
    lenient: bool,
}

impl Found {
    /// What was found; whatever is wrong with a file is an error.
    fn whole(self) -> Result<Vec<Subject>, Error> {
        if !self.wrong.is_empty() {
            let places = if self.wrong.len() == 1 { "this" } else { "these" };
            return Err(Error::Input(format!("nothing was run because of {places}:\n\n{}", self.wrong.join("\n\n"))));
        }
        Ok(self.subjects)
    }

    fn finish(self, console: &Console) -> Result<Vec<Subject>, Error> {
        if !self.wrong.is_empty() {
            return self.whole();
        }
        if self.subjects.is_empty() && !self.left_out.is_empty() {
            return Err(Error::Usage(format!("there is nothing to run:\n{}", self.left_out.join("\n"))));
        }
        self.left_out.iter().for_each(|why| console.warn(&format!("{why}: left out")));
        if self.subjects.is_empty() {
            return Err(Error::Input("there is nothing to run: no scenario and no recording was found".to_owned()));
        }
        Ok(self.subjects)
    }

    fn typed(&mut self, one: &str, wanted: &Wanted<'_>) -> Result<(), Error> {
        // A built-in name means the built-in scenario, whatever lies in the current folder: `./NAME` is the folder.
        if builtin_names().contains(&one) {
            return self.builtin(one, wanted, Strictness::Asked);
        }
        let path = Path::new(one);
        match std::fs::metadata(path) {
            Ok(what) if what.is_dir() => self.folder(path, wanted),
            Ok(_) => self.file(path, wanted, Strictness::Asked),
            Err(why) if looks_like_path(one) || why.kind() != std::io::ErrorKind::NotFound => Err(Error::path("read", path, why)),
            Err(_) => Err(Error::Usage(unknown_scenario(one))),
        }
    }

    fn builtin(&mut self, name: &str, wanted: &Wanted<'_>, strictness: Strictness) -> Result<(), Error> {
        let text = builtin(name).ok_or_else(|| Error::Internal(format!("the built-in scenario `{name}` has no text")))?;
        self.scenarios(ScenarioFile::parse(text, name), name, Some(name), wanted, strictness)
    }

    fn folder(&mut self, folder: &Path, wanted: &Wanted<'_>) -> Result<(), Error> {
        if !self.below(folder, wanted)? {
            self.wrong.push(format!("{}: {NOTHING}", folder.display()));
        }
        Ok(())
    }

    /// The scenarios and the recordings of a folder and below; whether there is any of them.
    fn below(&mut self, folder: &Path, wanted: &Wanted<'_>) -> Result<bool, Error> {
        let files = files_below(folder, &YAML)?;
        if files.is_empty() {
            return self.recordings_below(folder, wanted);
        }
        // Of both, those are run that the player can play.
        match wanted.model {
            Some("held") => self.left_out.push(format!("the scenarios of {} are not played by `held`", folder.display())),
            _ => files.iter().try_for_each(|path| self.file(path, wanted, Strictness::Offered))?,
        }
        let held = wanted.model.is_none_or(|model| model == "held");
        let mut files = if held || !self.lenient { files_below(folder, &RECORDINGS)? } else { vec![] };
        // Among scenarios, what ends like a recording may be anything.
        files.retain(|path| {
            let opened = if path.is_file() { std::fs::File::open(path).map(drop) } else { return false };
            opened.inspect_err(|why| wanted.console.warn(&format!("cannot read {}: {why}: left out", path.display()))).is_ok()
        });
        let imported = read_found(&files)?;
        match wanted.model.filter(|_| !held) {
            _ if imported.report.files == 0 => {}
            Some(model) => self.left_out.push(format!("the recordings of {} are not played by `{model}`", folder.display())),
            None => {
                let done = self.sessions(&imported, folder, wanted, Strictness::Offered);
                if imported.sessions.is_empty() {
                    wanted.console.warn(&format!("recordings of {} hold no session: left out", folder.display()));
                } else if let Some(why) = done.err().filter(|why| why != NOTHING) {
                    wanted.console.warn(&format!("recordings of {}: {why}: left out", folder.display()));
                }
            }
        }
        Ok(true)
    }

    /// The recordings of a folder without scenarios; whether there is any.
    fn recordings_below(&mut self, folder: &Path, wanted: &Wanted<'_>) -> Result<bool, Error> {
        if let Some(model) = wanted.model.filter(|model| *model != "held") {
            return if self.lenient { Ok(true) } else { Err(not_played(folder, model)) };
        }
        let imported = read_recordings(&[folder.to_owned()], &Options::default())?;
        if imported.sessions.is_empty() {
            return Ok(false);
        }
        if let Err(why) = self.sessions(&imported, folder, wanted, Strictness::Offered) {
            self.wrong.push(format!("{}: {why}", folder.display()));
        }
        Ok(true)
    }

    fn file(&mut self, path: &Path, wanted: &Wanted<'_>, strictness: Strictness) -> Result<(), Error> {
        guarded::file(path)?;
        let bytes = std::fs::read(path).map_err(|why| Error::path("read", path, why))?;
        if !is_yaml(path, &bytes) {
            return self.recordings(path, wanted, strictness);
        }
        let text = String::from_utf8(bytes).map_err(|_| Error::Input(format!("{} is not UTF-8 text: save it as UTF-8", path.display())))?;
        self.scenarios(scenario_file(&text, path), &path.display().to_string(), None, wanted, strictness)
    }

    fn recordings(&mut self, path: &Path, wanted: &Wanted<'_>, strictness: Strictness) -> Result<(), Error> {
        if wanted.model.is_some_and(|model| model != "held") {
            if self.lenient {
                return Ok(());
            }
            return Err(not_played(path, wanted.model.unwrap_or_default()));
        }
        let imported = read_recordings(&[path.to_owned()], &Options::default())?;
        if let Err(why) = self.sessions(&imported, path, wanted, strictness) {
            self.wrong.push(format!("{}: {why}", path.display()));
        }
        Ok(())
    }

    /// What of recordings can be held. `Err`: why nothing can.
    fn sessions(&mut self, imported: &Imported, path: &Path, wanted: &Wanted<'_>, strictness: Strictness) -> Result<(), String> {
        if !imported.report.bad_lines.is_empty() {
            let count = imported.report.bad_lines.len();
            let lines = if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
            wanted.console.warn(&format!("{lines} of {} could not be read: `ctxbench import` names them", path.display()));
        }
        let (mut unusable, mut alone) = (Vec::new(), 0);
        let before = self.subjects.len();
        for (at, session) in imported.sessions.iter().enumerate().filter(|(_, session)| session.parent_at.is_none()) {
            // Without a delegation all strategies are alike.
            if session.delegations.is_empty() && strictness == Strictness::Offered {
                alone += 1;
                continue;
            }
            match recorded(imported, at, wanted) {
                Ok(subject) => self.subjects.push(subject),
                Err(why) => unusable.push(why.to_string()),
            }
        }
        if alone > 0 {
            let sessions = if alone == 1 { "1 session".to_owned() } else { format!("{alone} sessions") };
            wanted
                .console
                .warn(&format!("{sessions} of {} without a delegation: left out (all strategies are alike there)", path.display()));
        }
        if self.subjects.len() > before {
            unusable.iter().for_each(|why| wanted.console.warn(&format!("{why}: left out")));
            return Ok(());
        }
        Err(if unusable.is_empty() { NOTHING.to_owned() } else { unusable.join("\n") })
    }

    fn scenarios(
        &mut self,
        file: Result<ScenarioFile, ScenarioErrors>,
        name: &str,
        only: Option<&str>,
        wanted: &Wanted<'_>,
        strictness: Strictness,
    ) -> Result<(), Error> {
        if wanted.model == Some("held") {
            return Err(Error::Usage(format!("{name} is a scenario, which `held` cannot play: leave --model out, or give recordings")));
        }
        let file = match file {
            Ok(file) => file,
            Err(errors) => {
                self.wrong.push(errors.render(wanted.console.colour_err));
                return Ok(());
            }
        };
        if !file.sizes().contains(&wanted.size) {
            let sizes: Vec<&str> = file.sizes().iter().map(|size| size.name()).collect();
            let message = format!("{name} has no size {}; it has {}", wanted.size.name(), sizes.join(", "));
            return self.leave_out(message, strictness);
        }
        // The scenarios of a file are variants of its first.
        let family = file.ids().first().filter(|_| file.ids().len() > 1).map(|first| (*first).to_string());
        for id in file.ids().iter().filter(|id| only.is_none_or(|only| only == *id)) {
            match file.compile(id, wanted.size, &BTreeMap::new()) {
                Ok(scenario) if wanted.provided.is_some() => {
                    let provided = wanted.provided.map(|provided| provided.subject(scenario, wanted));
                    self.subjects.extend(provided.map(|subject| Subject { family: family.clone(), ..subject }));
                }
                Ok(scenario) if wanted.model != Some("script") => {
                    let simulated = simulated_each(scenario, wanted).into_iter();
                    self.subjects.extend(simulated.map(|subject| Subject { family: family.clone(), ..subject }));
                }
                Ok(scenario) if scenario.script.is_empty() => {
                    let message = format!("{id} has no script, so `script` cannot play it: write one into its file, under `script`");
                    self.leave_out(message, strictness)?;
                }
                Ok(scenario) => self.subjects.push(Subject { family: family.clone(), ..scripted(scenario, wanted)? }),
                Err(errors) => {
                    let shown = errors.render(wanted.console.colour_err);
                    // What is wrong in every variant of a file is said once.
                    if !self.wrong.contains(&shown) {
                        self.wrong.push(shown);
                    }
                }
            }
        }
        Ok(())
    }

    fn leave_out(&mut self, why: String, strictness: Strictness) -> Result<(), Error> {
        if strictness == Strictness::Asked && !self.lenient {
            return Err(Error::Usage(why));
        }
        self.left_out.push(why);
        Ok(())
    }
}

/// That a player that was typed cannot play a recording.
fn not_played(path: &Path, model: &str) -> Error {
    Error::Usage(format!("{} is a recording, which `{model}` cannot play: leave --model out", path.display()))
}

/// A scenario with its script. It is scored as any other run.
fn scripted(scenario: Scenario, wanted: &Wanted<'_>) -> Result<Subject, Error> {
    let scenario = Arc::new(scenario);
    let script = Script::of(&scenario).map_err(|why| Error::Input(format!("{}: {why}", scenario.id)))?;
    let unfit = script.delegates().then(|| ("inline".to_owned(), "its script delegates".to_owned()));
    let script = Arc::new(script);
    let scorer = Arc::new(Scorer::new(scenario.clone()));
    let casting: Casting = Arc::new(move |_| script.clone());
    let subject = Subject::of_scenario(scenario, "script", Evidence::Scripted, casting, Ok(scorer));
    Ok(Subject { profile: wanted.as_model.unwrap_or(Some(MODELS[0])), unfit: unfit.into_iter().collect(), ..subject })
}

/// A scenario with the ideal reader.
pub fn simulated(scenario: Scenario, wanted: &Wanted<'_>) -> Option<Subject> {
    simulated_each(scenario, &Wanted { readers: &[], ..*wanted }).pop()
}

/// A scenario with each of the wanted readers.
fn simulated_each(scenario: Scenario, wanted: &Wanted<'_>) -> Vec<Subject> {
    let ideal = [ReaderProfile::default()];
    let profiles = if wanted.readers.is_empty() { &ideal } else { wanted.readers };
    let scenario = Arc::new(scenario);
    let mut reader = Reader::new(scenario.clone());
    let scorer = Arc::new(Scorer::with_markers(scenario.clone(), reader.index()));
    (reader.briefing, reader.fallback) = (wanted.briefing, wanted.fallback);
    let with = |&profile: &ReaderProfile| {
        let mut reader = reader.clone();
        reader.profile = profile;
        let casting: Casting = Arc::new(move |strategy| {
            let mut reader = reader.clone();
            reader.hands_history_down = strategy.hands_history_down();
            Arc::new(reader)
        });
        let subject = Subject::of_scenario(scenario.clone(), &profile.to_string(), Evidence::Simulated, casting, Ok(scorer.clone()));
        let remark: Remark = Arc::new(move |_| profile.assumptions());
        Subject { profile: wanted.as_model.unwrap_or(Some(MODELS[0])), remark, ..subject }
    };
    profiles.iter().map(with).collect()
}

/// A recording, held. Its own model's window counts, where the recording names one that is known.
fn recorded(imported: &Imported, at: usize, wanted: &Wanted<'_>) -> Result<Subject, HeldError> {
    let subject = Subject::of_recording(imported, at)?;
    let own = subject.recorded_model.as_deref().and_then(model_profile);
    Ok(Subject { profile: wanted.as_model.unwrap_or(own.or(Some(MODELS[0]))), ..subject })
}

fn unknown_scenario(name: &str) -> String {
    let known = builtin_names();
    format!(
        "there is no built-in scenario, file or folder `{name}`{} `ctxbench list scenarios` names all",
        suggestion_or_stop(name, known.iter().copied())
    )
}

/// A name with a separator or a usual ending was meant as a path.
fn looks_like_path(name: &str) -> bool {
    let endings = [".yaml", ".yml", ".json", ".jsonl"];
    name.contains(['/', '\\']) || name.starts_with('.') || endings.iter().any(|ending| name.ends_with(ending))
}

/// Scenario files are YAML by name, or by content: text that does not begin like JSON.
fn is_yaml(path: &Path, bytes: &[u8]) -> bool {
    if ends_with(path, &YAML) {
        return true;
    }
    let start = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let first = start.iter().find(|byte| !byte.is_ascii_whitespace());
    first.is_some_and(|byte| !matches!(byte, b'{' | b'[')) && std::str::from_utf8(bytes).is_ok()
}

/// How scenario files end.
const YAML: [&str; 2] = ["yaml", "yml"];
/// How recordings end that stand among scenarios.
const RECORDINGS: [&str; 2] = ["jsonl", "json"];

fn ends_with(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|own| endings.iter().any(|ending| own.eq_ignore_ascii_case(ending)))
}

/// The files of these endings in a folder and below, in the order of their paths.
fn files_below(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        let entries = std::fs::read_dir(&at).map_err(|why| Error::path("read", &at, why))?;
        for entry in entries {
            let entry = entry.map_err(|why| Error::path("read", &at, why))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(|why| Error::path("read", &path, why))?;
            // Links to folders are not followed: they may lead round in a circle.
            if kind.is_dir() {
                folders.push(path);
            } else if ends_with(&path, endings) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
