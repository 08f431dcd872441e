#!/usr/bin/env bash
# Runs a command in the folder of a nested module, in a workspace with the main
# module. There the packages of the main module are those of its own builds, and
# go has them in its cache. By the module's replace line they are others to go,
# and are compiled and vetted once more. A module whose go.mod alone would choose
# other versions of its dependencies runs without the workspace.
# usage: nested.sh MODULE COMMAND...
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd) GO=${GO:-go}
[ $# -ge 2 ] || { echo "usage: nested.sh MODULE COMMAND..." >&2; exit 2; }
cd "$root/$1"
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf 'go %s\n\nuse (\n\t"%s"\n\t"%s"\n)\n' "$(sed -n 's/^go //p' go.mod)" "$root" "$PWD" >"$work/go.work"
# modules prints what the packages and their tests are made of, but the main module.
modules() {
  "$GO" list -deps -test -f '{{with .Module}}{{if ne .Path "github.com/infer-prep/infer-prep"}}{{.Path}} {{.Version}}{{end}}{{end}}' ./... | sort -u
}
GOWORK=off modules >"$work/alone" # fails if go.mod or go.sum lacks something
GOWORK=$work/go.work
export GOWORK
modules >"$work/together" && cmp -s "$work/alone" "$work/together" || GOWORK=off
"$@"
