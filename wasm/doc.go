// Command wasm is infer-prep as a WebAssembly module, for the npm package of
// the same folder. It is a reactor of WASI preview 1: a host instantiates it,
// calls _initialize, and then calls its exports one at a time. See abi.go for
// the exports and README.md for the package.
//
// build.sh builds it. On other platforms, this command does nothing.
package main

func main() {}
