//go:build !small

package main

// #include "infer_prep.h"
import "C"

import (
	"context"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf/tokens"
	"github.com/infer-prep/infer-prep/store"
)

func init() {
	// These come first: an importer's error wraps that of the op that rejects
	// a value.
	statuses = append([]kind{
		{inferprep.ErrUnknown, C.IP_FORMAT},
		{inferprep.ErrAmbiguous, C.IP_FORMAT},
		{inferprep.ErrOption, C.IP_PARAM},
		{importer.ErrUnsupported, C.IP_UNSUPPORTED},
		{importer.ErrUnknownClass, C.IP_UNSUPPORTED},
		{importer.ErrJSON, C.IP_GRAPH},
		{importer.ErrFormat, C.IP_FORMAT},
		{importer.ErrUnknownKey, C.IP_PARAM},
		{importer.ErrMissing, C.IP_PARAM},
		{importer.ErrValue, C.IP_PARAM},
		{importer.ErrIgnore, C.IP_PARAM},
		{importer.ErrBackend, C.IP_PARAM},
		{importer.ErrDecoder, C.IP_PARAM},
		{importer.ErrUnknown, C.IP_PARAM},
		{store.ErrTooLarge, C.IP_LIMIT},
		{store.ErrScheme, C.IP_UNSUPPORTED},
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
