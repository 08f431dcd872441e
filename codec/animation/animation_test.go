package animation_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/animation"
)

// file is one of testdata/gen/codecs/animations.py.
type file struct {
	Format    string
	File      []byte
	Size      [2]int
	Frames    []string
	Durations []*float64 // milliseconds
	Error     string
}

func files(t testing.TB, name string) (l []file) {
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &l))
	return l
}

var more = flag.String("animations", "", "a file of testdata/gen/codecs/animations.py N to compare with, too")

func TestAnimations(t *testing.T) {
	compare(t, "testdata/animations.json")
	if *more != "" {
		compare(t, *more)
	}
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:8])
}

func compare(t *testing.T, name string) {
	equal, frames, refused := map[string]int{}, 0, map[string]int{}
	for k, f := range files(t, name) {
		a, err := animation.Open(f.File, codec.Limits{})
		if errors.Is(err, codec.ErrUnsupported) {
			refused[err.Error()]++
			continue
		}
		if f.Error != "" {
			for i := 0; err == nil && i < len(a.Delays); i++ {
				_, err = a.Frame(i)
			}
			require.Error(t, err, "file %d: %s", k, f.Error)
			continue
		}
		require.NoError(t, err, "%s, file %d", f.Format, k)
		require.Equal(t, f.Size, [2]int{a.Width, a.Height}, "%s, file %d", f.Format, k)
		require.Len(t, a.Delays, len(f.Frames), "%s, file %d", f.Format, k)
		for i, want := range f.Frames {
			rgb, err := a.Frame(i)
			require.NoError(t, err, "%s, file %d, frame %d", f.Format, k, i)
			require.Equal(t, want, sum(rgb), "%s, file %d, frame %d", f.Format, k, i)
			frames++
			d := a.Delays[i]
			if f.Durations[i] == nil {
				require.Zero(t, d.Den)
			} else if d.Den > 0 || *f.Durations[i] > 0 { // Pillow has 0 for a still WebP
				require.Equal(t, *f.Durations[i], float64(d.Num)/float64(d.Den)*1000)
			}
		}
		if n := len(f.Frames); n > 1 { // backwards
			rgb, err := a.Frame(n - 2)
			require.NoError(t, err)
			require.Equal(t, f.Frames[n-2], sum(rgb))
		}
		equal[f.Format]++
	}
	for _, format := range []string{"gif", "png", "webp"} {
		require.Greater(t, equal[format], 20, format)
	}
	t.Logf("%v files are equal, %d frames; refused: %v", equal, frames, refused)
}

// TestTruncated cuts files everywhere: each is an error or a shorter animation.
func TestTruncated(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range files(t, "testdata/animations.json") {
		a, err := animation.Open(f.File, codec.Limits{})
		if err != nil || seen[f.Format] || len(a.Delays) < 3 {
			continue
		}
		seen[f.Format] = true
		for n := range f.File {
			b, err := animation.Open(f.File[:n], codec.Limits{})
			for i := 0; err == nil && i < len(b.Delays); i++ {
				_, err = b.Frame(i)
			}
			if f.Format == "gif" && err == nil {
				require.LessOrEqual(t, len(b.Delays), len(a.Delays))
				continue // GIF needs no trailer
			}
			require.Error(t, err, "%s, %d of %d bytes", f.Format, n, len(f.File))
			var typed *codec.Error
			require.ErrorAs(t, err, &typed)
		}
	}
	require.Len(t, seen, 3)
}

func TestLimits(t *testing.T) {
	for _, f := range files(t, "testdata/animations.json") {
		a, err := animation.Open(f.File, codec.Limits{})
		if err != nil || len(a.Delays) < 7 && f.Format == "png" || len(a.Delays) < 2 {
			continue
		}
		size := int64(a.Width * a.Height)
		_, err = animation.Open(f.File, codec.Limits{Pixels: size - 1})
		require.ErrorIs(t, err, codec.ErrPixels)
		_, err = animation.Open(f.File, codec.Limits{Bytes: max(19, 3*int64(len(a.Delays)))*size - 1})
		require.ErrorIs(t, err, codec.ErrBytes)
		_, err = a.Frame(len(a.Delays))
		require.EqualError(t, err, fmt.Sprintf("animation: frame %d: want 0 to %d", len(a.Delays), len(a.Delays)-1))
		return
	}
	t.Fatal("no animation")
}

// TestStill reads files of one frame.
func TestStill(t *testing.T) {
	data, err := os.ReadFile("../../testdata/images/png_rgb8.png")
	require.NoError(t, err)
	a, err := animation.Open(data, codec.Limits{})
	require.NoError(t, err)
	require.Equal(t, []animation.Delay{{}}, a.Delays)
	want, err := codec.Decode(data, nil)
	require.NoError(t, err)
	got, err := a.Frame(0)
	require.NoError(t, err)
	require.Equal(t, want.Data, got)
}

func FuzzOpen(f *testing.F) {
	for _, c := range files(f, "testdata/animations.json") {
		f.Add(c.File)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := animation.Open(data, codec.Limits{Pixels: 1 << 12, Bytes: 1 << 18})
		if err != nil {
			return
		}
		for i := range min(len(a.Delays), 8) {
			rgb, err := a.Frame(i)
			if err != nil {
				return
			}
			require.Len(t, rgb, a.Width*a.Height*3)
		}
	})
}
