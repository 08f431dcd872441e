package sound_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/sound"
	_ "github.com/infer-prep/infer-prep/sound/all"
	"github.com/infer-prep/infer-prep/tensor"
)

// header is that of a WAV file of 16 bits and one channel, whose data has a
// stated size.
func header(size string) string {
	return "RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data" + size
}

func TestWAVOf4GiB(t *testing.T) {
	file := header("\xff\xff\xff\xff") + "\x00\x40\x00\xc0"
	x, h, err := sound.Decode([]byte(file), codec.Limits{Bytes: 8})
	require.NoError(t, err)
	require.Equal(t, sound.Header{Format: "wav", Variant: "16-bit PCM", Rate: 16000, Channels: 1, Samples: 2}, h)
	require.Equal(t, []float32{0.5, -0.5}, tensor.View[float32](x))
	_, _, err = sound.Decode([]byte(file), codec.Limits{Bytes: 7})
	require.ErrorIs(t, err, codec.ErrBytes)
	require.EqualError(t, err, "wav: limit exceeded: 2 samples of 1 channels need 4 bytes each, the limit is 7 bytes")

	// A size that is a number, of a stream that ends earlier.
	r, err := sound.NewReader(bytes.NewReader([]byte(header("\x00\x00\x00\xf0")+"\x00\x40")), codec.Limits{})
	require.NoError(t, err)
	require.Equal(t, int64(0xf0000000/2), r.Header().Samples)
	block := [][]float32{make([]float32, 3)}
	n, err := r.Read(block)
	require.NoError(t, err)
	require.Equal(t, []float32{0.5}, block[0][:n])
	_, err = r.Read(block)
	require.Equal(t, io.EOF, err)
}

func TestReaderErrors(t *testing.T) {
	broken := errors.New("the microphone was unplugged")
	for n := range 48 {
		in := io.MultiReader(bytes.NewReader([]byte(header("\x10\x00\x00\x00") + "\x00\x40\x00\xc0")[:n]), iotest.ErrReader(broken))
		r, err := sound.NewReader(in, codec.Limits{})
		if err == nil {
			_, err = r.Read([][]float32{make([]float32, 100)})
		}
		require.ErrorIs(t, err, broken, "after %d bytes", n)
	}
	_, err := sound.NewReader(bytes.NewReader(nil), codec.Limits{})
	require.ErrorContains(t, err, "sound: invalid format: empty input: want a sound file")
	r, err := sound.NewReader(bytes.NewReader([]byte(header("\x00\x00\x00\x00"))), codec.Limits{})
	require.NoError(t, err)
	_, err = r.Read(nil)
	require.EqualError(t, err, "sound: read: 0 slices: want one for each of 1 channels")
}

func TestUnknown(t *testing.T) {
	for data, text := range map[string]string{
		"OggS" + string(make([]byte, 24)) + "\x01vorbis": "sound: unsupported: Ogg Vorbis: want one of the linked formats: aiff, au, flac, mp3, wav",
		"OggS" + string(make([]byte, 24)) + "OpusHead":   "sound: unsupported: Opus: want",
		"\xff\xfd\x90\x00":                     "sound: unsupported: MPEG audio layer II: want",
		"caff\x00\x01\x00\x00":                 "sound: unsupported: CAF: want",
		"\x00\x00\x00\x20ftypM4A ":             "sound: unsupported: MP4 or M4A: want",
		"version https://git-lfs.github.com/s": "git lfs pull fetches it",
		"hello":                                `sound: offset 0: invalid format: unknown format, first bytes "hello": want one of the linked formats: aiff, au, flac, mp3, wav`,
	} {
		require.Empty(t, sound.Sniff([]byte(data)))
		_, _, err := sound.Decode([]byte(data), codec.Limits{})
		require.ErrorContains(t, err, text)
	}
	require.Equal(t, []string{"aiff", "au", "flac", "mp3", "wav"}, sound.Formats())
}

func ExampleDecode() {
	x, h, err := sound.Decode([]byte(header("\x04\x00\x00\x00")+"\x00\x40\x00\xc0"), codec.Limits{})
	if err != nil {
		panic(err)
	}
	fmt.Println(h.Variant, h.Rate, x.Desc, tensor.View[float32](x))
	// Output: 16-bit PCM 16000 float32 (1, 2) [0.5 -0.5]
}
