package librosa_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/internal/golden"
	"github.com/infer-prep/infer-prep/importer/librosa"
)

// TestBounded compares features with those of librosa, whose bits depend on the
// processor. The script importers_librosa.py of testdata/gen writes
// testdata/bounded.json.
func TestBounded(t *testing.T) {
	golden.Bounded(t, "testdata/bounded.json", librosa.ImportSamples)
}

func TestImport(t *testing.T) {
	g, err := librosa.Import([]byte(`{"librosa.feature.melspectrogram": {}}`))
	require.NoError(t, err)
	require.Equal(t, "librosa 0.11.0, samples at 22050 Hz; bounded, not equal: docs/exactness.md", g.Reference)
	require.Len(t, g.Steps, 4)
}

func TestRefusals(t *testing.T) {
	mel := func(arguments string) string { return `{"librosa.feature.melspectrogram": {` + arguments + `}}` }
	for in, kind := range map[string]error{
		`[]`:                          importer.ErrJSON,
		`{}`:                          importer.ErrMissing,
		`{"librosa.power_to_db": {}}`: importer.ErrMissing,
		`{"librosa.feature.melspectrogram": {}, "librosa.feature.mfcc": {}}`:               importer.ErrUnknownKey,
		`{"librosa.feature.melspectrogram": null}`:                                         importer.ErrValue,
		`{"librosa.feature.melspectrogram": 3}`:                                            importer.ErrValue,
		`{"librosa.feature.melspectrogram": {}, "librosa.power_to_db": {"ref": "np.max"}}`: importer.ErrValue,
		`{"librosa.feature.melspectrogram": {}, "librosa.power_to_db": {"top_db": 0}}`:     importer.ErrValue,
		`{"librosa.feature.melspectrogram": {"power": 1}, "librosa.power_to_db": {}}`:      importer.ErrValue,
		`{"librosa.feature.melspectrogram": {}, "librosa.amplitude_to_db": {}}`:            importer.ErrUnknownKey,
		`{"librosa.feature.mfcc": {"n_mfcc": 129}}`:                                        importer.ErrValue,
		`{"librosa.feature.mfcc": {"dct_type": 3}}`:                                        importer.ErrValue,
		`{"librosa.feature.mfcc": {"lifter": 0.5}}`:                                        importer.ErrValue,
		`{"librosa.feature.mfcc": {"norm": "slaney"}}`:                                     importer.ErrValue,
		`{"librosa.feature.mfcc": {"power": 1}}`:                                           importer.ErrValue,
		`{"librosa.feature.mfcc": {}, "librosa.power_to_db": {}}`:                          importer.ErrUnknownKey,
		mel(`"n_mel": 80`):          importer.ErrUnknownKey,
		mel(`"window": "blackman"`): importer.ErrValue,
		mel(`"win_length": 401`):    importer.ErrValue,
		mel(`"pad_mode": "edge"`):   importer.ErrValue,
		mel(`"norm": 1`):            importer.ErrValue,
		mel(`"power": 1.5`):         importer.ErrValue,
	} {
		_, err := librosa.Import([]byte(in))
		require.ErrorIs(t, err, kind, in)
	}
}

func FuzzImport(f *testing.F) {
	f.Add([]byte(`{"librosa.feature.melspectrogram": {"n_fft": 512, "win_length": 400, "center": false}, "librosa.power_to_db": {"ref": 2, "top_db": null}}`))
	f.Add([]byte(`{"librosa.feature.mfcc": {"n_mfcc": 13, "lifter": 22, "htk": true, "pad_mode": "reflect"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if g, err := librosa.ImportSamples(data); err == nil {
			require.NotEmpty(t, g.Steps)
		}
	})
}
