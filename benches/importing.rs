//! How fast recordings are imported: a Claude Code session of about 20 MB, with steps and without.
//!
//! `cargo bench --bench importing`.

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ctxbench::import::{Detail, Options, import};

const SIZE: usize = 20 << 20;

/// What stands in every record of the session. Version and names are those of real recordings, the values are made up.
fn head(at: usize, kind: &str) -> String {
    let parent = if at == 0 { "null".to_owned() } else { format!("\"u{}\"", at - 1) };
    let (hour, minute, second) = (at / 3600 % 24, at / 60 % 60, at % 60);
    format!(
        "{{\"parentUuid\":{parent},\"isSidechain\":false,\"sessionId\":\"long\",\"version\":\"2.1.50\",\"type\":\"{kind}\",\
         \"uuid\":\"u{at}\",\"timestamp\":\"2027-03-04T{hour:02}:{minute:02}:{second:02}.000Z\","
    )
}

/// A session that reads files: a call with its usage and a result of a few thousand characters, over and over; every
/// fiftieth call delegates. Returns the text and how many messages the model wrote.
fn session() -> (String, usize) {
    let mut text = String::with_capacity(SIZE + (1 << 16));
    let _ = writeln!(text, "{}\"message\":{{\"role\":\"user\",\"content\":\"Read everything.\"}}}}", head(0, "user"));
    let (mut at, mut messages) = (1, 0);
    while text.len() < SIZE {
        let delegates = messages % 50 == 49;
        let call = if delegates {
            format!("\"name\":\"Task\",\"input\":{{\"description\":\"look\",\"prompt\":\"Look at {at}.\",\"subagent_type\":\"scout\"}}")
        } else {
            format!("\"name\":\"Read\",\"input\":{{\"file_path\":\"/src/part_{at}.rs\"}}")
        };
        let _ = writeln!(
            text,
            "{}\"requestId\":\"r{at}\",\"message\":{{\"id\":\"m{at}\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"reader-1\",\
             \"content\":[{{\"type\":\"text\",\"text\":\"Next is part {at}.\"}},{{\"type\":\"tool_use\",\"id\":\"c{at}\",{call}}}],\
             \"usage\":{{\"input_tokens\":4,\"cache_read_input_tokens\":{},\"cache_creation_input_tokens\":900,\"output_tokens\":40}}}}}}",
            head(at, "assistant"),
            messages * 900,
        );
        let lines = (0..60).fold(String::new(), |mut lines, line| {
            let _ = write!(lines, "    let value_{line} = part_{at}.take(\\\"{line}\\\")?; // ä\\n");
            lines
        });
        let _ = writeln!(
            text,
            "{}\"toolUseResult\":{{\"type\":\"text\"}},\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\
             \"tool_use_id\":\"c{at}\",\"content\":\"{lines}\"}}]}}}}",
            head(at + 1, "user"),
        );
        (at, messages) = (at + 2, messages + 1);
    }
    (text, messages)
}

fn importing(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("long.jsonl");
    let (text, messages) = session();
    fs::write(&path, &text).expect("the temporary folder can be written to");
    let mut group = criterion.benchmark_group("importing/claude-code");
    group.throughput(Throughput::Bytes(text.len() as u64));
    for (name, detail) in [("steps", Detail::Steps), ("summary", Detail::Summary)] {
        let options = Options { detail, ..Options::default() };
        let paths = [path.clone()];
        let read = || import(&paths, &options).expect("the file is there");
        // A session that is not understood would be fast.
        let first = read();
        let report = &first.report;
        assert!(report.bad_lines.is_empty() && report.skipped_files.is_empty(), "{report:?}");
        let root = first.sessions.first().expect("one session");
        assert_eq!(root.delegations.len(), messages / 50);
        group.bench_function(name, |bencher| bencher.iter_with_large_drop(read));
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    targets = importing
}
criterion_main!(benches);
