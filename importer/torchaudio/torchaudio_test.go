package torchaudio_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/internal/golden"
	"github.com/infer-prep/infer-prep/importer/torchaudio"
)

// TestBounded compares features with those of torchaudio, whose bits depend on
// the processor. The script importers_torchaudio.py of testdata/gen writes
// testdata/bounded.json.
func TestBounded(t *testing.T) {
	golden.Bounded(t, "testdata/bounded.json", torchaudio.ImportSamples)
}

// TestMindSpore compares the graphs of torchaudio's transforms with
// MindSpore's classes of the same names (importers/sound_mindspore.py), as
// internal/coverage states it.
func TestMindSpore(t *testing.T) {
	golden.Bounded(t, "testdata/mindspore.json", torchaudio.ImportSamples)
}

func TestImport(t *testing.T) {
	g, err := torchaudio.Import([]byte(`{"transforms": [{"type": "torchaudio.transforms.Resample", "orig_freq": 8000}]}`))
	require.NoError(t, err)
	require.Equal(t, "torchaudio 2.11.0, torch 2.15.0, samples at 8000 Hz", g.Reference)
	require.Len(t, g.Steps, 3)
	g, err = torchaudio.ImportSamples([]byte(`{"transforms": [{"type": "torchaudio.transforms.Spectrogram"}]}`))
	require.NoError(t, err)
	require.Equal(t, []string{"features"}, g.Outputs)
	require.Contains(t, g.Reference, "bounded")
}

func TestRefusals(t *testing.T) {
	of := func(list string) string { return `{"transforms": [` + list + `]}` }
	mel := `{"type": "torchaudio.transforms.MelSpectrogram"}`
	for in, kind := range map[string]error{
		`[]`:     importer.ErrJSON,
		`{}`:     importer.ErrValue,
		of(``):   importer.ErrValue,
		of(`{}`): importer.ErrUnsupported,
		of(`{"type": "torchaudio.transforms.Vol", "gain": 2}`):                              importer.ErrUnsupported,
		of(`{"type": "MelSpectrogram"}`):                                                    importer.ErrUnsupported,
		of(mel + `,` + mel):                                                                 importer.ErrValue,
		of(`{"type": "torchaudio.transforms.MelScale"}`):                                    importer.ErrValue,
		of(`{"type": "torchaudio.transforms.AmplitudeToDB"}`):                               importer.ErrValue,
		of(mel + `, {"type": "torchaudio.transforms.AmplitudeToDB", "stype": "magnitude"}`): importer.ErrValue,
		of(mel + `, {"type": "torchaudio.transforms.AmplitudeToDB", "top_db": -1}`):         importer.ErrValue,
		of(`{"type": "torchaudio.transforms.Spectrogram"}`):                                 importer.ErrMissing,
		of(`{"type": "torchaudio.transforms.MelSpectrogram", "n_mel": 80}`):                 importer.ErrUnknownKey,
		of(`{"type": "torchaudio.transforms.MelSpectrogram", "normalized": true}`):          importer.ErrValue,
		of(`{"type": "torchaudio.transforms.MelSpectrogram", "power": null}`):               importer.ErrValue,
		of(`{"type": "torchaudio.transforms.MelSpectrogram", "win_length": 401}`):           importer.ErrValue,
		of(`{"type": "torchaudio.transforms.MelSpectrogram", "window_fn": "torch.kaiser"}`): importer.ErrValue,
		of(`{"type": "torchaudio.transforms.Resample", "resampling_method": "kaiser"}`):     importer.ErrValue,
		of(`{"type": "torchaudio.transforms.MFCC", "dct_type": 3}`):                         importer.ErrValue,
		of(`{"type": "torchaudio.transforms.MFCC", "norm": "slaney"}`):                      importer.ErrValue,
		of(`{"type": "torchaudio.transforms.MFCC", "n_mfcc": 129}`):                         importer.ErrValue,
		of(`{"type": "torchaudio.transforms.MFCC", "melkwargs": {"power": 1}}`):             importer.ErrValue,
		of(`{"type": "torchaudio.transforms.MFCC", "melkwargs": {"normalized": true}}`):     importer.ErrValue,
		of(`{"type": "torchaudio.transforms.MFCC", "melkwargs": {"sample_rate": 8000}}`):    importer.ErrUnknownKey,
		of(mel + `, {"type": "torchaudio.transforms.MFCC"}`):                                importer.ErrValue,
		of(`{"type": "torchaudio.transforms.ComputeDeltas"}`):                               importer.ErrValue,
		of(mel + `, {"type": "torchaudio.transforms.ComputeDeltas", "win_length": 4}`):      importer.ErrValue,
		of(mel + `, {"type": "torchaudio.transforms.ComputeDeltas", "mode": "constant"}`):   importer.ErrValue,
		of(`{"type": "torchaudio.transforms.Speed", "factor": 1.1}`):                        importer.ErrMissing,
		of(`{"type": "torchaudio.transforms.Speed", "orig_freq": 16000, "factor": 1e-6}`):   importer.ErrValue,
		of(`{"type": "torchaudio.transforms.LFCC"}`):                                        importer.ErrUnsupported,
	} {
		_, err := torchaudio.Import([]byte(in))
		require.ErrorIs(t, err, kind, in)
	}
}

func FuzzImport(f *testing.F) {
	f.Add([]byte(`{"transforms": [{"type": "torchaudio.transforms.Spectrogram", "center": false, "win_length": 300}, {"type": "torchaudio.transforms.MelScale"}]}`))
	f.Add([]byte(`{"transforms": [{"type": "torchaudio.transforms.MFCC", "log_mels": true, "norm": null, "melkwargs": {"n_mels": 64}}, {"type": "torchaudio.transforms.ComputeDeltas"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if g, err := torchaudio.ImportSamples(data); err == nil {
			require.NotEmpty(t, g.Steps)
		}
	})
}
