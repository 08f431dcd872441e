package stitch

import (
	"bytes"
	"container/list"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/cmd/internal/cog"
	"github.com/infer-prep/infer-prep/cmd/internal/tileindex"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/tensor/npz"
)

// cacheBytes bounds the predictions that are kept for further tiles.
const cacheBytes = 32 << 20

// window is a window of the scene.
type window struct {
	file             string
	x, y, w, h, size int32
}

// scene holds the windows of a scene and puts them together. One goroutine uses
// it.
type scene struct {
	ctx     context.Context
	dir     string // of the predictions
	array   string // of their files
	windows []window
	scene   tileindex.Scene

	dtype tensor.DType
	bands int
	blend string
	empty []byte // a sample of a pixel without window; nil: an error

	across int       // tiles
	tiles  [][]int32 // the windows of each tile, in the order of the index

	limit  int64 // of bytes in recent
	used   int64
	cached map[int32]*list.Element
	recent list.List // of *prediction, the last used first

	sums, weights []float64
	best          []int32
}

// read reads the index.
func (s *scene) read(index string) error {
	f, err := open(s.ctx, index)
	if err != nil {
		return errors.Unwrap(err)
	}
	defer f.Close()
	return tileindex.Read(io.NewSectionReader(f, 0, f.Size()), func(w *tileindex.Window) error {
		if len(s.windows) == 0 {
			s.scene = w.Scene
		}
		file := w.File
		if s.array != "" && len(w.Files) > 0 {
			if file = w.Files[s.array]; file == "" {
				return fmt.Errorf("no output %q", s.array)
			}
		}
		if file == "" {
			return errors.New(`no "file"`)
		}
		s.windows = append(s.windows, window{file, int32(w.X), int32(w.Y), int32(w.Width), int32(w.Height), int32(w.Size)})
		return nil
	})
}

// sort finds the windows of each tile.
func (s *scene) sort() {
	count := func(n int) int { return (n + cog.Tile - 1) / cog.Tile }
	s.across = count(s.scene.Width)
	s.tiles = make([][]int32, s.across*count(s.scene.Height))
	for i, w := range s.windows {
		for y := w.y / cog.Tile; y <= (w.y+w.h-1)/cog.Tile; y++ {
			for x := w.x / cog.Tile; x <= (w.x+w.w-1)/cog.Tile; x++ {
				k := int(y)*s.across + int(x)
				s.tiles[k] = append(s.tiles[k], int32(i))
			}
		}
	}
}

// prediction is the array of a window.
type prediction struct {
	window int32
	*tensor.Tensor
	// Strides of a row, a pixel and a band, in samples.
	row, pixel, band int
	bands            int
}

// prediction returns the prediction of window i, from memory or its file. It is
// valid until the next call.
func (s *scene) prediction(i int32) (*prediction, error) {
	if e := s.cached[i]; e != nil {
		s.recent.MoveToFront(e)
		return e.Value.(*prediction), nil
	}
	name := paths.Join(s.dir, s.windows[i].file)
	p, err := s.load(name, &s.windows[i])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", paths.Shown(name), paths.Reason(err))
	}
	p.window = i
	if s.dtype != tensor.Invalid && (p.DType != s.dtype || p.bands != s.bands) {
		return nil, fmt.Errorf("%s: %v with %d bands: want %v with %d as in the first window", paths.Shown(name), p.DType, p.bands, s.dtype, s.bands)
	}
	if s.cached == nil {
		s.cached = map[int32]*list.Element{}
	}
	for e := s.recent.Back(); e != nil && s.used+int64(len(p.Data)) > s.limit; e = s.recent.Back() {
		old := s.recent.Remove(e).(*prediction)
		delete(s.cached, old.window)
		s.used -= int64(len(old.Data))
	}
	s.cached[i] = s.recent.PushFront(p)
	s.used += int64(len(p.Data))
	return p, nil
}

// load reads a prediction.
func (s *scene) load(name string, w *window) (*prediction, error) {
	if s.ctx.Err() != nil {
		return nil, context.Cause(s.ctx)
	}
	f, err := open(s.ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	limit := codec.DefaultLimits().Bytes
	head := make([]byte, 4)
	if _, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	}
	var t *tensor.Tensor
	if bytes.HasPrefix(head, []byte("PK")) {
		t, err = s.member(f, limit)
	} else {
		t, err = tensor.ReadNPY(io.NewSectionReader(f, 0, f.Size()), limit)
	}
	if err != nil {
		return nil, err
	}
	return shaped(t, w)
}

// member returns an array of a .npz file.
func (s *scene) member(f interface {
	io.ReaderAt
	Size() int64
}, limit int64) (*tensor.Tensor, error) {
	all, err := npz.Read(f, f.Size(), limit)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, n := range all {
		if n.Name == s.array || s.array == "" && len(all) == 1 {
			return n.T, nil
		}
		names = append(names, n.Name)
	}
	if s.array == "" {
		return nil, fmt.Errorf("the arrays %s: want one, or its name with --array", strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("no array %q: want one of %s", s.array, strings.Join(names, ", "))
}

// shaped finds the axes of a prediction: (H, W), (H, W, C) or (C, H, W), each
// with axes of 1 in front. H and W are the size of the window or of its part
// within the scene.
func shaped(t *tensor.Tensor, w *window) (*prediction, error) {
	if t.DType != tensor.Uint8 && t.DType != tensor.Uint16 && t.DType != tensor.Float32 {
		return nil, fmt.Errorf("array of %v: want uint8, uint16 or float32", t.DType)
	}
	var dims []int
	for i := range t.Shape.Rank() {
		dims = append(dims, t.Shape.At(i))
	}
	for len(dims) > 3 && dims[0] == 1 {
		dims = dims[1:]
	}
	fits := func(h, x int) bool {
		return h == int(w.size) && x == int(w.size) || h == int(w.h) && x == int(w.w)
	}
	p := &prediction{Tensor: t}
	switch n := len(dims); {
	case n == 2 && fits(dims[0], dims[1]):
		p.bands, p.row, p.pixel, p.band = 1, dims[1], 1, 1
		return p, nil
	case n == 3 && fits(dims[0], dims[1]) && fits(dims[1], dims[2]):
		return nil, fmt.Errorf("array of shape %v can be (H, W, C) and (C, H, W)", dims)
	case n == 3 && fits(dims[0], dims[1]):
		p.bands, p.row, p.pixel, p.band = dims[2], dims[1]*dims[2], dims[2], 1
	case n == 3 && fits(dims[1], dims[2]):
		p.bands, p.row, p.pixel, p.band = dims[0], dims[2], 1, dims[1]*dims[2]
	default:
		want := fmt.Sprintf("%dx%d", w.size, w.size)
		if w.h != w.size || w.w != w.size {
			want += fmt.Sprintf(" or %dx%d", w.h, w.w)
		}
		return nil, fmt.Errorf("array of shape %v: want (H, W), (H, W, C) or (C, H, W) of %s pixels", dims, want)
	}
	if p.bands < 1 || p.bands > cog.MaxBands {
		return nil, fmt.Errorf("array of shape %v has %d bands: want 1 to %d", dims, p.bands, cog.MaxBands)
	}
	return p, nil
}

// part bounds the rows of a tile that are blended at once: the sums of so many
// samples take 8 MiB.
const part = 1 << 20

// fill makes a tile; see cog.Fill.
func (s *scene) fill(x, y int, dst []byte) error {
	width, height := min(cog.Tile, s.scene.Width-x*cog.Tile), min(cog.Tile, s.scene.Height-y*cog.Tile)
	line := cog.Tile * s.bands * s.dtype.Size()
	rows := max(1, part/(cog.Tile*s.bands))
	windows := s.tiles[y*s.across+x]
	for top := 0; top < height; top += rows {
		r := codec.Region{Left: x * cog.Tile, Top: y*cog.Tile + top, Width: width, Height: min(rows, height-top)}
		if err := s.rows(r, windows, dst[top*line:]); err != nil {
			return err
		}
	}
	return nil
}

// rows writes the pixels of r, whose rows are those of a tile.
func (s *scene) rows(r codec.Region, windows []int32, dst []byte) error {
	n := r.Width * r.Height
	s.best = slices.Grow(s.best[:0], n)[:n]
	clear(s.best)
	if s.blend == linear {
		s.weights = slices.Grow(s.weights[:0], n)[:n]
		s.sums = slices.Grow(s.sums[:0], n*s.bands)[:n*s.bands]
		clear(s.weights)
		clear(s.sums)
	}
	for _, i := range windows {
		w := &s.windows[i]
		part := codec.Region{Left: max(r.Left, int(w.x)), Top: max(r.Top, int(w.y))}
		part.Width, part.Height = min(r.Left+r.Width, int(w.x+w.w))-part.Left, min(r.Top+r.Height, int(w.y+w.h))-part.Top
		if part.Width <= 0 || part.Height <= 0 {
			continue
		}
		p, err := s.prediction(i)
		if err != nil {
			return err
		}
		for y := part.Top; y < part.Top+part.Height; y++ {
			dy := distance(y, int(w.y), int(w.h), s.scene.Height)
			at := (y-r.Top)*r.Width + part.Left - r.Left
			from := (y-int(w.y))*p.row + (part.Left-int(w.x))*p.pixel
			to := dst[((y-r.Top)*cog.Tile+part.Left-r.Left)*s.bands*s.dtype.Size():]
			for k := range part.Width {
				dx := distance(part.Left+k, int(w.x), int(w.w), s.scene.Width)
				if s.blend == linear {
					s.add(at+k, p, from+k*p.pixel, float64(dx)*float64(dy))
				} else if d := min(dx, dy); d > s.best[at+k] {
					s.best[at+k] = d
					s.take(to[k*s.bands*s.dtype.Size():], p, from+k*p.pixel)
				}
			}
		}
	}
	return s.finish(r, dst)
}

// distance returns how far pixel i is from the closer end of a window of n
// pixels at start, in halves of a pixel. It is at least 1. An end of the window
// that is an end of the scene does not count.
func distance(i, start, n, scene int) int32 {
	d := int32(2*n - 1)
	if start > 0 {
		d = min(d, int32(2*(i-start)+1))
	}
	if start+n < scene {
		d = min(d, int32(2*(start+n-i)-1))
	}
	return d
}

// add adds a pixel with a weight.
func (s *scene) add(at int, p *prediction, from int, weight float64) {
	s.weights[at] += weight
	sums := s.sums[at*s.bands:][:s.bands]
	switch data := p.Data; s.dtype {
	case tensor.Uint8:
		for b := range sums {
			sums[b] += float64(float64(data[from+b*p.band]) * weight)
		}
	case tensor.Uint16:
		for b := range sums {
			sums[b] += float64(float64(binary.NativeEndian.Uint16(data[2*(from+b*p.band):])) * weight)
		}
	default:
		for b := range sums {
			sums[b] += float64(float64(math.Float32frombits(binary.NativeEndian.Uint32(data[4*(from+b*p.band):]))) * weight)
		}
	}
}

// take copies a pixel.
func (s *scene) take(dst []byte, p *prediction, from int) {
	size := s.dtype.Size()
	for b := range s.bands {
		copy(dst[b*size:][:size], p.Data[(from+b*p.band)*size:])
	}
}

// finish divides each sum by its weight, and fills the pixels that no window
// covers.
func (s *scene) finish(r codec.Region, dst []byte) error {
	size := s.dtype.Size()
	for y := range r.Height {
		for x := range r.Width {
			at := y*r.Width + x
			to := dst[(y*cog.Tile+x)*s.bands*size:][:s.bands*size]
			switch {
			case s.blend == linear && s.weights[at] > 0:
				for b := range s.bands {
					v := s.sums[at*s.bands+b] / s.weights[at]
					switch s.dtype {
					case tensor.Uint8:
						to[b] = uint8(math.RoundToEven(v))
					case tensor.Uint16:
						putUint16(to[2*b:], uint16(math.RoundToEven(v)))
					default:
						putFloat(to[4*b:], float32(v))
					}
				}
			case s.blend == center && s.best[at] > 0:
			case s.empty == nil:
				return fmt.Errorf("pixel (%d, %d) of the scene is in no window of the index: want all windows, or --nodata", r.Left+x, r.Top+y)
			default:
				for b := range s.bands {
					copy(to[b*size:], s.empty)
				}
			}
		}
	}
	return nil
}

func putUint16(b []byte, v uint16) { binary.NativeEndian.PutUint16(b, v) }
func putFloat(b []byte, v float32) { binary.NativeEndian.PutUint32(b, math.Float32bits(v)) }
