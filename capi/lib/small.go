//go:build small

package main

// #include "infer_prep.h"
import "C"

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unsafe"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all" // every image format
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/preset"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// maxGraphBytes is the largest file of a graph, as in the full build.
const maxGraphBytes = 16 << 20

func importers() []string { return []string{} }

func processors() []string { return []string{} }

// load reads a graph in JSON or msgp, or a preset.
func (s source) load() (*datagraph.Graph, error) {
	if s.backend != "" || s.decoder != "" || len(s.ignored) > 0 {
		return nil, fmt.Errorf("infer_prep: open: %w: backend, decoder or ignored keys: this build has no importers", codec.ErrUnsupported)
	}
	name, isPreset := strings.CutPrefix(s.name, "preset:")
	switch {
	case s.format == "preset" || s.format == "" && isPreset:
		return preset.Graph(name)
	case s.format != "" && s.format != "graph":
		return nil, fmt.Errorf("infer_prep: open: %w: format %q: this build opens graphs and presets", codec.ErrUnsupported, s.format)
	case s.data == nil:
		var err error
		if s.data, err = readFile(s.name); err != nil {
			return nil, fmt.Errorf("infer_prep: open: %w", err)
		}
	}
	if s.format == "" && !datagraph.Detect(s.data) {
		return nil, fmt.Errorf("infer_prep: open: %w: unknown format: this build opens graphs and presets", codec.ErrFormat)
	}
	return datagraph.Parse(s.data)
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxGraphBytes+1))
	if err == nil && len(b) > maxGraphBytes {
		err = fmt.Errorf("%s: %w: more than %d bytes", name, codec.ErrLimit, maxGraphBytes)
	}
	return b, err
}

// processor is of the full build.
type processor struct{}

//export ipgo_tokens_open
func ipgo_tokens_open(folder *C.char, files *C.ip_token_files, h *C.uintptr_t, e *C.ip_error) C.ip_status {
	return do(e, func() error {
		return fmt.Errorf("infer_prep: tokens: %w: this build has no importers", codec.ErrUnsupported)
	})
}

//export ipgo_tokens_images
func ipgo_tokens_images(h C.uintptr_t, sizes *C.int64_t, n C.int32_t, images *C.ip_image_tokens, to *C.char, capacity C.uint64_t, bytes *C.uint64_t, e *C.ip_error) C.ip_status {
	return do(e, func() error { return fmt.Errorf("infer_prep: handle %d: %w", h, errHandle) })
}

// videoProcessor is of the full build.
type videoProcessor struct{}

//export ipgo_video_open
func ipgo_video_open(name *C.char, data unsafe.Pointer, n C.size_t, options *C.ip_options, h *C.uintptr_t, e *C.ip_error) C.ip_status {
	return do(e, func() error {
		return fmt.Errorf("infer_prep: video: %w: this build has no importers", codec.ErrUnsupported)
	})
}

//export ipgo_video_sample
func ipgo_video_sample(h C.uintptr_t, clip *C.ip_clip, numbers *C.int64_t, capacity C.uint64_t, count *C.uint64_t, e *C.ip_error) C.ip_status {
	return do(e, func() error { return fmt.Errorf("infer_prep: handle %d: %w", h, errHandle) })
}

//export ipgo_video_run
func ipgo_video_run(h C.uintptr_t, clips *C.ip_clip, n C.int32_t, lent *C.uintptr_t, e *C.ip_error) C.ip_status {
	return do(e, func() error { return fmt.Errorf("infer_prep: handle %d: %w", h, errHandle) })
}
