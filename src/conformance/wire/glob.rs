//! Whether two texts are the same but for what no two runs share: ids, host values, what a provider reported.
//!
//! A recording has `$DIR`, `$HOME`, `$UUID`, `$SES`, `$T`, `$X` for values of the host. Beside them stand, unmasked: long
//! hexadecimal ids, nicknames that a client draws for a child, and the tokens that the provider said a child used.

/// What a run has in a recorded text's masked places, in order: the mask or the recorded value, and the run's value.
pub(super) type Taken = Vec<(String, String)>;

/// A piece of a recorded text.
#[derive(Debug, PartialEq)]
enum Piece<'a> {
    Literal(&'a str),
    /// A value of one kind, as recorded.
    Value(&'a str, Kind),
}

/// What a value is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Letters, digits, `_` and `-`.
    Id,
    /// Digits and points.
    Number,
    /// Anything without blanks, quotes and angle brackets.
    Path,
    /// Anything without quotes.
    Name,
}

const MASKS: [(&str, Kind); 6] =
    [("$DIR", Kind::Path), ("$HOME", Kind::Path), ("$UUID", Kind::Id), ("$SES", Kind::Id), ("$T", Kind::Number), ("$X", Kind::Id)];

/// Words after which stands a value that differs from run to run.
const LABELS: [(&str, Kind); 2] = [("\"nickname\":\"", Kind::Name), ("subagent_tokens: ", Kind::Number)];

/// The least length of a hexadecimal word that is an id.
const ID: usize = 12;

impl Kind {
    fn has(self, c: char) -> bool {
        match self {
            Kind::Id => c.is_ascii_alphanumeric() || c == '_' || c == '-',
            Kind::Number => c.is_ascii_digit() || c == '.',
            Kind::Path => !c.is_whitespace() && !"\"'<>`".contains(c),
            Kind::Name => c != '"',
        }
    }

    /// How many bytes of the text may belong to a value of this kind.
    fn run(self, text: &str) -> usize {
        text.find(|c| !self.has(c)).unwrap_or(text.len())
    }
}

/// The masked places of a recorded text.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while at < text.len() {
        let (rest, label) = (&text[at..], &text[..at]);
        let mask = MASKS.iter().find(|(mask, _)| rest.starts_with(mask)).map(|(mask, kind)| (mask.len(), *kind));
        let labelled = || LABELS.iter().find(|(words, _)| label.ends_with(words)).map(|(_, kind)| (kind.run(rest), *kind));
        let value = mask.or_else(labelled).filter(|(length, _)| *length > 0).or_else(|| id(label, rest).map(|length| (length, Kind::Id)));
        match value {
            Some((length, kind)) => {
                if from < at {
                    pieces.push(Piece::Literal(&text[from..at]));
                }
                pieces.push(Piece::Value(&rest[..length], kind));
                at += length;
                from = at;
            }
            None => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    if from < text.len() {
        pieces.push(Piece::Literal(&text[from..]));
    }
    pieces
}

/// The length of an id that begins here: a whole word of hexadecimal digits, some of them no letters.
fn id(before: &str, rest: &str) -> Option<usize> {
    let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if before.ends_with(in_word) {
        return None;
    }
    let word = rest.split(|c| !in_word(c)).next().unwrap_or_default();
    let hexadecimal = word.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    (word.len() >= ID && hexadecimal && digits > 0 && digits < word.len()).then_some(word.len())
}

/// Whether a run's text is the recorded one, and what it has in its masked places.
pub(super) fn same(recorded: &str, given: &str) -> Option<Taken> {
    if recorded == given {
        // What a recording handed in comes back as it is; ids in it stand for themselves.
        return Some(pieces(recorded).into_iter().filter_map(itself).collect());
    }
    let pieces = bounded(recorded)?;
    let mut taken = Vec::new();
    matches(&pieces, given, true, &mut taken, &mut { STEPS }).then(|| {
        taken.reverse();
        taken
    })
}

/// The pieces of a text; `None`: it has none that is masked, or more than any real text has.
fn bounded(recorded: &str) -> Option<Vec<Piece<'_>>> {
    let pieces = pieces(recorded);
    let masked = pieces.iter().any(|piece| matches!(piece, Piece::Value(..)));
    (masked && pieces.len() <= PIECES).then_some(pieces)
}

/// Whether a run's text begins as the recorded one does.
pub(super) fn begins(recorded: &str, given: &str) -> bool {
    let masked = || bounded(recorded).is_some_and(|pieces| matches(&pieces, given, false, &mut Vec::new(), &mut { STEPS }));
    given.starts_with(recorded) || masked()
}

/// Whether a recorded text has a masked place at all.
pub(super) fn is_masked(recorded: &str) -> bool {
    pieces(recorded).iter().any(|piece| matches!(piece, Piece::Value(..)))
}

/// A text for people: what would differ anyway stands as a mask, so that the first difference to be seen is one.
pub(super) fn shown(text: &str) -> String {
    filled(text, |value| Some(if value.starts_with('$') { value } else { "$ANY" }.to_owned()))
}

/// A text with its masked places filled.
pub(super) fn filled(recorded: &str, mut value: impl FnMut(&str) -> Option<String>) -> String {
    let pieces = pieces(recorded);
    pieces
        .into_iter()
        .map(|piece| match piece {
            Piece::Literal(text) => text.to_owned(),
            Piece::Value(mask, _) => value(mask).unwrap_or_else(|| mask.to_owned()),
        })
        .collect()
}

fn itself(piece: Piece<'_>) -> Option<(String, String)> {
    match piece {
        Piece::Literal(_) => None,
        Piece::Value(text, _) => Some((text.to_owned(), text.to_owned())),
    }
}

/// Attempts that are made before two texts are said to differ: far more than any real text takes.
const STEPS: u32 = 200_000;

/// Pieces of a text with masked places.
const PIECES: usize = 1_000;

/// Bytes of a text in which the place of a probe is looked for behind masks.
const SEARCHED: usize = 8_000;

/// Fills `taken` from its end.
fn matches(pieces: &[Piece<'_>], given: &str, whole: bool, taken: &mut Taken, steps: &mut u32) -> bool {
    if *steps == 0 {
        return false;
    }
    *steps -= 1;
    match pieces.split_first() {
        None => given.is_empty() || !whole,
        Some((Piece::Literal(text), rest)) => given.strip_prefix(text).is_some_and(|given| matches(rest, given, whole, taken, steps)),
        Some((Piece::Value(mask, kind), rest)) => {
            let most = if given.starts_with(mask) { mask.len().max(kind.run(given)) } else { kind.run(given) };
            (1..=most).rev().filter(|&length| given.is_char_boundary(length)).any(|length| {
                let fits = matches(rest, &given[length..], whole, taken, steps);
                if fits {
                    taken.push(((*mask).to_owned(), given[..length].to_owned()));
                }
                fits
            })
        }
    }
}

/// What stands in a recorded text where a run's text has the probe; `None`: they differ elsewhere.
pub(super) fn at_probe(recorded: &str, given: &str, probe: &str) -> Option<String> {
    let (before, behind) = given.split_once(probe)?;
    let read = |text: &str| if quoted(before, behind) { unescaped(text) } else { text.to_owned() };
    if let Some(text) = recorded.strip_prefix(before).and_then(|rest| rest.strip_suffix(behind)) {
        return Some(read(text));
    }
    if recorded.len() > SEARCHED {
        return None;
    }
    let boundaries: Vec<usize> = (0..=recorded.len()).filter(|&at| recorded.is_char_boundary(at)).collect();
    let starts = boundaries.iter().copied().filter(|&at| same(&recorded[..at], before).is_some());
    for from in starts {
        let ends = boundaries.iter().rev().copied().filter(|&at| at >= from);
        for to in ends {
            // Cheap before dear: without another probe behind it the rest must be the rest.
            if behind.contains(probe) || same(&recorded[to..], behind).is_some() {
                let text = &recorded[from..to];
                if same(recorded, &given.replace(probe, text)).is_some() {
                    return Some(read(text));
                }
            }
        }
    }
    None
}

/// The rest of a recorded text, which is known by its head, from where a run's text has the probe.
pub(super) fn behind_probe(head: &str, given: &str, probe: &str) -> Option<(String, usize)> {
    let (before, behind) = given.split_once(probe)?;
    let mut boundaries = (0..=head.len()).filter(|&at| head.is_char_boundary(at));
    let from = boundaries.find(|&at| same(&head[..at], before).is_some())?;
    Some((head[from..].to_owned(), before.chars().count() + behind.chars().count()))
}

fn quoted(before: &str, behind: &str) -> bool {
    before.ends_with('"') && behind.starts_with('"')
}

/// A text as it stands between the quotes of a JSON string, read.
fn unescaped(text: &str) -> String {
    serde_json::from_str(&format!("\"{text}\"")).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(recorded: &str, given: &str, expect: Option<&[(&str, &str)]>) {
        let expect = expect.map(|taken| taken.iter().map(|(mask, value)| ((*mask).to_owned(), (*value).to_owned())).collect::<Taken>());
        assert_eq!(same(recorded, given), expect, "{recorded} | {given}");
    }

    #[test]
    fn masks_take_values_of_their_kind() {
        check("a b", "a b", Some(&[]));
        check("a b", "a c", None);
        check("id=$SES.", "id=ses_0aB-9.", Some(&[("$SES", "ses_0aB-9")]));
        check("id=$SES.", "id=.", None);
        check("id=$UUID!", "id=a b!", None);
        check("$T s", "0.05 s", Some(&[("$T", "0.05")]));
        check("$T s", "soon s", None);
        check("in $DIR/notes", "in /a/b/notes", Some(&[("$DIR", "/a/b")]));
        check("$X$T", "a1", Some(&[("$X", "a"), ("$T", "1")]));
        // What the recording handed in may come back as it was written.
        check("Chunk ID: $X", "Chunk ID: $X", Some(&[("$X", "$X")]));
        check("$T of $X", "$T of x", Some(&[("$T", "$T"), ("$X", "x")]));
    }

    #[test]
    fn what_is_not_masked_and_differs_all_the_same() {
        check("agent a9bb2089fa6a went", "agent a0000000000000001 went", Some(&[("a9bb2089fa6a", "a0000000000000001")]));
        check("agent a9bb2089fa went", "agent a9bb2089fb went", None);
        check("agent deadbeefcafe went", "agent 1 went", None);
        check("x123456789abcdef", "x023456789abcdef", None);
        check(r#"{"nickname":"Boole"}"#, r#"{"nickname":"Ada the 2"}"#, Some(&[("Boole", "Ada the 2")]));
        check("subagent_tokens: 16574\ntool_uses: 1", "subagent_tokens: 9\ntool_uses: 1", Some(&[("16574", "9")]));
        check("subagent_tokens: 16574\ntool_uses: 1", "subagent_tokens: 9\ntool_uses: 2", None);
    }

    #[test]
    fn what_stands_at_the_probe_is_found() {
        fn check(recorded: &str, given: &str, expect: Option<&str>) {
            assert_eq!(at_probe(recorded, given, "PROBE").as_deref(), expect, "{recorded} | {given}");
        }
        check("the text", "PROBE", Some("the text"));
        check("<r>the text</r>", "<r>PROBE</r>", Some("the text"));
        check("<r id=$SES>the text</r>", "<r id=ses_1>PROBE</r>", Some("the text"));
        check("<r>the text</r>", "<s>PROBE</s>", None);
        check("one and one", "PROBE and PROBE", Some("one"));
        check("one and two", "PROBE and PROBE", None);
        check(r#"{"a":"two\nlines"}"#, r#"{"a":"PROBE"}"#, Some("two\nlines"));
        check("<r></r>", "<r>PROBE</r>", Some(""));
        assert_eq!(behind_probe("<r>the te", "<r>PROBE</r>", "PROBE"), Some(("the te".to_owned(), 7)));
    }

    #[test]
    fn masks_are_filled_in_order() {
        let mut values = ["a", "b"].into_iter();
        assert_eq!(filled("[\"$UUID\",\"$UUID\",\"$SES\"]", |_| values.next().map(str::to_owned)), "[\"a\",\"b\",\"$SES\"]");
    }
}
