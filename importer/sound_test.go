package importer_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf"
	"github.com/infer-prep/infer-prep/internal/golden"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// soundFile is testdata/sounds.json, which
// testdata/gen/importers/hf_sound.py writes.
type soundFile struct {
	Classes []string
	Models  map[string]string
	Cases   []struct {
		Config  json.RawMessage
		Results []struct {
			Sound   string
			Samples int
			Refused bool // by the reference, or because it is random
			Outputs map[string]golden.Digest
		}
	}
}

func soundGoldens(t *testing.T) (f soundFile) {
	name := "testdata/sounds.json"
	if more := os.Getenv("INFER_PREP_SOUNDS"); more != "" {
		name = more
	}
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &f))
	require.NotEmpty(t, f.Cases)
	return f
}

// samplesOf returns a sound as a tensor.
func samplesOf(t testing.TB, kind string, n int) *tensor.Tensor {
	x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(n)})
	require.NoError(t, err)
	copy(tensor.View[float32](x), golden.Sound(kind, n))
	return x
}

// finite replaces numbers that JSON does not have, as hf_sound.py does. The
// bits of a NaN are the platform's.
func finite(x *tensor.Tensor) {
	if x.DType != tensor.Float32 {
		return
	}
	v := tensor.View[float32](x)
	for i, f := range v {
		switch {
		case f != f:
			v[i] = 3e38
		case f > 2e38:
			v[i] = 2e38
		case f < -2e38:
			v[i] = -2e38
		}
	}
}

// TestSounds compares the graphs of feature extractors with the bytes of
// transformers.
func TestSounds(t *testing.T) {
	step := short.Step(t, 4)
	equal, files := 0, 0
	for i, c := range soundGoldens(t).Cases {
		if i%step != 0 {
			continue
		}
		g, err := hf.ImportSamples(c.Config)
		require.NoError(t, err, "%s", c.Config)
		require.NotEmpty(t, g.Reference)
		p, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(t, err)
		r := p.NewRunner()
		for _, res := range c.Results {
			files++
			out, err := r.Run(samplesOf(t, res.Sound, res.Samples))
			if res.Refused {
				if !errors.Is(err, transforms.ErrInput) {
					t.Errorf("%s %d: %v, want an ErrInput\n%s", res.Sound, res.Samples, err, c.Config)
					continue
				}
				equal++
				continue
			}
			if err != nil {
				t.Errorf("%s %d: %v\n%s", res.Sound, res.Samples, err, c.Config)
				continue
			}
			require.Len(t, out, len(res.Outputs), "%s", c.Config)
			same := true
			for i, col := range p.Outputs() {
				want, ok := res.Outputs[col.Name]
				require.True(t, ok, "output %s", col.Name)
				finite(out[i])
				if diff := want.Diff(out[i]); diff != "" {
					same = false
					t.Errorf("%s %d %s: %s\n%s", res.Sound, res.Samples, col.Name, diff, c.Config)
				}
			}
			if same {
				equal++
			}
		}
	}
	t.Logf("%d of %d sounds are equal", equal, files)
}

// TestSoundClasses checks that every feature extractor of transformers is
// either imported or refused with a reason.
func TestSoundClasses(t *testing.T) {
	f := soundGoldens(t)
	imported := 0
	for _, c := range f.Classes {
		_, err := hf.ImportAudio([]byte(`{"feature_extractor_type": "` + c + `"}`))
		if err == nil {
			imported++
			continue
		}
		require.ErrorIs(t, err, importer.ErrUnsupported, c)
	}
	t.Logf("%d of %d classes are imported", imported, len(f.Classes))
	require.Equal(t, 32, imported)
}

// TestSoundFiles opens the forms in which a model's folder has a feature
// extractor.
func TestSoundFiles(t *testing.T) {
	whisper := `{"feature_extractor_type": "WhisperFeatureExtractor", "n_samples": 480000, "mel_filters": [[1]]}`
	vit := `{"image_processor_type": "ViTImageProcessor"}`
	i, err := importer.Lookup("hf")
	require.NoError(t, err)
	require.True(t, i.Detect("a.json", []byte(`{"feature_extractor": `+whisper+`}`)))
	for name, c := range map[string]struct {
		files map[string]string
		file  string
		refs  [2]string // of Import and ImportAudio
	}{
		"flat":   {map[string]string{"preprocessor_config.json": whisper}, "preprocessor_config.json", [2]string{"Whisper", "Whisper"}},
		"nested": {map[string]string{"processor_config.json": `{"feature_extractor": ` + whisper + `, "processor_class": "X"}`}, "processor_config.json", [2]string{"Whisper", "Whisper"}},
		"both": {map[string]string{"processor_config.json": `{"feature_extractor": ` + whisper + `, "image_processor": ` + vit + `}`},
			"processor_config.json", [2]string{"ViT", "Whisper"}},
		"image beside": {map[string]string{"processor_config.json": `{"feature_extractor": ` + whisper + `}`, "preprocessor_config.json": vit},
			"preprocessor_config.json", [2]string{"ViT", ""}},
		"model type": {map[string]string{"preprocessor_config.json": `{"do_normalize": true}`, "config.json": `{"model_type": "hubert"}`},
			"preprocessor_config.json and config.json", [2]string{"Wav2Vec2", "Wav2Vec2"}},
		"flat both": {map[string]string{"preprocessor_config.json": `{"feature_extractor_type": "WhisperFeatureExtractor", "image_processor_type": "ViTImageProcessor", "do_resize": true, "hop_length": 160}`},
			"preprocessor_config.json", [2]string{"ViT", "Whisper"}},
	} {
		file, data, err := i.Folder(func(name string) ([]byte, error) {
			if s, ok := c.files[name]; ok {
				return []byte(s), nil
			}
			return nil, os.ErrNotExist
		})
		require.NoError(t, err, name)
		require.Equal(t, c.file, file, name)
		for k, load := range []func([]byte) (*datagraph.Graph, error){hf.Import, hf.ImportAudio} {
			g, err := load(data)
			if c.refs[k] == "" {
				require.ErrorIs(t, err, importer.ErrUnknownClass, name)
				continue
			}
			require.NoError(t, err, name)
			require.Contains(t, g.Reference, " "+c.refs[k], name)
		}
	}
	for _, c := range []string{
		`{"feature_extractor_type": "WhisperFeatureExtractor", "dither": 0.1}`,
		`{"feature_extractor_type": "WhisperFeatureExtractor", "chunk_length": 2000000}`,
		`{"feature_extractor_type": "WhisperFeatureExtractor", "padding_side": "left"}`,
		`{"feature_extractor_type": "WhisperFeatureExtractor", "hop_lenght": 160}`,
		`{"feature_extractor_type": "WhisperFeatureExtractor", "n_fft": 407}`,
		`{"feature_extractor_type": "EncodecFeatureExtractor", "feature_size": 2}`,
		`{"feature_extractor_type": "EncodecFeatureExtractor", "chunk_length_s": 0, "overlap": 0.5}`,
		`{"feature_extractor_type": "UnivNetFeatureExtractor", "center": true}`,
		`{"feature_extractor_type": "ClapFeatureExtractor", "truncation": "none"}`,
		`{"feature_extractor_type": "Gemma3nAudioFeatureExtractor", "per_bin_mean": [1]}`,
		`{"feature_extractor_type": "SeamlessM4TFeatureExtractor", "stride": 3}`,
		`{"feature_extractor_type": "FunAsrNanoFeatureExtractor", "window": "hann"}`,
		`{"feature_extractor_type": "FunAsrNanoFeatureExtractor", "frame_shift": 0}`,
		`{"feature_extractor_type": "NeuCodecFeatureExtractor", "sampling_rate": 40}`,
		`{"feature_extractor_type": "GraniteSpeech5FeatureExtractor", "hop_length": 257}`,
		`{"feature_extractor_type": "GraniteSpeech5FeatureExtractor", "logmel_floor_db": 0}`,
		`{"feature_extractor_type": "GraniteSpeech5FeatureExtractor", "delta_win_length": 2}`,
		`{"feature_extractor_type": "CohereAsrFeatureExtractor", "dither": 0, "max_audio_clip_s": -1}`,
	} {
		_, err := hf.ImportAudio([]byte(c))
		var problems importer.Errors
		require.True(t, errors.As(err, &problems) || errors.Is(err, importer.ErrValue), "%s: %v", c, err)
	}
	for in, want := range map[string]string{
		`{"image_processor_type": "ViTImageProcessor"}`:        "missing",
		`{"feature_extractor_type": "WisperFeatureExtractor"}`: `did you mean "WhisperFeatureExtractor"?`,
	} {
		_, err = hf.ImportAudio([]byte(in))
		require.ErrorIs(t, err, importer.ErrUnknownClass)
		require.ErrorContains(t, err, want)
	}
}
