#!/usr/bin/env bash
# Runs the tests that need transformers, with the references of make parity.
# usage: test-transformers.sh [ARGUMENT OF PYTEST]...
# WHEEL is the wheel; by default one is built for this machine.
set -euo pipefail
cd "$(dirname "$0")"
test=$(../parity/venv.sh requirements-test.txt)
packages=$("$test" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
py=$(../parity/venv.sh ../parity/requirements.txt ../parity/requirements-no-deps.txt)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wheel=${WHEEL:-}
if [ -z "$wheel" ]; then
  "$test" backend.py --out "$work" native
  wheel=$(echo "$work"/*.whl)
fi
"$test" -m pip install -q --disable-pip-version-check --no-deps --no-index --target "$work/site" "$wheel"
# The references' packages come first: those of the tests have pytest.
own=$("$py" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
cd "$work"
HF_HUB_OFFLINE=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$work/site:$own:$packages" "$py" -m pytest -q -p no:cacheprovider -W "ignore::DeprecationWarning" \
  "$OLDPWD/tests/test_transformers.py" "$OLDPWD/tests/test_processor.py" "$@"
