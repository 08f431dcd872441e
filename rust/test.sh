#!/usr/bin/env bash
# Tests the Rust crates: format, lints, documentation, packages, the README's
# program, and the tests with the shared and the static library.
#   test.sh              all of it
#   test.sh --examples   also the programs with candle and ort (5 minutes when cold)
#   test.sh --optional   all of it, or nothing without such a cargo
#   test.sh --wasm2c     the tests with the library in plain C of INFER_PREP_C_SRC
# It needs cargo 1.90 or later with rustfmt and clippy, a C compiler and
# crates.io. GO names the go command. Builds are kept in rust/target.
set -euo pipefail
cd "$(dirname "$0")"
export GO=${GO:-go}
least=1.90.0 examples= optional= wasm2c=
case ${1-} in
'') ;;
--examples) examples=yes ;;
--optional) optional=yes ;;
--wasm2c) wasm2c=yes ;;
*) echo "usage: test.sh [--examples | --optional | --wasm2c]" >&2 && exit 2 ;;
esac
have=$(cargo --version 2>/dev/null | cut -d' ' -f2 || true)
if [ -z "$have" ] || [ "$(printf '%s\n' "$least" "$have" | sort -V | head -1)" != "$least" ]; then
  echo "rust-test: cargo is ${have:-missing}: want $least or later with rustfmt and clippy, such as from https://rustup.rs" >&2
  [ "$optional" ] || exit 1
  echo "rust-test: skipped" >&2
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step() { # step NAME COMMAND...
  local start=$SECONDS name=$1 status
  shift
  set +e # a function in a condition would go on after an error
  (set -e; "$@") >"$work/log" 2>&1
  status=$?
  set -e
  [ $status = 0 ] || { cat "$work/log"; echo "rust-test: $name: FAILED"; exit 1; }
  echo "rust-test: $name: $((SECONDS - start)) s"
}

[ "$wasm2c" ] || step "C library" ../capi/build.sh "$work/capi"
step goldens sh -c 'cd .. && $GO run ./tools/goldencases -out "$1"' sh "$work/cases"
export INFER_PREP_LIB=$work/capi/lib/libinfer_prep.so.1 INFER_PREP_DIR=$work/capi INFER_PREP_CASES=$work/cases
export CARGO_TARGET_DIR=$PWD/target

tests() { # tests NAME ARGUMENTS...
  local name=$1
  shift
  step "tests, $name" cargo test --locked --workspace "$@" -- --nocapture
  grep -E '^[0-9,]+ (goldens|calls|times)' "$work/log" | sed 's/^/rust-test:   /'
}
if [ "$wasm2c" ]; then
  CARGO_TARGET_DIR=$PWD/target/wasm2c INFER_PREP_EVERY=10 tests "plain C" --features infer-prep-tests/wasm2c
  exit 0
fi

step format cargo fmt --all --check
# Feature static leaves dlopen out, hence twice.
step clippy cargo clippy -q --locked --workspace --all-targets --features infer-prep/ndarray -- -D warnings
step "clippy, static" cargo clippy -q --locked --workspace --all-targets --features infer-prep/ndarray,infer-prep/static,infer-prep-tests/static -- -D warnings
step documentation env RUSTDOCFLAGS="-D warnings" cargo doc -q --locked --no-deps -p infer-prep-sys -p infer-prep --features infer-prep/ndarray
tests shared
# A folder of its own keeps the builds of both. The same Go code needs fewer
# goldens.
CARGO_TARGET_DIR=$PWD/target/static INFER_PREP_EVERY=10 tests static --features static

# The packages, unpacked, take the place of the crates for the README's program.
package() {
  rm -rf "$CARGO_TARGET_DIR/package"
  cargo package --locked --allow-dirty -p infer-prep-sys -p infer-prep 2>&1 | tee "$work/package"
  ! grep -q ^warning "$work/package"
  for crate in infer-prep-sys infer-prep; do
    mkdir -p "$work/clone/rust/$crate"
    tar xzf "$CARGO_TARGET_DIR/package/$crate-"[0-9]*.crate -C "$work/clone/rust/$crate" --strip-components=1
    cmp ../LICENSE "$work/clone/rust/$crate/LICENSE"
    test -s "$work/clone/rust/$crate/README.md"
  done
}
block() { awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } /^```/ { on = 0 } on' README.md; }
readme() {
  block rust >"$work/clone/prep.rs"
  [ "$(grep -c . "$work/clone/prep.rs")" -le 15 ]
  mkdir "$work/clone/dist" "$work/clone/.cargo"
  ln -s "$work/capi" "$work/clone/dist/capi"
  ln -s "$PWD/../testdata" "$work/clone/testdata"
  # infer-prep-sys is not on crates.io.
  printf '[patch.crates-io]\ninfer-prep-sys = { path = "%s" }\n' "$work/clone/rust/infer-prep-sys" >"$work/clone/.cargo/config.toml"
  block sh | grep -v '^make capi ' >"$work/clone/lines"
  (
    cd "$work/clone"
    unset INFER_PREP_LIB INFER_PREP_DIR CARGO_TARGET_DIR
    bash -euc "$(cat lines)" | tee out
    [ "$(grep -cx -- '-1.05617 -0.884922 -0.6623' out)" = 2 ]
  )
}
step packages package
step README readme

# The oldest Rust. Its cargo reads crates.io from a clone of the whole index, so
# it gets the dependencies from a folder.
oldest() {
  cp -r Cargo.toml Cargo.lock infer-prep-sys infer-prep tests "$work/oldest/"
  cd "$work/oldest"
  cargo vendor --locked -q vendor >/dev/null
  mkdir .cargo
  printf '[source.crates-io]\nreplace-with = "vendor"\n[source.vendor]\ndirectory = "vendor"\n' >.cargo/config.toml
  cargo "+$rust" check --offline --locked -p infer-prep
  cargo "+$rust" check --offline --locked -p infer-prep --features static
}
rust=$(sed -n 's/^rust-version = "\(.*\)"/\1.0/p' infer-prep/Cargo.toml)
if cargo "+$rust" --version >/dev/null 2>&1; then
  mkdir "$work/oldest"
  CARGO_TARGET_DIR=$PWD/target/oldest step "Rust $rust" oldest
else
  echo "rust-test: Rust $rust: not checked: it is not installed (rustup toolchain install $rust --profile minimal)"
fi

[ "$examples" ] || exit 0
run_examples() {
  (cd ../device/ort && ./library.sh) >"$work/ort"
  ORT_DYLIB_PATH=$(echo "$(tail -1 "$work/ort")"/libonnxruntime.so.*)
  export ORT_DYLIB_PATH
  cd examples
  cargo fmt --check
  cargo clippy -q --locked --all-targets -- -D warnings
  cargo test --locked
}
CARGO_TARGET_DIR=$PWD/target/examples step examples run_examples
