package mindir_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/internal/golden"
	"github.com/infer-prep/infer-prep/importer/mindir"
)

// step is a PreprocessOpProto.
type step struct {
	InputColumns   string `json:"input_columns"`
	OutputColumns  string `json:"output_columns"`
	ProjectColumns string `json:"project_columns"`
	OpType         string `json:"op_type"`
	Operations     string `json:"operations"`
	Offload        bool   `json:"offload"`
}

// one returns a step that runs ops, given as JSON, on the image.
func one(ops string) []step {
	return []step{{InputColumns: `["image"]`, OutputColumns: `["image"]`, OpType: `"Map"`, Operations: ops}}
}

// model returns a MindIR file with these steps between other fields.
func model(steps []step) []byte {
	var pre []byte
	for _, s := range steps {
		var op []byte
		for i, v := range []string{s.InputColumns, s.OutputColumns, s.ProjectColumns, s.OpType, s.Operations} {
			if v != "" {
				op = protowire.AppendTag(op, protowire.Number(i+1), protowire.BytesType)
				op = protowire.AppendString(op, v)
			}
		}
		op = protowire.AppendTag(op, 6, protowire.VarintType)
		op = protowire.AppendVarint(op, protowire.EncodeBool(s.Offload))
		pre = protowire.AppendTag(pre, 1, protowire.BytesType)
		pre = protowire.AppendBytes(pre, op)
	}
	b := protowire.AppendTag(nil, 2, protowire.BytesType)
	b = protowire.AppendString(b, "MindSpore")
	b = protowire.AppendTag(b, 9, protowire.BytesType)
	b = protowire.AppendBytes(b, pre)
	b = protowire.AppendTag(b, 10, protowire.VarintType)
	return protowire.AppendVarint(b, 1)
}

// input returns the file of a golden case.
func input(t testing.TB, c golden.Case) []byte {
	if c.File != "" {
		b, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(c.File)))
		require.NoError(t, err)
		return b
	}
	var steps []step
	require.NoError(t, json.Unmarshal(c.Steps, &steps))
	return model(steps)
}

func TestGoldens(t *testing.T) {
	golden.Run(t, func(c golden.Case) []byte { return input(t, c) }, mindir.Import)
}

const decode = `{"tensor_op_name":"Decode","tensor_op_params":{"rgb":true}}`

func TestRefusals(t *testing.T) {
	op := func(s string) []byte { return model(one("[" + decode + "," + s + "]")) }
	for name, c := range map[string]struct {
		in   []byte
		kind error
		want string
	}{
		"empty":          {nil, importer.ErrMissing, "preprocessor"},
		"no steps":       {model(nil), importer.ErrMissing, "preprocessor.op"},
		"cut":            {model(one("[]"))[:9], importer.ErrFormat, "at byte"},
		"group":          {[]byte{0x0b, 0x0c}, importer.ErrFormat, "group"},
		"type":           {[]byte{0x48, 1}, importer.ErrFormat, "preprocessor"},
		"text":           {[]byte(`{"a":1}`), importer.ErrFormat, ""},
		"no JSON":        {model([]step{{Operations: "[1"}}), importer.ErrFormat, "preprocessor.op.0.operations"},
		"two values":     {model([]step{{Operations: `[],"op_type":"Map"`}}), importer.ErrFormat, "operations"},
		"no columns":     {model([]step{{Operations: "[]", OpType: `"Map"`}}), importer.ErrValue, "input_columns"},
		"two columns":    {model([]step{{InputColumns: `["image","label"]`, Operations: "[" + decode + "]", OpType: `"Map"`}}), importer.ErrValue, "input_columns"},
		"batch":          {model([]step{{InputColumns: `["image"]`, Operations: "[" + decode + "]", OpType: `"Batch"`}}), importer.ErrValue, "op_type"},
		"replaced":       {model([]step{{InputColumns: `["label"]`, OutputColumns: `["image"]`, Operations: "[]", OpType: `"Map"`}}), importer.ErrValue, "output_columns"},
		"projected":      {model([]step{{InputColumns: `["image"]`, ProjectColumns: `["label"]`, Operations: "[" + decode + "]", OpType: `"Map"`}}), importer.ErrValue, "project_columns"},
		"unknown op":     {op(`{"tensor_op_name":"Affine"}`), importer.ErrValue, `"Affine"; want one of`},
		"random":         {op(`{"tensor_op_name":"RandomHorizontalFlip","tensor_op_params":{"prob":0.5}}`), importer.ErrValue, "RandomHorizontalFlip"},
		"python":         {op(`{"tensor_op_name":"<lambda>","python_module":"x"}`), importer.ErrValue, "<lambda>"},
		"unknown key":    {op(`{"tensor_op_name":"Resize","tensor_op_params":{"size":[1],"zoom":1}}`), importer.ErrUnknownKey, "preprocessor.op.0.operations.1.tensor_op_params.zoom"},
		"unknown key 2":  {op(`{"tensor_op_name":"HwcToChw","zoom":1}`), importer.ErrUnknownKey, "operations.1.zoom"},
		"size":           {op(`{"tensor_op_name":"Resize","tensor_op_params":{"size":[0,1]}}`), importer.ErrValue, "size"},
		"no size":        {op(`{"tensor_op_name":"CenterCrop","tensor_op_params":{}}`), importer.ErrValue, "size"},
		"interpolation":  {op(`{"tensor_op_name":"Resize","tensor_op_params":{"size":[1],"interpolation":5}}`), importer.ErrValue, "interpolation"},
		"mean":           {op(`{"tensor_op_name":"Normalize","tensor_op_params":{"mean":[1,2],"std":[1]}}`), importer.ErrValue, "mean"},
		"std":            {op(`{"tensor_op_name":"Normalize","tensor_op_params":{"mean":[1],"std":[0]}}`), importer.ErrValue, "std"},
		"threshold":      {op(`{"tensor_op_name":"Solarize","tensor_op_params":{"threshold":[1]}}`), importer.ErrValue, "threshold"},
		"ignore":         {op(`{"tensor_op_name":"AutoContrast","tensor_op_params":{"cutoff":1,"ignore":["a"]}}`), importer.ErrValue, "ignore"},
		"no ignore":      {op(`{"tensor_op_name":"AutoContrast","tensor_op_params":{"cutoff":1}}`), importer.ErrValue, "ignore"},
		"type of cast":   {op(`{"tensor_op_name":"TypeCast","tensor_op_params":{"data_type":"string"}}`), importer.ErrValue, "data_type"},
		"pad_shape":      {op(`{"tensor_op_name":"PadEnd","tensor_op_params":{"pad_shape":[1,2],"pad_value":{"data":[0],"shape":[],"type":"int64"}}}`), importer.ErrValue, "pad_shape"},
		"no pad_value":   {op(`{"tensor_op_name":"PadEnd","tensor_op_params":{"pad_shape":[1,2,3]}}`), importer.ErrValue, "pad_value"},
		"text of fill":   {op(`{"tensor_op_name":"Fill","tensor_op_params":{"data":["a"],"shape":[],"type":"string"}}`), importer.ErrValue, "data"},
		"shape of mask":  {op(`{"tensor_op_name":"Mask","tensor_op_params":{"constant":{"data":[1],"shape":[1],"type":"int64"},"dtype":1,"op":0}}`), importer.ErrValue, "shape"},
		"type of mask":   {op(`{"tensor_op_name":"Mask","tensor_op_params":{"constant":{"data":[1],"shape":[],"type":"int64"},"dtype":3,"op":0}}`), importer.ErrValue, "dtype"},
		"no parameters":  {op(`{"tensor_op_name":"Slice","tensor_op_params":null}`), importer.ErrValue, `"Slice"; want one of`},
		"decoded twice":  {op(decode), importer.ErrValue, "Decode after"},
		"no mode":        {op(`{"tensor_op_name":"Resize","tensor_op_params":{"size":[1]}}`), importer.ErrMissing, "tensor_op_params.interpolation: MindSpore 2.10.0 stores it"},
		"no layout":      {op(`{"tensor_op_name":"Normalize","tensor_op_params":{"mean":[1],"std":[1]}}`), importer.ErrMissing, "is_hwc"},
		"no relation":    {op(`{"tensor_op_name":"Mask","tensor_op_params":{"constant":{"data":[1],"shape":[],"type":"int64"}}}`), importer.ErrMissing, "tensor_op_params.op"},
		"no rgb":         {model(one(`[{"tensor_op_name":"Decode"}]`)), importer.ErrMissing, "rgb"},
		"on Ascend":      {op(`{"tensor_op_name":"HorizontalFlip","tensor_op_params":{"device_target":"Ascend"}}`), importer.ErrValue, `device_target: "Ascend", want "CPU"`},
		"other factor":   {op(`{"tensor_op_name":"AdjustContrast","tensor_op_params":{"contrast_factor":0.5,"device_target":0.25}}`), importer.ErrValue, "device_target"},
		"offloaded":      {model([]step{{InputColumns: `["image"]`, Operations: "[" + decode + "]", OpType: `"Map"`, Offload: true}}), importer.ErrValue, "preprocessor.op.0.offload: true, want false"},
		"decoded to BGR": {model(one(`[{"tensor_op_name":"Decode","tensor_op_params":{"rgb":false}}]`)), importer.ErrValue, "rgb"},
		"unknown field":  {append(model(nil), 0x4a, 2, 0x10, 1), importer.ErrUnknownKey, "preprocessor.#2"},
	} {
		_, err := mindir.Import(c.in)
		require.ErrorIs(t, err, c.kind, name)
		require.ErrorContains(t, err, c.want, name)
		var one *importer.Error
		require.ErrorAs(t, err, &one, name)
	}
}

// TestDropRandom checks that Options can skip random ops and that the notes
// name them.
func TestDropRandom(t *testing.T) {
	in := model(one("[" + decode + `,{"tensor_op_name":"RandomHorizontalFlip","tensor_op_params":{"prob":0.5}},{"tensor_op_name":"HwcToChw","tensor_op_params":null}]`))
	g, notes, err := mindir.ImportWith(in, mindir.Options{DropRandom: true})
	require.NoError(t, err)
	require.Len(t, g.Steps, 2)
	require.Equal(t, []string{"left out: RandomHorizontalFlip"}, notes)
	_, _, err = mindir.ImportWith(model(one(`[{"tensor_op_name":"RandomCropDecodeResize","tensor_op_params":{}}]`)), mindir.Options{DropRandom: true})
	require.ErrorIs(t, err, importer.ErrValue)
	require.ErrorContains(t, err, "cannot be left out")
}

func FuzzImport(f *testing.F) {
	g := golden.Load(f)
	for _, c := range append(g.Cases, g.Refused...) {
		f.Add(input(f, c))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		g, err := mindir.Import(in)
		if (g == nil) == (err == nil) {
			t.Fatalf("graph %v, error %v", g, err)
		}
		if err == nil {
			require.NoError(t, g.Validate())
		}
	})
}

// TestNested checks that unclosed, deeply nested JSON in a field is an error.
func TestNested(t *testing.T) {
	_, err := mindir.Import(model(one(strings.Repeat("[", 1000))))
	require.ErrorIs(t, err, importer.ErrFormat)
}
