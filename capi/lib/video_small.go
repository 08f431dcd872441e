//go:build cgo && small

package main

import (
	"fmt"
	"unsafe"

	"github.com/infer-prep/infer-prep/codec"
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

func videoRun(h uintptr, clips *ipClip, n int32, lent *uintptr, e *ipError) int32 {
	return do(e, func() error { return fmt.Errorf("infer_prep: handle %d: %w", h, errHandle) })
}
