//! The commands that a check prints do what they say when they are pasted.

use super::project::{BUDGETS, Project, scenario};

const RECORDING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/recordings/claude-code/equal-prompts.jsonl");

/// Of a lock, every count of tokens as 1, so that all of it grew.
fn shrunk(lock: &str) -> String {
    let line = |line: &str| {
        let mut words: Vec<&str> = line.split(' ').collect();
        if words.get(1) == Some(&"parent.input_total") {
            words[2] = "1";
            // Where the tokens stand is not known of it.
            words.truncate(4);
        }
        words.join(" ") + "\n"
    };
    lock.lines().map(line).collect()
}

/// The commands of a report behind this label.
fn printed(out: &str, label: &str) -> Vec<String> {
    out.lines().filter_map(|line| line.strip_prefix(&format!("  {label:<8}"))).map(str::to_owned).collect()
}

/// The command in a page's block of code that begins like this.
fn on_a_page(page: &str, begins: &str) -> Option<String> {
    page.lines().find(|line| line.starts_with(begins)).map(str::to_owned)
}

/// Accepts with these arguments, shrinks the lock, checks with them (and some more), pastes what was printed.
fn pasted(project: &Project, args: &[&str], more: &[&str], cell: &str) {
    project.check(&[args, &["--accept"]].concat()).expect(0, &[]);
    let lock = shrunk(&project.read("budgets.lock"));
    project.write("budgets.lock", &lock);
    let told = project.check(&[args, more].concat()).expect(10, &["GREW"]).out;
    let looks = printed(&told, "look");
    assert!(!looks.is_empty(), "{told}");
    let page = project.check(&[args, more, &["--format", "markdown"]].concat()).out;
    for look in looks.into_iter().chain(on_a_page(&page, "ctxbench explain ")) {
        let done = project.paste(&look);
        assert_eq!(done.code, 0, "{look}: {}", done.err);
        assert!(done.out.contains("GREW") && done.out.contains("parent.input_total"), "{look}: {}", done.out);
    }
    assert!(told.contains(cell), "{told}");
    for accept in printed(&told, "accept") {
        let done = project.paste(&accept);
        assert_eq!(done.code, 0, "{accept}: {}", done.err);
        assert!(done.out.contains("changed"), "{accept}: {}", done.out);
    }
    project.check(args).expect(0, &[]);
}

/// Budgets of everything of one strategy, tokens alone; a scenario of its own in a folder that nobody finds by himself.
fn project(scenario: &str) -> Project {
    let project = Project::new();
    let budgets = BUDGETS.replace("\"lookup\"", &format!("\"{scenario}\"")).replace("\"quality\" = {}\n", "");
    project.write("budgets.toml", &budgets);
    project
}

#[test]
fn scenarios_that_were_named_are_named_again() {
    let one = project("else*");
    one.write("my files/else.yaml", &scenario("else"));
    one.write("more/else-too.yaml", &scenario("else-too"));
    let one_file = ["my files/else.yaml"];
    pasted(&one, &one_file, &[], "else/opencode");
    pasted(&one, &["my files"], &[], "else/opencode");
    pasted(&one, &["my files", "more/else-too.yaml"], &[], "else-too/opencode");
    pasted(&one, &["more/else-too.yaml", "my files", "tiny-task"], &["--grow", "0", "--strict"], "else/opencode");
}

#[test]
fn recordings_and_scenarios_are_named_beside_each_other() {
    let both = project("{else,lighthouse}");
    both.write("more/else.yaml", &scenario("else"));
    pasted(&both, &["more/else.yaml", RECORDING], &[], "lighthouse/opencode");
    pasted(&both, &[RECORDING, "more"], &[], "else/opencode");
}

#[test]
fn runs_are_named_again() {
    let runs = project("{else,lookup}");
    runs.write("more/else.yaml", &scenario("else"));
    for (what, folder) in [("more", "one run"), ("scenarios", "other")] {
        let done = runs.run(&["run", what, "-s", "opencode", "--run-dir", folder]);
        assert_eq!(done.code, 0, "{}", done.err);
    }
    pasted(&runs, &["one run", "other"], &[], "else/opencode");
}

#[test]
fn names_like_options_and_globs_mean_themselves() {
    let odd = project("*");
    odd.edit("budgets.toml", "why =", "model = \"held\"\nwhy =");
    let text = std::fs::read_to_string(RECORDING).unwrap();
    for (id, file) in [("light[ho]*use", "-globs.jsonl"), ("lighthouse", "plain.jsonl"), ("-dash", "dash.jsonl"), ("!not", "not.jsonl")] {
        assert!(text.contains("\"sessionId\":\"lighthouse\""));
        odd.write(&format!("recordings/{file}"), &text.replace("\"sessionId\":\"lighthouse\"", &format!("\"sessionId\":\"{id}\"")));
        odd.write(file, &odd.read(&format!("recordings/{file}")));
    }
    // Copies of one recording in one folder would be one: each is read by itself.
    let recordings = ["recordings/-globs.jsonl", "recordings/plain.jsonl", "recordings/dash.jsonl", "recordings/not.jsonl"];
    let from: Vec<&str> = std::iter::once("explain").chain(recordings.iter().flat_map(|one| ["--from", one])).collect();
    for cell in ["light[ho]*use", "-dash", "!not"] {
        odd.check(&[&recordings, &["--accept"][..]].concat()).expect(0, &[]);
        let lock = odd.read("budgets.lock");
        odd.write("budgets.lock", &shrunk(&lock));
        // A cell's id means this cell alone, whatever it looks like.
        let only = format!("--only={cell}/opencode@1.18.33/held/0");
        odd.check(&[&recordings, &["--accept", &only][..]].concat()).expect(0, &["1 figure of budgets.lock changed", cell]);
        let explained = odd.run(&[&from, &["--", &format!("{cell}/opencode/held/0")][..]].concat());
        assert!(explained.code == 0 && explained.out.starts_with(cell), "{}{}", explained.out, explained.err);
    }
    for (file, cell) in [("dash.jsonl", "-dash/opencode"), ("not.jsonl", "!not/opencode")] {
        let one = project("*");
        one.edit("budgets.toml", "why =", "model = \"held\"\nwhy =");
        one.write(file, &odd.read(file));
        pasted(&one, &[file], &[], cell);
        // Of several cells, all of a scenario.
        one.edit("budgets.toml", "\"opencode\"", "[\"opencode\", \"full-copy\"]");
        pasted(&one, &[file], &[], cell);
    }
    let one = project("*");
    one.edit("budgets.toml", "why =", "model = \"held\"\nwhy =");
    one.write("globs/-globs.jsonl", &odd.read("-globs.jsonl"));
    one.edit("budgets.toml", "\"opencode\"", "[\"opencode\", \"full-copy\"]");
    pasted(&one, &["globs"], &[], "light[ho]*use/opencode");
}

#[test]
fn the_revision_that_was_compared_with_is_looked_at() {
    let project = Project::accepted();
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"];
        let output = std::process::Command::new("git").args(identity).args(args).current_dir(project.folder.path()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    git(&["init", "-q"]);
    project.write("budgets.lock", &shrunk(&project.read("budgets.lock")));
    git(&["add", "."]);
    git(&["commit", "-qm", "small"]);
    project.check(&["--accept"]).expect(0, &["1 figure of"]);
    let args = ["--against", "HEAD", "--grow", "1%", "--drop", "0"];
    let told = project.check(&args).expect(10, &["GREW"]).out;
    let look = printed(&told, "look").remove(0);
    assert!(look.contains("--against 'HEAD' --grow '1%' --drop '0'"), "{look}");
    let done = project.paste(&look);
    assert!(done.code == 0 && done.out.contains("GREW parent.input_total"), "{look}: {}{}", done.out, done.err);
    // The lock of the folder has it already.
    let accept = printed(&told, "accept").remove(0);
    assert!(!accept.contains("--against"), "{accept}");
    assert_eq!(project.paste(&accept).code, 0);
}

#[test]
fn a_cell_that_failed_can_be_looked_at() {
    let project = Project::accepted();
    project.edit("scenarios/lookup.yaml", "\nfiles:\n", "\nwindow: 400\n\nfiles:\n");
    let told = project.check(&[]).expect(13, &["FAILED"]).out;
    let [look] = printed(&told, "look").try_into().expect("one command");
    let done = project.paste(&look);
    assert!(done.code == 0 && done.out.contains("FAILED the cell") && done.out.contains("overflow"), "{look}: {}{}", done.out, done.err);
    // So can one that is over its limit and was never accepted.
    let project = Project::new();
    project.edit("budgets.toml", "\"parent.input_total\" = {}\n\"quality\" = {}", "\"parent.input_total\" = { max = 10 }");
    let told = project.check(&[]).expect(10, &["OVER"]).out;
    let [look] = printed(&told, "look").try_into().expect("one command");
    assert!(project.paste(&look).out.contains("OVER NEW parent.input_total"), "{look}");
}
