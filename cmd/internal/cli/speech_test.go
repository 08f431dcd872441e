package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/internal/golden"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/tensor"
)

// speechModel is what transformers and ONNX's reference evaluator compute for
// the sounds of testdata/speech.
type speechModel struct {
	Input  string
	Sounds map[string]struct {
		Tensor golden.Digest
		Logits []float64
	}
}

// inSpeech changes to testdata/speech and reads the expected results.
func inSpeech(t *testing.T) map[string]speechModel {
	t.Chdir(filepath.Join("..", "..", "..", "testdata", "speech"))
	b, err := os.ReadFile("expected.json")
	require.NoError(t, err)
	var m map[string]speechModel
	require.NoError(t, json.Unmarshal(b, &m))
	require.Len(t, m, 2)
	return m
}

// TestSpeechBundles creates the bundles of testdata/bundle and compares their
// golden samples with transformers.
func TestSpeechBundles(t *testing.T) {
	for name, want := range inSpeech(t) {
		file, out := filepath.Join(t.TempDir(), name+".bundle"), t.TempDir()
		succeed(t, "bundle", "create", "--hf", name+"/preprocessor_config.json", "--model", name+"/model.onnx", "--golden", "sounds", "-o", file)
		made, err := os.ReadFile(file)
		require.NoError(t, err)
		committed, err := os.ReadFile("../bundle/" + name + ".bundle")
		require.NoError(t, err)
		require.Equal(t, committed, made, "bundle create makes another %s.bundle", name)

		b, err := modelbundle.Open(made, modelbundle.Limits{})
		require.NoError(t, err)
		require.Len(t, b.Expected(), len(want.Sounds))
		require.Contains(t, succeed(t, "bundle", "verify", file), "3 golden samples are right")
		r := call(t, "run", "--bundle", file, "-o", out, "sounds")
		require.Contains(t, r.stderr, "3 sounds, 0 failed, 0 skipped")
		for sound, w := range want.Sounds {
			require.Empty(t, w.Tensor.Diff(readNPY(t, filepath.Join(out, sound+".npy"))), "%s: %s", name, sound)
		}

		// One flipped bit of a golden sound is found.
		sound, err := b.Section("golden/sweep.wav")
		require.NoError(t, err)
		sound[len(sound)-1] ^= 1 // Open reads made in place
		require.NoError(t, os.WriteFile(file, made, 0o600))
		bad := call(t, "bundle", "verify", file)
		require.Equal(t, command.ExitFailed, bad.status)
		require.Contains(t, bad.stderr, `section "golden/sweep.wav"`)
	}
}

// TestSpeechModels: ONNX Runtime on the bundles returns the models' outputs.
func TestSpeechModels(t *testing.T) {
	needORT(t)
	for name, want := range inSpeech(t) {
		out := t.TempDir()
		succeed(t, "run", "--bundle", "../bundle/"+name+".bundle", "--device", "ort:cpu", "--infer", "-q", "-o", out, "sounds")
		for sound, w := range want.Sounds {
			x := readNPY(t, filepath.Join(out, sound+".npy"))
			require.InDeltaSlice(t, w.Logits, floats(x), 1e-3, "%s: %s", name, sound) // sums of float32 in another order
		}
	}
}

func floats(x *tensor.Tensor) (l []float64) {
	at := tensor.Float64s(x)
	for i := range int(x.Len()) {
		l = append(l, at(i))
	}
	return l
}
