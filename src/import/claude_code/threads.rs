//! Which thread each record belongs to.
//!
//! Four layouts of children: inline in the parent's file (no agent id, a tree of their own), files beside the session,
//! files below `SESSION/subagents/`, and copies inside `progress` records. A thread is known by its session and agent,
//! so that one child in two layouts is one thread.

use std::sync::Arc;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::import::Report;
use crate::transcript::Digest;

use super::block::Block;
use super::row::{Kind, Parent, Row};

/// What is known of a file.
#[derive(Clone, Debug, Default)]
pub struct FileInfo {
    /// Its path as reports show it.
    pub shown: String,
    /// Its name without the extension.
    pub stem: String,
    /// The session id of its last record that has one.
    pub last_session: Option<Arc<str>>,
    /// Whether a record's session id is the file's name.
    pub names_itself: bool,
    /// Product version, of the last record that says it.
    pub version: Option<Arc<str>>,
    /// Working folder, of the first record that says it.
    pub folder: Option<Arc<str>>,
    /// Agent kind, of the first record that says it.
    pub agent_kind: Option<Arc<str>>,
    /// What the file beside it says.
    pub meta: Option<super::Meta>,
}

impl FileInfo {
    /// The id of the file's main thread.
    pub fn main_id(&self) -> Arc<str> {
        if self.names_itself {
            return self.stem.as_str().into();
        }
        self.last_session.clone().unwrap_or_else(|| self.stem.as_str().into())
    }

    /// The child's id that the file's name gives (`agent-ID.jsonl`).
    pub fn agent_from_name(&self) -> Option<&str> {
        self.stem.strip_prefix("agent-").filter(|id| !id.is_empty())
    }
}

/// What makes a thread the same thread in two files.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// A session's main thread.
    Main(Arc<str>),
    /// A child agent of a session.
    Agent(Arc<str>, Arc<str>),
    /// An inline child: the file and the row that begins its tree.
    Inline(usize, usize),
}

/// A thread and its records, in order of files and lines.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Which.
    pub identity: Identity,
    /// Its id.
    pub id: String,
    /// The session that it belongs to, itself or as a child.
    pub family: Arc<str>,
    /// The file of its first record.
    pub file: usize,
    /// Its records: indices, duplicates left out.
    pub rows: Vec<usize>,
    /// The duplicates: their usage may be more than the record's own.
    pub repeats: Vec<usize>,
    /// The call that its side names: the file beside it, or the copies.
    pub opened_by: Option<Arc<str>>,
    /// How deep the file beside it says that it is.
    pub depth: u64,
}

impl Thread {
    /// Whether it is a child by its records.
    pub fn is_child(&self) -> bool {
        !matches!(self.identity, Identity::Main(_))
    }
}

/// Sorts the records into threads; duplicates are counted and left out.
pub fn split(rows: &[Row], files: &[FileInfo], report: &mut Report) -> Vec<Thread> {
    let inline = inline_roots(rows);
    let mut threads: Vec<Thread> = Vec::new();
    let mut places: HashMap<Identity, usize> = HashMap::default();
    let mut seen: HashSet<(usize, Digest)> = HashSet::default();
    // Copies last: where a child has its own file, the file's rows are the records and the copies repeat them.
    let copies = |row: &Row| row.copy_of.is_some();
    let order = (0..rows.len()).filter(|&at| !copies(&rows[at])).chain((0..rows.len()).filter(|&at| copies(&rows[at])));
    let mut own_files: HashMap<usize, CopiedFrom> = HashMap::default();
    let mut last: Option<(Identity, usize)> = None;
    for at in order {
        let row = &rows[at];
        let info = &files[row.file];
        let identity = identity(row, at, info, &inline);
        let place = match &last {
            Some((same, place)) if *same == identity => *place,
            _ => *places.entry(identity.clone()).or_insert_with(|| {
                threads.push(begin(identity.clone(), row, rows, files));
                threads.len() - 1
            }),
        };
        last = Some((identity, place));
        let thread = &mut threads[place];
        if let Some(call) = row.copy_of.as_ref().filter(|call| !call.is_empty()) {
            thread.opened_by.get_or_insert_with(|| call.clone());
        }
        if let Some(uuid) = row.uuid
            && !seen.insert((place, uuid))
        {
            report.duplicates += 1;
            thread.repeats.push(at);
            continue;
        }
        if row.copy_of.is_some() {
            let file = own_files.entry(place).or_insert_with(|| CopiedFrom::of(&thread.rows, rows));
            if file.holds(row) {
                report.duplicates += 1;
                thread.repeats.push(at);
                continue;
            }
        } else {
            let meta = info.meta.as_ref().filter(|_| thread.is_child());
            if let Some(meta) = meta {
                thread.opened_by = thread.opened_by.take().or(meta.tool_use_id.as_deref().map(Into::into));
                thread.depth = meta.spawn_depth.unwrap_or(1);
            }
        }
        thread.rows.push(at);
    }
    // Threads in order of their first record, however they were met.
    threads.retain(|thread| thread.rows.iter().any(|&at| matches!(rows[at].kind, Kind::User | Kind::Assistant | Kind::Synthetic)));
    threads.sort_by_key(|thread| thread.rows.first().copied().unwrap_or(usize::MAX));
    threads
}

/// What a child's own file holds, to recognise copies whose uuid is another one.
#[derive(Default)]
struct CopiedFrom {
    responses: HashSet<Digest>,
    results: HashSet<Box<str>>,
}

impl CopiedFrom {
    fn of(own: &[usize], rows: &[Row]) -> CopiedFrom {
        let mut file = CopiedFrom::default();
        for row in own.iter().map(|&at| &rows[at]).filter(|row| row.copy_of.is_none()) {
            file.responses.extend(row.key);
            for block in &row.blocks {
                if let Block::Result(result) = block {
                    file.results.insert(result.id.clone());
                }
            }
        }
        file
    }

    fn holds(&self, row: &Row) -> bool {
        let result = row.blocks.iter().any(|block| matches!(block, Block::Result(result) if self.results.contains(&result.id)));
        result || row.key.is_some_and(|key| self.responses.contains(&key)) || (self.begun() && row.key.is_none() && opens(row))
    }

    fn begun(&self) -> bool {
        !self.responses.is_empty() || !self.results.is_empty()
    }
}

/// A user row without results: a prompt.
fn opens(row: &Row) -> bool {
    row.kind == Kind::User && !row.blocks.iter().any(|block| matches!(block, Block::Result(_)))
}

fn identity(row: &Row, at: usize, info: &FileInfo, inline: &HashMap<usize, usize>) -> Identity {
    let family = row.session.clone().unwrap_or_else(|| info.main_id());
    match (&row.agent, row.side, info.agent_from_name()) {
        (Some(agent), ..) => Identity::Agent(family, agent.clone()),
        (None, true, Some(agent)) => Identity::Agent(family, agent.into()),
        (None, true, None) => Identity::Inline(row.file, inline.get(&at).copied().unwrap_or(at)),
        (None, false, _) => Identity::Main(info.main_id()),
    }
}

fn begin(identity: Identity, row: &Row, rows: &[Row], files: &[FileInfo]) -> Thread {
    let info = &files[row.file];
    let (id, family) = match &identity {
        Identity::Main(id) => (id.to_string(), id.clone()),
        Identity::Agent(family, agent) => (agent.to_string(), family.clone()),
        Identity::Inline(_, root) => {
            let root = &rows[*root];
            let id = root.uuid_text.as_deref().map_or_else(|| format!("{}:{}", info.shown, root.line), str::to_owned);
            (id, info.main_id())
        }
    };
    Thread { identity, id, family, file: row.file, rows: vec![], repeats: vec![], opened_by: None, depth: 1 }
}

/// For each record of an inline child the record that begins its tree: the first one up the links that no other record
/// of such a child stands above. A record whose parent was never written follows the child's record before it, unless it
/// is the task of a call, which begins a child.
fn inline_roots(rows: &[Row]) -> HashMap<usize, usize> {
    let is_inline = |row: &Row| row.side && row.agent.is_none() && row.copy_of.is_none();
    let prompts: HashSet<Digest> = rows
        .iter()
        .flat_map(|row| &row.blocks)
        .filter_map(|block| match block {
            Block::Call(call) => call.task.as_ref()?.prompt.as_deref().map(Digest::of),
            _ => None,
        })
        .collect();
    let is_task = |row: &Row| opens(row) && matches!(&row.blocks[..], [Block::Text(part)] if prompts.contains(&part.digest()));
    let mut roots: HashMap<usize, usize> = HashMap::default();
    let mut known: HashMap<(usize, Digest), usize> = HashMap::default();
    let mut everything: HashSet<(usize, Digest)> = HashSet::default();
    for (at, row) in rows.iter().enumerate() {
        let Some(uuid) = row.uuid else { continue };
        everything.insert((row.file, uuid));
        if is_inline(row) {
            known.entry((row.file, uuid)).or_insert(at);
        }
    }
    let mut previous: Option<usize> = None;
    let mut parents: HashMap<usize, Option<usize>> = HashMap::default();
    let mut all = Vec::new();
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| is_inline(row)) {
        let before = previous.filter(|&before| rows[before].file == row.file && !is_task(row));
        let parent = match row.parent {
            Parent::Root => None,
            Parent::Missing => before,
            Parent::To(uuid) => match known.get(&(row.file, uuid)) {
                Some(&parent) => Some(parent),
                // Its parent is a record of the main thread: it begins a tree.
                None if everything.contains(&(row.file, uuid)) => None,
                None => before,
            },
        };
        parents.insert(at, parent);
        all.push(at);
        previous = Some(at);
    }
    let mut seen_by: HashMap<usize, usize> = HashMap::default();
    for at in all {
        // Up to a root, to a record whose root is known, or around a cycle; then the way back is marked.
        let mut way = vec![at];
        seen_by.insert(at, at);
        let mut here = at;
        let root = loop {
            if let Some(&root) = roots.get(&here) {
                break root;
            }
            match parents.get(&here).copied().flatten() {
                Some(parent) if seen_by.insert(parent, at) != Some(at) => {
                    way.push(parent);
                    here = parent;
                }
                Some(_) => break way.iter().copied().min().unwrap_or(at),
                None => break here,
            }
        };
        roots.extend(way.into_iter().map(|one| (one, root)));
    }
    roots
}
