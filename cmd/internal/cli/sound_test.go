package cli

import (
	"encoding/binary"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
)

// humming returns a WAV file of one channel at 16 kHz.
func humming(samples int) []byte {
	b := []byte("RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data")
	b = binary.LittleEndian.AppendUint32(b, uint32(2*samples))
	noise := uint32(1)
	for i := range samples {
		noise = noise*1664525 + 1013904223
		v := 0.0
		for k := 1.0; k < 20; k++ {
			v += math.Sin(2*math.Pi*150*k*float64(i)/16000) / k
		}
		v = v*0.3 + 0.01*(float64(noise>>8)/(1<<24)-0.5)
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(20000*v*math.Sin(math.Pi*float64(i)/float64(samples)))))
	}
	return b
}

// whisper is a feature extractor of sounds of one second.
const whisper = `{"feature_extractor_type": "WhisperFeatureExtractor", "feature_size": 40, "chunk_length": 1, "hop_length": 160, "n_fft": 400, "sampling_rate": 16000, "padding_value": 0}`

func TestSoundPictures(t *testing.T) {
	dir := tree(t, map[string][]byte{"whisper.json": []byte(whisper), "sounds/a.wav": humming(8000), "sounds/b.wav": humming(20000), "sounds/cat.txt": []byte("cat")})
	at := func(name string) string { return filepath.Join(dir, name) }
	r := call(t, "graph", "show", "--hf", at("whisper.json"), "--sheet", at("sheet.png"), "--cell", "128", at("sounds"))
	require.Equal(t, called{}, r)
	m := readPNG(t, at("sheet.png"))
	require.Equal(t, 8+6*(128+8), m.Bounds().Dx())
	again := call(t, "graph", "show", "--hf", at("whisper.json"), "--sheet", at("again.png"), at("sounds"))
	require.Zero(t, again.status)
	x, err := os.ReadFile(at("sheet.png"))
	require.NoError(t, err)
	y, err := os.ReadFile(at("again.png"))
	require.NoError(t, err)
	require.Equal(t, x, y)

	r = call(t, "graph", "show", "--hf", at("whisper.json"), "--steps", at("steps"), at("sounds/a.wav"))
	require.Zero(t, r.status, r.stderr)
	m = readPNG(t, at("steps/01-mix_mono.samples.png"))
	require.Equal(t, [2]int{1000, 200}, [2]int{m.Bounds().Dx(), m.Bounds().Dy()})
	require.Equal(t, color.NRGBA{255, 255, 255, 255}, color.NRGBAModel.Convert(m.At(0, 0)))
	m = readPNG(t, at("steps/05-scale_features.input_features.png"))
	require.Equal(t, [2]int{100, 240}, [2]int{m.Bounds().Dx(), m.Bounds().Dy()})
	require.Equal(t, color.NRGBA{0, 0, 4, 255}, color.NRGBAModel.Convert(m.At(99, 0)), "the padding is the lowest value")
	_, err = os.Stat(at("steps/02-fit_sequence.attention_mask.png"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestDiffSounds(t *testing.T) {
	dir := tree(t, map[string][]byte{"whisper.json": []byte(whisper), "sounds/a.wav": humming(8000), "sounds/b.wav": humming(20000)})
	at := func(name string) string { return filepath.Join(dir, name) }
	symmetric := call(t, "graph", "import", "--hf", at("whisper.json"))
	require.Zero(t, symmetric.status)
	graph := strings.Replace(symmetric.stdout, `"periodic": true`, `"periodic": false`, 1)
	require.NotEqual(t, symmetric.stdout, graph)
	require.NoError(t, os.WriteFile(at("symmetric.json"), []byte(graph), 0o600))
	r := call(t, "run", "--graph", at("symmetric.json"), "-o", at("theirs"), at("sounds"))
	require.Zero(t, r.status, r.stderr)
	c := call(t, "diff", "--hf", at("whisper.json"), at("sounds/a.wav"), "--against", at("theirs/a.wav.npy"), "--png", at("heat.png"))
	require.Equal(t, command.ExitFailed, c.status, c.stderr)
	require.Contains(t, c.stdout, "all values are equal if\n  - the window is a symmetric Hann window (periodic=False) (window-hann-symmetric)\n")
	require.Equal(t, 100, readPNG(t, at("heat.png")).Bounds().Dx())
	c = call(t, "diff", "--hf", at("whisper.json"), at("sounds"), "--against", at("theirs"))
	require.Equal(t, command.ExitFailed, c.status, c.stderr)
	require.Contains(t, c.stdout, "window-hann-symmetric")
}
