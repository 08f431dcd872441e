// Package cog writes cloud-optimized GeoTIFFs (COG): tiles of 512 x 512 pixels
// in Deflate, with overviews, the directories in front. Memory does not depend
// on the image's size: each level holds one tile.
//
// Reference: the layout of GDAL's driver COG, and rio-cogeo's checks of it.
package cog

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zlib"
	"golang.org/x/sync/errgroup"

	"github.com/infer-prep/infer-prep/codec/tiff"
	"github.com/infer-prep/infer-prep/internal/tiffdir"
	"github.com/infer-prep/infer-prep/tensor"
)

// Tile is the side of a tile in pixels.
const Tile = 512

// Bounds of an image.
const (
	MaxBands = 64      // those that tiff.Reader reads
	MaxSide  = 1 << 30 // pixels
	maxTiles = 1 << 26 // of a level
)

// Image describes the image to write.
type Image struct {
	Width, Height int // pixels, 1 to MaxSide
	Bands         int // 1 to MaxBands
	DType         tensor.DType
	// Classes makes overviews of the nearest pixels instead of means: the
	// samples are numbers of classes.
	Classes bool
	// NoData is the value of pixels without data, if HasNoData is true. Means
	// leave it out.
	NoData    float64
	HasNoData bool
	// Geo has the transform and the GeoTIFF keys; other fields have no effect.
	Geo tiff.Geo
	// Temp is the folder of the temporary file, which holds the compressed
	// tiles until all sizes are known. Default: os.TempDir.
	Temp string
	// Workers is the number of tiles that are compressed at once. Default 1.
	Workers int
}

// Validate checks the fields.
func (m *Image) Validate() error {
	switch {
	case m.Width < 1 || m.Height < 1 || m.Width > MaxSide || m.Height > MaxSide:
		return fmt.Errorf("cog: image of %dx%d pixels: want 1 to %d on both sides", m.Width, m.Height, MaxSide)
	case m.Bands < 1 || m.Bands > MaxBands:
		return fmt.Errorf("cog: %d bands: want 1 to %d", m.Bands, MaxBands)
	case m.DType != tensor.Uint8 && m.DType != tensor.Uint16 && m.DType != tensor.Float32:
		return fmt.Errorf("cog: samples of %v: want uint8, uint16 or float32", m.DType)
	case int64(tiles(m.Width))*int64(tiles(m.Height)) > maxTiles:
		return fmt.Errorf("cog: image of %dx%d pixels: want at most %d tiles", m.Width, m.Height, maxTiles)
	}
	return nil
}

// tiles returns the tiles along a side.
func tiles(n int) int { return (n + Tile - 1) / Tile }

// Fill writes the pixels of the tile in column x and row y of tiles to dst:
// Tile x Tile pixels, all bands of a pixel together, in the machine's byte
// order. Pixels past the image's edges have no meaning. One goroutine calls it.
type Fill func(x, y int, dst []byte) error

// level is the image or an overview.
type level struct {
	width, height int
	across, down  int
	at, size      []int64 // of the tiles in the temporary file
	buf           []byte  // a tile
}

// writer is a Write in progress.
type writer struct {
	*Image
	fill    Fill
	pixel   int
	classic int64 // the most bytes of a TIFF that is no BigTIFF
	levels  []level
	temp    *os.File
	spare   sync.Pool // of *packer

	mu  sync.Mutex
	end int64 // of temp
}

// Write writes the image to w. It calls fill once for each tile, in an order
// that keeps neighbours together. It needs a temporary file of the size of the
// result.
func (m *Image) Write(ctx context.Context, w io.Writer, fill Fill) error {
	return m.write(ctx, w, fill, math.MaxUint32)
}

// write is Write. A file of more than classic bytes is a BigTIFF.
func (m *Image) write(ctx context.Context, w io.Writer, fill Fill, classic int64) (err error) {
	if err := m.Validate(); err != nil {
		return err
	}
	c := &writer{Image: m, fill: fill, pixel: m.Bands * m.DType.Size(), classic: classic}
	for width, height := m.Width, m.Height; ; width, height = (width+1)/2, (height+1)/2 {
		l := level{width: width, height: height, across: tiles(width), down: tiles(height)}
		l.at, l.size = make([]int64, l.across*l.down), make([]int64, l.across*l.down)
		l.buf = make([]byte, Tile*Tile*c.pixel)
		c.levels = append(c.levels, l)
		if width <= Tile && height <= Tile {
			break
		}
	}
	if c.temp, err = os.CreateTemp(m.Temp, ".infer-prep-*.tmp"); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, c.temp.Close(), os.Remove(c.temp.Name()))
	}()
	c.spare.New = func() any { return &packer{} }
	g, packing := errgroup.WithContext(ctx) // packing ends with g
	g.SetLimit(max(1, m.Workers))
	err = c.build(packing, g, len(c.levels)-1, 0, 0)
	if werr := g.Wait(); werr != nil && (err == nil || errors.Is(err, context.Canceled)) {
		err = werr
	}
	if err != nil {
		return err
	}
	return c.assemble(ctx, w)
}

// build makes a tile in the buffer of its level, and those below it.
func (c *writer) build(ctx context.Context, g *errgroup.Group, k, x, y int) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	l := &c.levels[k]
	if k == 0 {
		if err := c.fill(x, y, l.buf); err != nil {
			return err
		}
	} else {
		below := &c.levels[k-1]
		for q := range 4 {
			bx, by := 2*x+q%2, 2*y+q/2
			if bx >= below.across || by >= below.down {
				continue
			}
			if err := c.build(ctx, g, k-1, bx, by); err != nil {
				return err
			}
			w, h := min(Tile, below.width-bx*Tile), min(Tile, below.height-by*Tile)
			c.reduce(l.buf, below.buf, q%2*Tile/2, q/2*Tile/2, w, h)
		}
	}
	p := c.spare.Get().(*packer)
	p.raw = append(p.raw[:0], l.buf...)
	c.pad(p.raw, min(Tile, l.width-x*Tile), min(Tile, l.height-y*Tile))
	g.Go(func() error {
		defer c.spare.Put(p)
		b, err := p.pack(c.Image, c.pixel)
		if err != nil {
			return err
		}
		c.mu.Lock()
		at := c.end
		c.end += int64(len(b))
		l.at[y*l.across+x], l.size[y*l.across+x] = at, int64(len(b))
		c.mu.Unlock()
		_, err = c.temp.WriteAt(b, at)
		return err
	})
	return nil
}

// pad repeats the last pixels past the edges, which compresses well.
func (c *writer) pad(b []byte, w, h int) {
	line := Tile * c.pixel
	for y := range h {
		row := b[y*line:][:line]
		for at := w * c.pixel; at < line; at += c.pixel {
			copy(row[at:at+c.pixel], row[(w-1)*c.pixel:])
		}
	}
	for y := h; y < Tile; y++ {
		copy(b[y*line:][:line], b[(h-1)*line:])
	}
}

// reduce writes w x h pixels at half the size to (x, y) of dst.
func (c *writer) reduce(dst, src []byte, x, y, w, h int) {
	for oy := range (h + 1) / 2 {
		for ox := range (w + 1) / 2 {
			d := dst[((y+oy)*Tile+x+ox)*c.pixel:][:c.pixel]
			s := src[(2*oy*Tile+2*ox)*c.pixel:]
			if c.Classes {
				copy(d, s)
				continue
			}
			right, below := 2*ox+1 < w, 2*oy+1 < h
			for b := range c.Bands {
				c.mean(d, s, b, right, below)
			}
		}
	}
}

// mean writes the mean of up to 4 samples of a band, without those that have no
// data.
func (c *writer) mean(d, s []byte, band int, right, below bool) {
	sum, n := 0.0, 0
	add := func(x, y int) {
		v := c.sample(s[(y*Tile+x)*c.pixel:], band)
		if v != v || c.HasNoData && v == c.NoData {
			return
		}
		sum += v
		n++
	}
	add(0, 0)
	if right {
		add(1, 0)
	}
	if below {
		add(0, 1)
	}
	if right && below {
		add(1, 1)
	}
	if n == 0 {
		copy(d[band*c.DType.Size():][:c.DType.Size()], s[band*c.DType.Size():])
		return
	}
	switch v := sum / float64(n); c.DType {
	case tensor.Uint8:
		d[band] = uint8(math.Floor(v + 0.5))
	case tensor.Uint16:
		binary.NativeEndian.PutUint16(d[2*band:], uint16(math.Floor(v+0.5)))
	default:
		binary.NativeEndian.PutUint32(d[4*band:], math.Float32bits(float32(v)))
	}
}

// sample returns a sample of a pixel.
func (c *writer) sample(p []byte, band int) float64 {
	switch c.DType {
	case tensor.Uint8:
		return float64(p[band])
	case tensor.Uint16:
		return float64(binary.NativeEndian.Uint16(p[2*band:]))
	default:
		return float64(math.Float32frombits(binary.NativeEndian.Uint32(p[4*band:])))
	}
}

// packer compresses tiles.
type packer struct {
	raw, row []byte
	out      bytes.Buffer
	z        *zlib.Writer
}

// The values of the tag Predictor.
const (
	noPredictor    = 1
	differences    = 2
	floatPredictor = 3
)

// predictor returns the value of the tag.
func (m *Image) predictor() uint16 {
	switch {
	case m.DType == tensor.Float32:
		return floatPredictor
	case m.Classes:
		return noPredictor
	}
	return differences
}

// pack compresses the tile in raw, whose samples it changes.
func (p *packer) pack(m *Image, pixel int) ([]byte, error) {
	line := Tile * pixel
	for b := p.raw; len(b) > 0; b = b[line:] {
		row := b[:line]
		if m.DType == tensor.Uint16 { // to little-endian numbers
			for i := 0; i < line; i += 2 {
				binary.LittleEndian.PutUint16(row[i:], binary.NativeEndian.Uint16(row[i:]))
			}
		}
		switch m.predictor() {
		case differences:
			if m.DType == tensor.Uint8 {
				for i := line - 1; i >= pixel; i-- {
					row[i] -= row[i-pixel]
				}
				continue
			}
			for i := line - 2; i >= pixel; i -= 2 {
				binary.LittleEndian.PutUint16(row[i:], binary.LittleEndian.Uint16(row[i:])-binary.LittleEndian.Uint16(row[i-pixel:]))
			}
		case floatPredictor:
			// The highest bytes of all samples, then the next ones.
			p.row = append(p.row[:0], row...)
			n := line / 4
			for i := range n {
				v := binary.NativeEndian.Uint32(p.row[4*i:])
				row[i], row[n+i], row[2*n+i], row[3*n+i] = byte(v>>24), byte(v>>16), byte(v>>8), byte(v)
			}
			for i := line - 1; i >= m.Bands; i-- {
				row[i] -= row[i-m.Bands]
			}
		}
	}
	p.out.Reset()
	if p.z == nil {
		p.z = zlib.NewWriter(&p.out)
	} else {
		p.z.Reset(&p.out)
	}
	_, err := p.z.Write(p.raw)
	err = errors.Join(err, p.z.Close())
	return p.out.Bytes(), err
}

// The tags of the file.
const (
	tagSubfileType     = 254
	tagWidth           = 256
	tagHeight          = 257
	tagBits            = 258
	tagCompression     = 259
	tagPhotometric     = 262
	tagSamplesPerPixel = 277
	tagPlanar          = 284
	tagPredictor       = 317
	tagTileWidth       = 322
	tagTileHeight      = 323
	tagTileOffsets     = 324
	tagTileCounts      = 325
	tagExtraSamples    = 338
	tagSampleFormat    = 339
	tagPixelScale      = 33550
	tagTiepoints       = 33922
	tagTransform       = 34264
	tagGeoKeys         = 34735
	tagGeoDoubles      = 34736
	tagGeoASCII        = 34737
	tagNoData          = 42113
)

// structure describes the layout for GDAL. The size of each tile stands before
// it, so that GDAL reads both at once. The tile's last 4 bytes are repeated
// after it: a writer that changes the tile, and does not know of the layout,
// leaves them as they were.
const structure = "LAYOUT=IFDS_BEFORE_DATA\nBLOCK_ORDER=ROW_MAJOR\nBLOCK_LEADER=SIZE_AS_UINT4\nBLOCK_TRAILER=LAST_4_BYTES_REPEATED\nKNOWN_INCOMPATIBLE_EDITION=NO\n "

// extra is the number of bytes before and behind a tile.
const extra = 4

// assemble writes the file: header, directories, the tiles of the smallest
// overview, …, the tiles of the image.
func (c *writer) assemble(ctx context.Context, w io.Writer) error {
	ghost := fmt.Sprintf("GDAL_STRUCTURAL_METADATA_SIZE=%06d bytes\n%s", len(structure), structure)
	// The size of the directories does not depend on the offsets in them.
	big := false
	head := c.head(ghost, big, nil)
	total := c.end
	for _, l := range c.levels {
		total += int64(len(l.at)) * 2 * extra
	}
	if int64(len(head))+total > c.classic {
		big = true
		head = c.head(ghost, big, nil)
	}
	offsets := make([][]int64, len(c.levels))
	at := int64(len(head))
	for k := len(c.levels) - 1; k >= 0; k-- {
		l := &c.levels[k]
		offsets[k] = make([]int64, len(l.at))
		for i, n := range l.size {
			offsets[k][i] = at + extra
			at += extra + n + extra
		}
	}
	out := bufio.NewWriterSize(w, 1<<20)
	if _, err := out.Write(c.head(ghost, big, offsets)); err != nil {
		return err
	}
	var buf []byte
	for k := len(c.levels) - 1; k >= 0; k-- {
		l := &c.levels[k]
		for i, from := range l.at {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			n := l.size[i]
			buf = slices.Grow(buf[:0], int(n)+2*extra)[:int(n)+2*extra]
			binary.LittleEndian.PutUint32(buf, uint32(n))
			if _, err := c.temp.ReadAt(buf[extra:extra+n], from); err != nil {
				return err
			}
			copy(buf[extra+n:], buf[n:])
			if _, err := out.Write(buf); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// head returns the header and the directories. nil offsets are zeros.
func (c *writer) head(ghost string, big bool, offsets [][]int64) []byte {
	o := binary.LittleEndian
	b := []byte("II")
	first := 8 + len(ghost)
	if big {
		first = 16 + len(ghost)
		first += first % 2
		b = o.AppendUint16(b, 43)
		b = o.AppendUint16(b, 8)
		b = o.AppendUint16(b, 0)
		b = o.AppendUint64(b, uint64(first))
	} else {
		first += first % 2
		b = o.AppendUint16(b, 42)
		b = o.AppendUint32(b, uint32(first))
	}
	b = append(b, ghost...)
	for len(b) < first {
		b = append(b, 0)
	}
	for k := range c.levels {
		at := make([]int64, len(c.levels[k].at))
		if offsets != nil {
			at = offsets[k]
		}
		b = c.directory(k, big, at).Append(b, len(b), k == len(c.levels)-1)
	}
	return b
}

// directory returns the directory of a level.
func (c *writer) directory(k int, big bool, offsets []int64) *tiffdir.Directory {
	l := &c.levels[k]
	d := &tiffdir.Directory{Order: binary.LittleEndian, Big: big}
	d.Long(tagSubfileType, uint32(min(k, 1)))
	d.Long(tagWidth, uint32(l.width))
	d.Long(tagHeight, uint32(l.height))
	d.Short(tagBits, slices.Repeat([]uint16{uint16(8 * c.DType.Size())}, c.Bands)...)
	d.Short(tagCompression, 8)
	d.Short(tagPhotometric, 1)
	d.Short(tagSamplesPerPixel, uint16(c.Bands))
	d.Short(tagPlanar, 1)
	d.Short(tagPredictor, c.predictor())
	d.Short(tagTileWidth, Tile)
	d.Short(tagTileHeight, Tile)
	d.Offsets(tagTileOffsets, offsets)
	d.Offsets(tagTileCounts, l.size)
	if c.Bands > 1 {
		d.Short(tagExtraSamples, make([]uint16, c.Bands-1)...)
	}
	kind := uint16(1)
	if c.DType == tensor.Float32 {
		kind = 3
	}
	d.Short(tagSampleFormat, slices.Repeat([]uint16{kind}, c.Bands)...)
	if k == 0 {
		c.places(d)
	}
	if c.HasNoData {
		d.Text(tagNoData, strings.ToLower(strconv.FormatFloat(c.NoData, 'g', -1, 64)))
	}
	return d
}

// Keys of GeoTIFF.
const (
	keyRasterType = 1025
	rasterIsArea  = 1
)

// places adds the tags of GeoTIFF.
func (c *writer) places(d *tiffdir.Directory) {
	if c.Geo.HasTransform {
		if t := c.Geo.Transform; t[2] == 0 && t[4] == 0 && t[1] > 0 && t[5] < 0 {
			d.Doubles(tagPixelScale, t[1], -t[5], 0)
			d.Doubles(tagTiepoints, 0, 0, 0, t[0], t[3], 0)
		} else {
			d.Doubles(tagTransform, t[1], t[2], 0, t[0], t[4], t[5], 0, t[3], 0, 0, 0, 0, 0, 0, 0, 1)
		}
	}
	keys := slices.Clone(c.Geo.Keys.Directory)
	if len(keys) < 4 {
		return
	}
	// Geo.Transform is that of pixels as areas.
	for i := 4; i+3 < len(keys); i += 4 {
		if keys[i] == keyRasterType && keys[i+1] == 0 {
			keys[i+3] = rasterIsArea
		}
	}
	d.Short(tagGeoKeys, keys...)
	if v := c.Geo.Keys.Doubles; len(v) > 0 {
		d.Doubles(tagGeoDoubles, v...)
	}
	if s := c.Geo.Keys.ASCII; s != "" {
		d.Text(tagGeoASCII, s)
	}
}
