//! What real clients sent: a recorded run of a client (`ctxbench-wire/1`) against the same run of its strategy.
//!
//! A file holds every request of one run. From what the requests repeat is read what models, tools and the user said
//! ([`plan`]); what no request repeats is found by probes ([`unseen`]). Then the strategy that the file names plays that run
//! once, through the engine, with its measured scaffold, and its requests are compared with the recorded ones
//! ([`compare`]). Neither a file's name nor any text in it decides anything.

mod align;
mod anthropic;
mod bind;
mod chat;
mod compare;
mod entry;
mod family;
mod fields;
mod file;
mod glob;
mod judge;
mod plan;
mod play;
mod replies;
mod responses;
mod text;
mod threads;
mod unseen;

use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::strategy::{Registry, Strategy};

use super::difference::Difference;
use super::file::Refused;
use super::json::Json;

use family::Family;
use file::{Wire, written};
use plan::Plan;
use play::{Played, Sent, part_json, play};
use threads::Threads;

pub(super) use file::FORMAT;

/// A file that can be played.
pub(super) struct Case {
    run: String,
    spec: String,
    strategy: Arc<dyn Strategy>,
    wire: Wire,
}

impl Case {
    /// Reads a file.
    ///
    /// # Errors
    /// It is no such file; the strategy that it names, a profile or an option of it is not built here.
    pub(super) fn read(file: &Json) -> Result<Case, Refused> {
        let wire = Wire::read(file).map_err(Refused::Unreadable)?;
        let choices = Registry::builtin().parse(&wire.strategy).map_err(|why| Refused::UnknownStrategy(why.to_string()))?;
        match choices.as_slice() {
            [choice] => Ok(Case { run: wire.run.clone(), spec: wire.strategy.clone(), strategy: choice.build(), wire }),
            _ => Err(Refused::Unreadable(format!("`strategy` is `{}`: it must be one, with one profile", wire.strategy))),
        }
    }

    /// The run's name.
    pub(super) fn name(&self) -> &str {
        &self.run
    }

    fn played(&self) -> Result<(Rc<Threads>, Rc<Plan>, Played, Family), String> {
        let threads = Rc::new(Threads::of(&self.wire)?);
        let plan = Rc::new(Plan::of(&threads)?);
        // A run without a request of the root is refused when it is read.
        let family = threads.root.first().map_or(Family::Chat, |request| request.family);
        let unseen = unseen::unseen(&*self.strategy, &threads, &plan, family);
        let played = play(&*self.strategy, &threads, &plan, &unseen, family);
        Ok((threads, plan, played, family))
    }

    /// Where the strategy's run differs.
    ///
    /// # Errors
    /// What the recording lacks to be played again.
    pub(super) fn differences(&self) -> Result<Vec<Difference>, String> {
        let (threads, plan, played, _) = self.played()?;
        Ok(compare::differences(&threads, &plan, &played, self.strategy.has_scaffold()))
    }

    /// The strategy's run, as a file.
    ///
    /// # Errors
    /// As [`Case::differences`].
    pub(super) fn emitted(&self) -> Result<Json, String> {
        let (threads, _, played, family) = self.played()?;
        let path = threads.root.first().map_or("", |request| &request.path);
        let requests = played.all.iter().enumerate().map(|(at, (thread, sent))| request(at + 1, path, thread, sent, family));
        Ok(written(IndexMap::from([
            ("format", FORMAT.into()),
            ("run", self.run.as_str().into()),
            ("strategy", self.spec.as_str().into()),
            ("requests", Json::List(requests.collect())),
        ])))
    }
}

/// A request of the strategy's run, as a file has it.
fn request(number: usize, path: &str, thread: &str, sent: &Sent, family: Family) -> Json {
    let whose = if thread == "/" { "root" } else { "child" };
    let tools = Json::object([("count", usize::try_from(sent.tools).unwrap_or(usize::MAX).into())]);
    let mut fields = IndexMap::from([
        ("n", number.into()),
        ("path", path.into()),
        ("thread", whose.into()),
        ("headers", Json::object([("thread-id", thread.into())])),
        ("tools", tools),
    ]);
    if let Some(system) = &sent.system {
        let (key, text) = match family {
            Family::Anthropic => ("system", Json::List(vec![Json::object([("type", "text".into()), ("text", part_json(system))])])),
            Family::Chat | Family::Responses => ("instructions", part_json(system)),
        };
        fields.insert(key, text);
    }
    fields.insert("items", Json::List(compare::items(family, &sent.entries)));
    written(fields)
}
