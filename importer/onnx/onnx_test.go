package onnx

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/onnx"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

func TestImport(t *testing.T) {
	read := func(name string) []byte {
		b, err := os.ReadFile("../../testdata/onnx/" + name)
		require.NoError(t, err)
		return b
	}
	i, err := importer.Lookup("onnx")
	require.NoError(t, err)
	g, err := i.Import(read("embedded.onnx"))
	require.NoError(t, err)
	want, _, err := onnx.Extract(read("embedded.onnx"))
	require.NoError(t, err)
	require.Equal(t, want, g)

	_, err = i.Import(read("tiny.onnx"))
	require.ErrorIs(t, err, importer.ErrMissing)
	require.ErrorIs(t, err, onnx.ErrNoGraph)
	_, err = i.Import([]byte("{}"))
	require.ErrorIs(t, err, importer.ErrFormat)
	require.ErrorIs(t, err, onnx.ErrModel)
}
