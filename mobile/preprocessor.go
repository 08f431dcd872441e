package mobile

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/modelbundle"
	_ "github.com/infer-prep/infer-prep/sound/all" // every sound format
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Preprocessor computes a model's input. It is safe for concurrent use.
type Preprocessor struct {
	pool    *datagraph.Pool
	columns []datagraph.Column
	bundle  *modelbundle.Bundle // nil without one
	file    io.Closer           // of the bundle, nil if it is in memory
	meta    []string            // the sorted keys of the bundle's metadata

	mu     sync.Mutex
	users  int // calls that use the bundle
	closed bool
}

// Listener receives the progress of a call that takes long.
type Listener interface {
	// Progress is called with the steps done, from 0 to total. An error, which
	// is an exception in Java, ends the work; the call's error then has the
	// code "canceled". Progress runs on the calling thread.
	Progress(done, total int) error
}

// Open opens a bundle. It copies the bytes.
func Open(bundle []byte) (p *Preprocessor, err error) {
	defer guard(&err)
	b, err := modelbundle.Open(slices.Clone(bundle), modelbundle.Limits{})
	if err != nil {
		if bytes.HasPrefix(bytes.TrimSpace(bundle), []byte("{")) {
			err = fmt.Errorf("mobile: open: the file is JSON, want a bundle; OpenGraph opens data graphs: %w", err)
		}
		return nil, err
	}
	return ofBundle(b)
}

// OpenFile opens a bundle file. It maps the file into memory, so nobody may
// change it in place while the Preprocessor is open.
func OpenFile(path string) (p *Preprocessor, err error) {
	defer guard(&err)
	f, err := store.Local.Open(context.Background(), path)
	if err != nil {
		return nil, err
	}
	var b *modelbundle.Bundle
	if mapped := store.MappedBytes(f); mapped != nil {
		b, err = modelbundle.Open(mapped, modelbundle.Limits{})
	} else {
		b, err = modelbundle.OpenReader(f, f.Size(), modelbundle.Limits{})
	}
	if err == nil {
		p, err = ofBundle(b)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	p.file = f
	return p, nil
}

func ofBundle(b *modelbundle.Bundle) (*Preprocessor, error) {
	p, err := compile(b.Graph())
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	p.bundle, p.meta = b, slices.Sorted(maps.Keys(b.Meta()))
	return p, nil
}

// OpenGraph opens a data graph in JSON or msgp, as "infer-prep graph import"
// writes it. There are then no labels, models and golden samples.
func OpenGraph(graph []byte) (p *Preprocessor, err error) {
	defer guard(&err)
	g, err := datagraph.Parse(graph)
	if err != nil {
		if modelbundle.Detect(graph) {
			err = fmt.Errorf("mobile: open: the file is a bundle, want a data graph; Open opens bundles: %w", err)
		}
		return nil, err
	}
	return compile(g)
}

func compile(g *datagraph.Graph) (*Preprocessor, error) {
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
	if err != nil {
		return nil, err
	}
	return &Preprocessor{pool: plan.NewPool(datagraph.PoolOptions{}), columns: plan.Outputs()}, nil
}

// use returns an error if p is closed, and else keeps p open until release.
func (p *Preprocessor) use() error {
	if p == nil || p.pool == nil {
		return fmt.Errorf("mobile: preprocessor %w: want one that Open, OpenFile or OpenGraph returned", errZero)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return fmt.Errorf("mobile: preprocessor %w", errClosed)
	}
	p.users++
	return nil
}

func (p *Preprocessor) release() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users--
	return p.closeBundle()
}

// closeBundle closes the bundle if nobody uses it any more.
func (p *Preprocessor) closeBundle() error {
	if !p.closed || p.users > 0 || p.bundle == nil {
		return nil
	}
	b := p.bundle
	p.bundle = nil
	err := b.Close()
	if p.file != nil {
		err = errors.Join(err, p.file.Close())
	}
	return err
}

// Close releases the memory. Running calls end normally. A second Close does
// nothing.
func (p *Preprocessor) Close() (err error) {
	defer guard(&err)
	if p == nil || p.pool == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return p.closeBundle()
}

// RunJPEG runs on an encoded image: JPEG, PNG, GIF, BMP, TIFF, WebP, PNM, QOI,
// TGA or ICO.
func (p *Preprocessor) RunJPEG(image []byte) (r *Result, err error) {
	defer guard(&err)
	return p.newResult(image)
}

// newResult runs on an encoded image.
func (p *Preprocessor) newResult(image []byte) (*Result, error) {
	r := &Result{}
	if err := p.run(image, r); err != nil {
		return nil, err
	}
	return r, nil
}

// RunRGBA runs on pixels of four bytes; see [Input.SetRGBA].
func (p *Preprocessor) RunRGBA(pixels []byte, f *Frame) (r *Result, err error) {
	defer guard(&err)
	in := &Input{}
	if err := in.setFrame(f, pixels); err != nil {
		return nil, err
	}
	return p.newResult(in.encoded)
}

// RunYUV420 runs on a camera frame; see [Input.SetYUV420].
func (p *Preprocessor) RunYUV420(y, u, v []byte, f *Frame) (r *Result, err error) {
	defer guard(&err)
	in := &Input{}
	if err := in.setFrame(f, y, u, v); err != nil {
		return nil, err
	}
	return p.newResult(in.encoded)
}

// RunInto runs on an image and replaces the tensors of out. Both keep their
// memory, so that steady runs allocate little. Neither may be used by another
// thread until RunInto returns.
func (p *Preprocessor) RunInto(in *Input, out *Result) (err error) {
	defer guard(&err)
	if in == nil || in.encoded == nil {
		return fmt.Errorf("mobile: input %w: set an image first", errZero)
	}
	if out == nil {
		return errNull("result")
	}
	return p.run(in.encoded, out)
}

func (p *Preprocessor) run(image []byte, out *Result) (err error) {
	if err := p.use(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.release()) }()
	if err := p.pool.Plan().Graph().WantImage(); err != nil {
		return fmt.Errorf("mobile: run: %w: %w", errInput, err)
	}
	return p.pool.Do(context.Background(), func(r *datagraph.Runner) error { return out.run(r, p.columns, image) })
}

// Sizes describes the outputs for an image of a height and a width in pixels,
// as decoded, in microseconds and without an image. The Result has the types
// and shapes of a run's, but no data. A size that depends on the pixels is -1.
func (p *Preprocessor) Sizes(height, width int) (r *Result, err error) {
	defer guard(&err)
	if err := p.use(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.release()) }()
	columns, err := p.pool.Plan().Sizes(height, width)
	if err != nil {
		return nil, err
	}
	r = &Result{outputs: make([]output, len(columns))}
	for i, c := range columns {
		r.outputs[i].desc = c.Desc
	}
	return r, nil
}

// Verify checks every byte of the bundle against its digest, and runs its
// golden samples on this device. The error of a difference has the code
// "golden". listener may be null.
func (p *Preprocessor) Verify(listener Listener) (err error) {
	defer guard(&err)
	if err := p.use(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.release()) }()
	if p.bundle == nil {
		return fmt.Errorf("mobile: verify: %w: a data graph has no golden samples, open a bundle", errInput)
	}
	total := len(p.bundle.Expected()) + 1
	progress := func(done int) error {
		if listener == nil {
			return nil
		}
		if err := listener.Progress(done, total); err != nil {
			return fmt.Errorf("mobile: verify: %w: %w", errCanceled, err)
		}
		return nil
	}
	if err := progress(0); err != nil {
		return err
	}
	if err := p.bundle.VerifyDigests(context.Background()); err != nil {
		return err
	}
	goldens, err := p.bundle.Goldens()
	if err != nil {
		return err
	}
	r := p.pool.Plan().NewRunner()
	var differences []error
	for i := range goldens {
		if err := progress(i + 1); err != nil {
			return errors.Join(append(differences, err)...)
		}
		out, err := r.Run(tensor.FromBytes(goldens[i].Input))
		if err == nil {
			err = goldens[i].Compare(p.columns, out)
		} else {
			err = fmt.Errorf("mobile: verify: golden sample %q: %w", goldens[i].Name, err)
		}
		differences = append(differences, err)
	}
	if err := errors.Join(differences...); err != nil {
		return err
	}
	return progress(total)
}

// VerifySignature checks that a key has signed the bundle. key is an Ed25519
// public key in PEM, as "openssl pkey -pubout" writes it.
func (p *Preprocessor) VerifySignature(key []byte) (err error) {
	defer guard(&err)
	if err := p.use(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.release()) }()
	if p.bundle == nil {
		return fmt.Errorf("mobile: verify: %w: a data graph has no signature, open a bundle", errInput)
	}
	k, err := modelbundle.ParsePublicKey(key)
	if err != nil {
		return err
	}
	return p.bundle.VerifySignature(k)
}

// column returns output i, or an empty column.
func (p *Preprocessor) column(i int) datagraph.Column {
	if p == nil || i < 0 || i >= len(p.columns) {
		return datagraph.Column{}
	}
	return p.columns[i]
}

// Outputs returns the number of outputs of a run: the model's inputs, then
// further columns such as the scale and padding of a detector's letterbox.
func (p *Preprocessor) Outputs() int {
	if p == nil {
		return 0
	}
	return len(p.columns)
}

// OutputName returns the name of output i.
func (p *Preprocessor) OutputName(i int) string { return p.column(i).Name }

// OutputDType returns the type of output i; see [Result.DType].
func (p *Preprocessor) OutputDType(i int) string {
	if c := p.column(i); c.Name != "" {
		return c.Desc.DType.String()
	}
	return ""
}

// OutputLayout returns the layout of output i; see [Result.Layout].
func (p *Preprocessor) OutputLayout(i int) string { return layout(p.column(i).Desc) }

// OutputRank returns the number of axes of output i.
func (p *Preprocessor) OutputRank(i int) int { return p.column(i).Desc.Shape.Rank() }

// OutputDim returns the size of axis j of output i, -1 if it depends on the
// image.
func (p *Preprocessor) OutputDim(i, j int) int { return dim(p.column(i).Desc, j) }

// OutputBatch returns how a batch of output i is formed: "stack" or "pad" add
// an axis before the others, "concat" joins the tensors along their first axis,
// and "single" has batches of one image only, whose tensor they are. Models
// take batches, so a single tensor gets an axis of size 1 under the former two.
func (p *Preprocessor) OutputBatch(i int) string {
	if c := p.column(i); c.Name != "" {
		return c.Batch.Rule.String()
	}
	return ""
}

// open returns the bundle, or nil if there is none or p is closed. The caller
// calls release if it is not nil.
func (p *Preprocessor) open() *modelbundle.Bundle {
	if p.use() != nil {
		return nil
	}
	if p.bundle == nil {
		_ = p.release() // closes nothing
		return nil
	}
	return p.bundle
}

// Labels returns the number of the model's classes, 0 without a bundle.
func (p *Preprocessor) Labels() (n int) {
	defer guardValue()
	if b := p.open(); b != nil {
		n = len(b.Labels())
		_ = p.release()
	}
	return n
}

// Label returns the name of class i.
func (p *Preprocessor) Label(i int) (s string) {
	defer guardValue()
	if b := p.open(); b != nil {
		if l := b.Labels(); i >= 0 && i < len(l) {
			s = l[i]
		}
		_ = p.release()
	}
	return s
}

// Metas returns the number of entries of the bundle's metadata.
func (p *Preprocessor) Metas() int {
	if p == nil {
		return 0
	}
	return len(p.meta)
}

// MetaKey returns the key of entry i. Keys are sorted.
func (p *Preprocessor) MetaKey(i int) string {
	if p == nil || i < 0 || i >= len(p.meta) {
		return ""
	}
	return p.meta[i]
}

// Meta returns the metadata of a key, "" if there is none.
func (p *Preprocessor) Meta(key string) (s string) {
	defer guardValue()
	if b := p.open(); b != nil {
		s = b.Meta()[key]
		_ = p.release()
	}
	return s
}

// Models returns the number of models in the bundle.
func (p *Preprocessor) Models() (n int) {
	defer guardValue()
	if b := p.open(); b != nil {
		n = len(b.Models())
		_ = p.release()
	}
	return n
}

// ModelName returns the name of model i. Names are sorted.
func (p *Preprocessor) ModelName(i int) (s string) {
	defer guardValue()
	if b := p.open(); b != nil {
		if l := b.Models(); i >= 0 && i < len(l) {
			s = l[i]
		}
		_ = p.release()
	}
	return s
}

// Model returns a copy of a model. An empty name selects the only one.
func (p *Preprocessor) Model(name string) (data []byte, err error) {
	defer guard(&err)
	if err := p.use(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.release()) }()
	if p.bundle == nil {
		return nil, fmt.Errorf("mobile: model: %w: a data graph has no model, open a bundle", errInput)
	}
	m, err := p.bundle.Model(name)
	if err != nil {
		return nil, err
	}
	// The bindings copy the result after the bundle may be closed.
	return slices.Clone(m.Data), nil
}

// Digest returns the SHA-256 of the bundle in hexadecimal, "" without one.
// Bundles with equal digests have equal content.
func (p *Preprocessor) Digest() (s string) {
	defer guardValue()
	if b := p.open(); b != nil {
		d := b.Digest()
		s = hex.EncodeToString(d[:])
		_ = p.release()
	}
	return s
}
