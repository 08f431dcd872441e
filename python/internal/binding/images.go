package binding

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/memory"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// Image is an image of Python's: encoded, or pixels where they lie in memory.
// It is used during a call only.
type Image struct {
	Encoded []byte
	Pixels  *memory.Image // nil if it is encoded
}

// modes are the modes of pixels by the number of their samples.
var modes = [...]codec.Mode{1: codec.L, 2: codec.LA, 3: codec.RGB, 4: codec.RGBA}

// Pixels returns an image of uint8 pixels in memory that Go does not manage.
// data is the address of the first sample of the first pixel. The strides are
// in bytes.
func Pixels(data unsafe.Pointer, height, width, channels, row, pixel, sample int) (Image, error) {
	if data == nil || channels < 1 || channels >= len(modes) {
		return Image{}, fmt.Errorf("infer_prep: run: %w: pixels of %d channels, want 1 to 4, in memory", errInput, channels)
	}
	m := &memory.Image{Width: width, Height: height, Mode: modes[channels], Row: row, Pixel: pixel, Sample: sample}
	before, n, err := m.Extent()
	if err != nil {
		return Image{}, fmt.Errorf("infer_prep: run: %w: %w", errInput, err)
	}
	m.Offset = before
	m.Data = unsafe.Slice((*byte)(unsafe.Add(data, -before)), n)
	return Image{Pixels: m}, nil
}

// input returns the form that graphs take, for use until done.
func (i Image) input() (encoded []byte, done func(), err error) {
	if i.Pixels == nil {
		return i.Encoded, func() {}, nil
	}
	if encoded, done, err = memory.Lend(*i.Pixels); err != nil {
		err = fmt.Errorf("infer_prep: run: %w: %w", errInput, err)
	}
	return encoded, done, err
}

// RunBatch runs the graph on images on all processors, and lends the batch that
// the graph's batch rules make of the outputs. It does not keep the images. The
// error is that of the first image that fails, and names its place in the list.
func (g *Graph) RunBatch(images []Image) (*Tensors, error) {
	if len(images) == 0 {
		return nil, fmt.Errorf("infer_prep: run_batch: %w: no images", errInput)
	}
	if err := g.use(); err != nil {
		return nil, err
	}
	if descs := g.fixed(); descs != nil {
		return g.runStack(images, descs)
	}
	each := make([]*Tensors, len(images))
	defer func() {
		for _, t := range each {
			if t != nil {
				t.Release()
			}
		}
	}()
	err := parallel("image", len(images), func(i int) (err error) {
		each[i], err = g.Run(images[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	samples := make([][]*tensor.Tensor, len(images))
	for i, t := range each {
		for j := range t.list {
			samples[i] = append(samples[i], &t.list[j])
		}
	}
	batch, err := g.plan.Collate(samples)
	if err != nil {
		return nil, fmt.Errorf("infer_prep: run_batch: %w", err)
	}
	t := &Tensors{}
	for _, x := range batch {
		t.list = append(t.list, *x)
	}
	return t, nil
}

// fixed describes the outputs if they are equal for every image and a batch
// stacks them, else it returns nil.
func (g *Graph) fixed() (l []tensor.Desc) {
	for _, c := range g.plan.Outputs() {
		d := c.Desc
		if c.Batch.Rule != datagraph.BatchStack || d.DType == tensor.Bytes || d.Shape.Rank() >= tensor.MaxRank {
			return nil
		}
		for a := range d.Shape.Rank() {
			if d.Shape.At(a) < 0 {
				return nil
			}
		}
		l = append(l, d)
	}
	return l
}

// maxStacks is the number of batches whose memory is kept for later ones: a
// program often makes a batch while it uses the one before.
const maxStacks = 2

// runStack writes the outputs of every image to their place in the batch.
func (g *Graph) runStack(images []Image, descs []tensor.Desc) (*Tensors, error) {
	memory := make([][]byte, len(descs))
	g.mu.Lock()
	if n := len(g.stacks); n > 0 {
		memory, g.stacks = g.stacks[n-1], g.stacks[:n-1]
	}
	g.mu.Unlock()
	t := &Tensors{list: make([]tensor.Tensor, len(descs))}
	for j, d := range descs {
		shape := tensor.Dims(len(images))
		for a := range d.Shape.Rank() {
			shape = shape.Append(d.Shape.At(a))
		}
		t.list[j].Data = memory[j]
		if err := t.list[j].Reset(tensor.Desc{DType: d.DType, Shape: shape}); err != nil {
			return nil, fmt.Errorf("infer_prep: run_batch: %w", err)
		}
		memory[j] = t.list[j].Data
	}
	t.release = func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if !g.closed && len(g.stacks) < maxStacks {
			g.stacks = append(g.stacks, memory)
		}
	}
	err := parallel("image", len(images), func(i int) error {
		dst := make([][]byte, len(descs))
		for j, d := range descs {
			n := int(d.Size())
			dst[j] = t.list[j].Data[i*n:][:n:n]
		}
		_, err := g.RunInto(images[i], dst)
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// parallel calls f for 0 to n-1 on all processors. It returns the error of the
// smallest number, with that number and what is numbered; after one, later
// calls may be left out.
func parallel(what string, n int, f func(i int) error) error {
	var wait sync.WaitGroup
	var next atomic.Int64
	var failed atomic.Bool
	errs := make([]error, n)
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= n || failed.Load() {
				return
			}
			errs[i] = func() (err error) {
				defer Guard(&err)
				return f(i)
			}()
			if errs[i] != nil {
				failed.Store(true)
			}
		}
	}
	for range min(n, runtime.GOMAXPROCS(0)) - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
	for i, err := range errs {
		if err != nil && n > 1 && !errors.Is(err, errClosed) {
			return fmt.Errorf("infer_prep: batch: %s %d: %w", what, i, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
