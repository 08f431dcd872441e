// Package tiles reads windows of one size from large images, such as the scenes
// of satellites, of which it decodes no more than each window needs. Columns:
// image, scene, window, transform. Reference: rasterio.
package tiles

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/tiff"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/internal/tilegrid"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Tiles reads windows of Size x Size pixels from scenes: TIFF, BigTIFF, GeoTIFF
// and COG. A window reads and decodes only those strips and tiles of the file
// that it needs, so that its time and memory do not depend on the scene's size.
// Rows are the windows of all scenes, in the order of the scenes, each row by
// row from the top left corner. All scenes must have the same type and, unless
// Bands selects some, the same number of bands.
//
// Columns:
//
//   - image: HWC (Size, Size, bands) of the files' type, as decode_native
//     describes it. Missing strips and tiles, and pixels past the edges of the
//     scene, have the scene's no-data value, or 0.
//   - scene: int32 scalar, the number of the scene from 0.
//   - window: int32 (4): the column and the row of the window's first pixel in
//     the scene, and the width and the height of its part within the scene.
//   - transform: float64 (6), GDAL's geotransform of the window: column c and
//     row r of a pixel's upper left corner are at x = t[0] + c*t[1] + r*t[2]
//     and y = t[3] + c*t[4] + r*t[5]. For a scene without a transform, x and y
//     are its columns and rows.
//   - mask, if Mask is true: uint8 HWC (Size, Size, 1), 255 where any chosen
//     band has data, and 0 where all have the no-data value or the pixel is
//     past an edge. Masks and alpha bands in the file are not considered.
//
// The Key is the scene, and the row and the column of the window's first pixel:
// "scenes/a.tif:512:1024".
//
// Open reads the directory of each scene, of several at once. The files stay
// open until Close, and their tables take 8 to 16 bytes for each strip or tile.
// Several goroutines may read windows of one scene at once: they share
// decompressed strips and tiles, and wait for one that another goroutine
// decompresses. Besides CacheBytes, each needs the memory of one strip or tile,
// and up to 1 MiB for compressed ones that follow each other in the file, which
// it reads at once. JPEG and WebP in TIFF need packages codec/jpeg and
// codec/webp. ShuffleShards takes the scenes for the shards, so that windows
// near each other in an epoch share strips and tiles.
//
// Reference: rasterio 1.4.4 (GDAL 3.10.3) has the same pixels, transforms
// (window_transform) and masks (dataset_mask). It reads float16 as float32, and
// JPEG in TIFF with another libjpeg; here such tiles have the pixels of
// libjpeg-turbo. A no-data value that the type cannot have masks nothing.
type Tiles struct {
	// Files are names of scenes and folders, as store.Files expands them. In a
	// folder and the folders below it, all files with the extension .tif or
	// .tiff are scenes, sorted by name.
	Files []string `json:"files"`
	Size  int      `json:"size"` // of a window in pixels, 1 to 10,000, default 512
	// Overlap is the number of pixels that neighbours share, 0 to Size-1.
	// Default 0.
	Overlap int `json:"overlap"`
	// Edge is the rule for a scene that is no whole number of steps: pad lets
	// the last windows reach past the edges, shift moves them back into the
	// scene (along a side shorter than Size it pads), drop leaves them out.
	// Default pad.
	Edge string `json:"edge"`
	// Skip leaves out windows: none; missing, those whose strips and tiles are
	// all missing in a sparse file; nodata, those and the ones without data:
	// where all chosen bands have the no-data value. Open then decodes strips
	// and tiles of each window, until it finds data. Default none.
	Skip string `json:"skip"`
	// Bands are the chosen bands in their order in image, numbered from 0; GDAL
	// numbers them from 1. 1 to 64. Default: all.
	Bands []int `json:"bands"`
	// Mask adds the column mask. Default false.
	Mask bool `json:"mask"`
	// CacheBytes bounds the decompressed strips and tiles of all scenes that
	// are kept for later windows, in bytes. Default 64 MiB.
	CacheBytes int64 `json:"cache_bytes"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "tiles", Version: 1, New: func() dataset.Node { return New() },
		Doc: "windows of large TIFF files, such as scenes of satellites",
	})
}

// Values of Skip.
const (
	skipNone    = "none"
	skipMissing = "missing"
	skipNoData  = "nodata"
)

// Bounds of the parameters.
const (
	maxSize  = 10_000 // codec.DefaultLimits has 100 megapixels
	maxBands = 64
	maxCache = 1 << 40
)

// maxSkipped bounds the windows that are looked at to skip some: the list of
// those that are left takes 4 bytes for each.
const maxSkipped = 1 << 24

// New returns a source of windows of 512 x 512 pixels without overlap, padded
// at the edges.
func New(files ...string) *Tiles {
	return &Tiles{
		Files: append([]string{}, files...), Size: 512, Edge: tilegrid.Pad.String(), Skip: skipNone,
		Bands: []int{}, CacheBytes: 64 << 20,
	}
}

// Validate requires files, and parameters within their ranges.
func (o *Tiles) Validate() error {
	if len(o.Files) == 0 {
		return fmt.Errorf("%w: no files, want 1 or more", dataset.ErrParam)
	}
	if o.Size > maxSize {
		return fmt.Errorf("%w: size %d, want 1 to %d", dataset.ErrParam, o.Size, maxSize)
	}
	g, err := o.grid(1, 1)
	if err == nil {
		err = g.Validate()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", dataset.ErrParam, err)
	}
	if skips := []string{skipNone, skipMissing, skipNoData}; !slices.Contains(skips, o.Skip) {
		return fmt.Errorf("%w: unknown skip %q, want one of %s%s", dataset.ErrParam, o.Skip, strings.Join(skips, ", "), registry.DidYouMean(o.Skip, skips))
	}
	if len(o.Bands) > maxBands {
		return fmt.Errorf("%w: %d bands, want at most %d", dataset.ErrParam, len(o.Bands), maxBands)
	}
	for _, b := range o.Bands {
		if b < 0 || b >= maxBands {
			return fmt.Errorf("%w: band %d, want 0 to %d", dataset.ErrParam, b, maxBands-1)
		}
	}
	if o.CacheBytes < 0 || o.CacheBytes > maxCache {
		return fmt.Errorf("%w: cache_bytes %d, want 0 to %d", dataset.ErrParam, o.CacheBytes, int64(maxCache))
	}
	return nil
}

// grid returns the windows of an image.
func (o *Tiles) grid(width, height int) (tilegrid.Grid, error) {
	g := tilegrid.Grid{Width: width, Height: height, Size: o.Size, Overlap: o.Overlap}
	return g, g.Edge.UnmarshalText([]byte(o.Edge))
}

// Open opens the scenes.
func (o *Tiles) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("tiles: %w", err)
	}
	d, err := o.open(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("tiles: %w", err)
	}
	return d, nil
}

// atOnce is the number of scenes, or windows of a scene, that Open reads at
// once. Stores far away have a delay of their own for each.
const atOnce = 16

func (o *Tiles) open(ctx context.Context, s store.Opener) (_ *rows, err error) {
	names, err := o.list(ctx, s)
	if err != nil {
		return nil, err
	}
	cache, err := tiff.NewCache(o.CacheBytes)
	if err != nil {
		return nil, err
	}
	d := &rows{o: *o, scenes: make([]scene, len(names)), starts: []int64{0}}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	if err := each(ctx, len(names), func(i int) error {
		if err := d.scenes[i].open(ctx, s, names[i], cache, o); err != nil {
			return fmt.Errorf("%w: %s: %w", dataset.ErrData, store.Redact(names[i]), err)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	first := &d.scenes[0]
	d.dtype, d.bands = first.info.DType, first.info.Bands
	if len(o.Bands) > 0 {
		d.bands = len(o.Bands)
	}
	looked := 0
	for i := range d.scenes {
		x := &d.scenes[i]
		if x.info.DType != d.dtype || len(o.Bands) == 0 && x.info.Bands != d.bands {
			return nil, fmt.Errorf("%w: %s has %d bands of %v, and %s has %d of %v: want the same in all scenes", dataset.ErrData,
				store.Redact(x.name), x.info.Bands, x.info.DType, store.Redact(first.name), first.info.Bands, first.info.DType)
		}
		n := x.grid.Len()
		if o.Skip != skipNone {
			if looked += n; looked > maxSkipped {
				return nil, fmt.Errorf("%w: more than %d windows with skip %q, want fewer, or skip \"none\"", dataset.ErrData, maxSkipped, o.Skip)
			}
			if err := x.skip(ctx, o); err != nil {
				return nil, fmt.Errorf("%w: %s: %w", dataset.ErrData, store.Redact(x.name), err)
			}
			n = len(x.kept)
		}
		d.starts = append(d.starts, d.Len()+int64(n))
	}
	if d.Len() == 0 {
		return nil, fmt.Errorf("%w: %s: no windows of %d pixels with edge %q and skip %q", dataset.ErrData, store.RedactAll(o.Files), o.Size, o.Edge, o.Skip)
	}
	return d, nil
}

// list returns the names of the scenes.
func (o *Tiles) list(ctx context.Context, s store.Opener) ([]string, error) {
	var names []string
	for _, name := range store.Split(ctx, s, o.Files) {
		info, err := s.Stat(ctx, name)
		folder := err == nil && info.Folder
		found, err := store.Files(ctx, s, []string{name}, folder)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", dataset.ErrData, err)
		}
		before := len(names)
		for _, f := range found {
			ext := strings.ToLower(path.Ext(store.Path(f.Name)))
			if !folder || ext == ".tif" || ext == ".tiff" {
				names = append(names, f.Name)
			}
		}
		if len(names) == before {
			return nil, fmt.Errorf("%w: %s has no file with the extension .tif or .tiff", dataset.ErrData, store.Redact(name))
		}
	}
	if len(names) > math.MaxInt32 {
		return nil, fmt.Errorf("%w: %d scenes, want at most %d", dataset.ErrData, len(names), math.MaxInt32)
	}
	return names, nil
}

// each calls f for 0 to n-1 on several goroutines, until one fails or ctx ends.
// It returns the error of the lowest number.
func each(ctx context.Context, n int, f func(int) error) error {
	var mu sync.Mutex
	next, failed := 0, n
	var first error
	var all sync.WaitGroup
	for range min(n, atOnce) {
		all.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := first != nil
				mu.Unlock()
				if i >= n || stop {
					return
				}
				err := ctx.Err()
				if err == nil {
					err = f(i)
				}
				if err != nil {
					mu.Lock()
					if i < failed {
						first, failed = err, i
					}
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	return first
}

// scene is an open file.
type scene struct {
	name  string
	file  store.File // nil when closed
	size  int64      // of the file in bytes
	image *tiff.Image
	info  tiff.Info
	geo   tiff.Geo
	grid  tilegrid.Grid
	bands []int    // nil for all
	kept  []uint32 // the windows that are not skipped
}

// open reads the description of a scene.
func (x *scene) open(ctx context.Context, s store.Opener, name string, cache *tiff.Cache, o *Tiles) (err error) {
	x.name = name
	if x.file, err = s.Open(ctx, name); err != nil {
		return err
	}
	x.size = x.file.Size()
	r, err := tiff.NewReader(x.file, x.size, &tiff.Options{Cache: cache})
	if err != nil {
		return err
	}
	if x.image, err = r.Image(0); err != nil {
		return err
	}
	if x.info, err = x.image.Info(); err != nil {
		return err
	}
	if x.info.DType == tensor.Invalid {
		return fmt.Errorf("samples of %s, which tensors do not have", x.info.Type)
	}
	if x.geo, err = x.image.Geo(); err != nil {
		return err
	}
	if len(o.Bands) > 0 {
		x.bands = o.Bands
	}
	for _, b := range x.bands {
		if b >= x.info.Bands {
			return fmt.Errorf("%w: band %d of a scene with %d bands", dataset.ErrParam, b, x.info.Bands)
		}
	}
	if x.grid, err = o.grid(x.info.Width, x.info.Height); err != nil {
		return err
	}
	return x.grid.Validate()
}

// skip lists the windows that are kept.
func (x *scene) skip(ctx context.Context, o *Tiles) error {
	n := x.grid.Len()
	keep := make([]bool, n)
	if err := each(ctx, n, func(i int) error {
		l, t, w, h := x.grid.Window(i)
		part := codec.Region{Left: l, Top: t, Width: w, Height: h}
		missing, err := x.image.Missing(part)
		if err != nil || missing {
			return err
		}
		keep[i] = true
		if o.Skip == skipNoData && x.geo.HasNoData {
			keep[i], err = x.data(part)
		}
		return err
	}); err != nil {
		return err
	}
	x.kept = []uint32{}
	for i, k := range keep {
		if k {
			x.kept = append(x.kept, uint32(i))
		}
	}
	return nil
}

// data reports whether a window has data. It reads strip by strip, or tile by
// tile, until it finds some.
func (x *scene) data(w codec.Region) (bool, error) {
	valid := validator(x.info.DType, x.geo.NoData)
	if valid == nil {
		return true, nil
	}
	bands := x.info.Bands
	if x.bands != nil {
		bands = len(x.bands)
	}
	size := x.info.DType.Size()
	var buf []byte
	for top := w.Top; top < w.Top+w.Height; {
		bottom := min((top/x.info.BlockHeight+1)*x.info.BlockHeight, w.Top+w.Height)
		for left := w.Left; left < w.Left+w.Width; {
			right := min((left/x.info.BlockWidth+1)*x.info.BlockWidth, w.Left+w.Width)
			part := codec.Region{Left: left, Top: top, Width: right - left, Height: bottom - top}
			n := part.Width * part.Height * bands * size
			buf = slices.Grow(buf[:0], n)[:n]
			if err := x.image.ReadPadded(buf, part, x.bands); err != nil {
				return false, err
			}
			for k := 0; k < n; k += size {
				if valid(buf[k:]) {
					return true, nil
				}
			}
			left = right
		}
		top = bottom
	}
	return false, nil
}

// rows is the opened scenes.
type rows struct {
	o      Tiles
	scenes []scene
	starts []int64 // the first row of each scene, and the number of rows
	dtype  tensor.DType
	bands  int
}

// Columns returns the columns that Tiles describes.
func (d *rows) Columns() []dataset.Column {
	l := []dataset.Column{
		{Name: "image", Desc: d.desc(d.dtype, d.bands)},
		{Name: "scene", Desc: tensor.Desc{DType: tensor.Int32}},
		{Name: "window", Desc: windowDesc},
		{Name: "transform", Desc: transformDesc},
	}
	if d.o.Mask {
		l = append(l, dataset.Column{Name: "mask", Desc: d.desc(tensor.Uint8, 1)})
	}
	return l
}

var (
	windowDesc    = tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(4)}
	transformDesc = tensor.Desc{DType: tensor.Float64, Shape: tensor.Dims(6)}
)

// desc describes an image of a window.
func (d *rows) desc(t tensor.DType, bands int) tensor.Desc {
	return tensor.Image(t, tensor.HWC, d.o.Size, d.o.Size, bands)
}

// Len returns the number of windows.
func (d *rows) Len() int64 { return d.starts[len(d.starts)-1] }

// Shards returns the first row of each scene.
func (d *rows) Shards() []int64 { return slices.Clone(d.starts[:len(d.starts)-1]) }

// Keys yields the name, the size and the number of windows of each scene.
func (d *rows) Keys(yield func(string) bool) {
	for i := range d.scenes {
		x := &d.scenes[i]
		if !yield(fmt.Sprintf("%s, %d windows", files.SizeKey(x.name, x.size), d.starts[i+1]-d.starts[i])) {
			return
		}
	}
}

// Read reads a window.
func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, d.Len()); err != nil {
		return fmt.Errorf("tiles: %w", err)
	}
	// Scenes without windows begin where the next one does.
	k := sort.Search(len(d.scenes), func(k int) bool { return d.starts[k+1] > i })
	x, n := &d.scenes[k], int(i-d.starts[k])
	if x.kept != nil {
		n = int(x.kept[n])
	}
	left, top, width, height := x.grid.Window(n)
	s.Key = x.name + ":" + strconv.Itoa(top) + ":" + strconv.Itoa(left)
	image := s.Column("image")
	if err := image.Reset(d.desc(d.dtype, d.bands)); err != nil {
		return err
	}
	if err := x.image.ReadPadded(image.Data, codec.Region{Left: left, Top: top, Width: d.o.Size, Height: d.o.Size}, x.bands); err != nil {
		return fmt.Errorf("tiles: %w: %s: %w", dataset.ErrData, store.Redact(s.Key), err)
	}
	if err := s.Column("scene").SetInt32(int32(k)); err != nil {
		return err
	}
	window := s.Column("window")
	if err := window.Reset(windowDesc); err != nil {
		return err
	}
	copy(tensor.View[int32](&window.Tensor), []int32{int32(left), int32(top), int32(width), int32(height)})
	transform := s.Column("transform")
	if err := transform.Reset(transformDesc); err != nil {
		return err
	}
	*(*[6]float64)(tensor.View[float64](&transform.Tensor)) = x.geo.Window(left, top)
	if !d.o.Mask {
		return nil
	}
	mask := s.Column("mask")
	if err := mask.Reset(d.desc(tensor.Uint8, 1)); err != nil {
		return err
	}
	x.mask(mask.Data, image.Data, d.o.Size, width, height, d.bands)
	return nil
}

// mask writes the mask of a window of size x size pixels of which width x
// height are within the scene.
func (x *scene) mask(dst, image []byte, size, width, height, bands int) {
	clear(dst)
	var valid func([]byte) bool
	if x.geo.HasNoData {
		valid = validator(x.info.DType, x.geo.NoData)
	}
	sample := x.info.DType.Size()
	for r := range height {
		for c := range width {
			at := r*size + c
			for k := at * bands; k < (at+1)*bands; k++ {
				if valid == nil || valid(image[k*sample:]) {
					dst[at] = 255
					break
				}
			}
		}
	}
}

// Close closes the scenes.
func (d *rows) Close() error {
	var errs []error
	for i := range d.scenes {
		if f := d.scenes[i].file; f != nil {
			errs = append(errs, f.Close())
			d.scenes[i].file = nil
		}
	}
	return errors.Join(errs...)
}
