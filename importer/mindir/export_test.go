package mindir_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/internal/golden"
	"github.com/infer-prep/infer-prep/importer/mindir"
	"github.com/infer-prep/infer-prep/internal/protowire"
	"github.com/infer-prep/infer-prep/transforms"
)

// bare returns a MindIR file without preprocessing.
func bare() []byte {
	b := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "0.1.1")
	b = protowire.AppendBytes(protowire.AppendTag(b, 7, protowire.BytesType), nil)
	return protowire.AppendVarint(protowire.AppendTag(b, 10, protowire.VarintType), 1)
}

// operationsOf returns the text of the ops in a file.
func operationsOf(t *testing.T, file []byte) any {
	t.Helper()
	i := strings.Index(string(file), `[{"tensor_op_name"`)
	require.Positive(t, i)
	var v any
	require.NoError(t, json.NewDecoder(strings.NewReader(string(file[i:]))).Decode(&v))
	return v
}

// TestExport: the ops of every golden are written as MindSpore stored them.
func TestExport(t *testing.T) {
	same := 0
	golden.Run(t, func(c golden.Case) []byte { return input(t, c) }, func(data []byte) (*datagraph.Graph, error) {
		g, err := mindir.Import(data)
		if err != nil {
			return nil, err
		}
		out, err := mindir.Export(bare(), g)
		if err != nil {
			require.ErrorIs(t, err, mindir.ErrExport)
			return g, nil
		}
		same++
		stored := string(data[strings.Index(string(data), `[{"tensor_op_name": "`):])
		var want any
		require.NoError(t, json.NewDecoder(strings.NewReader(stored)).Decode(&want))
		got := operationsOf(t, out)
		// A file may have two maps or no Decode; one threshold is stored twice.
		if len(want.([]any)) == len(got.([]any)) && !strings.Contains(stored, "[99.5, 99.5]") {
			require.Equal(t, want, got)
		}
		again, err := mindir.Export(out, g)
		require.NoError(t, err)
		require.Equal(t, out, again)
		return mindir.Import(out)
	})
	require.Greater(t, same, 80)
}

func TestExportRefusals(t *testing.T) {
	for want, g := range map[string]*datagraph.Graph{
		"step 1, resize: MindSpore has no equal op":         datagraph.New(transforms.NewDecode(), &transforms.Resize{Fit: transforms.FitShortest, Edge: 9, Interpolation: transforms.Lanczos}),
		"step 0: MindSpore has no op with these parameters": datagraph.New(transforms.NewDecode(), transforms.NewHorizontalFlip()),
		"is no float32, which MindSpore would make":         datagraph.New(transforms.NewDecode(), &transforms.AdjustHue{Factor: 0.2, Backend: transforms.OpenCV}),
		"want a MindIR model":                               datagraph.New(transforms.NewDecode()),
	} {
		model := bare()
		if strings.Contains(want, "MindIR model") {
			model = nil
		}
		_, err := mindir.Export(model, g)
		require.ErrorContains(t, err, want)
	}
	_, err := mindir.Export([]byte{0x3a, 9}, datagraph.New(transforms.NewDecode()))
	require.ErrorContains(t, err, "at byte 0")
}
