package kernel

//go:generate go run -C ../../tools/kernelasm . -group adler -out ../../internal/kernel/adler_amd64.s -stubs ../../internal/kernel/adler_stubs_amd64.go -pkg kernel
//go:generate go run -C ../../tools/kernelasm . -group color -out ../../internal/kernel/color_amd64.s -stubs ../../internal/kernel/color_stubs_amd64.go -pkg kernel
//go:generate go run -C ../../tools/kernelasm . -group inflate -out ../../internal/kernel/inflate_amd64.s -stubs ../../internal/kernel/inflate_stubs_amd64.go -pkg kernel
//go:generate go run -C ../../tools/kernelasm . -group lookup -out ../../internal/kernel/lookup_amd64.s -stubs ../../internal/kernel/lookup_stubs_amd64.go -pkg kernel
//go:generate go run -C ../../tools/kernelasm . -group huffman -out ../../internal/kernel/huffman_amd64.s -stubs ../../internal/kernel/huffman_stubs_amd64.go -pkg kernel
//go:generate go run -C ../../tools/kernelasm . -group huffprog -out ../../internal/kernel/huffprog_amd64.s -stubs ../../internal/kernel/huffprog_stubs_amd64.go -pkg kernel
//go:generate go run -C ../../tools/kernelasm . -group jpeg -out ../../internal/kernel/jpeg_amd64.s -stubs ../../internal/kernel/jpeg_stubs_amd64.go -pkg kernel
//go:generate go run -C ../../tools/kernelasm . -group encode -out ../../internal/kernel/encode_amd64.s -stubs ../../internal/kernel/encode_stubs_amd64.go -pkg kernel
//go:generate go run -C ../../tools/kernelasm . -group resample -out ../../internal/kernel/resample_amd64.s -stubs ../../internal/kernel/resample_stubs_amd64.go -pkg kernel
//go:generate go run -C ../../tools/kernelasm . -group pixels -out ../../internal/kernel/pixels_amd64.s -stubs ../../internal/kernel/pixels_stubs_amd64.go -pkg kernel
//go:generate go run -C ../../tools/kernelasm . -group blur -out ../../internal/kernel/blur_amd64.s -stubs ../../internal/kernel/blur_stubs_amd64.go -pkg kernel
//go:generate go run -C ../../tools/kernelasm . -group cv -out ../../internal/kernel/cv_amd64.s -stubs ../../internal/kernel/cv_stubs_amd64.go -pkg kernel
//go:generate go run -C ../../tools/kernelasm . -group find -out ../../internal/kernel/find_amd64.s -stubs ../../internal/kernel/find_stubs_amd64.go -pkg kernel
//go:generate go run -C ../../tools/kernelasm . -group lzw -out ../../internal/kernel/lzw_amd64.s -stubs ../../internal/kernel/lzw_stubs_amd64.go -pkg kernel
//go:generate go run -C ../../tools/kernelasm . -group vp8l -out ../../internal/kernel/vp8l_amd64.s -stubs ../../internal/kernel/vp8l_stubs_amd64.go -pkg kernel
//go:generate go run -C ../../tools/kernelasm . -group yuv -out ../../internal/kernel/yuv_amd64.s -stubs ../../internal/kernel/yuv_stubs_amd64.go -pkg kernel
//go:generate go run -C ../../tools/kernelasm . -group vp8 -out ../../internal/kernel/vp8_amd64.s -stubs ../../internal/kernel/vp8_stubs_amd64.go -pkg kernel
//go:generate go run -C ../../tools/kernelasm . -group warp -out ../../internal/kernel/warp_amd64.s -stubs ../../internal/kernel/warp_stubs_amd64.go -pkg kernel
//go:generate go run -C ../../tools/kernelasm . -group predict -out ../../internal/kernel/predict_amd64.s -stubs ../../internal/kernel/predict_stubs_amd64.go -pkg kernel
//go:generate go run -C ../../tools/kernelasm . -group chain -out ../../internal/kernel/chain_amd64.s -stubs ../../internal/kernel/chain_stubs_amd64.go -pkg kernel

//go:generate go run -C ../../tools/kernelasm ./arm64 -group jpeg -out ../../internal/kernel/jpeg_arm64.s
//go:generate go run -C ../../tools/kernelasm ./arm64 -group encode -out ../../internal/kernel/encode_arm64.s
//go:generate go run -C ../../tools/kernelasm ./arm64 -group resample -out ../../internal/kernel/resample_arm64.s
//go:generate go run -C ../../tools/kernelasm ./arm64 -group pixels -out ../../internal/kernel/pixels_arm64.s
//go:generate go run -C ../../tools/kernelasm ./arm64 -group blur -out ../../internal/kernel/blur_arm64.s
//go:generate go run -C ../../tools/kernelasm ./arm64 -group cv -out ../../internal/kernel/cv_arm64.s
//go:generate go run -C ../../tools/kernelasm ./arm64 -group yuv -out ../../internal/kernel/yuv_arm64.s
//go:generate go run -C ../../tools/kernelasm ./arm64 -group pngfilter -out ../../internal/kernel/pngfilter_arm64.s
//go:generate go run -C ../../tools/kernelasm ./arm64 -group adler -out ../../internal/kernel/adler_arm64.s
//go:generate go run -C ../../tools/kernelasm ./arm64 -group vp8 -out ../../internal/kernel/vp8_arm64.s
//go:generate go run -C ../../tools/kernelasm ./arm64 -group vp8l -out ../../internal/kernel/vp8l_arm64.s
//go:generate go run -C ../../tools/kernelasm ./arm64 -group rearrange -out ../../internal/kernel/rearrange_arm64.s
//go:generate go run -C ../../tools/kernelasm ./arm64 -group find -out ../../internal/kernel/find_arm64.s
//go:generate go run -C ../../tools/kernelasm ./arm64 -group predict -out ../../internal/kernel/predict_arm64.s
//go:generate go run -C ../../tools/kernelasm ./arm64 -group color -out ../../internal/kernel/color_arm64.s
//go:generate go run -C ../../tools/kernelasm ./arm64 -group palette -out ../../internal/kernel/palette_arm64.s
