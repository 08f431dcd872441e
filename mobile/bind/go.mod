module github.com/infer-prep/infer-prep/mobile/bind

go 1.26.0

tool golang.org/x/mobile/cmd/gobind

require (
	github.com/infer-prep/infer-prep v0.0.0
	golang.org/x/mobile v0.0.0-20261011034528-197770444867
)

require (
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/philhofer/fwd v1.2.0 // indirect
	github.com/tinylib/msgp v1.6.5 // indirect
	github.com/ulikunitz/xz v0.5.17 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)

replace github.com/infer-prep/infer-prep => ../..
