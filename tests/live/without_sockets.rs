//! A replay opens no socket: it runs where every attempt to open one ends the process.

use super::provider::{Provider, Ran};
use super::say::text;

/// Runs its arguments under a filter of system calls that kills whoever calls `socket` (number 41 on x86-64, 198 on aarch64).
const UNDER_A_FILTER: &str = r#"
import ctypes, os, platform, struct, sys
number = {"x86_64": 41, "aarch64": 198}.get(platform.machine())
if number is None:
    sys.exit(77)
libc = ctypes.CDLL(None, use_errno=True)
# load the call's number; if it is the one, kill the process; else allow.
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x80000000), (0x06, 0, 0, 0x7FFF0000)]
code = b"".join(struct.pack("HBBI", *step) for step in steps)
buffer = ctypes.create_string_buffer(code)
program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(buffer))
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.c_char_p(program), 0, 0):
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
"#;

#[cfg(target_os = "linux")]
#[test]
fn a_replay_opens_no_socket() {
    let provider = Provider::saying([text("It is port 9187.").on("chat", false)]);
    provider.record("chat", &[]).exits(0);
    let filtered = |words: &[&str]| {
        let mut command = std::process::Command::new("python3");
        command.args(["-c", UNDER_A_FILTER, env!("CARGO_BIN_EXE_ctxbench")]).args(words).current_dir(provider.folder.path());
        command.output()
    };
    let asked = provider.asked().len();
    // That the filter bites: whoever asks a provider is killed by it.
    let url = provider.url();
    let live = match filtered(&["run", "tiny-task", "-s", "inline", "--model", "live:compatible/m", "--base-url", &url]) {
        Ok(output) if output.status.code() == Some(77) => return eprintln!("SKIPPED: this system gives no filter of system calls"),
        Ok(output) => output,
        Err(why) => return eprintln!("SKIPPED: no python3 to set the filter with ({why})"),
    };
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&live.status), Some(31), "{live:?}");
    let replayed = Ran::of(filtered(&["replay", "tape.jsonl", "--format", "json"]).unwrap()).exits(0);
    assert_eq!(replayed.cell()["evidence"], "cassette");
    Ran::of(filtered(&["cassette", "verify", "tape.jsonl"]).unwrap()).exits(0);
    assert_eq!(provider.asked().len(), asked);
}
