//! Keys: where they come from, and that they stand nowhere.

use std::path::Path;

use super::provider::{Provider, Ran};
use super::say::text;
use wiremock::ResponseTemplate;

const KEY: &str = "sk-THIS-IS-THE-SECRET-0123456789";
const PORT: &str = "The metrics endpoint listens on port 9187 of every host, as deploy/metrics.py sets it.";

/// All that lies in a folder, as one text.
fn all_files(folder: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        text += &if path.is_dir() { all_files(&path) } else { String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned() };
    }
    text
}

#[test]
fn a_key_is_sent_and_stands_nowhere_else() {
    for (wire, header, value) in [("chat", "authorization", format!("Bearer {KEY}")), ("messages", "x-api-key", KEY.to_owned())] {
        // A careless provider repeats it in an error, in a reply and in its usage.
        let says = format!("401 for the key {KEY}");
        let repeats = ResponseTemplate::new(503).set_body_json(serde_json::json!({"error": {"message": says}}));
        let tells: &'static str = Box::leak(format!("{PORT} {KEY}").into_boxed_str());
        let provider = Provider::saying([repeats.clone(), text(tells).on(wire, false), repeats.clone(), repeats]);
        let url = provider.url();
        let record = |more: &[&str]| {
            let words = ["record", "tiny-task", "-s", "inline", "--model", "live:compatible/m", "--base-url", &url, "--wire", wire];
            let more = [&["--cassette", "tape.jsonl", "--first-wait", "0.001", "--attempts", "2", "--log", "debug"], more].concat();
            Ran::of(provider.command(&words).args(more).env("CTXBENCH_API_KEY", KEY).output().unwrap())
        };
        let well = record(&["--run-dir", "run", "--out", "json=out.json", "--out", "csv=out.csv"]).exits(0);
        let asked = provider.asked();
        assert!(asked.iter().all(|request| request.headers.get(header).is_some_and(|sent| sent == value.as_str())));
        let badly = record(&["--run-dir", "run2", "--seeds", "2"]).exits(13);
        for said in [well.out, well.err, badly.out, badly.err, all_files(provider.folder.path())] {
            assert!(!said.contains("SECRET"), "{said}");
        }
        assert!(all_files(provider.folder.path()).contains("<redacted>"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_key_is_not_among_the_words_of_the_process() {
    use std::os::unix::fs::PermissionsExt;
    let provider = Provider::saying([text(PORT).on("chat", false).set_delay(std::time::Duration::from_millis(50))]);
    let path = provider.path("key");
    std::fs::write(&path, format!("{KEY}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let url = provider.url();
    let words = ["run", "tiny-task", "-s", "inline", "--model", "live:compatible/m", "--base-url", &url, "--key-file", "key"];
    let mut child = provider.command(&words).stdout(std::process::Stdio::null()).spawn().unwrap();
    while provider.asked().is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "it asks before it ends");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    for file in ["cmdline", "environ"] {
        let said = std::fs::read(format!("/proc/{}/{file}", child.id())).unwrap();
        assert!(!String::from_utf8_lossy(&said).contains("SECRET"), "{file}");
    }
    assert!(child.wait().unwrap().success());
    assert_eq!(provider.asked()[0].headers.get("authorization").unwrap(), format!("Bearer {KEY}").as_str());
    // A file that others may read is refused before anything is asked.
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let refused = Ran::of(provider.command(&words).output().unwrap()).exits(2);
    assert!(refused.err.contains("chmod 600") && !refused.err.contains("SECRET"), "{}", refused.err);
}

#[test]
fn what_is_missing_is_named_before_anything_is_asked() {
    let provider = Provider::saying([]);
    let check = |words: &[&str], code: i32, said: &str| {
        let ran = Ran::of(provider.command(&[&["run", "tiny-task", "--model"], words].concat()).output().unwrap()).exits(code);
        assert!(ran.err.contains(said), "{words:?}: {}", ran.err);
    };
    check(&["live:openai/gpt-6-sol"], 2, "set OPENAI_API_KEY, or name a file with --key-file");
    check(&["live:anthropic/claude-opus-5"], 2, "set ANTHROPIC_API_KEY");
    check(&["live:antropic/x"], 2, "did you mean `anthropic`?");
    check(&["live:compatible/x"], 2, "give --base-url URL");
    check(&["live:x"], 2, "live:PROVIDER/NAME");
    check(&["live:compatible/x", "--base-url", "localhost:80"], 2, "is no address of a provider");
    check(&["live:compatible/x", "--base-url", "http://me:secret@localhost/v1"], 2, "is no address of a provider");
    check(&["live:compatible/x", "--base-url", "http://127.0.0.1:1/v1", "--key-file", "none"], 2, "cannot be read");
    check(&["live:compatible/x", "--base-url", "http://127.0.0.1:1/v1", "--max-usd", "1"], 2, "x is in no table");
    check(&["reader", "--judge", "live:local/x"], 2, "--judge is for models at providers");
    check(&["reader", "--max-usd", "1"], 2, "--max-usd is for models at providers");
    check(&["live:local/x", "--child-model", "gpt-6-luna"], 2, "--child-model is for simulated and held runs");
    check(&["live:local/x", "--field", "reasoning=high"], 2, "a text needs quotes");
    check(&["cassette:none"], 2, "there is no cassette `none`");
    check(&["cassette:./none.jsonl"], 1, "there is no such file");
}
