package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPart(t *testing.T) {
	for symbol, want := range map[string]string{
		"runtime.mallocgc":                                               goRuntime,
		"main.main":                                                      goRuntime,
		"memeqbody":                                                      goRuntime,
		"net/http.(*conn).serve":                                         "net/http, TLS and cryptography, of serve and the HTTP store",
		"crypto/tls.(*Conn).Write":                                       "net/http, TLS and cryptography, of serve and the HTTP store",
		own + "transforms.(*Resize).Apply":                               "ops, kernels and graphs",
		own + "transforms.NewOp[go.shape.*uint8]":                        "ops, kernels and graphs",
		own + "transforms/plugin.load.func1":                             "ONNX Runtime's glue and plugins",
		own + "dataset/sets/coco.init.0":                                 "published data sets",
		own + "dataset/sets/internal/cifar.open":                         "published data sets",
		own + "dataset.(*Built).split":                                   "datasets: nodes and plain sources",
		own + "job.(*Job).Run":                                           "jobs, stores and the rest of this module",
		"type:.eq." + own + "pack.planImage":                             "pack",
		"type:.eq.[3]" + own + "codec.Config":                            "image formats",
		"go.yaml.in/yaml/v3.(*decoder).scalar":                           "importers, ONNX and bundles",
		"github.com/klauspost/compress/zstd.(*blockEnc).encode":          "record formats and compression",
		"slices.pdqsortCmpFunc[go.shape.struct { net/http.key string }]": goRuntime,
		"golang.org/x/sync/semaphore.(*Weighted).Acquire":                others,
	} {
		require.Equal(t, want, part(packageOf(symbol)), symbol)
	}
}

func TestWriteParts(t *testing.T) {
	var b strings.Builder
	writeParts(&b, 3_000_000, map[string]int64{"a": 500_000, "b": 1_500_000})
	require.Equal(t, `| part | MB of code | MB with its share of tables, types and text |
|---|---:|---:|
| b | 1.50 | 2.25 |
| a | 0.50 | 0.75 |
| the program, stripped, for linux/amd64 | 2.00 | 3.00 |
`, b.String())
}
