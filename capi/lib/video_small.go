//go:build (cgo || wasip1) && small

package main

import (
	"fmt"
	"unsafe"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// Videos are of the full build.

func videoOpen(name *byte, data unsafe.Pointer, n uint64, options *ipOptions, h *uintptr, e *ipError) int32 {
	return do(e, func() error {
		return fmt.Errorf("infer_prep: video: %w: this build has no importers", codec.ErrUnsupported)
	})
}

func videoSample(h uintptr, clip *ipClip, numbers *int64, capacity uint64, count *uint64, e *ipError) int32 {
	return do(e, func() error { return fmt.Errorf("infer_prep: handle %d: %w", h, errHandle) })
}

func videoBatch(h uintptr, clips *ipClip, n int32) ([]string, []*tensor.Tensor, error) {
	return nil, nil, fmt.Errorf("infer_prep: handle %d: %w", h, errHandle)
}

// reopenVideo reports an error: no host has a video.
func reopenVideo([]byte, *ipOptions) (object, error) { return nil, errHandle }
