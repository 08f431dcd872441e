#!/usr/bin/env bash
# Runs the tests that need torch.
# usage: test-torch.sh PYTHON SITE
# PYTHON has torch, and the folder SITE the content of the wheel.
set -euo pipefail
cd "$(dirname "$0")"
test=$(../parity/venv.sh requirements-test.txt)
packages=$("$test" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
PYTHONPATH="$2:$packages" "$1" -m pytest -q -W "ignore::DeprecationWarning" tests/test_torch.py
