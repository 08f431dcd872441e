package pack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/internal/ordered"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/store"
)

// Samples is a list of samples to pack into shards. Each sample is read when it
// is packed. FolderSamples, ClassSamples, ListSamples and KaldiSamples return
// one. It is safe for concurrent use.
type Samples struct {
	// ClassNames holds the names of the labels 0, 1, …; nil if the samples have
	// no class labels.
	ClassNames []string
	// LeftOut lists files that belong to no sample and are not expected to.
	LeftOut []string
	// Invalid lists what should have been a sample and is not, in the order of
	// the files. The errors wrap ErrSample.
	Invalid []error

	keys   []string
	read   func(ctx context.Context, i int) (*webdataset.Sample, error)
	length func(ctx context.Context, i int) (float64, error) // nil: samples have no length
	given  bool                                              // length comes from a file
	folder store.Folder                                      // of the files; nil for Kaldi's
	close  func() error
	digest []byte // identifies the samples
}

// Len returns the number of samples.
func (s *Samples) Len() int { return len(s.keys) }

// Key returns the key of sample i.
func (s *Samples) Key(i int) string { return s.keys[i] }

// Sample reads sample i.
func (s *Samples) Sample(ctx context.Context, i int) (*webdataset.Sample, error) {
	return s.read(ctx, i)
}

// Close closes the open files.
func (s *Samples) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

// Group selects the samples whose length is at least From and less than To.
type Group struct{ From, To float64 }

// ParseGroup parses a group such as "10:500". The first number defaults to 1,
// the second to infinity.
func ParseGroup(s string) (Group, error) {
	a, b, ok := strings.Cut(s, ":")
	g := Group{1, math.Inf(1)}
	var err1, err2 error
	if a != "" {
		g.From, err1 = strconv.ParseFloat(a, 64)
	}
	if b != "" {
		g.To, err2 = strconv.ParseFloat(b, 64)
	}
	if !ok || err1 != nil || err2 != nil || !(g.From >= 0 && g.From < g.To) || b != "" && math.IsInf(g.To, 0) {
		return Group{}, fmt.Errorf("pack: length group %q: want FROM:TO, for example 500:, :10 or 10:500", s)
	}
	return g, nil
}

// String returns the name of the group's folder, as pack_data names it: 10_500;
// _10 for a group that starts at 1 or less; 500_ for a group without an end.
func (g Group) String() string {
	var a, b string
	if g.From > 1 {
		a = strconv.FormatFloat(g.From, 'f', -1, 64)
	}
	if !math.IsInf(g.To, 1) {
		b = strconv.FormatFloat(g.To, 'f', -1, 64)
	}
	return a + "_" + b
}

// Shards packs samples into tar files in a folder. A shard appears under its
// name when it is complete. The bytes depend on the samples and options, not on
// Workers.
//
// An unfinished pack resumes after its last complete shard when Run is called
// again with the same samples and options; Workers, OnError, OnSkip and
// Progress may differ. The result is that of an undisturbed run. The file Name
// + ".pack" in Dir records the progress and is removed at the end.
//
// Fields are sorted by name, so the shards are those that webdataset writes
// with mtime=0.
//
// A Shards must not be changed while Run is running.
type Shards struct {
	Samples *Samples // the samples to pack; Run does not close them
	Dir     string   // the folder of the shards; Run creates it
	// Name is the name of the shards with one verb for the number. The
	// extensions .gz, .tgz and .zst compress them. Default: data-%05d.tar.
	Name string
	// Count is the largest number of samples of a shard. Default: 2000.
	Count int
	// Size is the number of bytes of fields that ends a shard. Default: 3e9, as
	// in webdataset.
	Size int64
	// Index writes the index of every shard beside it. The shards must not be
	// compressed. The index has no time, so equal samples give equal indexes.
	Index bool
	// Sort packs the samples in the order of their keys. Shuffle packs them in
	// a random order, which is a function of Seed. Default: their own order.
	Sort, Shuffle bool
	Seed          uint64
	// Train and Test are fractions of the samples. The first samples go into
	// the folder test, the next ones into train, the others into val. Their
	// numbers are rounded down; if the fractions add up to 1, train also gets
	// the remainder. Train 0 or 1 makes no such folders.
	Train, Test float64
	// Groups divides the samples by length. Each of several groups has a folder
	// of its own. Groups must not overlap; a sample outside all groups is not
	// packed.
	Groups []Group
	// Workers is the number of goroutines that read samples. Default:
	// GOMAXPROCS.
	Workers int
	// Force replaces existing shards of that name. Restart replaces those of an
	// unfinished pack.
	Force, Restart bool
	// OnError says what happens to a sample that cannot be packed. Default:
	// FailOnError.
	OnError ErrorPolicy
	// OnSkip, if not nil, is called for every skipped sample, and for every
	// entry of Samples.Invalid, by the goroutine that called Run.
	OnSkip func(error)
	// Progress, if not nil, is called with the number of finished steps and the
	// number of all steps, by the goroutine that called Run. A step packs a
	// sample, or measures it for Groups.
	Progress func(done, total int)
}

// Shard describes a packed shard.
type Shard struct {
	Name    string // the path
	Samples int    // number of samples
	Size    int64  // size of the file in bytes
	CRC     uint32 // CRC-32C of the file
}

// ShardsReport describes what a pack did.
type ShardsReport struct {
	Shards  []Shard // the complete shards, folder by folder
	Samples int     // packed samples
	Skipped int     // samples and invalid entries left out
	// Outside lists the samples outside all Groups: key and length.
	Outside []string
	// Resumed is the number of shards that earlier runs packed.
	Resumed int
}

// shardState is a line of the journal: a complete shard. The first line has
// section -1 and records that the way is clear.
type shardState struct {
	Section int `json:"section"`
	Next    int `json:"next"` // the next item of the section
	Bad     int `json:"bad"`  // samples that could not be read or written so far
	Shard
}

// section is a group of samples with a folder of its own.
type section struct {
	folder string // below Dir; empty: Dir itself
	items  []int
}

// Run packs the samples. It returns ErrOther if the unfinished pack in Dir has
// other samples or options, and filelock.ErrLocked if another process is
// packing there. The report is valid in any case.
func (p *Shards) Run(ctx context.Context) (*ShardsReport, error) {
	x := &shardPack{ctx: ctx, report: &ShardsReport{}, open: &shardOpener{Opener: store.Local}}
	return x.report, x.run(p)
}

func (p *shardPack) run(o *Shards) (err error) {
	if p.o, err = o.fill(); err != nil {
		return err
	}
	p.s, p.dir = o.Samples, o.Dir
	for _, err := range p.s.Invalid {
		if err := p.handleBad(err); err != nil {
			return err
		}
	}
	err = p.pack()
	if p.w != nil {
		err = errors.Join(err, p.w.Abort())
	}
	if p.j != nil {
		err = errors.Join(err, p.j.close())
	}
	return err
}

type shardPack struct {
	ctx      context.Context
	s        *Samples
	dir      string
	o        Shards // with defaults
	report   *ShardsReport
	open     *shardOpener
	j        *journal[shardState]
	sections []section
	lost     int // samples that could not be measured, or are outside all groups
	bads     int // samples that could not be read or written
	done     int // finished steps
	steps    int

	// The current section.
	at     int
	number int // the number of its next shard
	w      *webdataset.Writer
	n      int // samples of the open shard
	size   int64
}

// Validate checks the options against the samples. It reads no files.
func (p *Shards) Validate() error {
	_, err := p.fill()
	return err
}

// fill returns a copy with defaults.
func (p *Shards) fill() (Shards, error) {
	o := *p
	if o.Samples == nil {
		return o, errors.New("pack: no samples")
	}
	if o.Name == "" {
		o.Name = "data-%05d.tar"
	}
	if o.Count == 0 {
		o.Count = 2000
	}
	if o.Size == 0 {
		o.Size = 3_000_000_000
	}
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	if o.OnSkip == nil {
		o.OnSkip = func(error) {}
	}
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	if strings.ContainsAny(o.Name, `/\`) || strings.HasPrefix(o.Name, ".") {
		return o, fmt.Errorf("pack: name %q: want the name of a file, for example data-%%05d.tar", o.Name)
	}
	if _, err := webdataset.NewWriter(context.Background(), store.Local, o.Name, webdataset.WriterOptions{Count: o.Count, Size: o.Size, Index: o.Index}); err != nil {
		return o, err
	}
	switch {
	case o.Workers < 1:
		return o, fmt.Errorf("pack: %d workers: want at least 1, or 0 for the default", o.Workers)
	case o.OnError > SkipOnError:
		return o, fmt.Errorf("pack: error policy %d: want FailOnError or SkipOnError", o.OnError)
	case o.Sort && o.Shuffle:
		return o, errors.New("pack: both Sort and Shuffle: want at most one of them")
	case !(o.Train >= 0 && o.Train <= 1 && o.Test >= 0 && o.Train+o.Test <= 1+1e-9) || o.Train == 0 && o.Test > 0:
		return o, fmt.Errorf("pack: ratios %v for training and %v for testing: want positive ratios with a sum of at most 1", o.Train, o.Test)
	case len(o.Groups) > 0 && o.Samples.length == nil:
		return o, errors.New("pack: length groups of samples without lengths")
	}
	o.Groups = slices.SortedFunc(slices.Values(o.Groups), func(a, b Group) int {
		if a.From < b.From {
			return -1
		}
		return 1
	})
	for i, g := range o.Groups {
		if !(g.From >= 0 && g.From < g.To) {
			return o, fmt.Errorf("pack: length group from %v to %v: want 0 <= from < to", g.From, g.To)
		}
		if i > 0 && o.Groups[i-1].To > g.From {
			return o, fmt.Errorf("pack: length groups %v and %v overlap", o.Groups[i-1], g)
		}
		if i > 0 && o.Groups[i-1].String() == g.String() {
			return o, fmt.Errorf("pack: two length groups are named %v", g)
		}
	}
	return o, nil
}

// handleBad handles a sample that cannot be packed.
func (p *shardPack) handleBad(err error) error {
	if p.ctx.Err() != nil {
		return p.ctx.Err()
	}
	if p.o.OnError == FailOnError {
		return err
	}
	p.o.OnSkip(err)
	p.report.Skipped++
	return nil
}

func (p *shardPack) step() {
	p.done++
	p.o.Progress(p.done, p.steps)
}

// digest identifies this pack.
func (p *shardPack) digest() (string, error) {
	b, err := json.Marshal(struct {
		Version       int
		Name          string
		Count         int
		Size          int64
		Index         bool
		Sort, Shuffle bool
		Seed          uint64
		Train, Test   float64
		Groups        string
		About         []byte
	}{1, p.o.Name, p.o.Count, p.o.Size, p.o.Index, p.o.Sort, p.o.Shuffle, p.o.Seed, p.o.Train, p.o.Test, fmt.Sprint(p.o.Groups), p.s.digest})
	return fmt.Sprintf("shards %x", sha256.Sum256(b)), err
}

func (p *shardPack) pack() error {
	if p.s.Len() == 0 {
		return errors.New("pack: no samples to pack")
	}
	states, err := p.begin()
	if err != nil {
		return err
	}
	if err := p.divide(); err != nil {
		return err
	}
	next, err := p.resume(states)
	if err != nil {
		return err
	}
	for ; p.at < len(p.sections); p.at++ {
		items := p.sections[p.at].items
		if next < len(items) {
			if err := os.MkdirAll(p.folder(), 0o777); err != nil {
				return fmt.Errorf("pack: %w", err)
			}
		}
		err := ordered.Run(p.ctx, ordered.Options{From: next, To: len(items), Workers: p.o.Workers}, func(ctx context.Context, _, k int) (*webdataset.Sample, error) {
			return p.s.read(ctx, items[k])
		}, func(k int, s *webdataset.Sample, err error) error {
			if p.ctx.Err() != nil { // the sample is read again by the next run
				return p.ctx.Err()
			}
			if err == nil {
				err = p.write(s, k+1)
			}
			p.step()
			var fatal *fatalError
			if err == nil || errors.As(err, &fatal) {
				return err
			}
			p.bads++
			return p.handleBad(err)
		})
		if err == nil {
			err = p.finish(len(items))
		}
		if err != nil {
			return err
		}
		next, p.number = 0, 0
	}
	if p.s.ClassNames != nil {
		names := []byte(strings.Join(p.s.ClassNames, "\n") + "\n")
		if err := store.WriteFile(p.ctx, p.open, filepath.Join(p.dir, classesFile), names); err != nil {
			return fmt.Errorf("pack: %w", err)
		}
	}
	err = p.j.remove()
	p.j = nil
	return err
}

// classesFile is the name of the file with one class name per line.
const classesFile = "classes.txt"

// fatalError is an error of the output, not of a sample.
type fatalError struct{ err error }

func (e *fatalError) Error() string { return e.err.Error() }
func (e *fatalError) Unwrap() error { return e.err }

func (p *shardPack) folder() string { return filepath.Join(p.dir, p.sections[p.at].folder) }

// pattern returns the pattern of the names of a folder's shards.
func (p *shardPack) pattern(folder string) string {
	return filepath.Join(strings.ReplaceAll(folder, "%", "%%"), p.o.Name)
}

// write writes a sample and ends the shard if it is full. next is the next
// item.
func (p *shardPack) write(s *webdataset.Sample, next int) error {
	if p.w == nil {
		w, err := webdataset.NewWriter(p.ctx, p.open, p.pattern(p.folder()), webdataset.WriterOptions{
			Start: p.number, Count: math.MaxInt, Size: math.MaxInt64, Index: p.o.Index,
		})
		if err != nil {
			return &fatalError{err}
		}
		p.w, p.n, p.size = w, 0, 0
	}
	if err := p.w.Write(s); errors.Is(err, webdataset.ErrName) {
		return fmt.Errorf("%w: %w", ErrSample, err)
	} else if err != nil {
		return &fatalError{err}
	}
	p.n++
	for _, f := range s.Fields {
		p.size += int64(len(f.Data))
	}
	if p.n >= p.o.Count || p.size >= p.o.Size {
		if err := p.finish(next); err != nil {
			return &fatalError{err}
		}
	}
	return nil
}

// finish gives the open shard its name and records it. It drops a shard without
// samples.
func (p *shardPack) finish(next int) error {
	if p.w == nil {
		return nil
	}
	w := p.w
	if p.w = nil; p.n == 0 {
		return w.Abort()
	}
	if err := w.Close(); err != nil {
		return err
	}
	name := filepath.Join(p.folder(), p.open.name)
	s := Shard{name, p.n, p.open.Size, p.open.CRC}
	s.Name = filepath.Join(p.sections[p.at].folder, p.open.name)
	if err := p.j.note(shardState{p.at, next, p.bads, s}, true); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	s.Name = name
	p.report.Shards = append(p.report.Shards, s)
	p.report.Samples += s.Samples
	p.number++
	return nil
}

// The folders of the parts that Train and Test define.
const (
	trainPart = "train"
	testPart  = "test"
	valPart   = "val"
)

// divide divides the samples into sections.
func (p *shardPack) divide() error {
	n := p.s.Len()
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	switch {
	case p.o.Sort:
		slices.SortStableFunc(items, func(a, b int) int { return strings.Compare(p.s.keys[a], p.s.keys[b]) })
	case p.o.Shuffle:
		order := rng.NewPermutation(uint64(n), rng.NewKey(p.o.Seed, 0, "pack.shards"))
		for i := range items {
			items[i] = int(order.At(uint64(i)))
		}
	}
	parts := []section{{"", items}}
	if p.o.Train > 0 && p.o.Train < 1 {
		test, train := int(float64(n)*p.o.Test), int(float64(n)*p.o.Train)
		if p.o.Train+p.o.Test > 1-1e-9 {
			train = n - test
		}
		parts = []section{{trainPart, items[test : test+train]}}
		if test > 0 {
			parts = append(parts, section{testPart, items[:test]})
		}
		if test+train < n {
			parts = append(parts, section{valPart, items[test+train:]})
		}
	}
	p.steps = n
	if len(p.o.Groups) == 0 {
		p.sections = parts
		return nil
	}
	p.steps += n
	lengths := make([]float64, n)
	err := ordered.Run(p.ctx, ordered.Options{To: n, Workers: p.o.Workers}, func(ctx context.Context, _, k int) (float64, error) {
		return p.s.length(ctx, k)
	}, func(k int, length float64, err error) error {
		p.step()
		if err == nil {
			lengths[k] = length
			return nil
		}
		lengths[k] = math.NaN()
		p.lost++
		return p.handleBad(err)
	})
	if err != nil {
		return err
	}
	group := func(l float64) int {
		return slices.IndexFunc(p.o.Groups, func(g Group) bool { return g.From <= l && l < g.To })
	}
	for i, l := range lengths {
		if !math.IsNaN(l) && group(l) < 0 {
			p.lost++
			p.report.Outside = append(p.report.Outside, fmt.Sprintf("%s (%v)", p.s.keys[i], l))
		}
	}
	for _, part := range parts {
		l := make([]section, len(p.o.Groups))
		for i, g := range p.o.Groups {
			l[i].folder = part.folder
			if len(l) > 1 {
				l[i].folder = filepath.Join(part.folder, g.String())
			}
		}
		for _, i := range part.items {
			if g := group(lengths[i]); g >= 0 {
				l[g].items = append(l[g].items, i)
			}
		}
		p.sections = append(p.sections, l...)
	}
	p.steps -= p.lost
	return nil
}
