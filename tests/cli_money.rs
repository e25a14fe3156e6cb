//! Prompt caches, prices and readers on the command line.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn ctxbench(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("ctxbench")).args(args).current_dir(folder).output().expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it is UTF-8");
    (output.status.code().expect("it ends by itself"), text(output.stdout), text(output.stderr))
}

fn results(folder: &Path, args: &[&str]) -> Value {
    let (exit, text, errors) = ctxbench(folder, &[args, &["--format", "json"]].concat());
    assert_eq!(exit, 0, "{args:?}: {errors}");
    serde_json::from_str(&text).expect("it is JSON")
}

fn here() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder can be made")
}

/// Each request's classes sum to its input, in every line, under every provider's rules.
#[test]
fn classes_sum_to_the_input_under_all_rules() {
    for rules in
        ["anthropic", "anthropic/claude-code", "openai", "openai-before-5.6", "google-implicit", "deepseek", "vllm", "llama-cpp", "none"]
    {
        let folder = here();
        let args = ["run", "cache-break", "noisy-history", "-s", "full-copy", "-s", "deerflow:context_mode=snapshot", "--cache", rules];
        let (exit, _, errors) = ctxbench(folder.path(), &[&args[..], &["--run-dir", "run", "--quiet"]].concat());
        assert_eq!(exit, 0, "{rules}: {errors}");
        let mut read = 0;
        for line in fs::read_to_string(folder.path().join("run/ledger.jsonl")).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let class = |of: &Value| ["read", "write", "uncached"].map(|name| of[name].as_u64().expect("a count"));
            let worst = class(&line["cache"]);
            assert_eq!(worst.iter().sum::<u64>(), line["input_total"].as_u64().unwrap(), "{rules}: {line}");
            read += worst[0];
            if line["cache"]["best"].is_object() {
                let best = class(&line["cache"]["best"]);
                assert_eq!(best.iter().sum::<u64>(), line["input_total"].as_u64().unwrap(), "{rules}: {line}");
                assert!(best[0] > worst[0], "{rules}: {line}");
            }
        }
        let nothing_is_sure = ["openai-before-5.6", "google-implicit", "none"].contains(&rules);
        assert_eq!(read == 0, nothing_is_sure, "{rules}: {read}");
    }
}

#[test]
fn a_range_is_no_point_and_says_so() {
    let folder = here();
    let cell = &results(folder.path(), &["run", "auth-lookup", "-s", "inline", "--as", "gpt-5.5"])["cells"][0];
    let of = |name: &str| cell["metrics"][name].clone();
    assert!(of("cost.usd").is_null() && of("cache.read").is_null());
    assert!(of("cost.usd.low").as_f64() < of("cost.usd.high").as_f64());
    assert_eq!(of("cache.read.low").as_u64(), Some(0));
    let why = cell["unmeasured"]["cost.usd"].as_str().unwrap();
    assert!(why.starts_with("the provider's cache rules leave a range: "), "{why}");
}

#[test]
fn without_a_cache_nothing_is_read_and_nothing_costs() {
    let folder = here();
    let cell = &results(folder.path(), &["run", "tiny-task", "-s", "inline", "--cache", "off"])["cells"][0];
    for name in ["cost.usd", "cost.usd.low", "cache.read", "cache.write.", "cache.uncached"].map(|name| name.trim_end_matches('.')) {
        assert!(cell["metrics"][name].is_null(), "{name}");
        assert_eq!(cell["unmeasured"][name].as_str(), Some("no prompt cache was simulated (--cache off)"), "{name}");
    }
    let cell = &results(folder.path(), &["run", "tiny-task", "-s", "inline", "--as", "grok-4.7"])["cells"][0];
    assert_eq!(cell["unmeasured"]["cost.usd"].as_str(), Some("no rules are known for the prompt cache of grok-4.7"));
    let cell = &results(folder.path(), &["run", "tiny-task", "-s", "inline", "--as", "none"])["cells"][0];
    assert_eq!(cell["unmeasured"]["cost.usd"].as_str(), Some("no model was taken (--as none), so nothing is priced"));
}

/// What stands in the cache need not be written again; what a thread sends under its own key finds nothing of another's.
#[test]
fn start_and_keys_change_what_is_read() {
    let folder = here();
    let of = |more: &[&str], metric: &str| {
        let args = ["run", "continue-debugging", "--size", "medium", "-s", "claude-code:mode=fork"];
        results(folder.path(), &[&args[..], more].concat())["cells"][0]["metrics"][metric].as_f64().expect("it was measured")
    };
    assert!(of(&["--cache-start", "warm"], "cache.read") > of(&[], "cache.read"));
    assert!(of(&["--cache-start", "warm"], "cost.usd") < of(&[], "cost.usd"));
    assert!(of(&["--cache-key", "thread"], "cache.read") < of(&[], "cache.read"));
    // Anthropic's caches know no key.
    let at_anthropic = |more: &[&str]| of(&[&["--as", "claude-opus-5-5"], more].concat(), "cache.read");
    assert_eq!(at_anthropic(&["--cache-key", "thread"]), at_anthropic(&[]));
}

const TABLE: &str = r#"
version = 1
dated = "2026-12-01"
source = "made up for a test"

[[model]]
name = "gpt-6-sol"
provider = "openai"
input = 4
read = 0.4
write = { "30m" = 5 }
output = 20
"#;

#[test]
fn a_run_is_priced_again_without_running() {
    let folder = here();
    let (exit, _, errors) =
        ctxbench(folder.path(), &["run", "auth-lookup", "-s", "inline", "-s", "opencode", "--run-dir", "run", "--quiet"]);
    assert_eq!(exit, 0, "{errors}");
    let before = results(folder.path(), &["reprice", "run"]);
    let kept: Vec<Value> = fs::read_to_string(folder.path().join("run/results.jsonl"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    fs::write(folder.path().join("dear.toml"), TABLE).unwrap();
    let (exit, text, errors) = ctxbench(folder.path(), &["reprice", "run", "--prices", "dear.toml", "--format", "json"]);
    assert_eq!(exit, 0, "{errors}");
    let after: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((after["prices"]["name"].as_str(), after["prices"]["date"].as_str()), (Some("dear"), Some("2026-12-01")));
    for (at, kept) in kept.iter().enumerate() {
        let of = |document: &Value, name: &str| document["cells"][at]["metrics"][name].clone();
        assert_eq!(of(&before, "cost.usd"), kept["metrics"]["cost.usd"]);
        // Every price of the table is twice that of the built-in one.
        let (old, new) = (of(&before, "cost.usd").as_f64().unwrap(), of(&after, "cost.usd").as_f64().unwrap());
        assert!((new - 2.0 * old).abs() < 1.5e-6, "{old} {new}");
        for name in ["total.input", "cache.read", "latency.end_to_end", "quality"] {
            assert_eq!(of(&after, name), kept["metrics"][name], "{name}");
        }
        assert_ne!(after["cells"][at]["fingerprint"], kept["fingerprint"]);
    }
    // A run with that table costs the same.
    let run = results(folder.path(), &["run", "auth-lookup", "-s", "inline", "-s", "opencode", "--prices", "dear.toml"]);
    assert_eq!(run["cells"][0]["metrics"]["cost.usd"], after["cells"][0]["metrics"]["cost.usd"]);
    let human = ctxbench(folder.path(), &["reprice", "run"]);
    assert!(human.0 == 0 && human.1.contains("auth-lookup · small · reader"), "{}", human.1);
}

#[test]
fn an_old_table_says_so() {
    let folder = here();
    fs::write(folder.path().join("old.toml"), TABLE.replace("2026-12-01", "2020-12-01")).unwrap();
    let errors = ctxbench(folder.path(), &["run", "tiny-task", "-s", "inline", "--prices", "old.toml"]).2;
    assert!(errors.contains("the prices `old` are ") && errors.contains("days old (of 2020-12-01): they may have changed"), "{errors}");
    let errors = ctxbench(folder.path(), &["run", "tiny-task", "-s", "inline"]).2;
    assert!(!errors.contains("days old"), "{errors}");
}

#[test]
fn a_table_that_is_wrong_is_answered_with_its_line() {
    let folder = here();
    fs::write(folder.path().join("bad.toml"), TABLE.replace("output = 20", "output = -20\nouput = 1")).unwrap();
    let (exit, out, errors) = ctxbench(folder.path(), &["run", "tiny-task", "--prices", "bad.toml"]);
    assert_eq!((exit, out.as_str()), (3, ""), "{errors}");
    assert!(errors.contains("bad.toml:12") && errors.contains("ouput"), "{errors}");
    let (exit, _, errors) = ctxbench(folder.path(), &["run", "tiny-task", "--cache", "antropic"]);
    assert!(exit == 2 && errors.contains("there are no cache rules `antropic`"), "{errors}");
}

#[test]
fn readers_stand_beside_each_other() {
    let folder = here();
    let args = ["run", "recent-decision", "-s", "opencode", "--fallback", "self"];
    let both = results(folder.path(), &[&args[..], &["--model", "reader", "--model", "reader:unknown=guess"]].concat());
    let ids: Vec<&str> = both["cells"].as_array().unwrap().iter().map(|cell| cell["cell"].as_str().unwrap()).collect();
    assert_eq!(ids, ["recent-decision+self/opencode@1.18.33/reader/0", "recent-decision+self/opencode@1.18.33/reader:unknown=guess/0"]);
    let quality = |at: usize| both["cells"][at]["metrics"]["quality"].as_f64().unwrap();
    assert_eq!((quality(0), quality(1)), (1.0, 0.0));
    assert!(both["cells"][1]["notes"][0].as_str().unwrap().starts_with("Assumed: what is not known is invented"));
    // The cell can be looked at by its id.
    let (exit, shown, errors) = ctxbench(folder.path(), &["show", ids[1]]);
    assert!(exit == 0 && shown.contains(ids[1]), "{errors}");
    for (model, expect) in [
        ("reader:unknown=gess", "did you mean `guess`"),
        ("raeder", "did you mean `reader`"),
        ("reader:attention=nolima", "is no value of `attention`"),
    ] {
        let (exit, _, errors) = ctxbench(folder.path(), &["run", "tiny-task", "--model", model]);
        assert!(exit == 2 && errors.contains(expect), "{errors}");
    }
    let (exit, _, errors) = ctxbench(folder.path(), &["run", "tiny-task", "--model", "script", "--model", "reader"]);
    assert!(exit == 2 && errors.contains("--model script stands alone"), "{errors}");
}

/// Dollars for a million tokens on 2026-11-30, cold: input, read, write, output.
const SOL: [f64; 4] = [2.0, 0.2, 2.5, 10.0];
const LUNA: [f64; 4] = [0.1, 0.01, 0.125, 0.5];
const OPUS: [f64; 4] = [4.0, 0.2, 5.0, 20.0];

/// Each request at the prices of its own thread's model, and no request finds what another model was sent.
#[test]
fn children_of_another_model_are_priced_and_cached_apart() {
    #[track_caller]
    fn check(root: &str, child: &str, of_root: [f64; 4], of_child: [f64; 4]) {
        let folder = here();
        let args = ["run", "continue-debugging", "--size", "medium", "-s", "claude-code:mode=fork", "--as", root, "--child-model", child];
        let (exit, _, errors) = ctxbench(folder.path(), &[&args[..], &["--run-dir", "run", "--quiet"]].concat());
        assert_eq!(exit, 0, "{errors}");
        let line: Value = serde_json::from_str(fs::read_to_string(folder.path().join("run/results.jsonl")).unwrap().trim()).unwrap();
        let (mut usd, mut children) = (0.0, 0);
        let mut fewest = u64::MAX;
        for row in fs::read_to_string(folder.path().join("run/ledger.jsonl")).unwrap().lines() {
            let row: Value = serde_json::from_str(row).unwrap();
            let tokens = |name: &str| row["cache"][name].as_f64().unwrap();
            let is_root = row["thread"] == "/";
            let price = if is_root { of_root } else { of_child };
            let classes = [tokens("uncached"), tokens("read"), tokens("write"), row["output"].as_f64().unwrap()];
            usd += classes.iter().zip(price).map(|(tokens, price)| tokens * price).sum::<f64>() / 1e6;
            if !is_root {
                children += 1;
                fewest = fewest.min(row["cache"]["read"].as_u64().unwrap());
            }
        }
        assert!(children > 1, "{children} requests of children");
        assert_eq!(fewest == 0, root != child, "a fork reads its parent's beginning if both have one model: {fewest}");
        let told = line["metrics"]["cost.usd"].as_f64().unwrap();
        assert!((told - usd).abs() < 2e-6, "{told} was told, {usd} is the sum");
        let again = results(folder.path(), &["reprice", "run"]);
        for name in ["cost.usd", "cost.next_turn"] {
            assert_eq!(again["cells"][0]["metrics"][name], line["metrics"][name], "{name}");
        }
        assert_eq!(again["settings"]["child_model"].as_str(), Some(child));
    }
    check("gpt-6-sol", "gpt-6-sol", SOL, SOL);
    check("gpt-6-sol", "gpt-6-luna", SOL, LUNA);
    check("claude-opus-5-5", "gpt-6-luna", OPUS, LUNA);
}

#[test]
fn a_child_model_is_a_setting_of_the_run() {
    let folder = here();
    let run = |more: &[&str]| ctxbench(folder.path(), &[&["run", "tiny-task", "-s", "opencode", "--quiet"], more].concat());
    let of = |more: &[&str]| results(folder.path(), &[&["run", "tiny-task", "-s", "opencode"], more].concat());
    let (plain, luna) = (of(&[]), of(&["--child-model", "gpt-6-luna"]));
    assert!(plain["settings"].get("child_model").is_none());
    assert_ne!(plain["cells"][0]["fingerprint"], luna["cells"][0]["fingerprint"]);
    // A quicker model for the child alone.
    let time = |document: &Value| document["cells"][0]["metrics"]["latency.end_to_end"].as_u64().unwrap();
    assert!(time(&luna) < time(&plain));
    let none = &of(&["--child-model", "none"])["cells"][0];
    assert_eq!(none["unmeasured"]["cost.usd"].as_str(), Some("no model was taken (--as none), so nothing is priced"));
    let (exit, _, errors) = run(&["--child-model", "gpt-6-lunar"]);
    assert_eq!(exit, 2);
    assert!(errors.contains("gpt-6-luna"), "{errors}");
    assert_eq!(run(&["--child-model", "gpt-6-luna", "--run-dir", "kept"]).0, 0);
    let (exit, _, errors) = run(&["--run-dir", "kept", "--resume"]);
    assert_eq!(exit, 2);
    assert!(errors.contains("child_model"), "{errors}");
}

/// What a provider bills for a cell, beside what the run counts: the hidden prompt of tools is paid with every request.
#[test]
fn what_a_provider_bills_is_told_request_by_request() {
    let folder = here();
    let billed = |model: &str, more: &[&str]| {
        let args = [&["show", "tiny-task/opencode@1.18.33/reader/0", "--framing", model, "--format", "json"][..], more].concat();
        let (exit, text, errors) = ctxbench(folder.path(), &args);
        assert_eq!(exit, 0, "{errors}");
        let shown: Value = serde_json::from_str(&text).expect("it is JSON");
        shown["billed"].clone()
    };
    let sum =
        |billed: &Value, what: &str| billed["requests"].as_array().unwrap().iter().map(|one| one[what].as_u64().unwrap()).sum::<u64>();
    let chat = billed("gpt-4o", &[]);
    assert_eq!((chat["family"].as_str(), chat["tool_prompt"].as_u64()), (Some("chat-2024-o200k"), None));
    assert_eq!(chat["total"].as_u64(), Some(sum(&chat, "tokens")));
    let claude = billed("claude-sonnet-4-6", &[]);
    let requests = claude["requests"].as_array().unwrap().len() as u64;
    assert_eq!((claude["tool_prompt"].as_u64(), claude["accuracy"].as_str()), (Some(497), Some("15 %")));
    // Texts cost more there too, so the hidden prompts are not all of it.
    assert!(sum(&claude, "tokens") > sum(&claude, "counted") + 497 * requests, "{claude}");
    let child = billed("claude-sonnet-4-6", &["--thread", "/1"]);
    assert_eq!(child["total"].as_u64(), Some(sum(&child, "tokens")));
    assert!(child["requests"].as_array().unwrap().iter().all(|one| one["thread"] == "/1"));
    // A run's folder tells the same.
    let (exit, _, errors) = ctxbench(folder.path(), &["run", "tiny-task", "-s", "opencode", "--run-dir", "run", "--quiet"]);
    assert_eq!(exit, 0, "{errors}");
    assert_eq!(billed("claude-sonnet-4-6", &["--run-dir", "run"]), claude);

    let (exit, _, errors) = ctxbench(folder.path(), &["show", "tiny-task/inline@1/reader/0", "--framing", "nobodys-model"]);
    assert_eq!(exit, 2);
    assert!(errors.contains("`nobodys-model`") && errors.contains("chat-2024-o200k"), "{errors}");
}
