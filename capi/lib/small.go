//go:build (cgo || wasip1) && small

package main

import (
	"fmt"
	"io"
	"os"
	"strings"

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

func (*processor) kind() int32 { return kindTokens }

func (*processor) close() {}

func (*processor) source() ([]byte, error) { return nil, errHandle }

func reopenProcessor([]byte) (*processor, error) { return nil, errHandle }

func tokensOpen(folder *byte, files *ipTokenFiles, h *uintptr, e *ipError) int32 {
	return do(e, func() error {
		return fmt.Errorf("infer_prep: tokens: %w: this build has no importers", codec.ErrUnsupported)
	})
}

func tokensImages(h uintptr, sizes *int64, n int32, images *ipImageTokens, to *byte, capacity uint64, bytes *uint64, e *ipError) int32 {
	return do(e, func() error { return fmt.Errorf("infer_prep: handle %d: %w", h, errHandle) })
}
