//go:build (cgo || wasip1) && !small

package main

import (
	"context"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf/tokens"
	_ "github.com/infer-prep/infer-prep/sound/all" // every sound format
	"github.com/infer-prep/infer-prep/store"
)

func init() {
	// These come first: an importer's error wraps that of the op that rejects
	// a value.
	statuses = append([]kind{
		{inferprep.ErrUnknown, ipFormat},
		{inferprep.ErrAmbiguous, ipFormat},
		{inferprep.ErrOption, ipParam},
		{importer.ErrUnsupported, ipUnsupported},
		{importer.ErrUnknownClass, ipUnsupported},
		{importer.ErrJSON, ipGraph},
		{importer.ErrFormat, ipFormat},
		{importer.ErrUnknownKey, ipParam},
		{importer.ErrMissing, ipParam},
		{importer.ErrValue, ipParam},
		{importer.ErrIgnore, ipParam},
		{importer.ErrBackend, ipParam},
		{importer.ErrDecoder, ipParam},
		{importer.ErrUnknown, ipParam},
		{store.ErrTooLarge, ipLimit},
		{store.ErrScheme, ipUnsupported},
	}, statuses...)
}

func importers() []string { return importer.Names() }

func processors() []string { return tokens.Classes() }

// load reads a graph.
func (s source) load() (*datagraph.Graph, error) {
	return inferprep.Source{
		Name: s.name, Data: s.data, Format: s.format, Backend: s.backend, Decoder: s.decoder, IgnoreKeys: s.ignored,
	}.Graph(context.Background())
}
