//go:build ((linux && !android) || windows || (darwin && !ios)) && (amd64 || arm64) && !noclib

package ort

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/importer/torchvision"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestOpenVINO runs the classifier of the examples on OpenVINO's CPU device.
// The labels of all images are those of ONNX Runtime's CPU provider. OpenVINO
// folds the division, the subtraction and the division of the graph's end into
// one multiplication and one addition, whose constants are rounded. For the 256
// values of a pixel that differs by three units in the last place at most, and
// numbers from 2 to 4 have units of 2^-22. With form=host the tensors are
// equal. INFER_PREP_ORT_OPENVINO is the folder of a library with that provider.
func TestOpenVINO(t *testing.T) {
	lib := os.Getenv("INFER_PREP_ORT_OPENVINO")
	if lib == "" {
		t.Skip("ONNX Runtime with OpenVINO is not there: make test-openvino installs it and sets INFER_PREP_ORT_OPENVINO")
	}
	t.Setenv(Environment, lib)
	folder := filepath.Join("..", "..", "examples", "classifier")
	read := func(name ...string) []byte {
		b, err := os.ReadFile(filepath.Join(append([]string{folder}, name...)...))
		require.NoError(t, err)
		return b
	}
	g, err := torchvision.Import(read("transforms.json"))
	require.NoError(t, err)
	p := plan(t, g)
	net := read("model.onnx")
	sessions := map[string]*Session{}
	for _, spec := range []string{"ort:openvino", "ort:cpu"} {
		sessions[spec] = openSession(t, openDevice(t, spec), p, device.Options{Model: net})
	}
	l, err := filepath.Glob(filepath.Join(folder, "images", "*.jpg"))
	require.NoError(t, err)
	require.Len(t, l, 12)
	tensors, scores := 0.0, 0.0
	for _, name := range l {
		in := tensor.FromBytes(read("images", filepath.Base(name)))
		best := map[string]int{}
		all := map[string][]float32{}
		for spec, s := range sessions {
			out, err := s.Infer(t.Context(), in)
			require.NoError(t, err)
			all[spec] = slices.Clone(tensor.View[float32](out[0].T))
			best[spec] = slices.Index(all[spec], slices.Max(all[spec]))
		}
		require.Equal(t, best["ort:cpu"], best["ort:openvino"], name)
		cpu, vino := softmax(all["ort:cpu"]), softmax(all["ort:openvino"])
		for i, x := range cpu {
			scores = max(scores, math.Abs(vino[i]-x))
		}
		out, err := sessions["ort:openvino"].Preprocess(t.Context(), in)
		require.NoError(t, err)
		want, err := p.NewRunner().Run(in)
		require.NoError(t, err)
		for i, x := range tensor.View[float32](want[0]) {
			tensors = max(tensors, math.Abs(float64(tensor.View[float32](out[0])[i])-float64(x)))
		}
	}
	t.Logf("measured: ort:openvino: labels equal, tensors within %.3g, probabilities within %.3g", tensors, scores)
	require.LessOrEqual(t, tensors, 3*0x1p-22)
	require.LessOrEqual(t, scores, 1e-9) // the scores are far apart
}

// softmax returns the probabilities of scores.
func softmax(l []float32) (p []float64) {
	top, sum := slices.Max(l), 0.0
	for _, x := range l {
		p = append(p, math.Exp(float64(x)-float64(top)))
		sum += p[len(p)-1]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}
