module github.com/infer-prep/infer-prep/codec/jpegli

go 1.26.0

replace github.com/infer-prep/infer-prep => ../..

require (
	github.com/gen2brain/jpegli v0.4.2
	github.com/infer-prep/infer-prep v0.0.0-00010101000000-000000000000
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/tetratelabs/wazero v1.12.0 // indirect
	github.com/ulikunitz/xz v0.5.17 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)
