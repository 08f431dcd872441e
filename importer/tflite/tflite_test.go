package tflite_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/internal/golden"
	"github.com/infer-prep/infer-prep/importer/tflite"
	"github.com/infer-prep/infer-prep/tensor"
)

func input(t testing.TB, c golden.Case) []byte {
	b, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(c.File)))
	require.NoError(t, err)
	return b
}

func TestGoldens(t *testing.T) {
	golden.Run(t, func(c golden.Case) []byte { return input(t, c) }, tflite.Import)
}

func TestRead(t *testing.T) {
	m, err := tflite.Read(input(t, golden.Case{File: "testdata/configs/tflite/resnet.tflite"}))
	require.NoError(t, err)
	require.Equal(t, &tflite.Model{
		Name: "serving_default_x:0", Height: 224, Width: 192, DType: tensor.Float32,
		Mean: []float64{float64(float32(123.675)), float64(float32(116.28)), float64(float32(103.53))},
		Std:  []float64{float64(float32(58.395)), float64(float32(57.12)), 57.375},
	}, m)
	g, err := tflite.Import(input(t, golden.Case{File: "testdata/configs/tflite/resnet.tflite"}))
	require.NoError(t, err)
	require.Equal(t, []string{"serving_default_x_0"}, g.Outputs)
}

func TestRefusals(t *testing.T) {
	file := func(name string) []byte {
		return input(t, golden.Case{File: "importer/tflite/testdata/" + name + ".tflite"})
	}
	one := file("one")
	// patched returns the file with one float32 replaced.
	patched := func(from, to float32) []byte {
		b := slices.Clone(one)
		var a, c [4]byte
		_, err := binary.Encode(a[:], binary.LittleEndian, from)
		require.NoError(t, err)
		_, err = binary.Encode(c[:], binary.LittleEndian, to)
		require.NoError(t, err)
		at := bytes.LastIndex(b[:bytes.Index(b, []byte("M001"))+400], a[:])
		require.Positive(t, at)
		copy(b[at:], c[:])
		return b
	}
	for name, c := range map[string]struct {
		in   []byte
		kind error
		want string
	}{
		"empty":            {nil, importer.ErrFormat, "model"},
		"short":            {[]byte("\x10\x00\x00\x00TFL3"), importer.ErrFormat, "beyond the end"},
		"another file":     {[]byte(`{"mode":"tf"}`), importer.ErrFormat, "TFL3"},
		"no metadata":      {file("refused_no_metadata"), importer.ErrMissing, "TFLITE_METADATA"},
		"gray":             {file("refused_gray"), importer.ErrValue, "[1 20 31 1]"},
		"unknown color":    {file("refused_unknown_color"), importer.ErrValue, "color_space: 0, want 1, RGB"},
		"no normalization": {file("refused_no_normalization"), importer.ErrMissing, "NormalizationOptions"},
		"int8":             {file("refused_int8"), importer.ErrValue, "int8"},
		"std 0":            {patched(1, 0), importer.ErrValue, "std"},
	} {
		_, err := tflite.Import(c.in)
		require.ErrorIs(t, err, c.kind, name)
		require.ErrorContains(t, err, c.want, name)
		var one *importer.Error
		require.ErrorAs(t, err, &one, name)
	}
}

// TestDamaged checks that a model that is truncated anywhere, or has any byte
// changed, is an error or a graph, never a panic.
func TestDamaged(t *testing.T) {
	b := input(t, golden.Case{File: "importer/tflite/testdata/channels.tflite"})
	for n := range b {
		_, err := tflite.Read(b[:n])
		if err != nil {
			var one *importer.Error
			require.ErrorAs(t, err, &one)
		}
		for _, x := range []byte{0x01, 0x80, 0xff} {
			d := slices.Clone(b)
			d[n] ^= x
			_, err := tflite.Import(d)
			if err != nil {
				require.ErrorContains(t, err, "importer: tflite: ")
			}
		}
	}
}

func FuzzImport(f *testing.F) {
	g := golden.Load(f)
	for _, c := range append(g.Cases, g.Refused...) {
		f.Add(input(f, c))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		g, err := tflite.Import(in)
		if (g == nil) == (err == nil) {
			t.Fatalf("graph %v, error %v", g, err)
		}
		if err == nil {
			require.NoError(t, g.Validate())
		}
	})
}
