package codectest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
)

// The functions below test codec/avif and codec/heif on the files that
// testdata/gen/codecs/phone.py wrote.

const phone = "../../testdata/phone/"

type phoneGolden struct {
	Mode                                      string
	Width, Height, Frames, Orientation        int
	RGB, Gray, RGBA, Upright, Pixels, Refused string
}

func phoneGoldens(t testing.TB) map[string]phoneGolden {
	b, err := os.ReadFile(phone + "goldens.json")
	require.NoError(t, err)
	var g map[string]phoneGolden
	require.NoError(t, json.Unmarshal(b, &g))
	return g
}

func digest(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// Phone compares all files of an extension with the pixels of the reference.
func Phone(t *testing.T, ext string) {
	var d codec.Decoder // one for all: buffers are reused from image to image
	n := 0
	for name, want := range phoneGoldens(t) {
		if filepath.Ext(name) != ext {
			continue
		}
		n++
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(phone + name)
			require.NoError(t, err)
			if want.Refused != "" {
				_, err := codec.Decode(data, nil)
				require.ErrorIs(t, err, codec.ErrUnsupported)
				require.ErrorContains(t, err, want.Refused)
				return
			}
			decode := func(o codec.Options) (codec.Info, string) {
				info, err := Config(&d, data, &o)
				require.NoError(t, err)
				dst := make([]byte, info.Size())
				got, err := Decode(&d, dst, data, &o)
				require.NoError(t, err)
				require.Equal(t, info, got)
				return info, digest(dst)
			}
			info, rgb := decode(codec.Options{})
			require.Equal(t, want.RGB, rgb, "RGB")
			require.Equal(t, []any{want.Mode, want.Width, want.Height, want.Frames, want.Orientation},
				[]any{info.Mode.String(), info.Width, info.Height, info.Frames, info.Orientation})
			_, gray := decode(codec.Options{Color: codec.ToGray})
			require.Equal(t, want.Gray, gray, "gray")
			_, rgba := decode(codec.Options{Color: codec.ToRGBA})
			require.Equal(t, want.RGBA, rgba, "RGBA")
			_, upright := decode(codec.Options{Orientation: codec.OrientationApply})
			require.Equal(t, want.Upright, upright, "upright")
		})
	}
	require.Greater(t, n, 80)
}

// PhonePlane is a decoded plane of a file: samples of one byte, or of two in
// the machine's order.
type PhonePlane struct {
	Width, Height int
	Data          []byte
}

// PhonePlanes are the decoded planes of a file, with the library's own numbers
// for its format.
type PhonePlanes struct {
	Mode                              codec.Mode
	Depth, Format, Matrix, Colorspace int
	Full                              bool
	Planes                            []PhonePlane
}

// PhoneConversions compares the pixels that convert makes of planes with those
// of the reference, on machines without the library too.
func PhoneConversions(t *testing.T, ext string, convert func(p *PhonePlanes, dst *codec.Raster)) {
	b, err := os.ReadFile(phone + "planes.json")
	require.NoError(t, err)
	var files map[string]*PhonePlanes
	require.NoError(t, json.Unmarshal(b, &files))
	goldens, n := phoneGoldens(t), 0
	for name, p := range files {
		if filepath.Ext(name) != ext {
			continue
		}
		n++
		want := goldens[name]
		for p.Mode = codec.L; p.Mode.String() != want.Mode; p.Mode++ {
		}
		for _, q := range p.Planes {
			for i := 0; p.Depth > 8 && i < len(q.Data); i += 2 {
				binary.NativeEndian.PutUint16(q.Data[i:], binary.LittleEndian.Uint16(q.Data[i:]))
			}
		}
		var dst codec.Raster
		dst.Reset(p.Mode, want.Width, want.Height)
		convert(p, &dst)
		require.Equal(t, want.Pixels, digest(dst.Pix), name)
	}
	require.Greater(t, n, 30)
}

// PhoneHostile decodes damaged files: cut ones, ones with changed bytes, and
// ones whose headers say other sizes. rounds is the number of changed ones.
func PhoneHostile(t *testing.T, ext string, rounds int) {
	limits := codec.Limits{Pixels: 1 << 16, Bytes: 4 << 20}
	var d codec.Decoder
	check := func(data []byte) error {
		o := codec.Options{Limits: limits, Color: codec.ToRGBA}
		info, err := Config(&d, data, &o)
		if err == nil {
			require.LessOrEqual(t, info.Width*info.Height, 1<<16)
			_, err = Decode(&d, make([]byte, info.Size()), data, &o)
		}
		if err != nil {
			var e *codec.Error
			require.ErrorAs(t, err, &e)
			require.NotErrorIs(t, err, codec.ErrInternal)
		}
		return err
	}
	var files [][]byte
	names, err := filepath.Glob(phone + "*" + ext)
	require.NoError(t, err)
	for i, name := range names {
		if i%7 != 0 {
			continue
		}
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		files = append(files, data)
		for n := 0; n < len(data); n += 1 + len(data)/9 {
			require.Error(t, check(data[:n]), "%s: %d bytes", name, n)
		}
	}
	rng := rand.New(rand.NewSource(1))
	for range rounds {
		data := bytes.Clone(files[rng.Intn(len(files))])
		Damage(rng, data, 400)
		_ = check(data)
	}
	// A header that says a large size is refused before anything is decoded.
	refused := 0
	for _, side := range []uint32{300, 12000, 1 << 30} {
		for _, data := range files {
			if bytes.Contains(data, []byte("grid")) { // its size is elsewhere
				continue
			}
			data = bytes.Clone(data)
			for at := 0; ; {
				n := bytes.Index(data[at:], []byte("ispe"))
				if n < 0 {
					break
				}
				at += n + 8
				binary.BigEndian.PutUint32(data[at:], side)
				binary.BigEndian.PutUint32(data[at+4:], side)
			}
			require.Error(t, check(data), side)
			if _, err := codec.DecodeConfig(data, nil); errors.Is(err, codec.ErrPixels) {
				refused++
			}
		}
	}
	require.Positive(t, refused)
}

// Damage changes one to four places of a file, half of them in its head, where
// boxes and headers are.
func Damage(rng *rand.Rand, data []byte, head int) {
	for range 1 + rng.Intn(4) {
		at := rng.Intn(len(data))
		if rng.Intn(2) == 0 {
			at = rng.Intn(min(len(data), head))
		}
		switch rng.Intn(3) {
		case 0:
			data[at] ^= 1 << rng.Intn(8)
		case 1:
			data[at] = []byte{0, 1, 0x7F, 0x80, 0xFF}[rng.Intn(5)]
		case 2:
			n := min(len(data)-at, 1+rng.Intn(8))
			copy(data[at:at+n], data[rng.Intn(len(data)-n+1):])
		}
	}
}

// PhoneConcurrent decodes files with several decoders at once.
func PhoneConcurrent(t *testing.T, ext string) {
	goldens := phoneGoldens(t)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			var d codec.Decoder
			for name, want := range goldens {
				if filepath.Ext(name) != ext || want.Refused != "" {
					continue
				}
				data, err := os.ReadFile(phone + name)
				if !assert.NoError(t, err) {
					return
				}
				dst := make([]byte, want.Width*want.Height*3)
				_, err = Decode(&d, dst, data, nil)
				if !assert.NoError(t, err) || !assert.Equal(t, want.RGB, digest(dst), name) {
					return
				}
			}
		})
	}
	group.Wait()
}
