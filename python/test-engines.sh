#!/usr/bin/env bash
# Runs engines.py: the input processors of vLLM and SGLang on the CPU, with and without
# infer_prep.transformers.register(replace=True).
# usage: test-engines.sh
# WHEEL is the wheel; by default one is built for this machine. ENGINES chooses engines.
set -euo pipefail
cd "$(dirname "$0")"
test=$(../parity/venv.sh requirements-test.txt)
py=$(../parity/venv.sh ../parity/requirements.txt ../parity/requirements-no-deps.txt)
key=$(cat requirements-engines.txt <(echo "$py") | sha256sum | cut -c1-16)
engines=$(dirname "$(dirname "$(dirname "$py")")")/engines-$key
if [ ! -e "$engines/done" ]; then
  rm -rf "$engines"
  "$py" -m pip install -q --disable-pip-version-check --no-deps --target "$engines" -r requirements-engines.txt
  touch "$engines/done"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wheel=${WHEEL:-}
if [ -z "$wheel" ]; then
  "$test" backend.py --out "$work" native
  wheel=$(echo "$work"/*.whl)
fi
"$test" -m pip install -q --disable-pip-version-check --no-deps --no-index --target "$work/site" "$wheel"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$work/site:$engines" "$py" engines.py
