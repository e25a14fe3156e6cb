#!/usr/bin/env python3
"""Writes the report of a cassette: what a live model made of what each strategy let it see, beside the simulated reader.

Usage: live_report.py CASSETTE [CTXBENCH] > reports/NAME.md
"""
import collections
import json
import pathlib
import subprocess
import sys

CLASSES = ["used", "ignored", "stale", "invented", "admitted"]


def ctxbench(*words):
    command = sys.argv[2:3] or ["cargo", "run", "--release", "--quiet", "--"]
    return subprocess.run([*command, *words], check=True, capture_output=True, text=True).stdout


def rows(document):
    """Sums of the classes, of rescues and of quality over the seeds of each scenario under each strategy."""
    table = collections.OrderedDict()
    for cell in document["cells"]:
        row = table.setdefault((cell["scenario"], cell["strategy"]), collections.Counter())
        row["n"] += 1
        for name in [*CLASSES, "rescues", "quality", "child.coverage", "child.quality"]:
            value = cell["metrics"].get(name)
            if value is not None:
                row[name] += value
                row["n of " + name] += 1
    return table


def mean(row, name):
    return f"{row[name] / row['n of ' + name]:.2f}" if row["n of " + name] else "–"


def split(row):
    """`used 5` and so on, of all seeds; what is in no class said nothing of it."""
    said = [f"{name} {int(row[name])}" for name in CLASSES if row[name]]
    return ", ".join(said) or "nothing said of it"


def main():
    path = sys.argv[1]
    head = json.loads(open(path, encoding="utf-8").readline())
    stat = json.loads(ctxbench("cassette", "stat", path, "--format", "json"))["files"][0]
    live = json.loads(ctxbench("replay", path, "--format", "json"))
    scenarios = list(collections.OrderedDict.fromkeys(cell["scenario"] for cell in live["cells"]))
    strategies = list(collections.OrderedDict.fromkeys(cell["strategy"] for cell in live["cells"]))
    seeds = max(cell["seed"] for cell in live["cells"]) + 1
    specs = [word for strategy in strategies for word in ("-s", strategy)]
    simulated = json.loads(ctxbench("run", *scenarios, *specs, "--format", "json"))
    live, simulated = rows(live), rows(simulated)
    asking = head["asking"]
    print(f"# {asking['model']}, live, beside the simulated reader\n")
    print(
        f"Model: {asking['model']} on this project's own machine (provider `{head['provider']}`, wire {asking['wire']}), recorded "
        f"{head['recorded']}; temperature {asking['temperature']}, at most {asking['max_output_tokens']} tokens an answer, "
        f"n = {seeds} seeds a cell; {stat['stat']['requests']} requests. Calls made by the {asking['calls']}, rendering "
        f"`{asking['rendering']}`. Replay it: `ctxbench replay {path}`; record it anew: `scripts/record_smollm2.sh`.\n"
    )
    print(
        "Each needed fact of a final answer is in one class: *used* (visible and stated), *ignored* (visible, not stated), *stale* "
        "(an older value stated), *invented* (not visible, something stated), *admitted* (not visible, said so), or in none (not "
        "visible, nothing said of it). *Visible* is exact and the strategy's doing; what is made of it is the model's. Coverage is "
        "the share of needed facts that a child could see. The simulated reader says the same for every seed; its figures are of one.\n"
    )
    agree, differ = 0, []
    for scenario in scenarios:
        print(f"## {scenario}\n")
        print("| strategy | coverage of children, live / simulated | final answer, live (facts of all seeds) | final answer, simulated "
              "| quality of returns, live / simulated |")
        print("| --- | --- | --- | --- | --- |")
        missing = [strategy for strategy in strategies if (scenario, strategy) not in live]
        for strategy in strategies:
            if strategy in missing:
                continue
            one, other = live[scenario, strategy], simulated[scenario, strategy]
            print(f"| `{strategy}` | {mean(one, 'child.coverage')} / {mean(other, 'child.coverage')} | {split(one)} | {split(other)} "
                  f"| {mean(one, 'child.quality')} / {mean(other, 'child.quality')} |")
            facts = sum(other[name] for name in CLASSES)
            same = sum(min(one[name], other[name] * one["n"]) for name in CLASSES)
            agree += same
            if facts and same < facts * one["n"]:
                differ.append((scenario, strategy))
        if missing:
            print(f"\nNot recorded so far ({len(missing)} rows): " + ", ".join(f"`{strategy}`" for strategy in missing) + ".")
        print()
    total = sum(sum(row[name] for name in CLASSES) * live[key]["n"] for key, row in simulated.items() if key in live)
    sums = collections.Counter()
    for row in live.values():
        sums.update({name: row[name] for name in CLASSES})
    visible = sums["used"] + sums["ignored"] + sums["stale"]
    hidden = sums["invented"] + sums["admitted"]
    print("## Together\n")
    print(f"- Of {visible} visible facts (all seeds) the model used {sums['used']} ({100 * sums['used'] / max(visible, 1):.0f} %), ignored "
          f"{sums['ignored']} and gave an older value for {sums['stale']}. The reader uses all of them.")
    print(f"- Of {hidden} facts that it could not see and spoke of, it invented {sums['invented']} and admitted {sums['admitted']}. The reader "
          "admits all.")
    print(f"- {agree} of {total} facts are in the class that the simulation names; {len(differ)} of {len(live)} rows differ in at least one.")
    fit = stat["calibration"]["fit"]
    print(f"- Its tokenizer: {fit['reported']} tokens reported for {fit['counted']} counted in {stat['calibration']['tokenizer']}, "
          f"factor {fit['factor']}; error of a request without it {100 * fit['mean_error']:.1f} % in the mean, "
          f"{100 * fit['worst_error']:.1f} % at most.")
    # What people saw in the replies stands in a file of its own, so that this one can be written anew.
    seen = pathlib.Path("reports") / f"live-{pathlib.Path(path).stem}.seen.md"
    if seen.exists():
        print("\n" + seen.read_text(encoding="utf-8").rstrip())


main()
