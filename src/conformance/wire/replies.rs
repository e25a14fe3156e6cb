//! What models, tools and the user said in a run, read from the requests that repeat it.

use super::entry::{Entry, Placed};
use super::file::Request;
use super::text::Text;

/// What a model said to one request.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    /// Its reasoning.
    pub(super) reasoning: Vec<Text>,
    /// Its text.
    pub(super) text: Option<Text>,
    /// Its calls, in order.
    pub(super) calls: Vec<SaidCall>,
    /// The client sends the calls before the text.
    pub(super) calls_first: bool,
}

/// One call.
#[derive(Clone, Debug)]
pub(super) struct SaidCall {
    /// Its id on the wire.
    pub(super) id: String,
    /// The tool and the arguments; `None`: no request repeats them.
    pub(super) seen: Option<(String, Text)>,
}

/// A request's reply and what came before the next request.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    /// The reply.
    pub(super) said: Said,
    /// What the calls gave: by id.
    pub(super) results: Vec<(String, Vec<Text>)>,
    /// What the user said then: texts of each message.
    pub(super) user: Vec<Vec<Text>>,
}

/// The steps between a thread's requests: one fewer than there are requests.
pub(super) fn steps(requests: &[Request]) -> Result<Vec<Step>, String> {
    requests.windows(2).map(|pair| step(&pair[0], &pair[1])).collect()
}

/// The reply stands behind all that a model wrote before, in one piece; what stands behind it came before the next
/// request.
fn step(before: &Request, after: &Request) -> Result<Step, String> {
    let written = before.entries.iter().filter(|placed| placed.entry.is_own()).count();
    let own = |placed: &&Placed<Text>| placed.entry.is_own();
    let Some(begin) = after.entries.iter().enumerate().filter(|(_, placed)| own(placed)).map(|(at, _)| at).nth(written) else {
        return Ok(Step { said: Said::default(), results: vec![], user: user(new_behind(before, after)) });
    };
    let length = after.entries[begin..].iter().take_while(own).count();
    let (reply, behind) = after.entries[begin..].split_at(length);
    let said = said(reply).map_err(|why| format!("request {}: {why}", after.n))?;
    let results = behind.iter().filter_map(|placed| match &placed.entry {
        Entry::Result { id, parts } => Some((id.clone(), parts.clone())),
        _ => None,
    });
    let results = results.collect();
    // Inside a turn a message that is no result was put there by the client.
    let user = if said.calls.is_empty() { user(behind) } else { vec![] };
    Ok(Step { said, results, user })
}

fn new_behind<'a>(before: &Request, after: &'a Request) -> &'a [Placed<Text>] {
    after.entries.get(before.entries.len()..).unwrap_or_default()
}

fn said(reply: &[Placed<Text>]) -> Result<Said, String> {
    let mut said = Said::default();
    for placed in reply {
        match &placed.entry {
            Entry::Reasoning { parts } => said.reasoning.extend(parts.iter().cloned()),
            Entry::Message { parts, .. } => match (parts.as_slice(), &said.text) {
                ([text], None) => {
                    said.text = Some(text.clone());
                    said.calls_first = !said.calls.is_empty();
                }
                ([], _) => {}
                _ => return Err(format!("{}: the reply has several texts, and a run's replies have one", placed.at)),
            },
            Entry::Call { id, name, args, .. } => {
                said.calls.push(SaidCall { id: id.clone(), seen: Some((name.clone(), args.clone())) });
            }
            Entry::UnseenCall { id } => said.calls.push(SaidCall { id: id.clone(), seen: None }),
            Entry::UnseenText => said.text = Some(Text::Plain("(not recorded)".into())),
            Entry::Result { .. } | Entry::Mail { .. } => {}
        }
    }
    Ok(said)
}

/// What the user says first.
pub(super) fn first_words(request: &Request) -> Vec<Vec<Text>> {
    user(&request.entries)
}

/// The user's own messages among entries: what a client puts in under the user's role begins with a tag, or is prose
/// of which the file holds the size alone.
fn user(entries: &[Placed<Text>]) -> Vec<Vec<Text>> {
    let messages = entries.iter().filter_map(|placed| match &placed.entry {
        Entry::Message { role, parts, .. } if role == "user" => {
            let written = |text: &&Text| match text {
                Text::Plain(text) => !text.starts_with('<'),
                Text::Long(long) => !long.head.starts_with('<'),
                Text::Scaffold(_) => false,
            };
            Some(parts.iter().filter(written).cloned().collect::<Vec<Text>>())
        }
        _ => None,
    });
    messages.filter(|texts| !texts.is_empty()).collect()
}

/// The texts in a call's arguments, wherever they stand.
pub(super) fn texts_in(args: &str) -> Vec<String> {
    fn collect(value: &serde_json::Value, texts: &mut Vec<String>) {
        match value {
            serde_json::Value::String(text) => texts.push(text.clone()),
            serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
            serde_json::Value::Object(fields) => fields.values().for_each(|item| collect(item, texts)),
            _ => {}
        }
    }
    let mut texts = Vec::new();
    collect(&serde_json::from_str(args).unwrap_or_default(), &mut texts);
    texts
}
