//! Counting without an engine: the bytes of a piece are merged, those of a long one in windows, so that any text takes
//! linear time and little memory.
//!
//! Byte pair encoding merges, again and again, the leftmost of the neighbours whose joined bytes are the lowest token.
//! A merge is never undone and only ever looks at its two neighbours, from which follow two facts:
//!
//! 1. If the encoding of `xy` has a token boundary between `x` and `y`, it is the encoding of `x`, then that of `y`: no
//!    merge crossed the boundary, so each side was merged in the order in which it would have been merged alone.
//! 2. If the last token `a` of `x` and the first token `b` of `y`, joined, are encoded as `a`, `b`, then the encoding of
//!    `xy` is that of `x`, then that of `y`. The first merge across would join an end of `a` with a beginning of `b`, and
//!    would be the lowest at that moment among all pairs, so also among those inside `a` and `b`; encoding `ab` alone
//!    would have made it too.
//!
//! So a window is encoded, cut at a token boundary some way before its end, and the next window begins there; one
//! check of the two tokens at the cut proves it. Should no cut of a window hold, larger windows are taken from the start
//! on: a window that only grew might begin with another token than the one that was checked.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::Encoding;
use super::count::tiktoken_core;

/// Bytes of a window: several times the longest token (128 bytes in both encodings), and small enough to stay in the
/// processor's nearest cache.
const WINDOW: usize = 4096;

/// Cuts that are tried in a window before it is made larger.
const TRIES: usize = 8;

/// No token.
const NONE: u32 = u32::MAX;

/// The merges of an encoding, made from the vocabulary on first use.
pub(super) fn merges(encoding: Encoding) -> &'static Merges {
    static O200K_BASE: LazyLock<Merges> = LazyLock::new(|| Merges::of(Encoding::O200kBase));
    static CL100K_BASE: LazyLock<Merges> = LazyLock::new(|| Merges::of(Encoding::Cl100kBase));
    match encoding {
        Encoding::O200kBase => &O200K_BASE,
        Encoding::Cl100kBase => &CL100K_BASE,
    }
}

/// A vocabulary as byte pair encoding uses it: which bytes are a token, and which token is merged first.
pub(super) struct Merges {
    ranks: FxHashMap<Box<[u8]>, u32>,
    longest: usize,
}

impl Merges {
    fn of(encoding: Encoding) -> Merges {
        let core = tiktoken_core(encoding);
        // Both vocabularies are numbered from 0 without a gap.
        Merges::new((0..core.vocab_size() as u32).map(|rank| core.decode(&[rank]).into_boxed_slice()))
    }

    /// From tokens in the order of their ranks.
    fn new(tokens: impl IntoIterator<Item = Box<[u8]>>) -> Merges {
        let ranks: FxHashMap<Box<[u8]>, u32> = tokens.into_iter().zip(0..).collect();
        let longest = ranks.keys().map(|bytes| bytes.len()).max().unwrap_or(0);
        Merges { ranks, longest }
    }

    fn rank(&self, bytes: &[u8]) -> u32 {
        if bytes.len() > self.longest { NONE } else { self.ranks.get(bytes).copied().unwrap_or(NONE) }
    }

    /// Tokens of a piece. One that is a token as a whole is not merged, even where merging would not lead to it.
    pub(super) fn count(&self, piece: &[u8]) -> u64 {
        if self.rank(piece) == NONE { self.count_in_windows(piece, WINDOW) } else { 1 }
    }

    fn count_in_windows(&self, piece: &[u8], window: usize) -> u64 {
        let mut sizes = std::iter::successors(Some(window), |size| Some(size * 2));
        // A window as large as the piece needs no cut, so one size does.
        sizes.find_map(|size| self.try_windows(piece, size)).unwrap_or(0)
    }

    /// Tokens of a piece, by windows of one size; `None`: a window could not be cut.
    fn try_windows(&self, piece: &[u8], size: usize) -> Option<u64> {
        let (mut rest, mut counted) = (piece, 0);
        let mut ends = self.encode(head(rest, size));
        while rest.len() > size {
            let (tokens, after, next) = self.cut(rest, &ends, size)?;
            counted += tokens;
            (rest, ends) = (after, next);
        }
        Some(counted + ends.len() as u64)
    }

    /// Cuts a window that was encoded into tokens with these ends: the tokens before the cut, what stands behind it, and
    /// the ends of the tokens of the window that begins there.
    fn cut<'a>(&self, rest: &'a [u8], ends: &[usize], size: usize) -> Option<(u64, &'a [u8], Vec<usize>)> {
        // Where the window breaks off, its last tokens may be others than in the whole piece.
        let settled = ends.partition_point(|&end| end <= size - size / 8);
        (1..=settled).rev().take(TRIES).find_map(|tokens| {
            let end = *ends.get(tokens - 1)?;
            let begin = if tokens == 1 { 0 } else { *ends.get(tokens - 2)? };
            let after = rest.get(end..)?;
            let next = self.encode(head(after, size));
            let first = *next.first()?;
            let proven = self.encode(rest.get(begin..end + first)?) == [end - begin, end - begin + first];
            proven.then_some((tokens as u64, after, next))
        })
    }

    /// Where each token of some bytes ends.
    fn encode(&self, bytes: &[u8]) -> Vec<usize> {
        // Tokens are named by their first byte's position, which `MAX_BYTES` keeps within 32 bits; `length` is the end of
        // the list. All indices below are positions or `length`, and every list has `length + 1` entries.
        let length = bytes.len();
        let mut next: Vec<u32> = (1..=length as u32 + 1).collect();
        let mut previous: Vec<u32> = (0..=length as u32).map(|at| at.saturating_sub(1)).collect();
        // What a token and its right neighbour would become.
        let mut joined = vec![NONE; length + 1];
        let mut heap = BinaryHeap::with_capacity(length);
        for (at, pair) in bytes.windows(2).enumerate() {
            let rank = self.rank(pair);
            if rank != NONE {
                joined[at] = rank;
                heap.push(Reverse((rank, at as u32)));
            }
        }
        while let Some(Reverse((rank, at))) = heap.pop() {
            let at = at as usize;
            if joined[at] != rank {
                continue; // One of the two has become part of another token since.
            }
            let right = next[at] as usize;
            let after = next[right] as usize;
            next[at] = after as u32;
            previous[after] = at as u32;
            joined[right] = NONE;
            let mut join = |left: usize, end: usize| {
                let rank = bytes.get(left..end).map_or(NONE, |bytes| self.rank(bytes));
                joined[left] = rank;
                if rank != NONE {
                    heap.push(Reverse((rank, left as u32)));
                }
            };
            // The entry behind the last token is out of bounds, so that nothing joins with the end.
            join(at, next[after] as usize);
            if at > 0 {
                join(previous[at] as usize, after);
            }
        }
        std::iter::successors(Some(0), |&at| next.get(at).map(|&end| end as usize)).skip(1).take_while(|&end| end <= length).collect()
    }
}

fn head(bytes: &[u8], size: usize) -> &[u8] {
    bytes.get(..size).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_lowest_pair_is_merged_first_and_of_equals_the_leftmost() {
        let tokens = ["a", "b", "c", "d", "bc", "ab", "cd", "aa", "abcd"];
        let merges = Merges::new(tokens.map(|token| token.as_bytes().into()));
        fn check(merges: &Merges, text: &str, expect: &[usize]) {
            assert_eq!(merges.encode(text.as_bytes()), expect, "{text}");
        }
        check(&merges, "", &[]);
        check(&merges, "a", &[1]);
        check(&merges, "ab", &[2]);
        check(&merges, "abc", &[1, 3]); // bc before ab
        check(&merges, "abcd", &[1, 3, 4]); // so neither ab nor cd nor abcd comes to be
        check(&merges, "abd", &[2, 3]);
        check(&merges, "aaa", &[2, 3]); // the left pair
        check(&merges, "aaaa", &[2, 4]);
        check(&merges, "adc", &[1, 2, 3]);
    }

    #[test]
    fn the_vocabularies_are_whole() {
        // Sizes and longest token of the published files.
        for (encoding, size) in [(Encoding::O200kBase, 199_998), (Encoding::Cl100kBase, 100_256)] {
            let Merges { ranks, longest } = merges(encoding);
            assert_eq!((ranks.len(), *longest), (size, 128), "{encoding}");
            assert!((0..=255_u8).all(|byte| ranks.contains_key(&[byte][..])), "{encoding}");
        }
    }

    /// So white space at the end of a text counts the same as one piece or as two (`super::super::pieces::pattern`).
    #[test]
    fn a_token_of_cl100k_base_with_a_line_break_ends_in_one() {
        let is_break = |byte: &u8| matches!(byte, b'\r' | b'\n');
        for token in merges(Encoding::Cl100kBase).ranks.keys() {
            assert!(!token.iter().any(is_break) || token.last().is_some_and(is_break), "{:?}", String::from_utf8_lossy(token));
        }
    }

    fn any_piece() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            vec(any::<u8>(), 0..300),
            vec(prop_oneof![Just(b' '), Just(b'\t'), Just(b'\n')], 0..600),
            vec(b'a'..=b'e', 0..600),
            vec(b'!'..=b'/', 0..600),
            (vec(any::<u8>(), 1..5), 1..200_usize).prop_map(|(unit, times)| unit.repeat(times)),
            vec(prop_oneof![Just("in"), Just("th"), Just("er"), Just("ing"), Just("-"), Just("==")], 0..200)
                .prop_map(|all| all.concat().into()),
        ]
    }

    proptest! {
        /// The crate `bpe` merges by another algorithm.
        #[test]
        fn windows_of_any_size_count_what_another_implementation_counts(piece in any_piece(), window in 1_usize..400) {
            for (encoding, other) in [(Encoding::O200kBase, bpe_openai::o200k_base()), (Encoding::Cl100kBase, bpe_openai::cl100k_base())] {
                let expect = other.bpe.count(&piece) as u64;
                prop_assert_eq!(merges(encoding).count_in_windows(&piece, window), expect, "{}, {} bytes", encoding, window);
                prop_assert_eq!(merges(encoding).encode(&piece).len() as u64, expect, "{}, whole", encoding);
            }
        }
    }
}
