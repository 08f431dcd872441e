#!/usr/bin/env bash
# Checks the examples of this folder with what they are for:
#
#   - the Jobs against Kubernetes' schemas, strictly, and then their commands as
#     a cluster would run them: one process per index, some of them twice, one
#     killed;
#   - the batch scripts on a real Slurm of one node: sbatch --test-only, the
#     array, a missing shard, the array's task again;
#   - the index of tar shards with the Python package wids.
#
# All outputs must be equal byte for byte, apart from the temporary files that a
# killed process leaves. It runs as root on Debian with
# slurm-wlm and munge, which it installs if they are missing (SLURM=no leaves
# the part of Slurm out). Slurm's daemons run in a network of their own.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
GO=${GO:-go}
images=${IMAGES:-$root/testdata/images}
python=$("$root/parity/venv.sh" "$here/requirements.txt" "$here/requirements-wids.txt")
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
(cd "$root" && "$GO" build -o "$work/bin/infer-prep" ./cmd/infer-prep)
# The Jobs run the program with all stores; here the paths are local.
ln -s infer-prep "$work/bin/infer-prep-full"
export PATH="$work/bin:$PATH"

echo "== the input and the plan"
mkdir -p "$work/photos/a" "$work/photos/b"
n=0
find "$images" -maxdepth 1 -name '*.jpg' | sort | while read -r f; do
  n=$((n + 1))
  cp -p "$f" "$work/photos/$([ $((n % 2)) = 0 ] && echo a || echo b)/"
done
echo "no image" > "$work/photos/a/bad.jpg"
infer-prep pack plan -q -o "$work/plan.json" --input classes --seed 1 --shards 24 --resize 32 "$work/photos"
infer-prep pack -q --plan "$work/plan.json" -o "$work/one" 2>/dev/null
infer-prep pack finish --plan "$work/plan.json" -o "$work/one"

echo "== Kubernetes"
"$python" "$here/test_kubernetes.py" "$here" "$work"
infer-prep pack finish -q --verify --plan "$work/plan.json" -o "$work/kubernetes"
diff -r -x '.*.tmp*' "$work/one" "$work/kubernetes"

echo "== wids"
(cd "$work" && WIDS_CACHE="$work/wids" "$python" "$here/test_wids.py" "$work/one/data-index.json")

if [ "${SLURM:-yes}" = no ]; then
  echo "Slurm was left out (SLURM=no)"
  exit
fi
echo "== Slurm"
if ! command -v slurmctld slurmd munged >/dev/null; then
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q slurm-wlm munge >/dev/null
fi
unshare -n "$here/test_slurm.sh" "$here" "$work"
infer-prep pack finish -q --verify --plan "$work/plan.json" -o "$work/slurm"
diff -r -x '.*.tmp*' "$work/one" "$work/slurm"
echo "all outputs are equal"
