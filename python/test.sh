#!/usr/bin/env bash
# Installs a wheel in a clean virtual environment, checks its types and runs its tests.
# usage: test.sh [ARGUMENT OF PYTEST]...
# WHEEL is the wheel; by default one is built for this machine. bin/infer-prep must be there.
set -euo pipefail
cd "$(dirname "$0")"
py=$(../parity/venv.sh requirements-test.txt)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wheel=${WHEEL:-}
if [ -z "$wheel" ]; then
  "$py" backend.py --out "$work" native
  wheel=$(echo "$work"/*.whl)
fi
# The packages of the cached environment, and a folder of our own in front of them: the wheel is
# installed as into a new environment, and nothing of an earlier run is left.
"$py" -m venv --without-pip "$work/venv"
site=$("$work/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$py" -m pip install -q --disable-pip-version-check --no-deps --no-index --target "$site" "$wheel"
"$py" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/test-packages.pth"
py=$work/venv/bin/python
cd "$work" # so that the package is the installed one
"$py" -c 'import infer_prep, sys; assert infer_prep.__file__.startswith(sys.prefix), infer_prep.__file__'
[ "${1:-}" = -m ] || "$py" -m mypy --config-file "$OLDPWD/pyproject.toml" --cache-dir "$work/mypy" -p infer_prep --exclude '/(torch|transformers)\.py$'
MYPY_CACHE=$work/mypy INFER_PREP=$OLDPWD/../bin/infer-prep "$py" -m pytest -q -rs -c "$OLDPWD/pyproject.toml" --rootdir "$OLDPWD" "$OLDPWD/tests" "$@"
