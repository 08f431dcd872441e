package jxl

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"math/rand"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/codectest"
	_ "github.com/infer-prep/infer-prep/codec/jpeg" // the files that are made of JPEG
	"github.com/infer-prep/infer-prep/internal/clib/clibtest"
)

func need(t testing.TB) {
	l, err := load()
	clibtest.Needs(t, Environment, err)
	t.Logf("libjxl %s: %s", l.version, l.path)
}

// golden is what testdata/gen/codecs/jxl.py wrote of a file.
type golden struct {
	Mode, Pixels, RGB, Gray, RGBA, Upright, Error string
	Width, Height                                 int
}

func goldens(t testing.TB) (g map[string]golden) {
	b, err := os.ReadFile("testdata/goldens.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &g))
	require.Greater(t, len(g), 70)
	return g
}

func read(t testing.TB, name string) []byte {
	b, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return b
}

func digest(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func TestGoldens(t *testing.T) {
	need(t)
	var d codec.Decoder // one for all: buffers are reused from image to image
	for name, want := range goldens(t) {
		t.Run(name, func(t *testing.T) {
			data := read(t, name)
			lossy := strings.HasPrefix(name, "lossy_")
			if want.Error != "" || lossy || strings.HasPrefix(name, "refused_") {
				_, err := codec.Decode(data, nil)
				require.Error(t, err)
				require.NotErrorIs(t, err, codec.ErrInternal)
				if want.Error == "" {
					require.ErrorIs(t, err, codec.ErrUnsupported)
				}
				if lossy {
					require.ErrorContains(t, err, "lossy")
					info, err := codectest.Config(&d, data, &codec.Options{Damage: codec.DamageLenient})
					require.NoError(t, err)
					require.Equal(t, []any{want.Mode, want.Width, want.Height}, []any{info.Mode.String(), info.Width, info.Height})
					info, err = codectest.Decode(&d, make([]byte, info.Size()), data, &codec.Options{Damage: codec.DamageLenient})
					require.NoError(t, err)
					require.ErrorContains(t, info.Damaged, "lossy")
				}
				return
			}
			for _, c := range []struct {
				o    codec.Options
				want string
			}{
				{codec.Options{}, want.RGB}, {codec.Options{Color: codec.ToGray}, want.Gray}, {codec.Options{Color: codec.ToRGBA}, want.RGBA},
				{codec.Options{Orientation: codec.OrientationApply}, want.Upright},
			} {
				info, err := codectest.Config(&d, data, &c.o)
				require.NoError(t, err)
				require.Equal(t, []any{want.Mode, want.Width, want.Height}, []any{info.Mode.String(), info.Width, info.Height})
				dst := make([]byte, info.Size())
				got, err := codectest.Decode(&d, dst, data, &c.o)
				require.NoError(t, err)
				require.Equal(t, info, got)
				require.Equal(t, c.want, digest(dst), "%v %v", c.o.Color, c.o.Orientation)
			}
			fd := codec.NewFormatDecoder("jxl")
			_, err := fd.Open(data, &codec.Options{Limits: codec.DefaultLimits()})
			require.NoError(t, err)
			var r codec.Raster
			require.NoError(t, fd.Decode(&r))
			require.Equal(t, want.Pixels, digest(r.Pix), "pixels")
		})
	}
}

// TestHostile decodes damaged files.
func TestHostile(t *testing.T) {
	need(t)
	var d codec.Decoder
	var files [][]byte
	for name := range goldens(t) {
		files = append(files, read(t, name))
	}
	rng := rand.New(rand.NewSource(1))
	for range 500 {
		data := bytes.Clone(files[rng.Intn(len(files))])
		for range 1 + rng.Intn(4) {
			at := rng.Intn(len(data))
			if rng.Intn(2) == 0 { // the headers are at the start
				at = rng.Intn(min(len(data), 60))
			}
			data[at] ^= 1 << rng.Intn(8)
		}
		o := codec.Options{Limits: codec.Limits{Pixels: 1 << 16, Bytes: 16 << 20}, Color: codec.ToRGBA, Damage: codec.DamageLenient}
		info, err := codectest.Config(&d, data, &o)
		if err == nil {
			require.LessOrEqual(t, info.Width*info.Height, 1<<16)
			_, err = codectest.Decode(&d, make([]byte, info.Size()), data, &o)
		}
		if err != nil {
			var e *codec.Error
			require.ErrorAs(t, err, &e)
			require.NotErrorIs(t, err, codec.ErrInternal)
		}
	}
}

// TestSize: a header that says a large size is refused before libjxl sees it.
func TestSize(t *testing.T) {
	for _, c := range []struct {
		head string
		w, h int
		kind error
	}{
		{"\xff\x0a\x00\x00", 1, 1, nil}, // cut, see below
		{"\xff\x0a\xfe\xff\xff\xff\xff\xff\xff\xff\xff\xff", math.MaxInt32, 1 << 30, codec.ErrPixels},
		{"\xff\x0a\x01\x00\x00", 8, 8, nil},
	} {
		var h header
		err := h.parse(append([]byte(c.head), make([]byte, 20)...))
		require.NoError(t, err)
		require.LessOrEqual(t, h.width, c.w)
		require.LessOrEqual(t, h.height, c.h)
		if err = (codec.Limits{}).CheckSize(name, h.width, h.height, 1); c.kind != nil {
			require.ErrorIs(t, err, c.kind)
		}
	}
	var h header
	require.ErrorIs(t, h.parse([]byte("\xff\x0a")), codec.ErrFormat)
	require.ErrorIs(t, h.parse([]byte(magicContainer)), codec.ErrFormat)
}

func TestMissing(t *testing.T) {
	_, err := load()
	clibtest.Missing(t, "libjxl", "pip install imagecodecs", Environment, err, func(path string) error {
		_, err := open(path)
		return err
	})
}

func TestConcurrent(t *testing.T) {
	need(t)
	all := goldens(t)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for name, want := range all {
				if want.Error != "" || strings.HasPrefix(name, "refused_") || strings.HasPrefix(name, "lossy_") {
					continue
				}
				out, err := codec.Decode(read(t, name), nil)
				if !assert.NoError(t, err) || !assert.Equal(t, want.RGB, digest(out.Data), name) {
					return
				}
			}
		})
	}
	group.Wait()
}

// FuzzHeader fuzzes this package's own reading, without the library.
func FuzzHeader(f *testing.F) {
	for name := range goldens(f) {
		f.Add(read(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var h header
		err := h.parse(data)
		if err == nil {
			for i := range 8 {
				_, _, err = frames(h.codestream[min(2+i, len(h.codestream)):], &info{width: h.width, height: h.height, original: i&1 != 0, alpha: i&2 != 0})
			}
		}
		if e := (*codec.Error)(nil); err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}
	})
}
