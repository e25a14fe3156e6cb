//! The cassette of a real, small model: it is sound, and a comparison from it says what its replies say.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

const CASSETTE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/cassettes/smollm2-135m.jsonl");

fn ctxbench(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_ctxbench")).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The text of the last reply of each cell's root thread, read from the file by hand.
fn last_answers() -> BTreeMap<String, String> {
    let mut sends: BTreeMap<u64, String> = BTreeMap::new();
    let mut answers = BTreeMap::new();
    for line in std::fs::read_to_string(CASSETTE).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        match line["line"].as_str() {
            Some("send") if line["lane"] == "/" => {
                sends.insert(line["order"].as_u64().unwrap(), line["cell"].as_str().unwrap().to_owned());
            }
            Some("delivery") => {
                let text = line["reply"]["content"]["json"]["choices"][0]["message"]["content"].as_str();
                if let (Some(cell), Some(text)) = (sends.get(&line["send"].as_u64().unwrap()), text) {
                    answers.insert(cell.clone(), text.to_owned());
                }
            }
            _ => {}
        }
    }
    answers
}

#[test]
fn it_is_sound() {
    assert!(ctxbench(&["cassette", "verify", CASSETTE]).contains("sound"));
}

/// Three strategies, three scenarios, three seeds, from the file alone, twice the same.
#[test]
fn a_comparison_is_replayed() {
    let words = ["replay", CASSETTE, "-s", "inline", "-s", "full-copy", "-s", "maf-dotnet", "--seeds", "3", "--format", "json"];
    let printed = ctxbench(&words);
    assert_eq!(printed, ctxbench(&words));
    let document: Value = serde_json::from_str(&printed).unwrap();
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 27);
    let answers = last_answers();
    for cell in cells {
        assert_eq!((cell["status"].as_str(), cell["evidence"].as_str()), (Some("ok"), Some("cassette")), "{}", cell["cell"]);
        let name = format!("{}/{}/{}", cell["scenario"].as_str().unwrap(), cell["strategy"].as_str().unwrap(), cell["seed"]);
        // Whoever names the figure has stated the fact: no other text of these scenarios has it.
        let figure = match cell["scenario"].as_str().unwrap() {
            "tiny-task" => "9187",
            "follow-up-detail" => "2,318",
            _ => continue,
        };
        let states = answers[&name].contains(figure);
        let metric = |name: &str| cell["metrics"][name].as_u64().unwrap();
        // Used where it was visible, else luck: invented.
        assert_eq!(metric("used") == 1, states && metric("invented") == 0, "{name}: {}", answers[&name]);
    }
}
