package avif_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"math"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/animation"
	"github.com/infer-prep/infer-prep/codec/avif"
	"github.com/infer-prep/infer-prep/internal/clib/clibtest"
)

// animated is a file of testdata/gen/codecs/phone.py.
type animated struct {
	File      []byte
	Size      [2]int
	Frames    []string
	Durations []float64 // milliseconds, as Pillow rounds them
}

var more = flag.String("sequences", "", "a sequences.json of testdata/gen/codecs/phone.py FOLDER N to compare with, too")

func files(t *testing.T) []animated {
	var all []animated
	for _, name := range []string{"testdata/sequences.json", *more} {
		if name == "" {
			continue
		}
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		var l []animated
		require.NoError(t, json.Unmarshal(b, &l))
		all = append(all, l...)
	}
	require.Greater(t, len(all), 20)
	_, err := codec.Decode(all[0].File, nil)
	clibtest.Needs(t, avif.Environment, err)
	return all
}

func digest(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:8])
}

// TestSequences compares the frames of animations with Pillow's.
func TestSequences(t *testing.T) {
	frames, l := 0, files(t)
	for k, f := range l {
		a, err := animation.Open(f.File, codec.Limits{})
		require.NoError(t, err, "file %d", k)
		require.Equal(t, f.Size, [2]int{a.Width, a.Height})
		require.Len(t, a.Delays, len(f.Frames))
		order := []int{len(f.Frames) - 1, 0, 1} // forwards, and from the start again
		for i := range f.Frames {
			order = append(order, i)
		}
		for _, i := range order {
			rgb, err := a.Frame(i)
			require.NoError(t, err)
			require.Equal(t, f.Frames[i], digest(rgb), "file %d, frame %d", k, i)
		}
		frames += len(f.Frames)
		for i, d := range a.Delays {
			require.Equal(t, f.Durations[i], math.RoundToEven(1000*(float64(d.Num)/float64(d.Den))))
		}
		first, err := codec.Decode(f.File, nil)
		require.NoError(t, err)
		require.Equal(t, f.Frames[0], digest(first.Data))
	}
	t.Logf("%d files are equal, %d frames", len(l), frames)
}

// TestSequencesDamaged truncates a file and changes its bytes: each is an error
// or an animation.
func TestSequencesDamaged(t *testing.T) {
	l := files(t)
	data := l[4].File
	read := func(b []byte) error {
		a, err := animation.Open(b, codec.Limits{Pixels: 1 << 16, Bytes: 1 << 24})
		for i := 0; err == nil && i < len(a.Delays); i++ {
			_, err = a.Frame(i)
		}
		if err != nil {
			var typed *codec.Error
			require.ErrorAs(t, err, &typed)
			require.NotErrorIs(t, err, codec.ErrInternal)
		}
		return err
	}
	require.NoError(t, read(data))
	for n := 0; n < len(data); n += 7 {
		require.Error(t, read(data[:n]))
	}
	for i := 0; i < len(data); i += 3 {
		b := bytes.Clone(data)
		b[i] ^= 0xFF
		_ = read(b)
	}
	a, err := animation.Open(data, codec.Limits{Bytes: 3*5*int64(l[4].Size[0]*l[4].Size[1]) - 1})
	require.Nil(t, a)
	require.ErrorIs(t, err, codec.ErrBytes)
	for range 100 { // abandoned animations free their file
		a, err := animation.Open(data, codec.Limits{})
		require.NoError(t, err)
		_, err = a.Frame(1)
		require.NoError(t, err)
	}
	runtime.GC()
}
