// Package inferprep opens a model's preprocessing and runs it:
//
//	p, err := inferprep.Open("model/")
//	image, err := os.ReadFile("cat.jpg")
//	out, err := p.Run(ctx, tensor.FromBytes(image))
//	x := out["pixel_values"]
//
// Open takes a model's folder, a bundle, a graph, or the name of a preset, such
// as "preset:imagenet". It takes the files of all importers too:
// preprocessor_config.json, config.json, printed transforms, metadata.yaml, and
// TFLite, ONNX and MindIR models. It recognizes the format by the content. The
// tensors have the bytes of the format's reference.
//
// The package links every image format and every importer. A program that must
// be small builds its graph with package datagraph instead.
package inferprep

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all" // every image format
	"github.com/infer-prep/infer-prep/codec/pixels"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// Options are the options of New. The zero value means the defaults.
type Options struct {
	// Limits bounds the size of images and the memory of each run. Default:
	// codec.DefaultLimits.
	Limits codec.Limits
	// Jobs is the number of runs at once; further ones wait. While there are
	// fewer, several goroutines decode a large JPEG. Default: GOMAXPROCS.
	Jobs int
	// Bytes bounds the memory of all runs together, estimated from the images'
	// headers; further runs wait. Default: Limits.Bytes; -1 means no limit.
	Bytes int64
}

// Preprocessor turns images into the input tensors of a model. It is safe for
// concurrent use.
type Preprocessor struct {
	pool    *datagraph.Pool
	columns []datagraph.Column
	encoded bool      // the graph takes an encoded image
	headers sync.Pool // of *[]byte: pixels with a header
}

// Open opens the preprocessing that name names, with the default options. See
// [Source] for the names. Errors wrap those of package importer, ErrUnknown or
// ErrAmbiguous.
func Open(name string) (*Preprocessor, error) {
	g, err := Source{Name: name}.Graph(context.Background())
	if err != nil {
		return nil, err
	}
	return New(g, Options{})
}

// New returns a Preprocessor of a graph with one input, an encoded image or
// pixels.
func New(g *datagraph.Graph, o Options) (*Preprocessor, error) {
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{Limits: o.Limits})
	if err != nil {
		return nil, err
	}
	if len(g.Inputs) != 1 {
		return nil, fmt.Errorf("inferprep: new: the graph has the inputs %v, want one image: %w", g.Inputs, transforms.ErrInput)
	}
	return &Preprocessor{
		pool: plan.NewPool(datagraph.PoolOptions{Jobs: o.Jobs, Bytes: o.Bytes}), columns: plan.Outputs(),
		encoded: g.Inputs[0].Desc.DType == tensor.Bytes,
	}, nil
}

// Graph returns the graph. Do not modify it.
func (p *Preprocessor) Graph() *datagraph.Graph { return p.pool.Plan().Graph() }

// Pool returns the pool that runs the graph, to run more with its memory.
func (p *Preprocessor) Pool() *datagraph.Pool { return p.pool }

// Outputs describes the outputs: the model's inputs, then further columns, such
// as the scale and padding of a letterbox. Sizes that depend on the image are
// tensor.Unknown.
func (p *Preprocessor) Outputs() []datagraph.Column { return slices.Clone(p.columns) }

// Run returns the outputs for an image by name. The caller owns them. The image
// is encoded, tensor.FromBytes(file), or pixels: a uint8 tensor, HWC or CHW, of
// 1 (gray), 3 (RGB) or 4 (RGBA) channels. The graph treats pixels as it treats
// a file of them.
//
// Errors wrap those of the decoders and ops, such as codec.ErrFormat,
// codec.ErrLimit and transforms.ErrInput, or are the cause of ctx.
func (p *Preprocessor) Run(ctx context.Context, image *tensor.Tensor) (map[string]*tensor.Tensor, error) {
	out := make(map[string]*tensor.Tensor, len(p.columns))
	return out, p.RunInto(ctx, out, image)
}

// RunInto is Run with memory of the caller: it replaces the outputs in out and
// uses the memory of those that are there. In steady state it allocates
// nothing. After an error the contents of out are undefined.
func (p *Preprocessor) RunInto(ctx context.Context, out map[string]*tensor.Tensor, image *tensor.Tensor) error {
	if image == nil {
		return fmt.Errorf("inferprep: run: the image is nil: %w", transforms.ErrInput)
	}
	if p.encoded && image.DType != tensor.Bytes {
		b, _ := p.headers.Get().(*[]byte)
		if b == nil {
			b = new([]byte)
		}
		defer p.headers.Put(b)
		var err error
		if *b, err = withHeader((*b)[:0], image, p.pool.Plan().Limits()); err != nil {
			return err
		}
		image = tensor.FromBytes(*b)
	}
	return p.pool.Do(ctx, func(r *datagraph.Runner) error {
		if _, err := r.Run(image); err != nil {
			return err
		}
		for i := range p.columns {
			if err := take(r, i, out, p.columns[i].Name); err != nil {
				return err
			}
		}
		return nil
	})
}

// take moves output i of a run to out.
func take(r *datagraph.Runner, i int, out map[string]*tensor.Tensor, name string) error {
	t := out[name]
	if t == nil {
		t = &tensor.Tensor{}
		out[name] = t
	}
	x, own := r.Take(i, t.Data)
	if own && (x.DType == tensor.Bytes || x.Dense()) {
		*t = x
		return nil
	}
	if x.DType == tensor.Bytes {
		t.Desc, t.Data = x.Desc, append(t.Data[:0], x.Data...)
		return nil
	}
	if err := t.Reset(x.Desc); err != nil {
		return err
	}
	return x.CopyTo(t)
}

// RunBatch runs the images, as many at once as Options.Jobs, and returns a
// batch of each output, which the caller owns. The graph says how a batch is
// formed; see datagraph.Batching. The error of an image names its number.
func (p *Preprocessor) RunBatch(ctx context.Context, images []*tensor.Tensor) (map[string]*tensor.Tensor, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	samples := make([][]*tensor.Tensor, len(images))
	var wg sync.WaitGroup
	for i, image := range images {
		wg.Go(func() {
			out, err := p.Run(ctx, image)
			if err != nil {
				cancel(fmt.Errorf("inferprep: image %d: %w", i, err))
				return
			}
			samples[i] = make([]*tensor.Tensor, len(p.columns))
			for j, c := range p.columns {
				samples[i][j] = out[c.Name]
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	batch, err := p.pool.Plan().Collate(samples)
	if err != nil {
		return nil, err
	}
	out := make(map[string]*tensor.Tensor, len(batch))
	for j, t := range batch {
		out[p.columns[j].Name] = t
	}
	return out, nil
}

// Sizes returns the descriptions of the outputs, by name, for an image of a
// height and a width, without pixels. The sides are those of the decoded image,
// in pixels. A size that depends on more than that is tensor.Unknown.
func (p *Preprocessor) Sizes(height, width int) (map[string]tensor.Desc, error) {
	columns, err := p.pool.Plan().Sizes(height, width)
	if err != nil {
		return nil, err
	}
	out := make(map[string]tensor.Desc, len(columns))
	for _, c := range columns {
		out[c.Name] = c.Desc
	}
	return out, nil
}

// modes maps the channels of pixels to their modes.
var modes = map[int]codec.Mode{1: codec.L, 3: codec.RGB, 4: codec.RGBA}

// withHeader appends pixels to b in the form of package pixels.
func withHeader(b []byte, t *tensor.Tensor, l codec.Limits) ([]byte, error) {
	mode, ok := modes[channels(t)]
	if !ok || t.DType != tensor.Uint8 {
		return b, fmt.Errorf("inferprep: run: the image is %v, want an encoded image, or uint8 HWC or CHW of %v channels: %w",
			t.Desc, slices.Sorted(maps.Keys(modes)), transforms.ErrInput)
	}
	h, w := t.Height(), t.Width()
	if n := t.Desc.Size(); l.Bytes > 0 && n > l.Bytes { // a view can be larger than its data
		return b, fmt.Errorf("inferprep: run: %w: the image has %d bytes, the limit is %d", codec.ErrBytes, n, l.Bytes)
	}
	b = pixels.Header{Width: w, Height: h, Mode: mode}.Append(b)
	n := len(b)
	b = slices.Grow(b, int(t.Desc.Size()))[:n+int(t.Desc.Size())]
	dst, err := tensor.Wrap(tensor.Image(tensor.Uint8, tensor.HWC, h, w, t.Channels()), b[n:])
	if err != nil {
		return b, err
	}
	if t.Layout == tensor.CHW {
		if t, err = t.Transposed(); err != nil {
			return b, err
		}
	}
	return b, t.CopyTo(dst)
}

// channels returns the channels of an image, 0 for other tensors.
func channels(t *tensor.Tensor) int {
	if !t.IsImage() {
		return 0
	}
	return t.Channels()
}
