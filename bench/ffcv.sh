#!/usr/bin/env bash
# Builds ffcv from PyPI, outside the checkout, and prints a command that runs Python with it.
# usage: ffcv.sh PYTHON
# PYTHON has torch, which ffcv uses. Needs a C++ compiler, and Debian for the libraries that ffcv
# links, OpenCV 4 and libturbojpeg: their packages are unpacked, not installed. Takes 1 GB.
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
key=$(cat "$here/ffcv.sh" "$here/requirements-ffcv.txt" <(echo "$1") | sha256sum | cut -c1-16)
out=${XDG_CACHE_HOME:-$HOME/.cache}/infer-prep/ffcv-$key
if [ ! -e "$out/done" ]; then
  for tool in g++ apt-get dpkg pkg-config; do
    command -v "$tool" >/dev/null || { echo "ffcv.sh: $tool is missing (Debian: apt-get install g++ pkg-config)" >&2; exit 1; }
  done
  rm -rf "$out"
  mkdir -p "$out/debs"
  root=$out/root lib=$out/root/usr/lib/$(gcc -dumpmachine)
  # Those that are missing on this machine.
  apt-get -qq update >&2
  packages=$(apt-get install --no-install-recommends -s libopencv-dev libturbojpeg0-dev | awk '/^Inst/ {print $2}')
  [ -z "$packages" ] || (cd "$out/debs" && apt-get download -q $packages >/dev/null)
  for d in "$out"/debs/*.deb; do [ ! -e "$d" ] || dpkg -x "$d" "$root"; done
  rm -rf "$out/debs"
  libraries=$lib:$lib/blas:$lib/lapack
  "$1" -m venv "$out/venv"
  py=$out/venv/bin/python
  "$py" -m pip install -q --disable-pip-version-check -r "$here/requirements-ffcv.txt" >&2
  PKG_CONFIG_PATH=$lib/pkgconfig:$root/usr/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root CPATH=$root/usr/include:$root/usr/include/opencv4 \
    LIBRARY_PATH=$libraries LD_LIBRARY_PATH=$libraries \
    "$py" -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation --no-binary ffcv ffcv==1.0.2 >&2
  # The packages of PYTHON come after ffcv's own.
  "$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$("$py" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torch.pth"
  printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec "%s" "$@"\n' "$libraries" "$py" >"$out/python"
  chmod +x "$out/python"
  rm -rf "$root/usr/include" "$root/usr/share"
  find "$root" -name '*.a' -delete
  touch "$out/done"
fi
echo "$out/python"
