#!/usr/bin/env bash
# Builds the C library: build.sh [--small] [--musl] DIR writes include and lib
# into DIR, with libinfer_prep, shared and static, and files for pkg-config and
# CMake. With --small it has no importers, tokens and videos. With --musl it is
# static only, for programs linked with -static and musl on x86-64; CC must be a
# compiler for that. GO names the go command. CC and Go's GOOS and GOARCH choose
# another platform. For Windows, where CC must be MinGW-w64's gcc, the DLL is in
# bin; lib has its import library and the list of its functions for Microsoft's.
set -euo pipefail
tags= musl=
while :; do
  case ${1-} in
    --small) tags=small ;;
    --musl) musl=yes ;;
    *) break ;;
  esac
  shift
done
[ $# = 1 ] || { echo "usage: build.sh [--small] [--musl] DIR" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
export CGO_ENABLED=1
go=${GO:-go}
version=$(cat internal/version/VERSION)
case $($go env GOOS) in
  # The .def file says what is exported. Microsoft's lib makes an import library of
  # it. Go would export its own functions too: it marks them dllexport, and lists
  # them in a .def file of its own unless it finds --export-all-symbols.
  windows)
    shared=bin/infer_prep.dll
    link="$dir/lib/infer_prep.def -Wl,--export-all-symbols -Wl,--exclude-all-symbols -Wl,--out-implib,$dir/lib/libinfer_prep.dll.a"
    export CGO_CFLAGS="${CGO_CFLAGS--g -O2} -Ddllexport="
    mkdir -p "$dir/bin" "$dir/lib"
    { printf 'LIBRARY infer_prep.dll\nEXPORTS\n'; sed -nE 's/^IP_API [^(]*\b(ip_[a-z_]+)\(.*/\t\1/p' capi/infer_prep.h; } >"$dir/lib/infer_prep.def" ;;
  darwin) shared=lib/libinfer_prep.dylib link= ;;
  # Go's runtime cannot be unloaded, hence nodelete.
  *) shared=lib/libinfer_prep.so.1 link="-Wl,--version-script=$PWD/capi/lib/exports.map -Wl,-soname,libinfer_prep.so.1 -Wl,-z,nodelete" ;;
esac
mkdir -p "$dir/include" "$dir/lib"
build() { # build MODE FILE LDFLAGS
  # Without a build ID equal sources give equal bytes.
  $go build -trimpath -tags "$tags" -buildmode="$1" -ldflags="-s -w -buildid= $3" -o "$dir/$2" ./capi/lib
}
if [ "$musl" ]; then
  [ "$($go env GOOS GOARCH | xargs)" = "linux amd64" ] || { echo "build.sh: --musl is for linux on amd64 only" >&2; exit 1; }
  # Go's start is a constructor that reads arguments, which musl does not pass.
  # shim.c calls it instead, which needs its name.
  export CGO_CFLAGS="${CGO_CFLAGS--g -O2} -DIP_MUSL"
  build c-archive lib/libinfer_prep.a ""
  (
    cd "$dir/lib"
    ar x libinfer_prep.a go.o
    objcopy --rename-section .init_array=.go_init_array --globalize-symbol=_rt0_amd64_linux_lib go.o
    ar r libinfer_prep.a go.o
    rm go.o
  )
else
  build c-shared "$shared" "${link:+'-extldflags=$link'}"
  build c-archive lib/libinfer_prep.a ""
fi
rm -f "$dir"/lib/*.h "$dir"/bin/*.h # Go writes a header for each
cp capi/infer_prep.h capi/infer_prep.hpp "$dir/include"
[ -z "$musl" ] || exit 0
case $shared in *.so.1) ln -sf "${shared#lib/}" "$dir/lib/libinfer_prep.so" ;; esac
mkdir -p "$dir/lib/pkgconfig" "$dir/lib/cmake/infer_prep"
implib=
case $shared in *.dll) implib=' IMPORTED_IMPLIB "${_ip}/lib/libinfer_prep.dll.a"' ;; esac

cat >"$dir/lib/pkgconfig/infer_prep.pc" <<EOF
prefix=\${pcfiledir}/../..
Name: infer_prep
Description: Image preprocessing for models, bit for bit that of transformers and others
Version: $version
Cflags: -I\${prefix}/include
Libs: -L\${prefix}/lib -linfer_prep
Libs.private: -lpthread
EOF
cat >"$dir/lib/cmake/infer_prep/infer_prep-config.cmake" <<EOF
# The targets infer_prep::infer_prep and infer_prep::static, version $version.
if(NOT TARGET infer_prep::infer_prep)
  find_package(Threads REQUIRED)
  get_filename_component(_ip "\${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
  add_library(infer_prep::infer_prep SHARED IMPORTED)
  set_target_properties(infer_prep::infer_prep PROPERTIES IMPORTED_LOCATION "\${_ip}/$shared"$implib
    INTERFACE_INCLUDE_DIRECTORIES "\${_ip}/include")
  add_library(infer_prep::static STATIC IMPORTED)
  set_target_properties(infer_prep::static PROPERTIES IMPORTED_LOCATION "\${_ip}/lib/libinfer_prep.a"
    INTERFACE_INCLUDE_DIRECTORIES "\${_ip}/include" INTERFACE_LINK_LIBRARIES Threads::Threads)
  unset(_ip)
endif()
EOF
cat >"$dir/lib/cmake/infer_prep/infer_prep-config-version.cmake" <<EOF
set(PACKAGE_VERSION $version)
if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
EOF
