package clip_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/importer/hf/video/clip"
	"github.com/infer-prep/infer-prep/tensor"
)

// clipCase is one of testdata/gen/importers/hf_video_clips.py.
type clipCase struct {
	Kind          string
	File          []byte
	FPS, Duration float64
	Width, Height int
	Runs          []struct {
		Class    string
		Settings map[string]json.RawMessage
		Error    string
		Outputs  map[string]struct {
			Dtype, SHA256 string
			Shape         []int
		}
	}
}

func cases(t testing.TB) (l []clipCase) {
	data, err := os.ReadFile("testdata/clips.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &l))
	return l
}

func (c *clipCase) open(r io.Reader, limits codec.Limits) (*clip.Clip, error) {
	switch c.Kind {
	case "rawvideo":
		return clip.ReadRaw(r, c.Width, c.Height, limits)
	case "image2pipe":
		return clip.ReadImages(r, limits)
	}
	return clip.ReadFile(r, limits)
}

func TestClips(t *testing.T) {
	equal, total := map[string]int{}, 0
	for k, c := range cases(t) {
		v, err := c.open(iotest.HalfReader(bytes.NewReader(c.File)), codec.Limits{})
		total += len(c.Runs)
		if errors.Is(err, clip.ErrArray) {
			failed := 0
			for _, r := range c.Runs {
				if r.Error != "" {
					failed++
				}
			}
			require.True(t, failed > 0 || bytes.Contains([]byte(err.Error()), []byte("has one channel, want 3")), "case %d: %v", k, err)
			continue
		}
		require.NoError(t, err, "case %d", k)
		if c.Kind == "animation" {
			require.Equal(t, c.FPS, v.Metadata.FPS)
			require.Equal(t, c.Duration, v.Metadata.Duration)
		}
		v.Metadata.FPS, v.Metadata.Duration = c.FPS, c.Duration
		for _, r := range c.Runs {
			r.Settings["video_processor_type"] = json.RawMessage(`"` + r.Class + `"`)
			text, err := json.Marshal(r.Settings)
			require.NoError(t, err)
			p, err := video.Import(text)
			require.NoError(t, err)
			out, err := p.NewRunner(codec.Limits{}).Run(v.Metadata, v.Frame)
			if r.Error != "" {
				require.Error(t, err, "case %d: %s, %s", k, r.Class, r.Error)
				continue
			}
			require.NoError(t, err, "case %d: %s", k, r.Class)
			for i, o := range p.Outputs() {
				want := r.Outputs[o.Name]
				require.Equal(t, want.Shape, out[i].Shape.Slice(), "case %d: %s of %s", k, r.Class, c.Kind)
				require.Equal(t, want.Dtype, out[i].DType.String())
				sum := sha256.New()
				require.NoError(t, tensor.WriteRaw(sum, out[i]))
				require.Equal(t, want.SHA256, hex.EncodeToString(sum.Sum(nil)), "case %d: %s of %s", k, r.Class, c.Kind)
			}
			equal[c.Kind]++
		}
	}
	require.Greater(t, equal["animation"], 30)
	require.Greater(t, equal["array"], 15)
	require.Greater(t, equal["rawvideo"], 3)
	require.Greater(t, equal["image2pipe"], 19)
	t.Logf("%v of %d are equal, the others are errors", equal, total)
}

// TestCut ends streams at every byte. Only between two frames is that no error.
func TestCut(t *testing.T) {
	for _, c := range cases(t) {
		if c.Kind != "rawvideo" && c.Kind != "image2pipe" {
			continue
		}
		whole := 0
		for n := range c.File {
			v, err := c.open(bytes.NewReader(c.File[:n]), codec.Limits{})
			if err == nil {
				whole++
				require.Equal(t, whole, v.Metadata.Frames)
				continue
			}
			var s *clip.StreamError
			require.ErrorAs(t, err, &s, "%s, %d bytes", c.Kind, n)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s, %d bytes", c.Kind, n)
			require.Equal(t, whole, s.Frame)
			require.Equal(t, int64(n), s.Offset)
		}
		require.Equal(t, 4, whole)
	}
}

func TestErrors(t *testing.T) {
	raw := make([]byte, 2*3*3*4)
	_, err := clip.ReadRaw(bytes.NewReader(raw[:40]), 3, 4, codec.Limits{})
	require.EqualError(t, err, "frame 1: byte 40 of the stream: unexpected EOF")
	_, err = clip.ReadRaw(bytes.NewReader(raw), 3, 4, codec.Limits{Bytes: 60})
	require.ErrorIs(t, err, codec.ErrLimit)
	require.ErrorContains(t, err, "frame 1: byte 36 of the stream")
	_, err = clip.ReadRaw(bytes.NewReader(raw), 1<<20, 1<<20, codec.Limits{})
	require.ErrorIs(t, err, codec.ErrLimit)
	_, err = clip.ReadRaw(bytes.NewReader(raw), 1<<24, 1<<24, codec.NoLimits())
	require.EqualError(t, err, "rawvideo: limit exceeded: frames of 16777216x16777216 pixels, want at most 1073741824 bytes")
	_, err = clip.ReadRaw(bytes.NewReader(raw), 0, 4, codec.Limits{})
	require.ErrorIs(t, err, codec.ErrFormat)
	_, err = clip.ReadRaw(io.MultiReader(bytes.NewReader(raw[:37]), iotest.ErrReader(os.ErrDeadlineExceeded)), 3, 4, codec.Limits{})
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)

	for text, want := range map[string]string{
		"":                                     "frame 0: byte 0 of the stream: unexpected EOF",
		"P6 2 2 255 ............. ":            `frame 0: byte 0 of the stream: invalid frames: first bytes "P6 2 2 255 .....": want a PNG, JPEG, BMP or WebP file`,
		"\xff\xd8\xff\xe0\x00\x01............": "frame 0: byte 6 of the stream: invalid frames: JPEG: a segment of 1 bytes",
		"\xff\xd8\xff\xe0\x00\x02............": "frame 0: byte 8 of the stream: invalid frames: JPEG: byte 0x2e, want a marker",
		"BM\x00\x00\x00\x00............":       "frame 0: byte 6 of the stream: invalid frames: a file of 0 bytes: want its size in its header",
	} {
		_, err := clip.ReadImages(bytes.NewReader([]byte(text)), codec.Limits{})
		require.EqualError(t, err, want)
	}
	_, err = clip.ReadImages(bytes.NewReader([]byte("\x89PNG\r\n\x1a\n\x7f\xff\xff\xffIDAT........")), codec.Limits{})
	require.ErrorIs(t, err, codec.ErrLimit)
	_, err = clip.ReadFile(bytes.NewReader(nil), codec.Limits{})
	require.ErrorContains(t, err, "empty input")
	_, err = clip.ReadFile(bytes.NewReader(make([]byte, 100)), codec.Limits{Bytes: 99})
	require.ErrorIs(t, err, codec.ErrLimit)
}

func FuzzImages(f *testing.F) {
	for _, c := range cases(f) {
		if c.Kind == "image2pipe" {
			f.Add(c.File)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := clip.ReadImages(bytes.NewReader(data), codec.Limits{Bytes: 1 << 16})
		if err != nil {
			var s *clip.StreamError
			require.ErrorAs(t, err, &s)
			require.LessOrEqual(t, s.Offset, int64(len(data)))
			return
		}
		n := 0
		for i := range v.Metadata.Frames {
			b, err := v.Frame(i)
			require.NoError(t, err)
			n += len(b)
		}
		require.Equal(t, len(data), n, "all bytes are in frames")
	})
}

func FuzzFile(f *testing.F) {
	for _, c := range cases(f) {
		if c.Kind == "array" || c.Kind == "animation" {
			f.Add(c.File)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := clip.ReadFile(bytes.NewReader(data), codec.Limits{Pixels: 1 << 12, Bytes: 1 << 17})
		if err != nil {
			return
		}
		size := 0
		for i := range min(v.Metadata.Frames, 8) {
			b, err := v.Frame(i)
			if err != nil {
				return
			}
			require.True(t, i == 0 || len(b) == size)
			size = len(b)
		}
	})
}
