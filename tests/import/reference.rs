//! Real recordings and odd inputs with known-right figures, where a reference folder is given.

use crate::expect::{check_expect, imported, name, shared};

#[test]
fn reference_odd_inputs() {
    let Some(folder) = shared("odd-inputs") else { return };
    let index = std::fs::read_to_string(folder.join("INDEX.tsv")).expect("the index");
    let mut checked = 0;
    for line in index.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let (file, expect) = (fields[0], fields[fields.len() - 1]);
        let claude = ["01", "02", "03", "05", "06", "07", "09", "10", "11", "12", "14", "15", "17", "19", "21", "22", "25", "26"];
        if claude.contains(&&file[..2]) {
            check_expect(&folder.join(file), expect);
            checked += 1;
        } else {
            // Another product's: named, and no panic.
            check_expect(&folder.join(file), "sessions=- skipped_files=1");
        }
    }
    assert_eq!(checked, 18);
}

#[test]
fn reference_recordings() {
    let Some(folder) = shared("recordings") else { return };
    let text = std::fs::read_to_string(folder.join("SOURCES.md")).expect("the figures");
    let imported = imported(&folder.join("claude-code"));
    let mut checked = (0, 0);
    for line in text.lines().filter(|line| line.starts_with("| claude-code/")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let number = |at: usize| cells[at].replace(',', "").parse::<u64>().ok();
        let end = |text: &str| text.trim_start_matches('…').to_owned();
        if cells.len() == 10 {
            let (file, thread) = cells[0].split_once(", ").expect("file and thread");
            let stem = file.trim_end_matches(".jsonl");
            let session = imported
                .sessions
                .iter()
                .filter(|session| session.file.contains(stem))
                .find(|session| if thread == "(main)" { session.parent.is_none() } else { session.id.ends_with(&end(thread)) })
                .unwrap_or_else(|| panic!("no session for {line}"));
            let spend = session.spend;
            let found = [Some(session.responses), spend.uncached_input, spend.cache_read, spend.cache_write, spend.output, spend.total];
            assert_eq!(found, [1, 2, 3, 4, 5, 6].map(number), "{line}");
            let (total, unknown) = cells[7].split_once(" + ").unwrap_or((cells[7], "0 unknown"));
            assert_eq!(session.inclusive.total, total.replace(',', "").parse().ok(), "{line}");
            assert_eq!(Some(session.inclusive.unknown_children), unknown.trim_end_matches(" unknown").parse().ok(), "{line}");
            assert_eq!(session.final_context, number(8), "{line}");
            match (cells[9], &session.parent) {
                ("-", parent) => assert_eq!(*parent, None, "{line}"),
                ("main", parent) => assert!(parent.is_some(), "{line}"),
                (name, parent) => assert!(parent.as_ref().is_some_and(|id| id.ends_with(&end(name))), "{line}"),
            }
            checked.0 += 1;
        } else if cells.len() == 7 {
            let stem = cells[0].trim_end_matches(".jsonl");
            let found = imported.sessions.iter().filter(|session| session.file.contains(stem)).flat_map(|session| &session.delegations);
            let found: Vec<_> = found.filter(|delegation| delegation.call_id.ends_with(&end(cells[1]))).collect();
            assert_eq!(found.len(), 1, "{line}");
            let one = found[0];
            assert_eq!(one.kind, cells[2], "{line}");
            assert!(one.child.as_deref().unwrap_or("null").ends_with(&end(cells[3])), "{line}");
            let (link, sure) = cells[4].split_once(" / ").expect("link and confidence");
            assert_eq!((name(one.link).as_deref(), name(one.confidence).as_deref()), (Some(link), Some(sure)), "{line}");
            assert_eq!(name(one.status).as_deref(), Some(cells[5]), "{line}");
            assert_eq!(one.final_context, number(6), "{line}");
            checked.1 += 1;
        }
    }
    assert_eq!((checked, imported.sessions.len()), ((17, 18), 17));
    let report = &imported.report;
    assert!(report.bad_lines.is_empty());
    assert_eq!([report.orphans, report.salvaged, report.duplicates, report.estimated_usage, report.unanswered_calls], [0; 5]);
}
