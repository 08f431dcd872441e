package dsp

//go:generate go run -C ../../tools/kernelasm . -group dsp -out ../../internal/dsp/dsp_amd64.s -stubs ../../internal/dsp/dsp_stubs_amd64.go -pkg dsp
