//! Reading a file line by line, with a cap that costs only the line that breaks it.

use std::io::{self, BufRead};

use memchr::memchr;

/// Lines above this are skipped and reported: 256 MiB.
pub const LINE_CAP: usize = 256 << 20;

/// A physical line.
#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// From 1.
    pub number: u64,
    /// Where it begins in the file.
    pub offset: u64,
    /// Its bytes, without the newline; `None`: longer than the cap.
    pub bytes: Option<&'a [u8]>,
}

/// Lines of a reader, in one buffer that is used again.
pub struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    number: u64,
    next_offset: u64,
    cap: usize,
}

impl<R: BufRead> Lines<R> {
    /// Lines of `reader`, none longer than `cap` bytes.
    pub fn new(reader: R, cap: usize) -> Lines<R> {
        Lines { reader, buffer: Vec::new(), number: 0, next_offset: 0, cap }
    }

    /// The next line; `None` at the end.
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        let offset = self.next_offset;
        let mut too_long = false;
        let mut seen = false;
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                break;
            }
            seen = true;
            let newline = memchr(b'\n', chunk);
            let length = newline.unwrap_or(chunk.len());
            if too_long || self.buffer.len() + length > self.cap {
                too_long = true;
                self.buffer = Vec::new();
            } else {
                self.buffer.extend_from_slice(&chunk[..length]);
            }
            let used = newline.map_or(length, |at| at + 1);
            self.reader.consume(used);
            self.next_offset += used as u64;
            if newline.is_some() {
                break;
            }
        }
        if !seen {
            return Ok(None);
        }
        self.number += 1;
        Ok(Some(Line { number: self.number, offset, bytes: (!too_long).then_some(&self.buffer[..]) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, cap: usize, expect: &[(u64, Option<&str>)]) {
        // A reader of three bytes at a time: lines span several chunks.
        let reader = io::BufReader::with_capacity(3, text.as_bytes());
        let mut lines = Lines::new(reader, cap);
        let mut found = Vec::new();
        while let Some(line) = lines.next().expect("memory does not fail") {
            found.push((line.offset, line.bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned())));
        }
        let expect: Vec<_> = expect.iter().map(|(offset, text)| (*offset, text.map(str::to_owned))).collect();
        assert_eq!(found, expect, "{text:?}");
    }

    #[test]
    fn lines_have_offsets_and_a_cap() {
        check("", 9, &[]);
        check("\n", 9, &[(0, Some(""))]);
        check("one\ntwo", 9, &[(0, Some("one")), (4, Some("two"))]);
        check("far too long\nok\n", 9, &[(0, None), (13, Some("ok"))]);
        check("exactly 9\nlonger than 9", 9, &[(0, Some("exactly 9")), (10, None)]);
    }
}
