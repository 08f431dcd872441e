#!/usr/bin/env bash
# Runs a test program for "go test -exec", and appends to the file in TIMED its
# folder and the seconds of the processor that it took, for itself and for the system.
# usage: timed.sh COMMAND...
TIMEFORMAT="$PWD %U %S"
{ time "$@" 2>&3; } 3>&2 2>>"${TIMED:?}"
