// Package animationframes reads the frames of animated images. Columns: image,
// file, frame, duration. Reference: Pillow.
package animationframes

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
	"github.com/infer-prep/infer-prep/codec/animation"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// AnimationFrames reads one sample from each frame of animated GIF, PNG, WebP
// and AVIF files. A still image of any format has one frame. Rows are the
// frames of all files, in the order of the files.
//
// Columns:
//
//   - image: uint8 HWC (height, width, 3), RGB: the whole canvas after the
//     frame has been drawn on it, as decode_frames describes it.
//   - file: int32 scalar, the number of the file from 0.
//   - frame: int32 scalar, the number of the frame in its file from 0.
//   - duration: float64 scalar, seconds for which the frame is shown; 0 if the
//     file does not say it.
//
// The Key is the file and the frame: "cats/a.gif:12".
//
// Open reads each file to find its frames, up to 16 files at once. A frame
// needs those before it, so that it costs little after the one before it, and
// the time of all frames before it otherwise: shuffle with ShuffleShards, whose
// shards are the files, and a ShuffleBuffer. Goroutines that read one file wait
// for each other. Up to 8 files stay in memory, each with up to five images of
// its canvas and its last 16 frames, or those that fit 32 MiB. AVIF needs
// package codec/avif and libavif. A canvas has at most the pixels and the bytes
// of codec.DefaultLimits; the number of frames is limited by
// animation.MaxFrames alone.
//
// Reference: Pillow 13.0.0, ImageSequence.Iterator(img), each frame converted
// to RGB before the next is asked for. Pillow has durations in milliseconds;
// those of AVIF are rounded there.
type AnimationFrames struct {
	// Files are names of files and folders, as store.Files expands them. In a
	// folder and the folders below it, all files with the extension .gif, .png,
	// .apng, .webp or .avif are read, sorted by name.
	Files []string `json:"files"`
}

var extensions = []string{".gif", ".png", ".apng", ".webp", ".avif"}

func init() {
	dataset.Register(dataset.Info{
		Name: "animation_frames", Version: 1, New: func() dataset.Node { return New() },
		Doc: "the frames of animated GIF, PNG, WebP and AVIF files",
	})
}

// New returns a source of the frames of files.
func New(files ...string) *AnimationFrames {
	return &AnimationFrames{Files: append([]string{}, files...)}
}

// Validate requires at least one file.
func (o *AnimationFrames) Validate() error {
	if len(o.Files) == 0 {
		return fmt.Errorf("%w: no files, want 1 or more", dataset.ErrParam)
	}
	return nil
}

// atOnce is the number of files that Open reads at once.
const atOnce = 16

// Open finds the frames of all files.
func (o *AnimationFrames) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	r, err := o.open(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("animationframes: %w", err)
	}
	return r, nil
}

func (o *AnimationFrames) open(ctx context.Context, s store.Opener) (*rows, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	names, err := o.list(ctx, s)
	if err != nil {
		return nil, err
	}
	r := &rows{store: s, files: make([]file, len(names)), starts: []int64{0}}
	var wait sync.WaitGroup
	gate := make(chan struct{}, atOnce)
	errs := make([]error, len(names))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for i, name := range names {
		gate <- struct{}{}
		wait.Go(func() {
			defer func() { <-gate }()
			a, size, err := read(ctx, s, name)
			if errs[i] = err; err != nil {
				stop()
				return
			}
			f := &r.files[i]
			f.name, f.size, f.frames = name, size, len(a.Delays)
		})
	}
	wait.Wait()
	// The error of a file that failed by itself, if there is one.
	slices.SortStableFunc(errs, func(a, b error) int {
		ended := func(err error) int {
			if errors.Is(err, context.Canceled) {
				return 1
			}
			return 0
		}
		return ended(a) - ended(b)
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	for i := range r.files {
		r.starts = append(r.starts, r.Len()+int64(r.files[i].frames))
	}
	return r, nil
}

// list returns the names of the files.
func (o *AnimationFrames) list(ctx context.Context, s store.Opener) ([]string, error) {
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
			if !folder || slices.Contains(extensions, strings.ToLower(path.Ext(store.Path(f.Name)))) {
				names = append(names, f.Name)
			}
		}
		if len(names) == before {
			return nil, fmt.Errorf("%w: %s has no file with the extension %s", dataset.ErrData, store.Redact(name), strings.Join(extensions, ", "))
		}
	}
	if len(names) > math.MaxInt32 {
		return nil, fmt.Errorf("%w: %d files, want at most %d", dataset.ErrData, len(names), math.MaxInt32)
	}
	return names, nil
}

// canvases is the number of bytes that a pixel of the canvas takes: four images
// of RGBA, and one of RGB.
const canvases = 19

// one is the limit of a file: all frames together have none.
var one = codec.Limits{Bytes: -1}

// read reads a file and its structure.
func read(ctx context.Context, s store.Opener, name string) (*animation.Animation, int64, error) {
	var v dataset.Value
	if err := files.Read(ctx, s, &v, name); err != nil {
		return nil, 0, err
	}
	a, err := animation.Open(v.Data, one)
	if err == nil {
		err = codec.DefaultLimits().CheckSize(codec.Sniff(v.Data), a.Width, a.Height, canvases)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %s: %w", dataset.ErrData, store.Redact(name), err)
	}
	return a, int64(len(v.Data)), nil
}

// file is a file with frames.
type file struct {
	name   string
	size   int64
	frames int

	mu     sync.Mutex
	player *player // nil if the file is not in memory
}

// player is an open animation. It keeps the frames that it decoded last, for
// goroutines that read neighbours.
type player struct {
	a      *animation.Animation
	recent [][]byte // of the frames up to next-1, in the places of their numbers modulo the length
	first  int      // of the frames in recent
	next   int
}

// Frames that a player keeps: at most recentFrames, and recentBytes if that is
// more than one.
const (
	recentFrames = 16
	recentBytes  = 32 << 20
)

func newPlayer(a *animation.Animation) *player {
	n := max(1, min(recentFrames, len(a.Delays), recentBytes/(3*a.Width*a.Height)))
	return &player{a: a, recent: make([][]byte, n)}
}

// frame returns a frame, valid until the next call.
func (p *player) frame(n int) ([]byte, error) {
	keep := len(p.recent)
	if n < p.next && n >= p.first {
		return p.recent[n%keep], nil
	}
	if n < p.next || n >= p.next+keep { // leave out frames that recent would lose
		p.next = max(0, n-keep+1)
		p.first = p.next
	}
	for ; p.next <= n; p.next++ {
		rgb, err := p.a.Frame(p.next)
		if err != nil {
			p.first = p.next
			return nil, err
		}
		slot := &p.recent[p.next%keep]
		*slot = append((*slot)[:0], rgb...)
		p.first = max(p.first, p.next-keep+1)
	}
	return p.recent[n%keep], nil
}

// rows is the opened files.
type rows struct {
	store  store.Opener
	files  []file
	starts []int64 // the first row of each file, and the number of rows

	mu   sync.Mutex
	open []int // the files in memory; those that were used last are at the end
}

// maxOpen is the number of files that stay in memory.
const maxOpen = 8

// used notes that a file is in memory, and drops the one that was used longest
// ago if there are too many and no goroutine reads it.
func (r *rows) used(k int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = append(slices.DeleteFunc(r.open, func(i int) bool { return i == k }), k)
	for i := 0; len(r.open) > maxOpen && i < len(r.open); {
		f := &r.files[r.open[i]]
		if !f.mu.TryLock() {
			i++
			continue
		}
		f.player = nil
		f.mu.Unlock()
		r.open = slices.Delete(r.open, i, i+1)
	}
}

// Columns returns the columns that AnimationFrames describes.
func (r *rows) Columns() []dataset.Column {
	n := tensor.Unknown
	return []dataset.Column{
		{Name: "image", Desc: tensor.Image(tensor.Uint8, tensor.HWC, n, n, 3)},
		{Name: "file", Desc: tensor.Desc{DType: tensor.Int32}},
		{Name: "frame", Desc: tensor.Desc{DType: tensor.Int32}},
		{Name: "duration", Desc: tensor.Desc{DType: tensor.Float64}},
	}
}

// Len returns the number of frames.
func (r *rows) Len() int64 { return r.starts[len(r.starts)-1] }

// Shards returns the first row of each file.
func (r *rows) Shards() []int64 { return slices.Clone(r.starts[:len(r.starts)-1]) }

// Ordered reports that frames are fast to read in their order only.
func (r *rows) Ordered() bool { return r.Len() > int64(len(r.files)) }

// Keys yields the name, the size and the number of frames of each file.
func (r *rows) Keys(yield func(string) bool) {
	for i := range r.files {
		f := &r.files[i]
		if !yield(fmt.Sprintf("%s, %d frames", files.SizeKey(f.name, f.size), f.frames)) {
			return
		}
	}
}

// place returns the file and the frame of a row.
func (r *rows) place(i int64) (file, frame int) {
	k := sort.Search(len(r.files), func(k int) bool { return r.starts[k+1] > i })
	return k, int(i - r.starts[k])
}

// Read reads a frame.
func (r *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, r.Len()); err != nil {
		return fmt.Errorf("animationframes: %w", err)
	}
	k, n := r.place(i)
	f := &r.files[k]
	s.Key = f.name + ":" + strconv.Itoa(n)
	d, err := r.read(ctx, f, n, s.Column("image"))
	r.used(k)
	if err != nil {
		return fmt.Errorf("animationframes: %w", err)
	}
	seconds := 0.0
	if d.Den > 0 {
		seconds = float64(d.Num) / float64(d.Den)
	}
	if err := s.Column("file").SetInt32(int32(k)); err != nil {
		return err
	}
	if err := s.Column("frame").SetInt32(int32(n)); err != nil {
		return err
	}
	duration := s.Column("duration")
	if err := duration.Reset(tensor.Desc{DType: tensor.Float64}); err != nil {
		return err
	}
	tensor.View[float64](&duration.Tensor)[0] = seconds
	return nil
}

// read reads frame n of a file, and its delay.
func (r *rows) read(ctx context.Context, f *file, n int, image *dataset.Value) (d animation.Delay, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.player == nil {
		a, _, err := read(ctx, r.store, f.name)
		if err != nil {
			return d, err
		}
		if len(a.Delays) != f.frames {
			return d, fmt.Errorf("%w: %s has %d frames, and had %d when it was opened", dataset.ErrData, store.Redact(f.name), len(a.Delays), f.frames)
		}
		f.player = newPlayer(a)
	}
	rgb, err := f.player.frame(n)
	if err != nil {
		return d, fmt.Errorf("%w: %s: frame %d: %w", dataset.ErrData, store.Redact(f.name), n, err)
	}
	a := f.player.a
	if err := image.Reset(tensor.Image(tensor.Uint8, tensor.HWC, a.Height, a.Width, 3)); err != nil {
		return d, err
	}
	copy(image.Data, rgb)
	return a.Delays[n], nil
}

// Stamp implements dataset.Stamped.
func (r *rows) Stamp(ctx context.Context, i int64, b []byte) ([]byte, error) {
	if err := files.Check(ctx, i, r.Len()); err != nil {
		return nil, fmt.Errorf("animationframes: %w", err)
	}
	k, n := r.place(i)
	b, err := files.Stamp(ctx, r.store, b, r.files[k].name)
	if err != nil {
		return nil, fmt.Errorf("animationframes: %w", err)
	}
	return fmt.Appendf(b, "%d:%d", k, n), nil
}

// Close drops the files that are in memory.
func (r *rows) Close() error {
	for i := range r.files {
		r.files[i].player = nil
	}
	return nil
}
