package kernel

//go:generate go run -C _gen . -group color -out ../color_amd64.s -stubs ../color_stubs_amd64.go -pkg kernel
//go:generate go run -C _gen . -group lookup -out ../lookup_amd64.s -stubs ../lookup_stubs_amd64.go -pkg kernel
//go:generate go run -C _gen . -group huffman -out ../huffman_amd64.s -stubs ../huffman_stubs_amd64.go -pkg kernel
//go:generate go run -C _gen . -group jpeg -out ../jpeg_amd64.s -stubs ../jpeg_stubs_amd64.go -pkg kernel
//go:generate go run -C _gen . -group encode -out ../encode_amd64.s -stubs ../encode_stubs_amd64.go -pkg kernel
//go:generate go run -C _gen . -group resample -out ../resample_amd64.s -stubs ../resample_stubs_amd64.go -pkg kernel
//go:generate go run -C _gen . -group pixels -out ../pixels_amd64.s -stubs ../pixels_stubs_amd64.go -pkg kernel
//go:generate go run -C _gen . -group blur -out ../blur_amd64.s -stubs ../blur_stubs_amd64.go -pkg kernel
//go:generate go run -C _gen . -group cv -out ../cv_amd64.s -stubs ../cv_stubs_amd64.go -pkg kernel
//go:generate go run -C _gen . -group find -out ../find_amd64.s -stubs ../find_stubs_amd64.go -pkg kernel
//go:generate go run -C _gen . -group yuv -out ../yuv_amd64.s -stubs ../yuv_stubs_amd64.go -pkg kernel
//go:generate go run -C _gen . -group warp -out ../warp_amd64.s -stubs ../warp_stubs_amd64.go -pkg kernel

//go:generate go run -C _gen ./arm64 -group jpeg -out ../jpeg_arm64.s
//go:generate go run -C _gen ./arm64 -group encode -out ../encode_arm64.s
//go:generate go run -C _gen ./arm64 -group resample -out ../resample_arm64.s
//go:generate go run -C _gen ./arm64 -group pixels -out ../pixels_arm64.s
//go:generate go run -C _gen ./arm64 -group blur -out ../blur_arm64.s
//go:generate go run -C _gen ./arm64 -group cv -out ../cv_arm64.s
//go:generate go run -C _gen ./arm64 -group yuv -out ../yuv_arm64.s
