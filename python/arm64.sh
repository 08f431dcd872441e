#!/usr/bin/env bash
# Runs the tests of a wheel for Linux on arm64 under qemu, with Debian's Python and NumPy, unpacked
# into python/_build/arm64. Needs Debian, qemu-user-static and some minutes.
# usage: arm64.sh WHEEL [ARGUMENT OF PYTEST]...      default: the tests that start no process
set -euo pipefail
[ $# -gt 0 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
wheel=$(readlink -f "$1")
shift
cd "$(dirname "$0")"
# A process that the tests start would need qemu as well.
[ $# -gt 0 ] || set -- tests/test_graph.py tests/test_pipeline.py -k "not import_loads_nothing and not interrupt"
work=$PWD/_build/arm64
root=$work/root
if [ ! -e "$work/done" ]; then
  rm -rf "$work"
  ../parity/debian-arm64.sh "$work" python3-minimal python3-numpy libpython3-stdlib
  # Links that Debian's packages make when they are installed.
  for lib in blas/libblas lapack/liblapack; do
    ln -sf "$lib.so.3" "$root/usr/lib/aarch64-linux-gnu/$(basename "$lib").so.3"
  done
  touch "$work/done"
fi
test=$(../parity/venv.sh requirements-test.txt) # pytest is plain Python
rm -rf "$work/site"
mkdir "$work/site"
python3 -m zipfile -e "$wheel" "$work/site"
packages=$("$test" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
# NumPy of the test environment is for another processor.
mkdir -p "$work/pure"
rm -f "$work"/pure/*
for p in py.py _pytest pytest pluggy iniconfig packaging pygments; do ln -s "$packages/$p" "$work/pure/$p"; done
PYTHONPATH=$work/site:$work/pure PYTHONDONTWRITEBYTECODE=1 \
  qemu-aarch64-static -L "$root" "$root/usr/bin/python3.11" -m pytest -q -W ignore "$@"
