#!/usr/bin/env bash
# Makes the bindings of package mobile: Java sources in _build/java, and the
# native library of each TARGET in _build/lib/TARGET/libinferprep.so. The licences
# of their modules are in _build/licences.
# usage: mobile/bind/build.sh TARGET...
#   linux/{amd64,arm64,arm}    for a JVM; JAVA_HOME has the JDK
#   android/{amd64,arm64,arm}  NDK has the Android NDK, API is the API level, 21 by default
# OPS says which ops graphs may have: classification (the default; package
# transforms/classification), all, or a file with one op on each line.
# CC overrides the compiler of a single target. GO names the go command.
set -euo pipefail
cd "$(dirname "$0")"
GO=${GO:-go} API=${API:-21}
[ $# -gt 0 ] || { sed -n '2,9s/^# //p' "$0" >&2; exit 2; }
package=io.github.inferprep

rm -rf _build/java _build/src _build/gobind
mkdir -p _build
# In a workspace the packages of the main module are those of its own builds,
# and are compiled once for both.
root=$(cd ../.. && pwd)
printf 'go %s\n\nuse (\n\t"%s"\n\t"%s"\n)\n' "$(sed -n 's/^go //p' go.mod)" "$root" "$PWD" >_build/go.work
export GOWORK=$PWD/_build/go.work
"$GO" build -o _build/tool golang.org/x/mobile/cmd/gobind
log=$(_build/tool -lang=go,java -javapkg=$package -outdir="$PWD/_build/gobind" github.com/infer-prep/infer-prep/mobile 2>&1) ||
  { echo "$log" >&2; exit 1; }
mv _build/gobind/java _build/java
mv _build/gobind/src/gobind _build/src
rm -rf _build/gobind
# gobind leaves out what it cannot bind, with a comment.
if [ -n "$log" ] || grep -rn '// skipped' _build/java _build/src; then
  echo "$log"; echo "mobile/bind: gobind does not bind all of package mobile" >&2; exit 1
fi

# Package go and its library would clash with those of other bindings in the
# same app. Class Context is only for Go code that calls Android.
bridge=$package.bridge
mkdir -p _build/java/${bridge//./\/}
mv _build/java/go/* _build/java/${bridge//./\/}/
rmdir _build/java/go
find _build/java -name '*.java' -exec sed -i \
  -e "s/^package go;/package $bridge;/; s/\bgo\.\(Seq\|Universe\|error\)\b/$bridge.\1/g" {} +
sed -i -e '/^import android\.content\.Context/d; /public static void setContext/,/^\t}/d; /static native void setContext/d' \
  -e '/setContext sets the context/d; /ctx is an android/d' -e 's/System\.loadLibrary("gojni")/Native.load()/' _build/java/${bridge//./\/}/Seq.java
cp Direct.java Native.java _build/java/${bridge//./\/}/
path=${bridge//./\/} name=${bridge//./_}
sed -i -e "s#\"go/\(Seq\|Universe\|error\)#\"$path/\1#; s#Lgo/\(Seq\|Universe\|error\)#L$path/\1#g; s/Java_go_/Java_${name}_/" \
  -e 's/AttachCurrentThread(jvm, &env/AttachCurrentThread(jvm, (void *)\&env/' _build/src/*.c
# -Xcheck:jni wants exceptions to be looked for after each call of Java.
sed -i -e 's/return \((int32_t)(\*env)->CallStaticIntMethod(.*)\);/int32_t r = \1; (*env)->ExceptionCheck(env); return r;/' \
  -e '/(\*env)->CallStatic\(Void\|Object\)Method(/s/;$/; (*env)->ExceptionCheck(env);/' _build/src/seq_android.c
# The message of a Java exception may itself throw.
grep -q 'res = .*mid_error_Error);' _build/src/universe_android.c
sed -i 's/^\(\s*\)jstring res = .*mid_error_Error);/&\n\1if (go_seq_get_exception(env) != NULL) {\n\1\tres = NULL;\n\1}/' _build/src/universe_android.c
cp direct.c _build/src/
cp direct.go.in _build/src/direct.go
case ${OPS:=classification} in
classification | all) printf 'package main\n\nimport _ "github.com/infer-prep/infer-prep/transforms/%s"\n' "$OPS" >_build/src/ops.go ;;
*) "$GO" run ../../tools/oplist -package main -o _build/src/ops.go "$OPS" ;;
esac
# Files named _android are left out of builds for other systems.
for f in _build/src/*_android.*; do mv "$f" "${f/_android./_jni.}"; done
sed -i 's/_android\.h"/_jni.h"/' _build/src/*

for target; do
  export GOOS=${target%/*} GOARCH=${target#*/} GOARM=7 CGO_ENABLED=1 CGO_CFLAGS= CGO_LDFLAGS=
  case $target in
  linux/amd64 | linux/arm64 | linux/arm)
    : "${JAVA_HOME:=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}"
    CGO_CFLAGS="-D__GOBIND_ANDROID__ -I$PWD/jvm -I$JAVA_HOME/include -I$JAVA_HOME/include/linux"
    case $GOARCH in
    amd64) cc=gcc ;;
    arm64) cc=aarch64-linux-gnu-gcc ;;
    arm) cc=arm-linux-gnueabihf-gcc ;;
    esac
    log= ;;
  android/amd64 | android/arm64 | android/arm)
    case $GOARCH in
    amd64) cc=x86_64-linux-android ;;
    arm64) cc=aarch64-linux-android ;;
    arm) cc=armv7a-linux-androideabi ;;
    esac
    cc=$(echo "${NDK:?mobile/bind: NDK is not set: want the folder of the Android NDK}"/toolchains/llvm/prebuilt/*/bin/$cc$API-clang)
    log=-llog ;;
  *) echo "mobile/bind: unknown target $target" >&2; exit 2 ;;
  esac
  sed -i "s/^\/\/#cgo LDFLAGS:.*/\/\/#cgo LDFLAGS: $log/" _build/src/seq_jni.go
  mkdir -p "_build/lib/$target"
  # Without a build ID, which holds the paths in CGO_CFLAGS, equal sources give equal bytes.
  CC=${CC:-$cc} "$GO" build -trimpath -buildmode=c-shared \
    -ldflags="-s -w -buildid= -extldflags=-Wl,-z,max-page-size=16384" -o "_build/lib/$target/libinferprep.so" ./_build/src
  rm -f "_build/lib/$target/libinferprep.h"
  # Android 15 and later load libraries on pages of 16 KiB.
  readelf -lW "_build/lib/$target/libinferprep.so" | awk '/LOAD/ { n++; if ($NF != "0x4000") bad = 1 } END { exit bad || !n }' ||
    { echo "mobile/bind: $target: a segment is not aligned to 16 KiB" >&2; exit 1; }
  printf 'mobile/bind: %s: %s bytes\n' "$target" "$(stat -c %s "_build/lib/$target/libinferprep.so")"
done
# The licences of what the last library is linked from; the others have the same modules.
../../.ci/licences _build/licences ./_build/src
