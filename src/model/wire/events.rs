//! Server-sent events out of bytes, however these are cut.

/// Reads events: bytes in, whole events out. Of a field's lines only `event` and `data` matter here; comments, ids and
/// reconnection times are passed over (the event-stream format of the HTML standard, section 9.2.6).
#[derive(Debug, Default)]
pub struct EventReader {
    line: Vec<u8>,
    after_return: bool,
    name: String,
    data: Option<String>,
}

impl EventReader {
    /// Takes bytes and gives the events that are complete by now, each with its name (empty without one) and data.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<(String, String)> {
        let mut events = Vec::new();
        for &byte in bytes {
            let after_return = std::mem::take(&mut self.after_return);
            match byte {
                // The second half of one line end.
                b'\n' if after_return => {}
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    let line = std::mem::take(&mut self.line);
                    events.extend(self.end_of_line(&String::from_utf8_lossy(&line)));
                }
                _ => self.line.push(byte),
            }
        }
        events
    }

    fn end_of_line(&mut self, line: &str) -> Option<(String, String)> {
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            return self.data.take().map(|data| (name, data));
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.name = value.to_owned(),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(bytes: &str, expect: &[(&str, &str)]) {
        let events = EventReader::default().take(bytes.as_bytes());
        let events: Vec<(&str, &str)> = events.iter().map(|(name, data)| (name.as_str(), data.as_str())).collect();
        assert_eq!(events, expect, "{bytes:?}");
    }

    #[test]
    fn events_are_read_as_the_standard_says() {
        check("data: a\n\n", &[("", "a")]);
        check("event: ping\ndata: {}\n\ndata:b\r\n\r\n", &[("ping", "{}"), ("", "b")]);
        check("data: a\ndata: b\n\n", &[("", "a\nb")]);
        check(": a comment\n\nid: 3\nretry: 10\ndata\n\n", &[("", "")]);
        check("data: not finished\n", &[]);
        check("event: nothing\n\ndata: x\r\r", &[("", "x")]);
    }

    proptest! {
        /// Where the network cuts the bytes changes nothing.
        #[test]
        fn cuts_change_nothing(text in "((data|event|id): ?[a-zé]{0,4}(\r\n|\n|\r)|(\r\n|\n|\r)){0,12}", cuts in proptest::collection::vec(0..80usize, 0..6)) {
            let bytes = text.as_bytes();
            let whole = EventReader::default().take(bytes);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).chain([0, bytes.len()]).collect();
            cuts.sort_unstable();
            let mut reader = EventReader::default();
            let pieces: Vec<_> = cuts.windows(2).flat_map(|pair| reader.take(&bytes[pair[0]..pair[1]])).collect();
            prop_assert_eq!(pieces, whole);
        }
    }
}
