package mp3_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/sound"
	"github.com/infer-prep/infer-prep/sound/internal/soundtest"
	_ "github.com/infer-prep/infer-prep/sound/mp3"
	"github.com/infer-prep/infer-prep/tensor"
)

// distance bounds the difference to libsndfile's samples: mpg123 computes in 32
// bits, this package in 64. The largest difference over the corpus of
// testdata/gen/codecs/mp3.py was 2.0e-6, of samples up to 1.5.
const distance = 2.2e-6

func TestFiles(t *testing.T) {
	got := soundtest.Near(t, 61, distance, map[string]string{
		// libsndfile estimates the length of a file without a tag.
		"from_the_middle": "",
		"bytes_lost":      "", // it ends at bytes that look like a header of another rate
		// It gives no error, and the samples before the change.
		"rate_changes":    "no frame of 44100 Hz in 1024 bytes",
		"channels_change": "no frame of 44100 Hz in 1024 bytes",
		// It does not search for the first frame.
		"bad_tag": "",
	})
	require.Equal(t, "20979232688b9661037dd2c0edf6aafb2d2a97e5a2a26eb4d4b7f6dfdb0f9c90", got, "the samples differ from those of other platforms")
}

func FuzzDecode(f *testing.F) { soundtest.Fuzz(f) }

// TestDamage changes bytes of valid files. No change may make the decoder
// panic.
func TestDamage(t *testing.T) {
	cases := soundtest.Cases(t)
	r := rand.New(rand.NewPCG(1, 2))
	decoded := 0
	var d sound.Decoder
	n := short.Rounds(t, 1000, 200) // 30000 others were decoded once
	for range n {
		file := bytes.Clone(cases[r.IntN(len(cases))].File)
		for range 1 + r.IntN(20) {
			switch at := r.IntN(len(file)); r.IntN(3) {
			case 0:
				file[at] ^= 1 << r.IntN(8)
			case 1:
				file[at] = byte(r.IntN(256))
			default:
				file = append(file[:at:at], file[min(len(file), at+1+r.IntN(50)):]...)
			}
			if len(file) == 0 {
				file = []byte{0xff}
			}
		}
		h, err := d.Open(file, codec.Limits{Bytes: 1 << 20})
		if err == nil {
			err = d.Decode(make([]float32, int(h.Samples)*h.Channels))
			decoded++
		}
		require.NotErrorIs(t, err, codec.ErrInternal)
	}
	t.Logf("%d of %d damaged files were decoded", decoded, n)
}

func TestErrors(t *testing.T) {
	frame := "\xff\xfb\x90\x00" + string(make([]byte, 413))
	for file, text := range map[string]string{
		"\xff\xfb\x90":                            "mp3: offset 0: invalid format: the data ends without a frame",
		"\xff\xfb\x00\x00" + frame:                "mp3: offset 0: unsupported: a free bit rate: want one of the bit rates of layer III",
		"ID3\x04\x00\x00\x00\x00\x00\x00\xff\xfd": "mp3: offset 10: ",
		"ID3\x04\x00\x00\x00\x00\x00\x00fLaC":     "mp3: offset 10: unsupported: FLAC behind an ID3 tag: remove the tag",
		frame:                                     "mp3: offset 414: invalid format: the data ends without a frame",
		"ID3" + string(make([]byte, 70000)):       "mp3: offset 65546: invalid format: no two frames of MPEG audio in 65536 bytes",
	} {
		_, _, err := sound.Decode([]byte(file), codec.Limits{})
		require.ErrorContains(t, err, text)
	}
	// The number of samples is known before any memory is used for them.
	_, _, err := sound.Decode(bytes.Repeat([]byte(frame), 1000), codec.Limits{Bytes: 8 << 20})
	require.ErrorIs(t, err, codec.ErrBytes)
	require.EqualError(t, err, "mp3: limit exceeded: 1152000 samples of 2 channels need 4 bytes each, the limit is 8388608 bytes")
}

// TestCorpus compares with libsndfile's samples of larger files.
// testdata/gen/codecs/mp3.py FOLDER writes them.
func TestCorpus(t *testing.T) {
	folder := os.Getenv("MP3_CORPUS")
	if folder == "" {
		t.Skip("MP3_CORPUS names no folder: see testdata/gen/codecs/mp3.py")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.mp3"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var all []float64
	for _, path := range files {
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		want, err := os.ReadFile(strings.TrimSuffix(path, "mp3") + "f32")
		require.NoError(t, err)
		x, h, err := sound.Decode(file, codec.Limits{})
		require.NoError(t, err, path)
		require.Len(t, want, len(x.Data), path)
		for i, v := range tensor.View[float32](x) {
			d := math.Abs(float64(v) - float64(math.Float32frombits(binary.LittleEndian.Uint32(want[4*i:]))))
			require.LessOrEqual(t, d, distance, "%s: value %d of %d channels", path, i, h.Channels)
			all = append(all, d)
		}
	}
	slices.Sort(all)
	t.Logf("%d files, %d samples: the median difference is %.2g, of 99 %% at most %.2g, the largest %.2g",
		len(files), len(all), all[len(all)/2], all[len(all)*99/100], all[len(all)-1])
}
