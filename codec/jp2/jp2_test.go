package jp2

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/codectest"
	"github.com/infer-prep/infer-prep/internal/clib/clibtest"
	"github.com/infer-prep/infer-prep/tensor"
)

func need(t testing.TB) {
	l, err := load()
	clibtest.Needs(t, Environment, err)
	t.Logf("OpenJPEG %s: %s", l.version, l.path)
}

// golden is what testdata/gen/codecs/jp2.py wrote of a file.
type golden struct {
	Mode, Pixels, RGB, Gray, RGBA, Native, Error string
	Width, Height                                int
}

func goldens(t testing.TB) (g map[string]golden) {
	b, err := os.ReadFile("testdata/goldens.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &g))
	require.Greater(t, len(g), 100)
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
			if want.Error != "" || strings.HasPrefix(name, "refused_") {
				_, err := codec.Decode(data, nil)
				require.Error(t, err)
				require.NotErrorIs(t, err, codec.ErrInternal)
				if want.Error == "" {
					require.ErrorIs(t, err, codec.ErrUnsupported)
				}
				return
			}
			for _, c := range []struct {
				color codec.Color
				want  string
			}{{codec.ToRGB, want.RGB}, {codec.ToGray, want.Gray}, {codec.ToRGBA, want.RGBA}} {
				o := codec.Options{Color: c.color}
				info, err := codectest.Config(&d, data, &o)
				require.NoError(t, err)
				require.Equal(t, []any{want.Mode, want.Width, want.Height}, []any{info.Mode.String(), info.Width, info.Height})
				dst := make([]byte, info.Size())
				_, err = codectest.Decode(&d, dst, data, &o)
				require.NoError(t, err)
				require.Equal(t, c.want, digest(dst), c.color)
			}
			fd := codec.NewFormatDecoder("jp2")
			o := codec.Options{Limits: codec.DefaultLimits()}
			_, err := fd.Open(data, &o)
			require.NoError(t, err)
			var r codec.Raster
			require.NoError(t, fd.Decode(&r))
			require.Equal(t, want.Pixels, digest(r.Pix), "pixels")
			if want.Native != "" {
				i, err := d.OpenNative(data, nil)
				require.NoError(t, err)
				n := i.Info()
				dst := make([]byte, n.Width*n.Height*n.Channels*n.DType.Size())
				require.NoError(t, i.Decode(dst, codec.Region{Width: n.Width, Height: n.Height}))
				require.Equal(t, want.Native, digest(dst), "samples")
			}
		})
	}
}

// TestRegions: a region has the samples of the whole.
func TestRegions(t *testing.T) {
	need(t)
	var d codec.Decoder
	rng := rand.New(rand.NewSource(1))
	for _, name := range []string{"rgb_97_tiles.j2k", "i16_53_tiles.j2k", "rgb_53_offset.jp2", "l_53.jp2"} {
		data := read(t, name)
		i, err := d.OpenNative(data, nil)
		require.NoError(t, err)
		n := i.Info()
		pixel := n.Channels * n.DType.Size()
		whole := make([]byte, n.Width*n.Height*pixel)
		require.NoError(t, i.Decode(whole, codec.Region{Width: n.Width, Height: n.Height}))
		for range 20 {
			r := codec.Region{Left: rng.Intn(n.Width), Top: rng.Intn(n.Height)}
			r.Width, r.Height = 1+rng.Intn(n.Width-r.Left), 1+rng.Intn(n.Height-r.Top)
			i, err := d.OpenNative(data, nil)
			require.NoError(t, err)
			got := make([]byte, r.Width*r.Height*pixel)
			require.NoError(t, i.Decode(got, r))
			for y := range r.Height {
				require.Equal(t, whole[((r.Top+y)*n.Width+r.Left)*pixel:][:r.Width*pixel], got[y*r.Width*pixel:][:r.Width*pixel], "%s %v", name, r)
			}
		}
	}
	i, err := d.OpenNative(read(t, "refused_five.j2k"), nil)
	require.NoError(t, err)
	require.Equal(t, codec.Native{Format: "jp2", Width: 15, Height: 12, Channels: 5, DType: tensor.Uint8}, i.Info())
	_, err = d.OpenNative(read(t, "palette.jp2"), nil)
	require.ErrorIs(t, err, codec.ErrUnsupported)
}

// rowSink collects rows.
type rowSink struct {
	t    *testing.T
	next int
	pix  []byte
}

func (s *rowSink) Rows(y, n int, pix []byte) {
	require.Equal(s.t, s.next, y)
	s.next += n
	s.pix = append(s.pix, pix...)
}

// TestRows: the rows of a region are those of the whole.
func TestRows(t *testing.T) {
	need(t)
	var d codec.Decoder
	rng := rand.New(rand.NewSource(1))
	for name, want := range goldens(t) {
		if strings.HasPrefix(name, "refused_") {
			continue
		}
		data := read(t, name)
		if want.Error != "" {
			_, err := codectest.DecodeRows(&d, &rowSink{t: t}, codec.Region{Width: 1, Height: 1}, data, nil)
			require.Error(t, err, name)
			continue
		}
		whole, err := codec.Decode(data, nil)
		require.NoError(t, err)
		for range 5 {
			r := codec.Region{Left: rng.Intn(want.Width), Top: rng.Intn(want.Height)}
			r.Width, r.Height = 1+rng.Intn(want.Width-r.Left), 1+rng.Intn(want.Height-r.Top)
			sink := &rowSink{t: t, next: r.Top}
			_, err := codectest.DecodeRows(&d, sink, r, data, nil)
			require.NoError(t, err)
			for y := range r.Height {
				require.Equal(t, whole.Data[((r.Top+y)*want.Width+r.Left)*3:][:r.Width*3], sink.pix[y*r.Width*3:][:r.Width*3], "%s %v", name, r)
			}
		}
	}
}

// TestHostile decodes damaged files.
func TestHostile(t *testing.T) {
	need(t)
	var d codec.Decoder
	check := func(data []byte) {
		o := codec.Options{Limits: codec.Limits{Pixels: 1 << 16, Bytes: 8 << 20}, Color: codec.ToRGBA}
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
	var files [][]byte
	for name := range goldens(t) {
		files = append(files, read(t, name))
	}
	rng := rand.New(rand.NewSource(1))
	for range 1500 {
		data := bytes.Clone(files[rng.Intn(len(files))])
		codectest.Damage(rng, data, 220)
		check(data)
	}
}

// bomb is a codestream's header: SIZ and COD.
func bomb(w, h, tw, th uint32, comps, layers int, resolutions, block int, precinct byte) []byte {
	b := []byte("\xff\x4f\xff\x51")
	b = binary.BigEndian.AppendUint16(b, uint16(38+3*comps))
	b = append(b, 0, 0)
	for _, v := range []uint32{w, h, 0, 0, tw, th, 0, 0} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	b = binary.BigEndian.AppendUint16(b, uint16(comps))
	for range comps {
		b = append(b, 7, 1, 1)
	}
	return append(b, cod(layers, resolutions, block, precinct)...)
}

func cod(layers, resolutions, block int, precinct byte) []byte {
	b := binary.BigEndian.AppendUint16([]byte{0xFF, 0x52}, uint16(12+resolutions))
	b = binary.BigEndian.AppendUint16(append(b, 1, 0), uint16(layers))
	b = append(b, 0, byte(resolutions-1), byte(block-2), byte(block-2), 0, 1)
	return append(b, bytes.Repeat([]byte{precinct}, resolutions)...)
}

// TestBombs: small files that would take much memory or time are refused before
// OpenJPEG sees them. It needs no library.
func TestBombs(t *testing.T) {
	tile := "\xff\x90\x00\x0a\x00\x00\x00\x00\x00\x00\x00\x01"
	end := tile + "\xff\x93\xff\xd9"
	plain := bomb(64, 64, 64, 64, 3, 1, 6, 6, 0xFF)
	for _, c := range []struct {
		name string
		data string
		kind error
	}{
		{"none", string(plain) + end, nil},
		{"pixels", string(bomb(1<<20, 1<<20, 1<<20, 1<<20, 3, 1, 6, 6, 0xFF)) + end, codec.ErrPixels},
		{"32 bits", string(bomb(1<<31-1, 1<<31-1, 1<<31-1, 1<<31-1, 4, 1, 6, 6, 0xFF)) + end, codec.ErrPixels},
		{"tiles", string(bomb(255, 257, 1, 1, 3, 1, 6, 6, 0xFF)) + end, codec.ErrFormat},
		{"components", string(bomb(9000, 9000, 9000, 9000, 64, 1, 6, 6, 0xFF)) + end, codec.ErrBytes},
		{"precincts", string(bomb(5000, 5000, 5000, 5000, 3, 1, 2, 6, 0x11)) + end, codec.ErrBytes},
		{"blocks", string(bomb(5000, 5000, 5000, 5000, 3, 1, 6, 2, 0xFF)) + end, codec.ErrBytes},
		{"layers", string(bomb(1000, 1000, 1000, 1000, 3, 65535, 2, 6, 0x55)) + end, codec.ErrLimit},
		{"precincts of a tile", string(bomb(5000, 5000, 5000, 5000, 3, 1, 2, 6, 0xFF)) + tile + string(cod(1, 2, 6, 0x11)) + "\xff\x93\xff\xd9", codec.ErrBytes},
		{"behind an unknown marker", string(bomb(5000, 5000, 5000, 5000, 3, 1, 2, 6, 0xFF)) + "\xff\x33\x00\x40" + string(cod(1, 2, 6, 0x11)) + end, codec.ErrBytes},
		{"of one component", string(bomb(5000, 5000, 5000, 5000, 3, 1, 2, 6, 0xFF)) + "\xff\x53\x00\x0b\x01\x01\x01\x04\x04\x00\x01\x11\x11" + end, codec.ErrBytes},
	} {
		var h header
		err := h.parse([]byte(c.data))
		if err == nil {
			err = h.checkCost([]byte(c.data), codec.Limits{}, 3)
		}
		if c.kind == nil {
			require.NoError(t, err, c.name)
			continue
		}
		require.ErrorIs(t, err, c.kind, c.name)
	}
}

// TestLargeBox: Pillow has no function that skips in the file, so that
// OpenJPEG's own buffer, of 1 MiB, must hold a box that it does not know.
func TestLargeBox(t *testing.T) {
	need(t)
	data := read(t, "rgb_97.jp2")
	at := bytes.Index(data, []byte("jp2c")) - 4
	for n, good := range map[int]bool{1 << 19: true, 1 << 21: false} {
		box := binary.BigEndian.AppendUint32(nil, uint32(n))
		box = append(append(box, "xml "...), make([]byte, n-8)...)
		_, err := codec.Decode(bytes.Join([][]byte{data[:at], box, data[at:]}, nil), nil)
		require.Equal(t, good, err == nil, "%d bytes: %v", n, err)
	}
}

func TestMissing(t *testing.T) {
	_, err := load()
	clibtest.Missing(t, "OpenJPEG", "pip install pillow", Environment, err, func(path string) error {
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
				if want.Error != "" || strings.HasPrefix(name, "refused_") {
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
			err = h.checkCost(data, codec.Limits{}, max(1, h.mode.Size()))
		}
		if err == nil {
			_, err = h.unpacker(1)
		}
		if e := (*codec.Error)(nil); err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}
	})
}
