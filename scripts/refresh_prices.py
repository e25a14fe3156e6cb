#!/usr/bin/env python3
"""Writes prices/DATE.toml from the price table that the PyPI package litellm carries.

    scripts/refresh_prices.py                 write prices/TODAY.toml
    scripts/refresh_prices.py --check         print what differs from the newest table and exit 1 if anything does
    scripts/refresh_prices.py --version 1.110.2 --date 2026-11-30 --out FILE

The wheel is fetched with pip into a temporary folder and never installed or run: only its JSON is read. Which models stand in the table,
their aliases and the notes that litellm does not have are the lists below.
"""

import argparse
import datetime
import decimal
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile

MEMBER = "litellm/model_prices_and_context_window_backup.json"
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "prices"

MODELS = """
gpt-6-astra gpt-6.1-sol gpt-6-sol gpt-6.1-terra gpt-6-luna gpt-5.6 gpt-5.5 gpt-5.4-mini gpt-4.1 gpt-4o-mini
claude-fable-5-1 claude-opus-5-5 claude-opus-5 claude-sonnet-5-5 claude-sonnet-5 claude-haiku-5-5 claude-haiku-4-5
gemini/gemini-4-argon gemini/gemini-3.8-flash gemini/gemini-3.1-pro-preview gemini/gemini-2.5-pro gemini/gemini-3.5-flash-lite
deepseek-v4-pro deepseek-flash xai/grok-4.7 mistral/mistral-large-4 mistral/mistral-small-2603
dashscope/qwen3.8-max dashscope/qwen3.8-flash moonshot/kimi-k3.1-pro moonshot/kimi-k3 zai/glm-5.3
""".split()

# What the vendors say and litellm does not hold; each with where it was read.
NOTES = {
    "deepseek-v4-pro": "Listed prices are those of peak hours, 01-04 and 06-10 UTC on weekdays; no fee for writing.",
    "deepseek-flash": "Listed prices are those of peak hours, 01-04 and 06-10 UTC on weekdays; no fee for writing.",
    "xai/grok-4.7": "A second table (genai-prices 0.2.3) puts the step at 256,000.",
    "dashscope/qwen3.8-max": "Writing an explicit cache is said to cost 2.5 (secondary source): no price is given here.",
    "mistral/mistral-large-4": "The vendor's batch interface is said to cost half: no price is in the source.",
    "gemini/gemini-3.1-pro-preview": "Batch: half for input and output, cached input at the full price (the source): no batch price is given here.",
    "gemini/gemini-2.5-pro": "Batch: half for input and output, cached input at the full price (the source): no batch price is given here.",
    "zai/glm-5.3": "Storage and writing are free for now, as the vendor says.",
}
# Off-peak prices of models for which the source has none: (input, cached read, output), the second table's (genai-prices 0.2.3).
OFF_PEAK = {"deepseek-v4-pro": ("0.66", "0.022", "1.98"), "deepseek-flash": ("0.15", "0.003", "0.6")}
# The shorter lifetime of a cache write, by provider; the longer one is in the source's key.
SHORT = {"openai": "30m", "anthropic": "5m", "moonshot": "5m", "dashscope": "5m"}
LONG = {"1h": "_above_1hr", "12h": "_above_12hr"}


def per_million(entry, key):
    """Dollars for a million tokens as a plain decimal, or None."""
    value = entry.get(key)
    if value is None:
        return None
    price = decimal.Decimal(str(value)) * 1_000_000
    text = format(price.quantize(decimal.Decimal("0.000001")).normalize(), "f")
    return text


def rates(entry, provider, suffix=""):
    found = {
        "input": per_million(entry, "input_cost_per_token" + suffix),
        "read": per_million(entry, "cache_read_input_token_cost" + suffix),
        "output": per_million(entry, "output_cost_per_token" + suffix),
    }
    writes = {}
    short = per_million(entry, "cache_creation_input_token_cost" + suffix)
    if short not in (None, "0") and provider in SHORT:
        writes[SHORT[provider]] = short
        for lifetime, long_key in LONG.items():
            price = per_million(entry, "cache_creation_input_token_cost" + long_key + suffix)
            if price is not None:
                writes[lifetime] = price
    found["write"] = writes
    return found


def batch_percent(entry):
    """What a batch request costs of the listed prices, in percent, where that is one number for all that is said."""
    shares = set()
    for key in ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost", "cache_creation_input_token_cost"):
        if entry.get(key) and entry.get(key + "_batches"):
            shares.add(round(entry[key + "_batches"] / entry[key] * 100, 6))
    # Google's source lists cached reads of batches at the full price: the smaller share would be wrong there.
    if len(shares) == 1:
        share = shares.pop()
        return int(share) if share == int(share) else None
    return None


def steps(entry, provider):
    found = []
    for key in entry:
        match = re.fullmatch(r"input_cost_per_token_above_(\d+)k_tokens", key)
        if match:
            found.append((int(match[1]) * 1000, rates(entry, provider, f"_above_{match[1]}k_tokens")))
    return sorted(found, key=lambda step: step[0])


def lines_of(found):
    lines = []
    for key in ("input", "read"):
        if found[key] is not None:
            lines.append(f"{key} = {found[key]}")
    if found["write"]:
        inside = ", ".join(f'"{lifetime}" = {price}' for lifetime, price in found["write"].items())
        lines.append(f"write = {{ {inside} }}")
    lines.append(f"output = {found['output']}")
    return lines


def render(table, version, date):
    out = [
        "# US dollars for a million tokens, list prices. Written by scripts/refresh_prices.py; do not edit by hand.",
        f"# From PyPI litellm {version}, {MEMBER};",
        "# notes and off-peak hours are the script's, where the vendors' pages or a second table (genai-prices 0.2.3) were read.",
        "# `write` is by lifetime; `batch` is the percentage of every price; a step holds for ALL tokens of a request above it.",
        "version = 1",
        f'dated = "{date}"',
        f'source = "PyPI litellm {version}"',
    ]
    for name in MODELS:
        entry = table.get(name)
        if entry is None:
            print(f"{name} is not in litellm {version}: left out", file=sys.stderr)
            continue
        provider = entry["litellm_provider"]
        short = name.split("/", 1)[-1]
        out += ["", "[[model]]", f'name = "{short}"', f'provider = "{provider}"', f'aliases = ["{provider}/{short}"]']
        if entry.get("source"):
            out.append(f'source = "{entry["source"]}"')
        if name in NOTES:
            out.append(f'note = "{NOTES[name]}"')
        out += lines_of(rates(entry, provider))
        percent = batch_percent(entry)
        if percent is not None:
            out.append(f"batch = {percent}")
        if name in OFF_PEAK:
            price = dict(zip(("input", "read", "output"), OFF_PEAK[name]), write={})
            listed = entry.get("off_peak_pricing")
            if listed:
                price = rates(listed, provider)
            out += ["", "[model.off_peak]", *lines_of(price)]
        for above, price in steps(entry, provider):
            out += ["", "[[model.step]]", f"above = {above}", *lines_of(price)]
    return "\n".join(out) + "\n"


def fetch(version):
    with tempfile.TemporaryDirectory() as folder:
        wanted = "litellm" if version is None else f"litellm=={version}"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", folder, wanted]
        subprocess.run(command, check=True)
        wheel = next(pathlib.Path(folder).glob("litellm-*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            return json.loads(archive.read(MEMBER)), wheel.name.split("-")[1]


def flat(text):
    """Every value of a table by its path, models by name."""
    found = {}

    def walk(path, value):
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(f"{path}.{key}" if path else key, inner)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for inner in value:
                walk(f"{path}[{inner.get('name', inner.get('above'))}]", inner)
        else:
            found[path] = value

    walk("", tomllib.loads(text, parse_float=decimal.Decimal))
    return found


def differences(old, new):
    before, now = flat(old), flat(new)
    for path in sorted(before.keys() | now.keys()):
        if path in ("dated", "source"):
            continue
        if before.get(path) != now.get(path):
            yield f"{path}: {before.get(path, 'not there')} -> {now.get(path, 'not there')}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", help="the release of litellm; the newest if not said")
    parser.add_argument("--date", help="the day of the prices; today if not said")
    parser.add_argument("--out", type=pathlib.Path, help="the file to write; prices/DATE.toml if not said")
    parser.add_argument("--check", action="store_true", help="write nothing; print what differs from the newest table")
    said = parser.parse_args()
    table, version = fetch(said.version)
    date = said.date or datetime.date.today().isoformat()
    text = render(table, version, date)
    if said.check:
        newest = max(FOLDER.glob("*.toml"), default=None)
        if newest is None:
            print("there is no table yet", file=sys.stderr)
            return 1
        found = list(differences(newest.read_text(encoding="utf-8"), text))
        print(f"{newest.name} against litellm {version}: {len(found)} differences")
        print("".join(f"  {line}\n" for line in found), end="")
        return 1 if found else 0
    out = said.out or FOLDER / f"{date}.toml"
    out.write_text(text, encoding="utf-8")
    print(f"{out.name}: {text.count('[[model]]')} models from litellm {version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
