//! The requests of a run, thread by thread, each with its whole history.

use super::entry::{Entry, Placed};
use super::file::{Request, Whose, Wire};
use super::text::Text;

/// A run's threads.
pub(super) struct Threads {
    /// The root's requests.
    pub(super) root: Vec<Request>,
    /// Each child's requests, in order of their first ones.
    pub(super) children: Vec<Vec<Request>>,
}

impl Threads {
    /// Sorts a run's requests. A child goes by the name that its headers give it, or by what it holds: a request that
    /// goes on behind an earlier one is of the same child.
    pub(super) fn of(wire: &Wire) -> Result<Threads, String> {
        let mut threads = Threads { root: Vec::new(), children: Vec::new() };
        for request in &wire.requests {
            let thread = match request.whose {
                Whose::Title => continue,
                Whose::Root => &mut threads.root,
                Whose::Child => {
                    let known = threads.children.iter().rposition(|child| is_of(request, child));
                    if known.is_none() {
                        threads.children.push(Vec::new());
                    }
                    let at = known.unwrap_or(threads.children.len() - 1);
                    // A child was just added if there was none, so there is one there.
                    &mut threads.children[at]
                }
            };
            let whole = expanded(request, thread.last())?;
            thread.push(whole);
        }
        Ok(threads)
    }
}

fn is_of(request: &Request, child: &[Request]) -> bool {
    let Some(last) = child.last() else { return false };
    match (&request.thread, &last.thread) {
        (Some(one), Some(other)) => one == other,
        (None, None) => request.goes_on || goes_on_behind(&request.entries, &child[0].entries),
        _ => false,
    }
}

fn goes_on_behind(entries: &[Placed<Text>], first: &[Placed<Text>]) -> bool {
    entries.len() > first.len() && entries.iter().zip(first).all(|(one, other)| one.entry == other.entry)
}

/// A request with all that the server had before it. What the model said there no request repeats: it is known to have
/// called what was answered, or else to have said something.
fn expanded(request: &Request, before: Option<&Request>) -> Result<Request, String> {
    if !request.goes_on {
        return Ok(request.clone());
    }
    let Some(before) = before else {
        return Err(format!("request {} goes on behind a response, but it is the first one of its thread", request.n));
    };
    let known: Vec<&str> = before.entries.iter().filter_map(|placed| call_id(&placed.entry)).collect();
    let sent: Vec<&str> = request.entries.iter().filter_map(|placed| call_id(&placed.entry)).collect();
    let answered = request.entries.iter().filter_map(|placed| match &placed.entry {
        Entry::Result { id, .. } if !known.contains(&id.as_str()) && !sent.contains(&id.as_str()) => Some(id.clone()),
        _ => None,
    });
    let mut unseen: Vec<Entry<Text>> = answered.map(|id| Entry::UnseenCall { id }).collect();
    let answers_nothing = !request.entries.iter().any(|placed| matches!(placed.entry, Entry::Result { .. }));
    if answers_nothing && sent.is_empty() {
        unseen.push(Entry::UnseenText);
    }
    let unseen = unseen.into_iter().map(|entry| Placed { at: "the reply before items[0]".into(), parts_at: vec![], entry });
    let entries = before.entries.iter().cloned().chain(unseen).chain(request.entries.iter().cloned()).collect();
    Ok(Request { entries, ..request.clone() })
}

fn call_id(entry: &Entry<Text>) -> Option<&str> {
    match entry {
        Entry::Call { id, .. } | Entry::UnseenCall { id } => Some(id),
        _ => None,
    }
}
