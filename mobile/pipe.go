package mobile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// PipeConfig lists the images of a [Pipe] and how it makes batches of them.
type PipeConfig struct {
	// BatchSize is the number of images in a result, up to 1,048,576. 0 and 1
	// mean single tensors without an axis for the batch. Batches of images of
	// different sizes need a graph that resizes them, or pads batches.
	BatchSize int
	// Seed determines the order of Shuffle and the graph's random ops.
	Seed int64
	// Shuffle orders the images at random, anew in each epoch. Otherwise they
	// come in the order in which they were added.
	Shuffle bool
	// DropLast leaves out the last batch of an epoch if it is smaller.
	DropLast bool
	// SkipBad leaves out images that cannot be read or decoded. Otherwise the
	// first of them is an error of Next. An epoch of bad images alone is an
	// error all the same, and so are more than 1,000 in succession.
	SkipBad bool

	items []item
}

// item is an image of a PipeConfig.
type item struct {
	path string
	data []byte // nil for a file
}

// NewPipeConfig returns a PipeConfig without images.
func NewPipeConfig() *PipeConfig { return &PipeConfig{} }

// AddFile adds an encoded image in a file. Next reads it when its turn comes.
func (c *PipeConfig) AddFile(path string) (err error) {
	defer guard(&err)
	if c == nil {
		return errNull("configuration")
	}
	if path == "" {
		return fmt.Errorf("mobile: pipe: %w: the path is empty", errInput)
	}
	c.items = append(c.items, item{path: path})
	return nil
}

// AddImage adds an encoded image, which it copies.
func (c *PipeConfig) AddImage(image []byte) (err error) {
	defer guard(&err)
	if c == nil {
		return errNull("configuration")
	}
	c.items = append(c.items, item{data: append([]byte{}, image...)})
	return nil
}

// Pipe runs a Preprocessor on a list of images, one batch a call, on the
// calling thread. It is for batch inference and for training on the device. It
// reads ahead nothing. A Pipe ends with its Preprocessor: after that one's
// Close, its methods return errors of the code "closed".
type Pipe struct {
	of   *Preprocessor
	size int // of a batch

	mu    sync.Mutex
	built *dataset.Built
	run   *dataset.Run // nil after Close
}

// NewPipe returns a Pipe at the start of epoch 0. Later changes of c do not
// affect it. It opens no files.
func (p *Preprocessor) NewPipe(c *PipeConfig) (q *Pipe, err error) {
	defer guard(&err)
	if err := p.use(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.release()) }()
	switch {
	case c == nil:
		return nil, errNull("configuration")
	case len(c.items) == 0:
		return nil, fmt.Errorf("mobile: pipe: %w: there are no images: add a file or an image", errInput)
	}
	if err := p.pool.Plan().Graph().WantImage(); err != nil {
		return nil, fmt.Errorf("mobile: pipe: %w: %w", errInput, err)
	}
	size, err := p.batchSize(c)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, column := range p.columns {
		out = append(out, column.Name)
	}
	d := dataset.From(&images{items: slices.Clone(c.items), index: unusedName(p.columns)})
	if c.Shuffle {
		d = d.Shuffle()
	}
	d = d.MapColumns(p.pool.Plan().Graph(), []string{imageColumn}, out)
	switch {
	case c.BatchSize > 1 && c.DropLast:
		d = d.BatchDrop(size)
	case c.BatchSize > 1:
		d = d.Batch(size)
	}
	o := dataset.Options{Seed: uint64(c.Seed)}
	if c.SkipBad {
		o.OnError = dataset.SkipOnError
	}
	built, err := dataset.Build(context.Background(), d, o)
	if err != nil {
		return nil, err
	}
	run, err := pullpipe.New(built, nil)
	if err != nil {
		return nil, errors.Join(err, built.Close())
	}
	return &Pipe{of: p, size: size, built: built, run: run}, nil
}

// maxBatchBytes bounds a tensor of a batch: a ByteBuffer holds no more, and Go
// cannot recover from the lack of memory.
const maxBatchBytes = 1<<31 - 1

// batchSize returns the size of c's batches, which need no more memory than all
// images take.
func (p *Preprocessor) batchSize(c *PipeConfig) (int, error) {
	switch n := len(c.items); {
	case c.BatchSize < 0:
		return 0, fmt.Errorf("mobile: pipe: %w: batches of %d, want 0 or more", errInput, c.BatchSize)
	case c.BatchSize > n && c.DropLast && c.BatchSize > 1:
		return 0, fmt.Errorf("mobile: pipe: %w: batches of %d of %d images, and the last one is dropped: there are none", errInput, c.BatchSize, n)
	}
	size := max(1, min(c.BatchSize, len(c.items)))
	for i := range p.columns {
		if d := p.columns[i].Desc; d.Shape.Known() && uint64(d.Size()) > maxBatchBytes/uint64(size) { // -1 is an overflow
			return 0, fmt.Errorf("mobile: pipe: %w: output %q has %d bytes in batches of %d, want at most %d",
				codec.ErrLimit, p.columns[i].Name, d.Size(), size, maxBatchBytes)
		}
	}
	return size, nil
}

// use locks q and keeps its Preprocessor open until release.
func (q *Pipe) use() error {
	if q == nil || q.of == nil {
		return fmt.Errorf("mobile: pipe %w: want one that NewPipe returned", errZero)
	}
	q.mu.Lock()
	if q.run == nil {
		q.mu.Unlock()
		return fmt.Errorf("mobile: pipe %w", errClosed)
	}
	if err := q.of.use(); err != nil {
		q.mu.Unlock()
		return err
	}
	return nil
}

func (q *Pipe) release() error {
	q.mu.Unlock()
	return q.of.release()
}

// Next returns the tensors of the next image or batch, null at the end of the
// epoch. The result stays valid. After an error it returns the same error until
// NextEpoch or Restore.
func (q *Pipe) Next() (r *Result, err error) {
	defer guard(&err)
	r = &Result{}
	if more, err := q.next(r); err != nil || !more {
		return nil, err
	}
	return r, nil
}

// NextInto is Next with the memory of out, whose tensors it replaces. It
// returns false at the end of the epoch, when out has no tensors.
//
// A Buffer that is too small for a full batch of an output of fixed shape is an
// error, and the Pipe stays where it is. For other outputs, the error is that
// of a tensor larger than its Buffer, and its batch is lost.
func (q *Pipe) NextInto(out *Result) (more bool, err error) {
	defer guard(&err)
	if out == nil {
		return false, errNull("result")
	}
	return q.next(out)
}

func (q *Pipe) next(out *Result) (more bool, err error) {
	if err := q.use(); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, q.release()) }()
	if err := out.begin(len(q.of.columns)); err != nil {
		return false, err
	}
	for i := range out.outputs {
		into, d := out.outputs[i].into, q.of.columns[i].Desc
		if n := d.Size() * int64(q.size); into != nil && n > int64(len(into)) { // NewPipe has bounded n
			return false, fmt.Errorf("mobile: pipe: output %d: %w: a batch of %d has %d bytes, its buffer has %d", i, errInput, q.size, n, len(into))
		}
	}
	s, err := q.run.Next(context.Background())
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	last := len(s.Values) - 1 // the images' numbers
	for i := range s.Values[:last] {
		if err := out.outputs[i].copyFrom(i, &s.Values[i].Tensor); err != nil {
			return false, err
		}
	}
	for _, n := range tensor.View[int64](&s.Values[last].Tensor) {
		out.images = append(out.images, int(n))
	}
	return true, nil
}

// NextEpoch starts the next epoch, also before the end of this one.
func (q *Pipe) NextEpoch() (err error) {
	defer guard(&err)
	if err := q.use(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.release()) }()
	return q.run.NextEpoch()
}

// Epoch returns the number of the epoch, from 0.
func (q *Pipe) Epoch() (n int64) {
	defer guardValue()
	if q.use() != nil {
		return 0
	}
	n = int64(q.run.Epoch())
	_ = q.release()
	return n
}

// Len returns the number of results of an epoch, -1 if it depends on the images
// because of SkipBad.
func (q *Pipe) Len() (n int64) {
	defer guardValue()
	if q.use() != nil {
		return 0
	}
	n = max(q.built.Len(), -1)
	_ = q.release()
	return n
}

// Skipped returns the number of images that SkipBad left out since NewPipe or
// Restore. Images that are bad in several epochs count in each.
func (q *Pipe) Skipped() (n int64) {
	defer guardValue()
	if q.use() != nil {
		return 0
	}
	n = q.run.Skipped()
	_ = q.release()
	return n
}

// State returns the place after the last result of Next, for Restore. At the
// end of an epoch it is the start of the next one. It holds no images.
func (q *Pipe) State() (state []byte, err error) {
	defer guard(&err)
	if err := q.use(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.release()) }()
	return q.run.State().MarshalBinary()
}

// Restore continues at a State of this Pipe or of another one, also of another
// process, that has the same graph, configuration and images. States of others
// are errors with the code "state", and then the Pipe stays where it is. A file
// counts by its path, other images by their content.
func (q *Pipe) Restore(state []byte) (err error) {
	defer guard(&err)
	if err := q.use(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.release()) }()
	var s dataset.State
	if err := s.UnmarshalBinary(state); err != nil {
		return err
	}
	run, err := pullpipe.New(q.built, &s)
	if err != nil {
		return err
	}
	old := q.run
	q.run = run
	return old.Close()
}

// Close releases the memory and waits for a running call. A second Close does
// nothing.
func (q *Pipe) Close() (err error) {
	defer guard(&err)
	if q == nil || q.of == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.run == nil {
		return nil
	}
	err = errors.Join(q.run.Close(), q.built.Close())
	q.run, q.built = nil, nil // the images are free, also while Java holds q
	return err
}

// images is the source of a Pipe: a column of encoded images, and one of their
// numbers, which shows through Shuffle and SkipBad which images a batch has.
type images struct {
	items []item
	index string // the name of the second column
}

const imageColumn = "image"

// unusedName returns a name that no column has.
func unusedName(l []datagraph.Column) string {
	name := "index"
	for name == imageColumn || slices.ContainsFunc(l, func(c datagraph.Column) bool { return c.Name == name }) {
		name += "_"
	}
	return name
}

// maxFile bounds the files that are read, as in the other sources of images.
const maxFile = 1 << 30

func (s *images) Validate() error { return nil }

func (s *images) Open(context.Context, store.Opener) (dataset.Data, error) { return s, nil }

func (s *images) Columns() []dataset.Column {
	return []dataset.Column{
		{Name: imageColumn, Desc: tensor.Encoded()},
		{Name: s.index, Desc: tensor.Desc{DType: tensor.Int64}},
	}
}

func (s *images) Len() int64 { return int64(len(s.items)) }

func (s *images) Read(ctx context.Context, i int64, to *dataset.Sample) error {
	if i < 0 || i >= s.Len() {
		return fmt.Errorf("mobile: pipe: %w: image %d of %d", dataset.ErrParam, i, len(s.items))
	}
	it := s.items[i]
	if err := to.Column(s.index).Reset(tensor.Desc{DType: tensor.Int64}); err != nil {
		return err
	}
	tensor.View[int64](&to.Column(s.index).Tensor)[0] = i
	if it.data != nil {
		to.Key = fmt.Sprintf("image %d", i)
		to.Column(imageColumn).ShareBytes(it.data)
		return nil
	}
	to.Key = it.path
	return readFile(ctx, to.Column(imageColumn), it.path)
}

// readFile makes v the bytes of a file, in v's own memory.
func readFile(ctx context.Context, v *dataset.Value, path string) (err error) {
	f, err := store.Local.Open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if f.Size() > maxFile {
		return fmt.Errorf("%w: %d bytes, want at most %d", dataset.ErrData, f.Size(), maxFile)
	}
	_, err = store.ReadAll(f, v.Bytes(int(f.Size())))
	return err
}

// Keys yields the path of a file, and the digest of another image: a State
// then knows it again.
func (s *images) Keys(yield func(string) bool) {
	for _, it := range s.items {
		key := "file " + it.path
		if it.data != nil {
			key = fmt.Sprintf("image %x", sha256.Sum256(it.data))
		}
		if !yield(key) {
			return
		}
	}
}

func (s *images) Close() error { return nil }
