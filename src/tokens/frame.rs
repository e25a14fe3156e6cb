//! What a request adds around its content.
//!
//! Every item is sent as `<|start|>HEADER<|message|>CONTENT<|end|>`: three special tokens, the header's tokens and the
//! content's. The counted unit is the segment between two special tokens, so counts add up exactly; several parts of
//! one item are segments of their own. A request ends with the frame of the reply that it asks for. For messages this
//! is the published rule for chat models (3 a message, the role's token, 3 for the reply; a name beside the role is one
//! token and its own), checked against its published figures; for calls and results it is this project's convention. What
//! providers bill instead stands in [`super::framing`].

use std::borrow::Cow;
use std::cell::Cell;

use crate::transcript::{Body, Digest, Item, Part};

/// Special tokens of one framed item.
pub const ITEM_FRAME: u32 = 3;

/// What a name beside the role adds to its own tokens.
pub const NAME_FRAME: u32 = 1;

/// Tokens that ask for the reply: start, the role, message.
pub const REPLY_FRAME: u32 = 3;

/// The header segment of an item.
pub fn header(item: &Item) -> Cow<'static, str> {
    match fixed(item.body()) {
        Some(header) => header.into(),
        None => {
            let mut header = String::new();
            write(item.body(), &mut header);
            header.into()
        }
    }
}

/// Lends the header segment of an item: what [`header`] returns, and nothing is allocated after a thread's first few.
pub(super) fn with_header<T>(item: &Item, read: impl FnOnce(&str) -> T) -> T {
    match fixed(item.body()) {
        Some(header) => read(header),
        None => lent(|header| write(item.body(), header), read),
    }
}

/// Lends the header segment of a call of this tool.
pub(super) fn with_call_header<T>(tool: &str, read: impl FnOnce(&str) -> T) -> T {
    lent(|header| header.extend([CALL, tool]), read)
}

fn lent<T>(write: impl FnOnce(&mut String), read: impl FnOnce(&str) -> T) -> T {
    thread_local! {
        static HEADER: Cell<String> = const { Cell::new(String::new()) };
    }
    let mut header = HEADER.take();
    header.clear();
    write(&mut header);
    let answer = read(&header);
    HEADER.set(header);
    answer
}

/// How the header of a call begins; the tool's name follows.
const CALL: &str = "assistant to=functions.";

/// A digest of all that a model reads of an item: header, name and parts. Taken once for all items that share the body.
pub fn item_digest(item: &Item) -> Digest {
    let body = item.digest_once(|| {
        let header = with_header(item, Digest::of);
        Digest::chain([header].into_iter().chain(item.parts().iter().map(Part::digest)))
    });
    item.name().map_or(body, |name| Digest::chain([body, Digest::of(name)]))
}

/// A header in which no name stands.
fn fixed(body: &Body) -> Option<&'static str> {
    match body {
        Body::Message { role, .. } => Some(role.name()),
        Body::Reasoning { .. } => Some("assistant"),
        Body::Result { .. } => Some("tool"),
        Body::Compaction { .. } => Some("user"),
        Body::Context { .. } => Some(""),
        Body::Call(_) | Body::Mail { .. } => None,
    }
}

/// Writes a header in which names stand.
fn write(body: &Body, header: &mut String) {
    match body {
        Body::Call(call) => header.extend([CALL, &call.name]),
        Body::Mail { from, to, .. } => header.extend([from, " to=", to]),
        Body::Message { .. } | Body::Reasoning { .. } | Body::Result { .. } | Body::Compaction { .. } | Body::Context { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::agreement::any_text;
    use super::super::count::tiktoken_core;
    use super::super::{Encoding, Meter, counter};
    use super::*;
    use crate::transcript::{CallKey, Origin, Role, ToolCall};

    fn call(name: &str) -> Item {
        Item::call(ToolCall { key: CallKey(0), id: "1".into(), name: name.into(), args: "{}".into(), intent: None, recorded: None })
    }

    fn mail(from: &str, to: &str) -> Item {
        Item::new(Body::Mail { from: from.into(), to: to.into(), parts: vec!["hi".into()] }, Origin::Delegated)
    }

    #[test]
    fn headers() {
        fn check(item: &Item, expect: &str) {
            assert_eq!(header(item), expect);
            assert_eq!(with_header(item, str::to_owned), expect);
        }
        check(&Item::message(Role::Developer, Origin::System, "hi"), "developer");
        check(&Item::assistant(None, "hi"), "assistant");
        check(&Item::new(Body::Reasoning { parts: vec![] }, Origin::Own), "assistant");
        check(&call("read_file"), "assistant to=functions.read_file");
        check(&Item::result(CallKey(0), Origin::ToolResult, "hi", false), "tool");
        check(&mail("/root", "/root/child"), "/root to=/root/child");
        check(&Item::new(Body::Compaction { parts: vec![] }, Origin::Compaction), "user");
        check(&call("ls"), "assistant to=functions.ls");
    }

    /// A request of one message, or of several, as the chat models of `cl100k_base` billed it.
    #[test]
    fn published_figures() {
        fn check(encoding: Encoding, messages: &[(Role, Option<&str>, &str)], expect: u64) {
            let meter = Meter::new(counter(encoding));
            let mut tokens = u64::from(REPLY_FRAME);
            for (role, name, text) in messages {
                let item = Item::message(*role, Origin::User, *text);
                let item = name.map_or(item.clone(), |name| item.named(name));
                tokens += u64::from(meter.item(&item).unwrap().tokens);
            }
            assert_eq!(tokens, expect, "{encoding}: {messages:?}");
        }
        let (user, assistant) = (Some("example_user"), Some("example_assistant"));
        // openai/openai-cookbook `examples/How_to_count_tokens_with_tiktoken.ipynb` (c81359cd), section 6: 129 tokens by
        // the API for gpt-3.5-turbo and gpt-4, 124 for gpt-4o.
        let jargon = [
            (Role::System, None, "You are a helpful, pattern-following assistant that translates corporate jargon into plain English."),
            (Role::System, user, "New synergies will help drive top-line growth."),
            (Role::System, assistant, "Things working well together will increase revenue."),
            (Role::System, user, "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage."),
            (Role::System, assistant, "Let's talk later when we're less busy about how to do better."),
            (Role::User, None, "This late pivot means we don't have time to boil the ocean for the client deliverable."),
        ];
        check(Encoding::Cl100kBase, &jargon, 129);
        check(Encoding::O200kBase, &jargon, 124);
        // hmarr/openai-chat-tokens `tests/token-counts.test.ts` (b8e3b11d): the same six one by one, and three more.
        for (message, expect) in jargon.chunks(1).zip([25, 20, 19, 28, 26, 26]) {
            check(Encoding::Cl100kBase, message, expect);
        }
        check(Encoding::Cl100kBase, &[(Role::User, None, "hello")], 8);
        check(Encoding::Cl100kBase, &[(Role::User, None, "hello world")], 9);
        check(Encoding::Cl100kBase, &[(Role::System, None, "hello:")], 9);
    }

    /// Any text that does not spell a special token: the encoder below would take it for the real thing.
    fn any_content() -> impl Strategy<Value = String> {
        any_text().prop_map(|text| text.replace("<|endof", "<|end of"))
    }

    fn any_item() -> impl Strategy<Value = Item> {
        let roles = proptest::sample::select(vec![Role::System, Role::User, Role::Assistant]);
        prop_oneof![
            (roles, any_content()).prop_map(|(role, text)| Item::message(role, Origin::User, text)),
            "[a-z_]{1,12}".prop_map(|name| call(&name)),
            any_content().prop_map(|text| Item::result(CallKey(0), Origin::ToolResult, text, false)),
            ("[a-z/]{1,8}", "[a-z/]{1,8}").prop_map(|(from, to)| mail(&from, &to)),
        ]
    }

    proptest! {
        /// The rule that all sums rest on: a request, written out with special tokens and encoded as a whole, is its
        /// segments, encoded one by one, with those tokens between them.
        #[test]
        fn a_request_is_the_sum_of_its_segments(items in proptest::collection::vec(any_item(), 0..6)) {
            // `o200k_base` has no tokens for a chat; two of its special tokens stand for start and end, and for message.
            const SPECIAL: [(&str, u32); 2] = [("<|endoftext|>", 199_999), ("<|endofprompt|>", 200_018)];
            let [(edge, edge_token), (message, message_token)] = SPECIAL;
            let core = tiktoken_core(Encoding::O200kBase);
            let meter = Meter::new(counter(Encoding::O200kBase));
            let (mut text, mut tokens, mut sum) = (String::new(), Vec::new(), 0);
            for item in &items {
                text += &[edge, &header(item), message, &item.text(), edge].concat();
                tokens.push(edge_token);
                tokens.extend(core.encode(&header(item)));
                tokens.push(message_token);
                tokens.extend(core.encode(&item.text()));
                tokens.push(edge_token);
                sum += meter.item(item).unwrap().tokens as usize;
            }
            text += &[edge, "assistant", message].concat();
            tokens.push(edge_token);
            tokens.extend(core.encode("assistant"));
            tokens.push(message_token);
            sum += REPLY_FRAME as usize;
            let whole = core.encode_with_special_tokens(&text);
            prop_assert_eq!(whole.len(), sum);
            prop_assert_eq!(whole, tokens);
        }
    }

    #[test]
    fn a_part_is_a_segment_of_its_own() {
        let meter = Meter::new(counter(Encoding::O200kBase));
        let item = |parts: &[&str]| {
            Item::new(
                Body::Message { role: Role::User, phase: None, parts: parts.iter().map(|text| Part::from(*text)).collect() },
                Origin::User,
            )
        };
        // "hello world" is two tokens whole, and three in these halves: "hel", "lo", " world" ("hello" is one).
        assert_eq!(meter.item(&item(&["hello world"])).unwrap().tokens, 3 + 1 + 2);
        assert_eq!(meter.item(&item(&["hel", "lo world"])).unwrap().tokens, 3 + 1 + 3);
    }
}
