//! The README's guide and the action do what they say.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::project::Project;

fn of_project(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("it is readable")
}

/// The fenced blocks of a language in the README's guide.
fn blocks(language: &str) -> Vec<String> {
    let readme = of_project("README.md");
    let (_, guide) = readme.split_once("## Budgets in CI\n").expect("the README has the guide");
    let guide = guide.split("\n## ").next().expect("a first piece");
    let fence = format!("```{language}\n");
    guide.split(&fence).skip(1).map(|rest| rest.split("```").next().expect("a fence closes it").to_owned()).collect()
}

#[test]
fn the_guide_works_as_it_stands() {
    let project = Project::new();
    let [budgets] = blocks("toml").try_into().expect("one file of budgets");
    project.write("budgets.toml", &budgets);
    let binary = assert_cmd::cargo::cargo_bin!("ctxbench");
    let folder = binary.parent().expect("it lies in a folder").display().to_string();
    let path = format!("{folder}:{}", std::env::var("PATH").expect("there is one"));
    let commands = blocks("sh");
    assert_eq!(commands.len(), 2, "accept, then check");
    for command in commands {
        let output =
            Command::new("sh").args(["-c", &command]).current_dir(project.folder.path()).env("PATH", &path).env_remove("CI").output();
        let output = output.expect("there is a shell");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{command}: {said}");
        assert!(said.ends_with("exit 0: pass\n"), "{said}");
    }
}

/// Runs the action's check step with what a runner would set.
fn action(project: &Project, arguments: &str) -> (i32, String, String, String) {
    let action = of_project("action.yml");
    let (_, step) = action.split_once("      id: check\n").expect("the action has the step");
    let (_, script) = step.split_once("      run: |\n").expect("it runs a script");
    let script: String = script.lines().map(|line| format!("{}\n", line.strip_prefix("        ").unwrap_or(line))).collect();
    let bin = project.path("runner/ctxbench/bin");
    fs::create_dir_all(&bin).expect("the folder can be made");
    let installed = bin.join("ctxbench");
    if !installed.exists() {
        fs::copy(assert_cmd::cargo::cargo_bin!("ctxbench"), &installed).expect("the binary can be copied");
    }
    let output = Command::new("bash")
        .args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", &script])
        .current_dir(project.folder.path())
        .env("CI", "true")
        .env("CHECK_ARGUMENTS", arguments)
        .env("REPORT_DIRECTORY", "")
        .env("RUNNER_TEMP", project.path("runner"))
        .env("GITHUB_STEP_SUMMARY", project.path("runner/summary"))
        .env("GITHUB_OUTPUT", project.path("runner/output"))
        .output()
        .expect("there is a bash");
    let said = String::from_utf8(output.stdout).expect("annotations are UTF-8");
    (output.status.code().expect("it ended"), said, project.read("runner/summary"), project.read("runner/output"))
}

#[test]
fn the_action_annotates_and_writes_the_jobs_summary() {
    let project = Project::accepted();
    let (code, said, summary, output) = action(&project, "");
    assert_eq!((code, output.as_str()), (0, "exit-code=0\n"), "{said}");
    assert!(summary.starts_with("## Token budgets: passed\n"), "{summary}");

    let grown = Project::accepted();
    grown.edit("scenarios/lookup.yaml", "about: Reads a file", "about: Simply reads a file");
    let (code, said, summary, output) = action(&grown, "--strict scenarios/lookup.yaml");
    assert_eq!((code, output.as_str()), (11, "exit-code=11\n"), "{said}");
    assert!(
        said.contains("::error file=budgets.toml,line=5,title=GREW STALE parent.input_total (tokens)::tool read_file changed"),
        "{said}"
    );
    assert!(summary.contains("### Tool read_file changed"), "{summary}");
    assert!(grown.read("runner/ctxbench-reports/check.xml").starts_with("<?xml"));

    let broken = Project::accepted();
    broken.write("budgets.toml", "version = 9\n");
    let (code, _, summary, output) = action(&broken, "");
    assert_eq!((code, output.as_str()), (3, "exit-code=3\n"));
    assert!(summary.contains("exit 3 before it checked anything"), "{summary}");
}
