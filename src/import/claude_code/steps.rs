//! A thread's own part as the model saw it, in order.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::import::{Call, CallResult, Response, Step};
use crate::transcript::{Body, CallKey, Item, Origin, Part, Role, ToolCall};

use super::block::Block;
use super::link::Linked;
use super::row::{Kind, Row};
use super::thread::{Site, Worked};

/// Steps of the active branch. `mine` are the thread's delegations, in order.
pub fn steps(one: &Worked, mine: &[&Linked], rows: &[Row]) -> Vec<Step> {
    let mut calls: HashMap<usize, Vec<usize>> = HashMap::default();
    for (which, site) in one.calls.iter().enumerate() {
        calls.entry(site.call.0).or_default().push(which);
    }
    let mut building = Building { one, mine, rows, calls, steps: vec![], places: HashMap::default(), ready_ms: Ok(None), begun: false };
    for (place, &at) in one.ordered.rows.iter().enumerate() {
        if one.inherited[place] || one.ordered.rewound[place] {
            continue;
        }
        match rows[at].kind {
            Kind::Assistant => building.response_row(at),
            Kind::User => building.user_row(at),
            Kind::Attachment => building.attachment(at),
            Kind::Synthetic => {
                let parts = texts(&rows[at]);
                building.input(vec![Item::new(Body::Context { kind: "notice".into(), parts }, Origin::User)]);
            }
            Kind::Structure => {}
        }
    }
    building.finish()
}

/// A record without a readable time.
#[derive(Clone, Copy)]
struct NoStamp;

struct Building<'a> {
    one: &'a Worked,
    mine: &'a [&'a Linked],
    rows: &'a [Row],
    /// The calls of each record.
    calls: HashMap<usize, Vec<usize>>,
    steps: Vec<Step>,
    /// Where each response stands among the steps.
    places: HashMap<usize, usize>,
    /// The latest stamp of what came in since the last response; `Err`: one of those has no stamp.
    ready_ms: Result<Option<i64>, NoStamp>,
    /// Whether the thread's first message is through.
    begun: bool,
}

impl Building<'_> {
    fn input(&mut self, items: Vec<Item>) {
        match self.steps.last_mut() {
            Some(Step::Input(all)) => all.extend(items),
            _ => self.steps.push(Step::Input(items)),
        }
    }

    fn came_in(&mut self, row: &Row) {
        self.ready_ms = match (self.ready_ms, row.at_ms) {
            (Ok(latest), Some(at)) => Ok(latest.max(Some(at))),
            _ => Err(NoStamp),
        };
    }

    fn response_row(&mut self, at: usize) {
        let Some(&which) = self.one.response_of.get(&at) else { return };
        let work = &self.one.responses[which];
        let place = match self.places.get(&which) {
            Some(&place) => place,
            None => {
                let waited = match (work.last_ms, self.ready_ms) {
                    (Some(last), Ok(Some(ready))) => u64::try_from(last - ready).ok(),
                    _ => None,
                };
                self.steps.push(Step::Response(Response {
                    usage: work.usage,
                    estimated: work.estimated,
                    model: work.model.as_deref().map(str::to_owned),
                    duration_ms: waited.filter(|ms| *ms > 0),
                    ..Response::default()
                }));
                // Without anything that comes in, the next request can go when this reply is there.
                self.ready_ms = Ok(None);
                self.places.insert(which, self.steps.len() - 1);
                self.steps.len() - 1
            }
        };
        let mut calls = self.calls_of(at);
        if let Some(Step::Response(response)) = self.steps.get_mut(place) {
            for block in &self.rows[at].blocks {
                match block {
                    Block::Text(part) if !part.as_text().is_empty() => {
                        if !response.text.is_empty() {
                            response.text.push_str("\n\n");
                        }
                        response.text.push_str(part.as_text());
                    }
                    Block::Thinking(part) | Block::Opaque(part) => response.reasoning.push(part.clone()),
                    _ => {}
                }
            }
            response.calls.append(&mut calls);
        }
        if self.steps.len() == place + 1 {
            self.came_in(&self.rows[at]);
        }
    }

    fn calls_of(&self, at: usize) -> Vec<Call> {
        let mut calls = Vec::new();
        for &which in self.calls.get(&at).into_iter().flatten() {
            let site = &self.one.calls[which];
            let Some(block) = site.block(self.rows) else { continue };
            let agent = block.collects.as_deref();
            let of_agent = |linked: &&&Linked| {
                let outcome = self.one.calls[linked.call].answer(self.rows).and_then(|(row, _)| row.outcome.as_deref());
                outcome.and_then(|outcome| outcome.agent.as_deref()) == agent
            };
            calls.push(Call {
                id: block.id.to_string(),
                name: block.name.to_string(),
                args: block.args.clone(),
                result: self.result(site),
                delegation: self.mine.iter().position(|linked| linked.call == which),
                collects: agent.and_then(|_| self.mine.iter().position(|linked| of_agent(&linked))),
            });
        }
        calls
    }

    /// A call starts when its reply is complete, or with its own block if its result is older than that.
    fn result(&self, site: &Site) -> Option<CallResult> {
        let (row, result) = site.answer(self.rows)?;
        let complete = self.one.response_of.get(&site.call.0).and_then(|&which| self.one.responses[which].last_ms);
        let begun = complete.filter(|complete| row.at_ms.is_some_and(|ended| *complete <= ended)).or(self.rows[site.call.0].at_ms);
        let ms = match (begun, row.at_ms) {
            (Some(begun), Some(ended)) => u64::try_from(ended - begun).ok(),
            _ => None,
        };
        Some(CallResult { parts: result.parts.clone(), failed: result.failed, ms: ms.filter(|ms| *ms > 0) })
    }

    fn user_row(&mut self, at: usize) {
        let row = &self.rows[at];
        self.came_in(row);
        let parts = texts(row);
        if parts.is_empty() {
            return;
        }
        let child = self.one.thread.is_child();
        let origin = if child && !self.begun { Origin::Task } else { Origin::User };
        self.begun = true;
        if row.summary {
            self.input(vec![Item::new(Body::Compaction { parts }, Origin::Compaction)]);
            return;
        }
        let reminder = parts.iter().all(|part| part.as_text().trim_start().starts_with("<system-reminder>"));
        let item = Item::new(Body::Message { role: Role::User, phase: None, parts }, origin);
        let item = if row.meta || reminder { item.hide() } else { item };
        match row.notice.as_ref().and_then(|notice| self.noticed(notice)) {
            Some(delegation) => self.steps.push(Step::Notice { delegation, items: vec![item] }),
            None => self.input(vec![item]),
        }
    }

    fn noticed(&self, notice: &super::outcome::Notice) -> Option<usize> {
        self.mine.iter().position(|linked| {
            let site = &self.one.calls[linked.call];
            let by_call = notice.call.is_some() && site.block(self.rows).map(|call| &*call.id) == notice.call.as_deref();
            let agent = site.answer(self.rows).and_then(|(row, _)| row.outcome.as_ref()?.agent.as_deref());
            by_call || (agent.is_some() && agent == notice.task.as_deref())
        })
    }

    fn attachment(&mut self, at: usize) {
        let parts = texts(&self.rows[at]);
        if !parts.is_empty() {
            self.input(vec![Item::new(Body::Message { role: Role::User, phase: None, parts }, Origin::User).hide()]);
        }
    }

    fn finish(mut self) -> Vec<Step> {
        for work in &self.one.responses {
            let Some(text) = &work.unwritten else { continue };
            self.steps.push(Step::Response(Response {
                text: text.as_ref().map(|part| part.as_text().to_owned()).unwrap_or_default(),
                usage: work.usage,
                model: work.model.as_deref().map(str::to_owned),
                unwritten: true,
                ..Response::default()
            }));
        }
        self.steps
    }
}

/// A row's texts and opaque parts; results are none.
fn texts(row: &Row) -> Vec<Part> {
    let parts = row.blocks.iter().filter_map(|block| match block {
        Block::Text(part) | Block::Opaque(part) => Some(part.clone()),
        _ => None,
    });
    parts.filter(|part| !matches!(part.content(), crate::transcript::Content::Text(text) if text.is_empty())).collect()
}

/// What the thread was handed: history by reference, copies, and the results that its own part holds for their calls.
pub fn inherited(one: &Worked, reference: &[usize], rows: &[Row]) -> Vec<Item> {
    let mut keys: HashMap<&str, CallKey> = HashMap::default();
    let mut next = 0;
    let mut items = Vec::new();
    let copies = one.ordered.rows.iter().enumerate().filter(|(place, _)| one.inherited[*place] && !one.ordered.rewound[*place]);
    for at in reference.iter().copied().chain(copies.map(|(_, &at)| at)) {
        let row = &rows[at];
        for block in &row.blocks {
            let body = match block {
                Block::Text(part) if row.summary => Body::Compaction { parts: vec![part.clone()] },
                Block::Text(part) | Block::Opaque(part) => {
                    let role = if row.kind == Kind::Assistant { Role::Assistant } else { Role::User };
                    Body::Message { role, phase: None, parts: vec![part.clone()] }
                }
                Block::Thinking(part) => Body::Reasoning { parts: vec![part.clone()] },
                Block::Call(call) => {
                    let key = CallKey(next);
                    next += 1;
                    keys.insert(&call.id, key);
                    Body::Call(ToolCall {
                        key,
                        id: call.id.to_string(),
                        name: call.name.to_string(),
                        args: call.args.clone(),
                        intent: None,
                        recorded: None,
                    })
                }
                Block::Result(result) => {
                    let key = keys.get(&*result.id).copied();
                    Body::Result { key, parts: result.parts.clone(), failed: result.failed }
                }
            };
            items.push(Item::new(body, Origin::Inherited));
        }
    }
    let own: HashSet<usize> = one.own_rows(rows).map(|(at, _)| at).collect();
    for site in one.calls.iter().filter(|site| !site.own) {
        let (Some(call), Some((_, result)), Some((at, _))) = (site.block(rows), site.answer(rows), site.result) else { continue };
        if let (true, Some(&key)) = (own.contains(&at), keys.get(&*call.id)) {
            items.push(Item::new(Body::Result { key: Some(key), parts: result.parts.clone(), failed: result.failed }, Origin::Inherited));
        }
    }
    items
}
