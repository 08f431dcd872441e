#!/usr/bin/env bash
# Runs the tests that need transformers, with the references of make parity, and transformers' own
# tests of ten image processors (hf_tests.py).
# usage: test-transformers.sh [ARGUMENT OF PYTEST]...
# WHEEL is the wheel; by default one is built for this machine. SDIST is transformers' source
# distribution; by default it is downloaded (10 MB) and kept beside the environments.
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
sdist=${SDIST:-$(dirname "$(dirname "$(dirname "$py")")")/transformers-5.23.0.tar.gz}
if [ ! -e "$sdist" ]; then
  "$test" -m pip download -q --disable-pip-version-check --no-deps --no-binary transformers -d "$(dirname "$sdist")" transformers==5.23.0
fi
"$test" -m pip install -q --disable-pip-version-check --no-deps --target "$work/site" parameterized==0.9.0
cd "$work"
export HF_HUB_OFFLINE=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$work/site:$own:$packages"
"$py" "$OLDPWD/hf_tests.py" "$sdist"
"$py" -m pytest -q -p no:cacheprovider -W "ignore::DeprecationWarning" \
  "$OLDPWD/tests/test_transformers.py" "$OLDPWD/tests/test_processor.py" "$@"
