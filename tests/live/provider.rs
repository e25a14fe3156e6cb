//! A provider that says what a test wrote down, and the binary that asks it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

/// Answers in order; whoever asks once more gets a refusal that no attempt mends.
struct Written(Mutex<VecDeque<ResponseTemplate>>);

impl Respond for Written {
    fn respond(&self, _: &Request) -> ResponseTemplate {
        let next = self.0.lock().unwrap().pop_front();
        next.unwrap_or_else(|| ResponseTemplate::new(400).set_body_json(serde_json::json!({"error": {"message": "nothing is written"}})))
    }
}

/// A provider with a folder for what is recorded.
pub struct Provider {
    runtime: Runtime,
    server: MockServer,
    pub folder: TempDir,
}

impl Provider {
    /// One that answers in this order.
    pub fn saying(answers: impl IntoIterator<Item = ResponseTemplate>) -> Provider {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(MockServer::start());
        let provider = Provider { runtime, server, folder: tempfile::tempdir().unwrap() };
        provider.say(answers);
        provider
    }

    /// Answers in this order from now on.
    pub fn say(&self, answers: impl IntoIterator<Item = ResponseTemplate>) {
        let written = Written(Mutex::new(answers.into_iter().collect()));
        self.runtime.block_on(async {
            self.server.reset().await;
            Mock::given(any()).respond_with(written).mount(&self.server).await;
        });
    }

    /// Where it is asked.
    pub fn url(&self) -> String {
        format!("{}/v1", self.server.uri())
    }

    /// What it was asked since it was last told what to say, in order.
    pub fn asked(&self) -> Vec<Request> {
        self.runtime.block_on(self.server.received_requests()).unwrap_or_default()
    }

    /// The bodies of what it was asked.
    pub fn bodies(&self) -> Vec<Value> {
        self.asked().iter().map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `ctxbench` with these words, in the folder.
    pub fn command(&self, words: &[&str]) -> Command {
        ctxbench(self.folder.path(), words)
    }

    /// Records the built-in tiny task under full-copy into `tape.jsonl` and its run into `run`, with more words.
    pub fn record(&self, wire: &str, more: &[&str]) -> Ran {
        let url = self.url();
        let mut words = vec!["record", "tiny-task", "-s", "full-copy", "--model", "live:compatible/a-model", "--base-url", &url];
        words.extend(["--wire", wire, "--cassette", "tape.jsonl", "--first-wait", "0.001", "--format", "json"]);
        if !more.contains(&"--run-dir") {
            words.extend(["--run-dir", "run"]);
        }
        words.extend(more);
        Ran::of(self.command(&words).output().unwrap())
    }

    /// The lines of the run's ledger.
    pub fn ledger(&self) -> Vec<Value> {
        lines(&self.path("run/ledger.jsonl"))
    }

    /// The lines of the cassette.
    pub fn tape(&self) -> Vec<Value> {
        lines(&self.path("tape.jsonl"))
    }
}

/// `ctxbench` with these words in a folder, without any key of this machine.
pub fn ctxbench(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctxbench"));
    command.args(words).current_dir(folder);
    for variable in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "CTXBENCH_API_KEY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env_remove(variable);
    }
    command
}

/// The JSON lines of a file.
pub fn lines(path: &Path) -> Vec<Value> {
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What a command left.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Its first cell.
    #[track_caller]
    pub fn cell(&self) -> Value {
        self.json()["cells"][0].clone()
    }

    /// Its output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|why| panic!("{why}: {}{}", self.out, self.err))
    }

    #[track_caller]
    pub fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        self
    }
}
