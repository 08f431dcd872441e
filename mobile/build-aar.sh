#!/usr/bin/env bash
# Builds the Android library into dist: infer-prep-android-VERSION.aar, its
# sources and its POM. It prints the path of the AAR; all else goes to standard
# error. Equal sources and tools give equal bytes.
# usage: mobile/build-aar.sh [--abi ABI]... [--ops OPS] [--dry-run]
#   --abi      arm64-v8a, armeabi-v7a, x86_64; default: all three
#   --ops      the ops that graphs may have: classification (the default), all, or
#              a file with one op on each line
#   --dry-run  put libraries for Linux, which need no NDK, in the place of
#              Android's: all other steps are the same. The files are named
#              infer-prep-android-VERSION-dryrun, and the AAR's manifest says so:
#              it does not load on Android.
# It needs Linux on x86-64, JDK 17, Maven, and the Android NDK, r27 or later, in
# NDK, ANDROID_NDK_HOME, ANDROID_NDK_ROOT or ANDROID_HOME/ndk.
set -euo pipefail
here=$PWD
cd "$(dirname "$0")"
GO=${GO:-go}
abis=() dry= ops=classification
usage() { sed -n '2,15s/^# \?//p' build-aar.sh >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
  --abi) [ $# -gt 1 ] || usage; abis+=("$2"); shift ;;
  --ops) [ $# -gt 1 ] || usage; ops=$2; shift ;;
  --dry-run) dry=yes ;;
  *) echo "build-aar: unknown argument $1" >&2; usage ;;
  esac
  shift
done
case $ops in
classification | all) ;;
*)
  ops=$(cd "$here" && realpath "$ops")
  [ -f "$ops" ] || { echo "build-aar: --ops $ops: want classification, all or a file with one op on each line" >&2; exit 2; } ;;
esac
[ ${#abis[@]} -gt 0 ] || abis=(arm64-v8a armeabi-v7a x86_64)
budget=$((6 << 20)) # bytes of a native library

targets=() arguments=()
for abi in "${abis[@]}"; do
  case $abi in
  arm64-v8a) arch=arm64 ;;
  armeabi-v7a) arch=arm ;;
  x86_64) arch=amd64 ;;
  *) echo "build-aar: unknown ABI $abi: want arm64-v8a, armeabi-v7a or x86_64" >&2; exit 2 ;;
  esac
  os=android; [ -z "$dry" ] || os=linux
  targets+=("$os/$arch")
  arguments+=("$abi=bind/_build/lib/$os/$arch/libinferprep.so")
done

if [ -z "$dry" ]; then
  for d in "${NDK:-}" "${ANDROID_NDK_HOME:-}" "${ANDROID_NDK_ROOT:-}" $(ls -d "${ANDROID_HOME:-/nowhere}"/ndk/* 2>/dev/null | sort -rV); do
    [ -z "$d" ] || { NDK=$d; break; }
  done
  have=$(sed -n 's/^Pkg.Revision *= *//p' "${NDK:-/nowhere}/source.properties" 2>/dev/null || true)
  if ! [ "${have%%.*}" -ge 27 ] 2>/dev/null; then
    if [ -z "$have" ]; then
      echo "build-aar: the Android NDK is missing${NDK:+: $NDK has no source.properties}." >&2
    else
      echo "build-aar: the Android NDK in $NDK is $have: want 27 or later." >&2
    fi
    cat >&2 <<'TEXT'
Either install it with the SDK's tools:
    sdkmanager --install "ndk;27.2.12479018"
    export ANDROID_HOME=/path/of/the/sdk; unset NDK ANDROID_NDK_HOME ANDROID_NDK_ROOT
or unpack android-ndk-r27c-linux.zip of https://developer.android.com/ndk/downloads and
    export NDK=/path/of/android-ndk-r27c
Without it, mobile/build-aar.sh --dry-run does all other steps, with libraries for Linux in the
place of Android's: such an AAR does not load, and its file name ends with -dryrun.aar.
TEXT
    exit 1
  fi
  export NDK
fi

GO="$GO" OPS="$ops" bind/build.sh "${targets[@]}" >&2
rm -rf {jvm,android}/target/classes # Maven leaves the classes of deleted sources
mvn -q -B -DskipTests package >&2
python3 aar.py ${dry:+--dry-run} "$budget" "${arguments[@]}"
