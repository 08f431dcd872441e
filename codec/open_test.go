package codec_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/codectest"
)

// sink discards rows, or panics.
type sink struct{ panics any }

func (s sink) Rows(int, int, []byte) {
	if s.panics != nil {
		panic(s.panics)
	}
}

// TestOpenReadsTheHeaderOnce counts the headers that the format has read.
func TestOpenReadsTheHeaderOnce(t *testing.T) {
	in := image(codec.RGB, 2, 1, 6, 1, 2, 3, 4, 5, 6)
	var d codec.Decoder
	opened = 0
	i, err := d.Open(in, &codec.Options{Orientation: codec.OrientationApply})
	require.NoError(t, err)
	info := i.Info()
	require.Equal(t, [2]int{1, 2}, [2]int{info.OutWidth, info.OutHeight})
	dst := make([]byte, info.Size())
	require.NoError(t, i.Decode(dst))
	require.Equal(t, 1, opened)

	// Decoding once more reads it once more.
	again := make([]byte, info.Size())
	require.NoError(t, i.Decode(again))
	require.Equal(t, dst, again)
	require.NoError(t, i.DecodeRows(sink{}, codec.Region{Width: 1, Height: 1}))
	require.Equal(t, 3, opened)

	i.Close()
	require.EqualError(t, i.Decode(dst), "codec: decode: the image is closed")
	require.EqualError(t, i.DecodeRows(sink{}, codec.Region{Width: 1, Height: 1}), "codec: decode: the image is closed")
	require.Equal(t, 3, opened)

	opened = 0
	_, err = codec.Decode(in, nil)
	require.NoError(t, err)
	require.Equal(t, 1, opened)
}

func TestZeroLimits(t *testing.T) {
	require.Equal(t, codec.DefaultLimits(), codec.Limits{}.WithDefaults())
	require.Equal(t, codec.Limits{Pixels: 5, Bytes: 1 << 30, Scans: 500}, codec.Limits{Pixels: 5}.WithDefaults())
	require.Equal(t, codec.NoLimits(), codec.NoLimits().WithDefaults())
	l := codec.Limits{}
	require.NoError(t, l.CheckSize("x", 10000, 10000, 1))
	require.ErrorIs(t, l.CheckSize("x", 10001, 10000, 1), codec.ErrLimit)
	require.ErrorIs(t, l.CheckSize("x", 10000, 10000, 11), codec.ErrLimit)
	require.NoError(t, codec.NoLimits().CheckSize("x", 1<<30, 1<<30, 8))
}

// bomb is a format whose decoder panics: "bomb", then where: o (Open), d
// (Decode), r (DecodeRows) or - (nowhere).
type bomb struct {
	where  byte
	id     int
	broken bool
}

var bombs int // decoders made

func init() {
	codec.Register(codec.Format{Name: "bomb", Magic: []string{"bomb"}, New: func() codec.FormatDecoder { bombs++; return &bomb{id: bombs} }})
}

func (b *bomb) Offset() int64 { return 4 }

func (b *bomb) at(where byte) {
	if b.broken {
		panic("a broken decoder was used again")
	}
	if b.where == where {
		b.broken = true
		_ = []int{}[b.id] // out of range
	}
}

func (b *bomb) Open(data []byte, _ *codec.Options) (codec.Config, error) {
	b.where = data[4]
	b.at('o')
	return codec.Config{Format: "bomb", Mode: codec.RGB, Width: 1, Height: 1, Depth: 8, Frames: 1}, nil
}

func (b *bomb) Decode(dst *codec.Raster) error {
	b.at('d')
	dst.Reset(codec.RGB, 1, 1)
	return nil
}

func (b *bomb) DecodeRows(s codec.RowSink, _ codec.Region) (damaged, err error) {
	b.at('r')
	s.Rows(0, 1, make([]byte, 3))
	return nil, nil
}

// TestPanicBecomesError injects panics into a format's decoder.
func TestPanicBecomesError(t *testing.T) {
	var d codec.Decoder
	one := codec.Region{Width: 1, Height: 1}
	requireInternal := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, codec.ErrInternal)
		var e *codec.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, []any{"bomb", int64(4)}, []any{e.Format, e.Offset})
		require.Regexp(t, `^bomb: offset 4: internal error: runtime error: index out of range`, err.Error())
		require.Contains(t, string(e.Stack), "(*bomb).at")
	}
	// requireNew requires that the broken decoder is gone and the next one
	// works.
	requireNew := func(err error) {
		t.Helper()
		requireInternal(err)
		made := bombs
		_, err = codectest.Decode(&d, make([]byte, 3), []byte("bomb-"), nil)
		require.NoError(t, err)
		require.Equal(t, made+1, bombs)
	}
	_, err := d.Open([]byte("bombo"), nil)
	requireNew(err)
	_, err = codectest.Decode(&d, make([]byte, 3), []byte("bombd"), nil)
	requireNew(err)
	for _, c := range []codec.Color{codec.ToRGB, codec.ToGray} {
		_, err = codectest.DecodeRows(&d, sink{}, one, []byte("bombr"), &codec.Options{Color: c})
		requireNew(err)
	}
	_, err = codec.Decode([]byte("bombd"), nil)
	requireInternal(err)
	_, err = codec.DecodeConfig([]byte("bombo"), nil)
	requireInternal(err)

	// A panic of the caller's own sink is the caller's.
	cause := errors.New("of the sink")
	for _, c := range []codec.Color{codec.ToRGB, codec.ToGray} {
		require.PanicsWithValue(t, cause, func() {
			_, _ = codectest.DecodeRows(&d, sink{panics: cause}, one, []byte("bomb-"), &codec.Options{Color: c})
		})
	}
	_, err = codectest.DecodeRows(&d, sink{}, one, []byte("bombr"), nil)
	requireNew(err)
}

func TestRegisterRefuses(t *testing.T) {
	require.PanicsWithValue(t, `register image format "half": want Magic and New`, func() { codec.Register(codec.Format{Name: "half", Magic: []string{"half"}}) })
	require.PanicsWithValue(t, `register image format "fake": the name is taken`, func() {
		codec.Register(codec.Format{Name: "fake", Magic: []string{"x"}, New: func() codec.FormatDecoder { return &fake{} }})
	})
}
