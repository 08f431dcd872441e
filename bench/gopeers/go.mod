// The Go libraries that bench.py compares with, apart so that infer-prep does not need them.
module github.com/infer-prep/infer-prep/bench/gopeers

go 1.26.0

require (
	github.com/gen2brain/jpegli v0.4.2
	github.com/infer-prep/infer-prep v0.0.0
)

require (
	github.com/tetratelabs/wazero v1.12.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/infer-prep/infer-prep => ../..
