//! Recorders that are stopped at any moment.

use std::time::{Duration, Instant};

use super::provider::{Provider, Ran};
use super::say::{Says, call, text};

const PORT: &str = "The metrics endpoint listens on port 9187 of every host, as deploy/metrics.py sets it.";
const TASK: &str = r#"{"task":"OPS-77: find the port, please."}"#;

/// Six cells of three requests each.
fn says() -> Vec<Says> {
    (0..6).flat_map(|_| [call("c", "delegate", TASK), text(PORT), text("It is port 9187.")]).collect()
}

fn words(url: &str) -> Vec<String> {
    let words = ["record", "tiny-task", "-s", "full-copy", "--seeds", "6", "--model", "live:compatible/m", "--base-url", url];
    let more = ["--cassette", "tape.jsonl", "--first-wait", "0.001"];
    words.iter().chain(&more).map(|word| (*word).to_owned()).collect()
}

fn deliveries(provider: &Provider) -> usize {
    let text = std::fs::read_to_string(provider.path("tape.jsonl")).unwrap_or_default();
    text.lines().filter(|line| line.contains("\"line\":\"delivery\"")).count()
}

#[test]
fn killed_it_has_every_reply_that_it_received_and_the_next_pays_for_none_of_them() {
    // Killed after some number of requests, again and again.
    for kill_at in [1, 4, 8] {
        let slow = |says: &Says| says.on("chat", false).set_delay(Duration::from_millis(15));
        let provider = Provider::saying(says().iter().map(slow));
        let url = provider.url();
        let words: Vec<String> = words(&url);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut child = provider.command(&words).stdout(std::process::Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while provider.asked().len() < kill_at + 1 {
            assert!(begun.elapsed() < Duration::from_secs(30), "it asks on");
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // Whoever asked once more had received all replies before.
        let asked = provider.asked().len();
        let kept = deliveries(&provider);
        assert!(kept + 1 >= asked && kept <= asked, "{kept} of {asked}");
        // The rest of the conversation, from where it is.
        provider.say(says()[kept..].iter().map(|says| says.on("chat", false)));
        Ran::of(provider.command(&words).output().unwrap()).exits(0);
        assert_eq!(provider.asked().len(), 18 - kept, "nothing is asked twice");
        let replay = Ran::of(provider.command(&["replay", "tape.jsonl", "--format", "json"]).output().unwrap()).exits(0);
        assert!(replay.json()["cells"].as_array().unwrap().iter().all(|cell| cell["status"] == "ok"));
        assert_eq!(replay.json()["cells"].as_array().unwrap().len(), 6);
    }
}

#[cfg(unix)]
#[test]
fn interrupted_it_ends_at_once_and_keeps_what_it_has() {
    let mut says: Vec<_> = says()[..4].iter().map(|says| says.on("chat", false)).collect();
    says[3] = says[3].clone().set_delay(Duration::from_secs(20));
    let provider = Provider::saying(says);
    let url = provider.url();
    let words: Vec<String> = words(&url);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut child = provider.command(&words).args(["--run-dir", "run"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while provider.asked().len() < 4 {
        assert!(begun.elapsed() < Duration::from_secs(15), "it asks on");
        std::thread::sleep(Duration::from_millis(2));
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(begun.elapsed() < Duration::from_secs(15), "nobody waits for the slow reply");
    // The first cell is done; the second, cut short, is no row.
    let results = std::fs::read_to_string(provider.path("run/results.jsonl")).unwrap();
    assert_eq!(results.lines().count(), 1);
    assert_eq!(deliveries(&provider), 3);
}
