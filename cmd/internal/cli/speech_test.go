package cli

import (
	"bytes"
	"flag"
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

var update = flag.Bool("update", false, "write the bundles of testdata/bundle that are made of testdata/speech")

// inSpeech changes to testdata/speech and reads the expected results.
func inSpeech(t *testing.T) map[string]speechModel {
	return expectedIn[speechModel](t, 2, "testdata", "speech")
}

// TestSpeechBundles creates the bundles of testdata/bundle and compares their
// golden samples with transformers.
func TestSpeechBundles(t *testing.T) {
	for name, want := range inSpeech(t) {
		file, out := filepath.Join(t.TempDir(), name+".bundle"), t.TempDir()
		succeed(t, "bundle", "create", "--hf", name+"/preprocessor_config.json", "--model", name+"/model.onnx", "--golden", "sounds", "-o", file)
		made, err := os.ReadFile(file)
		require.NoError(t, err)
		stored := "../bundle/" + name + ".bundle"
		if *update {
			require.NoError(t, os.WriteFile(stored, made, 0o666))
		}
		committed, err := os.ReadFile(stored)
		require.NoError(t, err)
		require.True(t, bytes.Equal(committed, made), "%s: go test -run TestSpeechBundles -update writes it", stored)

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

// TestSpeechInputs runs a graph of sounds on samples without a header, and on
// files that it cannot take.
func TestSpeechInputs(t *testing.T) {
	inSpeech(t)
	b, err := os.ReadFile("sounds/speech.wav")
	require.NoError(t, err)
	slow := bytes.Clone(b)
	copy(slow[24:], "\x40\x1f\x00\x00") // 8000 Hz
	dir := tree(t, map[string][]byte{
		"mixed/a.wav": b, "mixed/b.ogg": []byte("OggS"), "mixed/c.wav": nil, "mixed/d.png": pngBytes(t, 3, 2, 1), "mixed/e.txt": []byte("text"),
		"slow.wav": slow, "samples.raw": b[44:], "odd.raw": b[43:], "empty.wav": nil, "notes/e.txt": []byte("text"), "image.png": pngBytes(t, 3, 2, 1),
	})
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	hf := []string{"run", "--hf", "wav2vec2/preprocessor_config.json", "-o", at("out")}
	run := func(args ...string) called { return callIn(t, string(b[44:]), append(hf, args...)...) }

	r := run("--pcm", "s16le:16000:1", "-", at("samples.raw"))
	require.Contains(t, r.stderr, "2 sounds, 0 failed")
	succeed(t, append(hf, at("mixed/a.wav"))...)
	want := readNPY(t, at("out/a.wav.npy"))
	for _, name := range []string{"stdin", "samples.raw"} {
		require.Equal(t, want, readNPY(t, at("out/"+name+".npy")))
	}
	r = run(at("mixed"))
	require.Equal(t, command.ExitOK, r.status)
	for _, text := range []string{"1 sound, 0 failed, 4 skipped", "b.ogg: left out: unsupported: Ogg", "c.wav: left out: the file is empty"} {
		require.Contains(t, r.stderr, text)
	}
	require.NotContains(t, r.stderr, "d.png")
	r = call(t, "run", "--preset", "decode", "-o", at("images"), at("mixed"))
	require.Contains(t, r.stderr, "1 image, 0 failed, 4 skipped")
	require.NotContains(t, r.stderr, "left out: a WAV")

	for _, c := range []struct {
		args   []string
		status int
		text   string
	}{
		{[]string{at("slow.wav")}, command.ExitFailed, "slow.wav: wav: unsupported: the sampling rate is 8000 Hz, the op decode_sound wants 16000 Hz; to resample, state 8000 there"},
		{[]string{at("empty.wav")}, command.ExitFailed, "empty.wav: sound: invalid format: empty input: want a sound file"},
		{[]string{at("image.png")}, command.ExitFailed, "image.png: sound: unsupported: a PNG image: want one of the linked formats: aiff, au, flac, mp3, wav"},
		{[]string{at("notes")}, command.ExitFailed, "infer-prep: no sounds found, 1 file skipped"},
		{nil, command.ExitUsage, "no images or sounds: want files, folders or globs"},
		{[]string{"--pcm", "s16le:16000", at("odd.raw")}, command.ExitFailed, "8001 bytes, want a multiple of 2: 1 channels of s16le"},
		{[]string{"--pcm", "s16le:8000", "-"}, command.ExitUsage, `--pcm "s16le:8000": the sampling rate is 8000 Hz, the graph wants 16000 Hz`},
		{[]string{"--pcm", "s16le", "-"}, command.ExitUsage, "want ENCODING:RATE or ENCODING:RATE:CHANNELS"},
		{[]string{"--pcm", "s16:16000", "-"}, command.ExitUsage, `unknown encoding "s16"`},
		{[]string{"--pcm", "s16le:16000:0", "-"}, command.ExitUsage, "channels is 0, want 1 to 1024"},
		{[]string{"--backend", "samples", "-"}, command.ExitUsage, "want one encoded image or sound (bytes); --backend audio takes sound files"},
	} {
		r := run(c.args...)
		require.Equal(t, c.status, r.status, "%v", c.args)
		require.Contains(t, r.stderr, c.text)
	}
	for _, c := range []struct {
		args []string
		text string
	}{
		{[]string{"run", "--preset", "decode", "--pcm", "s16le:16000", "-o", at("out"), "-"}, "the graph has no step decode_sound"},
		{[]string{"sizes", "--hf", "whisper/preprocessor_config.json", "4x5"}, "the graph takes sounds, which have no height and width"},
		{[]string{"run", "--preset", "decode", "-o", at("out"), at("slow.wav")}, "codec: unsupported: a WAV sound: want"},
		{[]string{"bundle", "create", "--hf", "wav2vec2/preprocessor_config.json", "--golden", at("notes"), "-o", at("a.bundle")}, "--golden: no sounds found"},
	} {
		r := call(t, c.args...)
		require.NotEqual(t, command.ExitOK, r.status)
		require.Contains(t, r.stderr, c.text)
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
