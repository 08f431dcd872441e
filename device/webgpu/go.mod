module github.com/infer-prep/infer-prep/device/webgpu

go 1.26.0

replace github.com/infer-prep/infer-prep => ../..

require (
	github.com/gogpu/gputypes v0.5.2
	github.com/gogpu/wgpu v0.31.5
	github.com/infer-prep/infer-prep v0.0.0-00010101000000-000000000000
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
)

require (
	github.com/go-webgpu/goffi v0.6.3 // indirect
	github.com/go-webgpu/webgpu v0.5.5 // indirect
	github.com/gogpu/gpucontext v0.28.0 // indirect
	github.com/gogpu/naga v0.18.0 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/philhofer/fwd v1.2.0 // indirect
	github.com/tinylib/msgp v1.6.5 // indirect
	github.com/ulikunitz/xz v0.5.17 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)
