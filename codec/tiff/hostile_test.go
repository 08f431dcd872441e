package tiff_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/tiff"
)

// entry is a tag with one value.
type entry struct {
	tag, typ uint16
	count    uint32
	value    uint32
}

// small returns a TIFF of one directory.
func small(entries ...entry) []byte {
	le := binary.LittleEndian
	b := []byte("II*\x00\x08\x00\x00\x00")
	b = le.AppendUint16(b, uint16(len(entries)))
	for _, e := range entries {
		b = le.AppendUint16(le.AppendUint16(b, e.tag), e.typ)
		b = le.AppendUint32(le.AppendUint32(b, e.count), e.value)
	}
	return append(b, 0, 0, 0, 0)
}

// gray are the tags of an image in one strip at the file's beginning.
func gray(w, h, bits, compression uint32, more ...entry) []byte {
	return small(append([]entry{{256, 4, 1, w}, {257, 4, 1, h}, {258, 4, 1, bits}, {259, 4, 1, compression}, {262, 4, 1, 1},
		{273, 4, 1, 8}, {278, 4, 1, h}, {279, 4, 1, 100}}, more...)...)
}

// readAll reads the first pixel of every image, or all pixels of small ones.
func readAll(data []byte, o *tiff.Options) error {
	r, err := tiff.NewReader(bytes.NewReader(data), int64(len(data)), o)
	if err != nil {
		return err
	}
	for n := 0; n < 4; n++ {
		i, err := r.Image(n)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		f, err := i.Info()
		if err != nil {
			return err
		}
		w := codec.Region{Width: f.Width, Height: f.Height}
		if int64(f.Width)*int64(f.Height) > 1<<16 {
			w = codec.Region{Width: 1, Height: 1}
		}
		size, err := i.Size(w)
		if err != nil {
			return err
		}
		if err := i.Read(make([]byte, size), w); err != nil {
			return err
		}
		if _, err := i.Geo(); err != nil {
			return err
		}
	}
	return nil
}

// TestBombs: files of at most 200 bytes that claim huge sizes are refused
// before anything large is allocated.
func TestBombs(t *testing.T) {
	const huge = 1<<24 - 1
	for name, c := range map[string]struct {
		data []byte
		kind error
		text string
	}{
		"side":      {gray(1<<25, 1, 8, 1), codec.ErrLimit, "a side has at most"},
		"strip":     {gray(huge, huge, 8, 8), codec.ErrLimit, "the limit is"},
		"fax":       {gray(huge, 90000, 1, 4), codec.ErrLimit, "the limit is"},
		"zstd":      {gray(huge, huge, 64, 50000), codec.ErrLimit, "the limit is"},
		"tile":      {gray(100, 100, 8, 8, entry{322, 4, 1, 1 << 20}, entry{323, 4, 1, 1 << 20}), codec.ErrLimit, "the limit is"},
		"tile side": {gray(100, 100, 8, 8, entry{322, 4, 1, 1 << 21}, entry{323, 4, 1, 16}), codec.ErrLimit, "a side has at most"},
		"bands":     {gray(huge, 1, 8, 1, entry{277, 4, 1, 1 << 30}), codec.ErrUnsupported, "samples per pixel, want 1 to 64"},
		"tiles":     {gray(huge, huge, 8, 8, entry{322, 4, 1, 16}, entry{323, 4, 1, 16}), codec.ErrFormat, "strips or tiles, want"},
		"offsets":   {gray(huge, huge, 8, 8, entry{324, 4, math.MaxUint32 / 4, 8}), codec.ErrUnsupported, "values behind the file's end"},
		"entries":   {[]byte("II+\x00\x08\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\x00\x00"), codec.ErrLimit, "tags, want at most"},
		"loop":      {append(gray(4, 4, 8, 1)[:8+2+8*12], 8, 0, 0, 0), nil, ""},
		"directory": {[]byte("MM\x00*\xff\xff\xff\xff"), codec.ErrFormat, "the directory is at"},
		"magic":     {[]byte("GIF89a more bytes"), codec.ErrFormat, "want a TIFF"},
		"header":    {[]byte("II*\x00"), codec.ErrFormat, "ends in its header"},
		"bits":      {gray(4, 4, 24, 1), codec.ErrUnsupported, "24 bits"},
		"none":      {gray(900, 900, 8, 1), codec.ErrFormat, "bytes"},
	} {
		require.LessOrEqual(t, len(c.data), 200, name)
		err := readAll(c.data, nil)
		if c.kind == nil {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, c.kind, name)
		require.ErrorContains(t, err, c.text, name)
		var e *codec.Error
		require.ErrorAs(t, err, &e, name)
	}
}

// TestPadding: tiles that are a million times as high as the image are refused
// if there are many.
func TestPadding(t *testing.T) {
	const width, count = 60000, 60000 / 16
	tags := []entry{{322, 4, 1, 16}, {323, 4, 1, 1 << 20}, {324, 4, count, 0}, {325, 4, count, 0}}
	at := uint32(len(gray(width, 1, 8, 32773, tags...)))
	tags[2].value, tags[3].value = at, at+4*count
	data := append(gray(width, 1, 8, 32773, tags...), bytes.Repeat([]byte{1, 0, 0, 0}, 2*count)...)
	i := open(t, bytes.NewReader(data), len(data), nil)
	_, err := i.Tensor(codec.Region{Width: width, Height: 1})
	require.ErrorIs(t, err, codec.ErrPixels)
	require.ErrorContains(t, err, "3750 strips or tiles of 16x1048576 pixels")
	_, err = codec.Decode(data, nil)
	require.ErrorIs(t, err, codec.ErrPixels)
}

// sparseScene is a file of 60,000 x 60,000 pixels of three bytes in tiles of
// 256 x 256, all of which are the same few compressed bytes.
func sparseScene() []byte {
	const side, tile = 60000, 256
	n := (side + tile - 1) / tile * ((side + tile - 1) / tile)
	packed := bytes.Repeat([]byte{0x81, 7}, tile*tile*3/128) // PackBits: 128 times 7
	tags := []entry{{256, 4, 1, side}, {257, 4, 1, side}, {258, 4, 1, 8}, {259, 4, 1, 32773}, {262, 4, 1, 2}, {277, 4, 1, 3},
		{322, 4, 1, tile}, {323, 4, 1, tile}, {324, 4, uint32(n), 0}, {325, 4, uint32(n), 0}}
	at := uint32(len(small(tags...)))
	tags[8].value, tags[9].value = at+uint32(len(packed)), at+uint32(len(packed)+4*n)
	data := append(small(tags...), packed...)
	for range n {
		data = binary.LittleEndian.AppendUint32(data, at)
	}
	for range n {
		data = binary.LittleEndian.AppendUint32(data, uint32(len(packed)))
	}
	return data
}

// TestLargeScene reads windows of a scene of 10.8 GB. The memory is that of a
// few tiles.
func TestLargeScene(t *testing.T) {
	data := sparseScene()
	c := &counting{r: bytes.NewReader(data)}
	i := open(t, c, len(data), nil)
	dst := make([]byte, 512*512*3)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for k := range 40 {
		require.NoError(t, i.Read(dst, codec.Region{Left: k * 1487 % 59488, Top: k * 7919 % 59488, Width: 512, Height: 512}))
		require.Equal(t, byte(7), dst[len(dst)-1])
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))
	// 3 x 3 tiles of 3,072 bytes, and the tables once.
	require.Less(t, c.bytes, 40*9*3200+500000)
}

// failing is a reader that fails behind a number of bytes.
type failing struct {
	data []byte
	from int64
}

var errDisk = errors.New("disk on fire")

func (f failing) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > f.from {
		return 0, errDisk
	}
	return copy(p, f.data[at:]), nil
}

// TestReaderErrors: the error of the file's reader can be told from damage.
func TestReaderErrors(t *testing.T) {
	data, err := os.ReadFile("testdata/u16_be_none.tif")
	require.NoError(t, err)
	for _, from := range []int64{0, 10, 400, int64(len(data)) - 50} {
		r, err := tiff.NewReader(failing{data, from}, int64(len(data)), nil)
		var i *tiff.Image
		if err == nil {
			if i, err = r.Image(0); err == nil {
				_, err = i.Tensor(codec.Region{Width: 40, Height: 30})
			}
		}
		require.ErrorIs(t, err, errDisk, from)
		var e *codec.Error
		require.ErrorAs(t, err, &e)
	}
}

// TestReads: a window reads the header, the directory, and the tiles that it
// needs.
func TestReads(t *testing.T) {
	data, err := os.ReadFile("testdata/u16_deflate_tiled.tif")
	require.NoError(t, err)
	c := &counting{r: bytes.NewReader(data)}
	i := open(t, c, len(data), nil)
	_, err = i.Info()
	require.NoError(t, err)
	require.Less(t, c.bytes, 3000)
	c.bytes = 0
	_, err = i.Tensor(codec.Region{Left: 20, Top: 5, Width: 10, Height: 20}) // within one of 10 tiles
	require.NoError(t, err)
	require.Less(t, c.bytes, 4000)
}

type counting struct {
	r     io.ReaderAt
	bytes int
}

func (c *counting) ReadAt(p []byte, at int64) (int, error) {
	c.bytes += len(p)
	return c.r.ReadAt(p, at)
}

// FuzzReader reads mutated files: no panic, errors of the right type, and the
// same with several goroutines.
func FuzzReader(f *testing.F) {
	names, err := filepath.Glob("testdata/*.tif")
	require.NoError(f, err)
	more, err := filepath.Glob("../../testdata/images/tiff_*.tif")
	require.NoError(f, err)
	require.NotEmpty(f, more)
	for _, p := range append(names, more...) {
		b, err := os.ReadFile(p)
		require.NoError(f, err)
		if len(b) < 20000 {
			f.Add(b)
		}
	}
	limits := codec.Limits{Pixels: 1 << 16, Bytes: 1 << 21}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := readAll(data, &tiff.Options{Limits: limits})
		again := readAll(data, &tiff.Options{Limits: limits, Workers: 3})
		require.Equal(t, err == nil, again == nil)
		if err != nil {
			require.Equal(t, err.Error(), again.Error())
			var e *codec.Error
			require.ErrorAs(t, err, &e)
			require.NotErrorIs(t, err, codec.ErrInternal)
		}
	})
}
