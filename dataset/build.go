package dataset

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/transforms"
)

// Options are the options of Build. The zero value is valid: seed 0, local
// files, default limits, one process, and a run that ends with the first bad
// sample.
type Options struct {
	// Seed determines all random numbers. Default: 0.
	Seed uint64
	// Store opens the files of all sources. Default: store.Local. A source that
	// finds names in its data opens them in a store.Folder only;
	// store.AllowOutside permits others.
	Store store.Opener
	// Limits bounds decoding and the tensors of each worker. Default:
	// codec.DefaultLimits().
	Limits codec.Limits
	// Rank is the number of this process, 0 to World-1, and World the number of
	// processes that share the samples. Default: 0 of 1.
	Rank, World int
	// DropUneven drops the last samples of an epoch whose length is no multiple
	// of World. Default: ranks with one sample less also get one of the epoch's
	// first samples, as in the distributed samplers of torch and MindSpore.
	DropUneven bool
	// AllDone ends an epoch on all ranks together. Build requires it if World
	// is above 1 and the length of an epoch depends on the data. Every rank
	// calls it once before each sample or batch: done is false, or true if the
	// rank has no more. It returns whether any rank is done. It must be a
	// collective operation of the training, such as an all-reduce.
	AllDone func(ctx context.Context, done bool) (bool, error)
	// OnError decides about a sample whose reading or transformation fails.
	// Default: FailOnError.
	OnError ErrorPolicy
	// OnSkip, if not nil, is called for every skipped, quarantined or replaced
	// sample, in the order of the samples. The goroutine that calls Next calls
	// it before Next returns the sample that follows. If a run is resumed
	// within the samples that Unbatch or FlatMap made of one sample, OnSkip is
	// called again for the bad samples below them.
	OnSkip func(*SampleError)
	// OnWarning, if not nil, is called when the run goes on without something
	// that the definition asks for: a FileCache that cannot be used, or members
	// of a WebDataset's shards that are in no sample, such as links. The error
	// is a *NodeError, one for each node. Any goroutine may call OnWarning, one
	// at a time. Default: log.Print.
	OnWarning func(error)
	// MaxSkips is the number of bad samples in succession that end a run whose
	// OnError skips or replaces them. Default: 1,000. At -1 they have no bound.
	// The bounds hold for each source and for each node that makes samples, in
	// each epoch or pass of a Repeat; a resumed run counts anew. The error
	// wraps ErrData and the first three bad samples, and counts those that are
	// panics. A source or node whose samples of an epoch are all bad is an
	// error too.
	MaxSkips int64
	// MaxSkipShare is the largest share of bad samples in an epoch, above 0 up
	// to 1. It counts once 1,000 samples were seen. Default: 0.5.
	MaxSkipShare float64
	// CacheBytes bounds the memory of caches that Build adds, as a Cache at the
	// top of the definition would. The Cache nodes of the definition do not
	// count. User functions stay above the added caches. Default: 0, no added
	// caches.
	CacheBytes int64
	// IndexBytes bounds the memory of notes about images, which all runs of the
	// Built share. A map that decodes a random part of a baseline JPEG notes
	// where its blocks lie, in 1 % of the file's bytes. From the second epoch
	// on, it decodes the blocks of the part alone. The notes of the first
	// images that fit are kept, and found by the images' bytes, so that changed
	// files and every kind of source are safe. Default: 32 MiB. At -1 there are
	// no notes.
	IndexBytes int64
	// AllowChanged resumes from states of other data. By default a state is
	// refused if the number of a source's rows or the keys of its samples (see
	// Keyed) changed. With AllowChanged the run resumes at the same place of
	// each source's order: in this epoch samples may come twice or never, later
	// epochs are complete. A place beyond the end is the end. A state with a
	// buffered sample beyond the end is refused all the same.
	AllowChanged bool
	// Disable lists passes that Build does not run. Default: none.
	Disable []Pass
	// Device, if not nil, runs the last steps of each Map: as many as it takes
	// of those behind the last random step and the last step that moves other
	// columns. Built.Steps shows them. The host runs the steps before, and all
	// of a map of which the device takes no step. Build fails if the device
	// takes no step of any map. Random numbers, states, the order of the
	// samples and the errors of bad samples are those without a device.
	//
	// Each worker in use has a session of its own. An error of the device on a
	// sample that the host can transform ends the run under every OnError. The
	// caller keeps the device open until the Built is closed, and closes it.
	Device device.Device
	// DeviceLeast is the worst class of a step that runs on Device. Default:
	// device.Exact, so that all bytes are those without a device.
	DeviceLeast device.Class
}

// ErrorPolicy decides about a sample that cannot be read or transformed.
type ErrorPolicy uint8

// The policies.
const (
	// FailOnError ends the run with the sample's error.
	FailOnError ErrorPolicy = iota
	// SkipOnError skips the sample and counts it in Run.Skipped, up to
	// Options.MaxSkips.
	SkipOnError
	// QuarantineOnError skips and counts the sample, and adds its error to
	// Run.Quarantined.
	QuarantineOnError
	// ReplaceOnError returns another sample in place of the bad one, so that
	// lengths and batches stay as they are. It reports, counts and bounds bad
	// samples as SkipOnError does; SampleError.Replacement names the other one.
	//
	// A bad sample at a place of an indexed part of the definition is replaced
	// by the sample of another place of that part, made with the random numbers
	// of the bad one's place. Which one is a function of the seed, the epoch
	// and the place, so it is the same on any engine and after a resume. If
	// 100 other places are bad too, or all, the run ends with an error.
	//
	// Parts without an index have no other places: Build refuses streams, and a
	// bad sample that arises above an indexed part (in Filter, FlatMap, Batch
	// or a Map above them) ends the run as with FailOnError. The pass
	// FilterEarly does not run.
	ReplaceOnError
)

// ErrDefinition reports an invalid definition: missing columns, a wrong number
// of inputs, or an unknown length where a node needs one.
var ErrDefinition = errors.New("invalid definition")

func defErr(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDefinition, fmt.Sprintf(format, args...))
}

// NodeError is an error in a node of a definition.
type NodeError struct {
	Path string // from the top: "batch/map/0:image_folder"; a number is that of an input
	Err  error
}

func (e *NodeError) Error() string { return fmt.Sprintf("dataset: %s: %v", e.Path, e.Err) }

// Unwrap returns the cause.
func (e *NodeError) Unwrap() error { return e.Err }

// SampleError is the error of one sample.
type SampleError struct {
	Path           string // of the node
	Key            string // of the sample; may be empty if reading failed
	Epoch, Ordinal uint64
	Err            error
	// Replacement is the Key of the sample that ReplaceOnError returned
	// instead. It is empty with other policies.
	Replacement string
}

func (e *SampleError) Error() string {
	s := fmt.Sprintf("dataset: %s: sample %q (epoch %d, ordinal %d): %v", e.Path, e.Key, e.Epoch, e.Ordinal, e.Err)
	if e.Replacement != "" {
		s += fmt.Sprintf("; replaced by %q", e.Replacement)
	}
	return s
}

// Unwrap returns the cause.
func (e *SampleError) Unwrap() error { return e.Err }

// PanicError is a panic in a user's function or in a source.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.Value, e.Stack) }

// Built is a checked definition with open sources. Several runs may use it at
// the same time.
type Built struct {
	top         *step
	options     Options
	fingerprint uint32
	unseeded    uint32 // see Fingerprint
	roots       []*step
	open        []io.Closer
	sources     []*step         // in the order of the definition
	building    context.Context // the ctx of Build; nil afterwards
	noting      bool            // sources note the files they open, for a FileCache
	warning     *sync.Mutex
	index       *codec.Index // nil with IndexBytes -1

	digests func() []dataDigest // of the sources

	policies map[string]*transforms.FeedbackPolicy // of the maps, by name
	weights  map[string][]float64                  // of the policies in the epoch that a run opens
}

// step is a node of a Built.
type step struct {
	node    Node
	name    string
	path    string
	in      []*step
	table   *step // an input that Build has read whole; nil without one
	columns []Column
	size    int64 // of an epoch of all ranks: Unknown, Endless
	indexed bool  // sample k can be read without the samples before it
	traits  traits
	root    int32 // the number of a root: a stream, or the top of an indexed tree
	// The roots below have the numbers first to last-1.
	first, last int32
	data        Data     // of a source
	files       [32]byte // a digest of the files that the source opened, if noted
	state       any      // of the node: plans, tables
	passes      []Pass   // that made or moved the step
}

// Build checks a definition and opens its sources. ctx bounds Build alone: the
// Built stays valid after ctx ends. The caller closes the Built.
//
// Build returns a *NodeError that names the node and wraps ErrParam,
// ErrDefinition, or the error of the source or of the map's graph.
func Build(ctx context.Context, d *Dataset, o Options) (_ *Built, err error) {
	if o.World == 0 {
		o.World = 1
	}
	if o.World < 1 || o.Rank < 0 || o.Rank >= o.World {
		return nil, fmt.Errorf("dataset: %w: rank %d of %d", ErrParam, o.Rank, o.World)
	}
	if o.MaxSkips < -1 || !(o.MaxSkipShare >= 0 && o.MaxSkipShare <= 1) {
		return nil, fmt.Errorf("dataset: %w: MaxSkips %d, MaxSkipShare %v: want -1 or more and a share of 0 to 1", ErrParam, o.MaxSkips, o.MaxSkipShare)
	}
	if o.OnError > ReplaceOnError {
		return nil, fmt.Errorf("dataset: %w: OnError %d: want a policy of 0 to %d", ErrParam, o.OnError, ReplaceOnError)
	}
	if o.MaxSkips == 0 {
		o.MaxSkips = maxSkips
	}
	if o.MaxSkipShare == 0 {
		o.MaxSkipShare = maxSkipShare
	}
	if o.DeviceLeast == device.Unsupported {
		o.DeviceLeast = device.Exact
	}
	o.Limits = o.Limits.WithDefaults()
	if o.Store == nil {
		o.Store = store.Local
	}
	switch {
	case o.IndexBytes < -1:
		return nil, fmt.Errorf("dataset: %w: IndexBytes %d: want -1 or more", ErrParam, o.IndexBytes)
	case o.IndexBytes == 0:
		o.IndexBytes = indexBytes
	}
	b := &Built{options: o, building: ctx, warning: &sync.Mutex{}, noting: d.persists(0)}
	if o.IndexBytes > 0 {
		if b.index, err = codec.NewIndex(o.IndexBytes); err != nil {
			return nil, err
		}
	}
	b.digests = sync.OnceValue(b.digestSources)
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	if b.top, err = b.step(ctx, d, "", 0); err != nil {
		return nil, err
	}
	if err = b.optimise(ctx); err != nil {
		return nil, err
	}
	if err = b.placeMaps(ctx); err != nil {
		return nil, err
	}
	b.building = nil
	b.number(b.top, false)
	b.fingerprint, b.unseeded = fingerprint(d, o.Seed), fingerprint(d, 0)
	if o.Device != nil {
		b.unseeded = crc32.Update(b.unseeded, crc32.IEEETable, []byte(o.Device.Name()))
	}
	if o.World > 1 && o.AllDone == nil && b.Len() == Unknown {
		return nil, &NodeError{b.top.path, defErr("the number of samples depends on the data: %d ranks need Options.AllDone to end together", o.World)}
	}
	return b, nil
}

// indexBytes is the default of Options.IndexBytes: the notes of 50,000
// photographs of 100 kB.
const indexBytes = 32 << 20

// compileOptions returns the options of the graphs of maps.
func (b *Built) compileOptions() datagraph.CompileOptions {
	return datagraph.CompileOptions{Limits: b.options.Limits, Index: b.index}
}

// step builds a node and its inputs. above is the path of the nodes above.
func (b *Built) step(ctx context.Context, d *Dataset, above string, depth int) (*step, error) {
	if d == nil || d.Node == nil {
		return nil, &NodeError{above, defErr("an input is nil")}
	}
	s := &step{node: d.Node, name: InfoOf(d.Node).Name, size: Unknown}
	s.path = above + s.name
	fail := func(err error) (*step, error) { return nil, &NodeError{s.path, err} }
	if depth > maxDepth {
		return fail(defErr("nodes %d deep, want at most %d", depth, maxDepth))
	}
	if err := d.Node.Validate(); err != nil {
		return fail(err)
	}
	if src, ok := d.Node.(Source); ok {
		if len(d.In) > 0 {
			return fail(defErr("a source with %d inputs, want none", len(d.In)))
		}
		if err := b.openSource(ctx, s, src); err != nil {
			return fail(err)
		}
		return s, nil
	}
	n, ok := d.Node.(op)
	if k, sink := d.Node.(Sink); sink {
		n, ok = &sinkOp{k}, true
		s.node = n
	}
	if !ok {
		return fail(defErr("%T, want a Source, a Sink or a node of package dataset", d.Node))
	}
	s.traits = n.traits()
	switch {
	case len(d.In) == 0:
		return fail(defErr("no input, want 1 or more"))
	case len(d.In) > 1 && !s.traits.joins:
		return fail(defErr("%d inputs, want 1", len(d.In)))
	}
	for i, in := range d.In {
		prefix := s.path + "/"
		if len(d.In) > 1 {
			prefix += strconv.Itoa(i) + ":"
		}
		c, err := b.step(ctx, in, prefix, depth+1)
		if err != nil {
			return nil, err
		}
		s.in = append(s.in, c)
	}
	if err := n.build(b, s); err != nil {
		return fail(err)
	}
	if err := checkColumns(s.columns); err != nil {
		return fail(err)
	}
	return s, nil
}

// openSource opens a source, and sets the columns and the length of its step.
func (b *Built) openSource(ctx context.Context, s *step, src Source) error {
	files := b.options.Store
	var noted *notes
	if b.noting {
		noted = &notes{files: map[string]string{}}
		files = &lookups{files, noted}
	}
	data, err := src.Open(ctx, files)
	if err != nil {
		return err
	}
	if noted != nil {
		s.files = noted.digest()
	}
	b.open = append(b.open, data)
	b.sources = append(b.sources, s)
	s.data, s.columns = data, data.Columns()
	switch x := data.(type) {
	case Rows:
		s.indexed, s.size = true, x.Len()
	case Stream:
		if b.options.OnError == ReplaceOnError {
			return defErr("a stream has no other rows to replace bad samples: want another OnError than ReplaceOnError")
		}
	default:
		return defErr("its data is %T, want Rows or a Stream", data)
	}
	if err := checkColumns(s.columns); err != nil {
		return err
	}
	if w, ok := data.(interface{ Warning() error }); ok {
		if err := w.Warning(); err != nil {
			b.warn(s, err)
		}
	}
	return nil
}

func checkColumns(l []Column) error {
	if len(l) == 0 {
		return defErr("no columns, want 1 or more")
	}
	for i, c := range l {
		if c.Name == "" || slices.ContainsFunc(l[:i], func(o Column) bool { return o.Name == c.Name }) {
			return defErr("column %d is named %q, want a unique name", i, c.Name)
		}
		if err := c.Desc.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// number numbers the roots. within reports that s is part of an indexed tree.
func (b *Built) number(s *step, within bool) {
	s.first = int32(len(b.roots))
	if len(s.in) == 0 || s.indexed {
		if !within {
			s.root = int32(len(b.roots))
			b.roots = append(b.roots, s)
		}
		for _, in := range s.in {
			b.number(in, true)
		}
	} else {
		for _, in := range s.in {
			b.number(in, false)
		}
	}
	s.last = int32(len(b.roots))
}

// Columns describes the samples. The slice is shared: do not modify it.
func (b *Built) Columns() []Column { return b.top.columns }

// ClassIndex maps the names of the classes to their numbers, which are the
// labels of the samples. It returns nil if no source has named classes, or if
// two sources number them differently. The map is shared: do not modify it.
func (b *Built) ClassIndex() map[string]int32 {
	var index map[string]int32
	for _, s := range b.sources {
		c, ok := s.data.(ClassIndexed)
		switch {
		case !ok:
		case index == nil:
			index = c.ClassIndex()
		case !maps.Equal(index, c.ClassIndex()):
			return nil
		}
	}
	return index
}

// Len returns the number of samples or batches of an epoch of this rank. It is
// Endless, or Unknown if it depends on the data.
func (b *Built) Len() int64 { return b.lenOf(b.top) }

// lenOf returns a step's length for this rank.
func (b *Built) lenOf(s *step) int64 {
	if s.indexed {
		if p := b.options.OnError; p != FailOnError && p != ReplaceOnError {
			return Unknown // bad samples are skipped
		}
		c := b.cursor(s)
		return c.size()
	}
	switch n := s.node.(type) {
	case measured:
		return n.length(b, s)
	case oneToOne:
		return b.lenOf(s.in[0])
	}
	return Unknown
}

// cursor returns the cursor of a root at the start of an epoch.
func (b *Built) cursor(s *step) cursor {
	return cursor{
		n: s.size, rank: int64(b.options.Rank), world: int64(b.options.World), drop: b.options.DropUneven, changed: b.options.AllowChanged,
	}
}

// Close closes the sources. Close all runs before.
func (b *Built) Close() error {
	var l []error
	for _, d := range b.open {
		l = append(l, d.Close())
	}
	b.open = nil
	return errors.Join(l...)
}

// warn passes a warning about a node to OnWarning.
func (b *Built) warn(s *step, err error) {
	b.warning.Lock()
	defer b.warning.Unlock()
	err = &NodeError{s.path, err}
	if b.options.OnWarning == nil {
		log.Print(err)
		return
	}
	b.options.OnWarning(err)
}

// column returns the number of a column. Its error lists the known columns.
func (s *step) column(name string) (int, error) {
	for i, c := range s.columns {
		if c.Name == name {
			return i, nil
		}
	}
	var have []string
	for _, c := range s.columns {
		have = append(have, c.Name)
	}
	return 0, defErr("unknown column %q; known: %q", name, have)
}

// columnsOf returns the numbers of columns.
func (s *step) columnsOf(names []string) ([]int, error) {
	l := make([]int, len(names))
	for i, n := range names {
		var err error
		if l[i], err = s.column(n); err != nil {
			return nil, err
		}
		if slices.Contains(l[:i], l[i]) {
			return nil, defErr("column %q is named twice, want distinct ones", n)
		}
	}
	return l, nil
}

// inherit gives s the columns, the length and the index of its only input.
func (s *step) inherit() *step {
	in := s.in[0]
	s.columns, s.size, s.indexed = in.columns, in.size, in.indexed
	return in
}
