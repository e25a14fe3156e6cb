//! Claude Code's session files, one JSON object a line (checked on files of versions 1.0.98 to 2.1.197).
//!
//! A response is written as several rows, one content block each, with its usage on every row, so rows are grouped by
//! response and usage is taken once, as the field-wise maximum. Steps: records ([`row`], [`block`]), threads
//! ([`threads`]), order ([`order`]), what is own ([`thread`]), delegations ([`link`]), spend ([`spend`]), steps
//! ([`steps`]), sessions ([`assemble`]).

mod assemble;
mod block;
mod link;
mod order;
mod outcome;
mod row;
mod spend;
mod steps;
mod thread;
mod threads;
mod wire;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memmem;
use serde::Deserialize;

use super::paths::Found;
use super::{Detail, Format, Options, Place, Report, Session, Source};
use outcome::Notice;
use row::{ForkRef, Kind, Names, Parsed, Reading, Row};
use threads::FileInfo;

/// What `agent-ID.meta.json` says about a child.
#[derive(Clone, Debug, Default)]
struct Meta {
    agent_type: Option<String>,
    tool_use_id: Option<String>,
    spawn_depth: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireMeta<'a> {
    #[serde(borrow)]
    agent_type: wire::Raw<'a>,
    #[serde(borrow)]
    tool_use_id: wire::Raw<'a>,
    #[serde(borrow)]
    spawn_depth: wire::Raw<'a>,
}

impl WireMeta<'_> {
    /// What it says, and which of its fields is of a type that says nothing.
    fn read(&self) -> (Meta, Option<String>) {
        let text = |raw: &wire::Raw<'_>| raw.string().map(|text| text.into_owned());
        let number = |raw: &wire::Raw<'_>| serde_json::from_str::<wire::Number>(raw.get()?).ok()?.0;
        let [agent_type, tool_use_id] = [&self.agent_type, &self.tool_use_id].map(text);
        let spawn_depth = number(&self.spawn_depth);
        let fields = [
            ("agentType", self.agent_type.is_some(), agent_type.is_some(), "text"),
            ("toolUseId", self.tool_use_id.is_some(), tool_use_id.is_some(), "text"),
            ("spawnDepth", self.spawn_depth.is_some(), spawn_depth.is_some(), "whole number"),
        ];
        let odd = fields.into_iter().find(|(_, there, read, _)| *there && !read);
        let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
        let meta = Meta { agent_type: filled(agent_type), tool_use_id: filled(tool_use_id), spawn_depth };
        (meta, odd.map(|(name, _, _, what)| format!("`{name}` is no {what}: left out")))
    }
}

/// The records of an import, as far as read.
pub(super) struct ClaudeCode {
    keep: bool,
    delegating: Vec<String>,
    names: Names,
    files: Vec<FileInfo>,
    asked: Vec<Option<PathBuf>>,
    metas: BTreeMap<PathBuf, Meta>,
    paths: Vec<PathBuf>,
    rows: Vec<Row>,
    notices: Vec<(Option<Arc<str>>, Notice)>,
    forks: Vec<ForkRef>,
}

impl ClaudeCode {
    pub(super) fn new(options: &Options) -> ClaudeCode {
        // `Task` up to 2.0, `Agent` since 2.1.
        let mut delegating = vec!["Task".to_owned(), "Agent".to_owned()];
        delegating.extend(options.delegation_tools.iter().cloned());
        ClaudeCode {
            keep: options.detail == Detail::Steps,
            delegating,
            names: Names::default(),
            files: vec![],
            asked: vec![],
            metas: BTreeMap::new(),
            paths: vec![],
            rows: vec![],
            notices: vec![],
            forks: vec![],
        }
    }

    fn row(&mut self, row: Row, report: &mut Report) {
        let conversation = matches!(row.kind, Kind::User | Kind::Assistant | Kind::Synthetic);
        if conversation {
            report.account.conversation += 1;
        } else {
            report.account.beside += 1;
        }
        self.rows.push(row);
    }
}

impl Format for ClaudeCode {
    fn source(&self) -> Source {
        Source::ClaudeCode
    }

    fn recognises(&self, record: &str) -> bool {
        row::recognises(record)
    }

    fn left_traces(&self, line: &[u8]) -> bool {
        ["\"parentUuid\"", "\"isSidechain\""].iter().any(|key| memmem::find(line, key.as_bytes()).is_some())
    }

    fn begin(&mut self, file: &Found) {
        self.files.push(FileInfo { shown: file.shown.clone(), stem: file.stem(), ..FileInfo::default() });
        self.paths.push(file.path.clone());
        self.asked.push(file.asked.then(|| file.path.parent().unwrap_or(Path::new("")).to_owned()));
    }

    fn take(&mut self, place: Place<'_>, record: &str, report: &mut Report) -> Result<Option<String>, String> {
        // `begin` came before: there is a file.
        let file = self.files.len() - 1;
        debug_assert_eq!(self.files[file].shown, place.file.shown);
        let reading = Reading { file, line: place.line, keep: self.keep, delegating: &self.delegating };
        let (parsed, heading, lost) = row::parse(record, &reading, &mut self.names)?;
        let info = &mut self.files[file];
        if let Some(session) = heading.session {
            info.names_itself |= *session == *info.stem;
            info.last_session = Some(session);
        }
        info.version = heading.version.or(info.version.take());
        info.folder = info.folder.take().or(heading.folder);
        info.agent_kind = info.agent_kind.take().or(heading.agent_kind);
        match parsed {
            Parsed::Row(row) => self.row(*row, report),
            Parsed::Copy(place, copy) => {
                if place.uuid.is_some() {
                    self.rows.push(*place);
                }
                self.row(*copy, report);
            }
            Parsed::Notice(session, notice) => {
                report.account.beside += 1;
                self.notices.push((session, notice));
            }
            Parsed::Fork(fork) => {
                report.account.beside += 1;
                self.forks.push(fork);
            }
            Parsed::Nothing => report.account.beside += 1,
            Parsed::Unknown(name) => {
                report.account.unknown += 1;
                *report.unknown_types.entry(name).or_insert(0) += 1;
            }
        }
        Ok(lost)
    }

    fn take_sidecar(&mut self, of: &Found, text: &str) -> Result<Option<String>, String> {
        if !text.starts_with('{') {
            return Err("not a JSON object".into());
        }
        let read = |text: &str| serde_json::from_str::<WireMeta<'_>>(text).map(|wire| wire.read());
        let read = read(text).or_else(|error| wire::keys_once(text).map_or(Err(error), |once| read(&once)));
        let (meta, lost) = read.map_err(|error| error.to_string())?;
        self.metas.insert(of.path.clone(), meta);
        Ok(lost)
    }

    fn files_named(&self) -> Vec<PathBuf> {
        // 2.0 wrote a child's file beside the session's.
        let agents = |row: &Row| row.outcome.as_ref().and_then(|outcome| outcome.agent.clone());
        let named = self.rows.iter().filter_map(|row| Some((self.asked.get(row.file)?.as_ref()?, agents(row)?)));
        named
            .filter(|(_, agent)| agent.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'))
            .map(|(folder, agent)| folder.join(format!("agent-{agent}.jsonl")))
            .collect()
    }

    fn finish(mut self: Box<Self>, report: &mut Report) -> Vec<Session> {
        for (info, path) in self.files.iter_mut().zip(&self.paths) {
            info.meta = self.metas.get(path).cloned();
        }
        let recording =
            assemble::Recording { rows: &self.rows, files: &self.files, notices: &self.notices, forks: &self.forks, steps: self.keep };
        recording.sessions(report)
    }
}
