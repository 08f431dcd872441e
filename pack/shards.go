package pack

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/internal/ordered"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/store"
)

var (
	// ErrChanged is the error of an unfinished pack whose files are not those that it wrote.
	ErrChanged = errors.New("the unfinished pack's files were changed")
	// ErrSample is the error of samples that cannot be packed as they are.
	ErrSample = errors.New("not a sample")
)

// Samples is what is packed into shards: a list of samples, each of which is read when it
// is its turn. FolderSamples, ClassSamples, ListSamples and KaldiSamples make one. It may be used by several goroutines.
type Samples struct {
	// ClassNames are those of the labels 0, 1, …; nil if the samples have no such labels.
	ClassNames []string
	// LeftOut are the files that belong to no sample, and are not meant to.
	LeftOut []string
	// Bad is what should have been a sample and cannot be one, in the order of the files.
	Bad []error

	keys   []string
	read   func(ctx context.Context, i int) (*webdataset.Sample, error)
	length func(ctx context.Context, i int) (float64, error) // nil: they have none
	close  func() error
	about  []byte // another one for other samples
}

// Len is how many there are.
func (s *Samples) Len() int { return len(s.keys) }

// Key is that of sample i.
func (s *Samples) Key(i int) string { return s.keys[i] }

// Sample reads sample i.
func (s *Samples) Sample(ctx context.Context, i int) (*webdataset.Sample, error) {
	return s.read(ctx, i)
}

// Close closes the files that are open.
func (s *Samples) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

// Group is the samples whose length is From or more and less than To.
type Group struct{ From, To float64 }

// ParseGroup reads "10:500". Without its first number a group begins at 1, without its
// second it has no end.
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
		return Group{}, fmt.Errorf("pack: length group %q, want FROM:TO, such as 10:500, :10 or 500:", s)
	}
	return g, nil
}

// String is the group's folder, as pack_data names it: 10_500, _10 for one from 1 or
// less, 500_ for one without an end.
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

// ShardOptions say how samples are packed.
type ShardOptions struct {
	// Name is the shards', with one verb for the number; an end in .gz, .tgz or .zst has
	// them compressed. Default: data-%05d.tar.
	Name string
	// Count is the most samples of a shard. Default: 2000.
	Count int
	// Size ends a shard when its fields have that many bytes. Default: 3e9, as in webdataset.
	Size int64
	// Index writes the index of every shard beside it. The shards must not be compressed. So
	// that the same samples give the same index, it says nothing of when the shard was written.
	Index bool
	// Sort packs the samples in the order of their keys, Shuffle in a random one, which is a
	// function of Seed. Default: their own order.
	Sort, Shuffle bool
	Seed          uint64
	// Train and Test are parts of the samples: the first ones go into the folder test, those
	// behind them into train, and what is left into val. Their numbers are rounded down; if nothing is to be left, train has the
	// rest. Train 0 or 1 makes no such folders.
	Train, Test float64
	// Groups divide the samples by their lengths. If there are several, each has a folder of
	// its own. They must not overlap; what is in none is not packed.
	Groups []Group
	// Jobs is how many goroutines read samples. Default: 1.
	Jobs int
	// Force replaces the shards of that name that are there, Restart those of an unfinished
	// pack.
	Force, Restart bool
	// Bad is told of every sample that cannot be packed. If it gives nil, the sample is left
	// out, else the pack ends with what it gives. It is called by the goroutine that
	// called Shards. Default: the pack ends.
	Bad func(error) error
	// Progress is told that done of so many steps are done: samples that were packed, or measured
	// before that for Groups. It is called as Bad is.
	Progress func(done, steps int)
}

// Shard is one that was packed.
type Shard struct {
	Name    string // its path
	Samples int
	Size    int64  // of the file
	CRC     uint32 // CRC-32C of the file
}

// ShardReport is what was packed.
type ShardReport struct {
	Shards  []Shard // folder by folder, in order
	Samples int
	Bad     int // samples, and other things that Bad was told of, which were left out
	// Outside are the keys of the samples, with their lengths, that are in none of the Groups.
	Outside []string
	// Resumed is how many of the shards an earlier run had packed.
	Resumed int
}

// shardState is a line of the journal: a shard that is whole, or, the first one, that
// nothing else is in the way.
type shardState struct {
	Section int `json:"section"`
	Next    int `json:"next"` // item of the section behind it
	Bad     int `json:"bad"`  // samples that could not be read or written so far
	Shard
}

// section is samples with a folder of their own.
type section struct {
	folder string // below the pack's; empty: that itself
	items  []int
}

// Shards packs samples into tar files in the folder dir: each is there under its name when
// it is whole. The bytes are a function of the samples and options, whatever Jobs is.
//
// A pack that did not end goes on behind its last whole shard when Shards is called again with
// the same samples and options (Jobs and Bad may be others), and so gives what it would have
// given at once. The file Name + ".pack" in dir, which is gone in the end, notes how far it is. A pack that
// goes on after other samples or options is ErrOther, one beside a running one
// filelock.ErrLocked. Whatever the error, the report tells of the shards that are whole.
//
// Fields are in the order of their names, and so the shards those that webdataset writes
// (with mtime=0).
func Shards(ctx context.Context, s *Samples, dir string, o ShardOptions) (*ShardReport, error) {
	p := &shardPack{ctx: ctx, s: s, dir: dir, report: &ShardReport{}, open: &shardOpener{Opener: store.Local}}
	var err error
	if p.o, err = o.fill(s); err != nil {
		return p.report, err
	}
	for _, err := range s.Bad {
		if err := p.bad(err); err != nil {
			return p.report, err
		}
	}
	err = p.pack()
	if p.w != nil {
		err = errors.Join(err, p.w.Abort())
	}
	if p.j != nil {
		err = errors.Join(err, p.j.close())
	}
	return p.report, err
}

type shardPack struct {
	ctx      context.Context
	s        *Samples
	dir      string
	o        ShardOptions
	report   *ShardReport
	open     *shardOpener
	j        *journal[shardState]
	sections []section
	lost     int // samples that could not be measured, or are outside
	bads     int // samples that could not be read or written
	done     int // steps
	steps    int

	// The section that is being packed.
	at     int
	number int // of its next shard
	w      *webdataset.Writer
	n      int // samples of the open shard
	size   int64
}

// Check says what is wrong with the options, for these samples.
func (o ShardOptions) Check(s *Samples) error {
	_, err := o.fill(s)
	return err
}

// fill sets the defaults.
func (o ShardOptions) fill(s *Samples) (ShardOptions, error) {
	if o.Name == "" {
		o.Name = "data-%05d.tar"
	}
	if o.Count == 0 {
		o.Count = 2000
	}
	if o.Size == 0 {
		o.Size = 3_000_000_000
	}
	if o.Jobs == 0 {
		o.Jobs = 1
	}
	if o.Bad == nil {
		o.Bad = func(err error) error { return err }
	}
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	if strings.ContainsAny(o.Name, `/\`) || strings.HasPrefix(o.Name, ".") {
		return o, fmt.Errorf("pack: name %q, want the name of a file, such as data-%%05d.tar", o.Name)
	}
	if _, err := webdataset.NewWriter(context.Background(), store.Local, o.Name, webdataset.WriterOptions{Count: o.Count, Size: o.Size, Index: o.Index}); err != nil {
		return o, err
	}
	switch {
	case o.Jobs < 1:
		return o, fmt.Errorf("pack: %d jobs, want at least 1", o.Jobs)
	case o.Sort && o.Shuffle:
		return o, errors.New("pack: both sorted and shuffled, want one of them")
	case !(o.Train >= 0 && o.Train <= 1 && o.Test >= 0 && o.Train+o.Test <= 1+1e-9) || o.Train == 0 && o.Test > 0:
		return o, fmt.Errorf("pack: ratios %v for training and %v for testing, want them above 0 and at most 1 together", o.Train, o.Test)
	case len(o.Groups) > 0 && s.length == nil:
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
			return o, fmt.Errorf("pack: length group from %v to %v", g.From, g.To)
		}
		if i > 0 && o.Groups[i-1].To > g.From {
			return o, fmt.Errorf("pack: length groups %v and %v overlap", o.Groups[i-1], g)
		}
		if i > 0 && o.Groups[i-1].String() == g.String() {
			return o, fmt.Errorf("pack: two length groups are called %v", g)
		}
	}
	return o, nil
}

// bad leaves a sample out, if it may be.
func (p *shardPack) bad(err error) error {
	if p.ctx.Err() != nil {
		return p.ctx.Err()
	}
	if err := p.o.Bad(err); err != nil {
		return err
	}
	p.report.Bad++
	return nil
}

func (p *shardPack) step() {
	p.done++
	p.o.Progress(p.done, p.steps)
}

// digest tells this pack from others.
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
	}{1, p.o.Name, p.o.Count, p.o.Size, p.o.Index, p.o.Sort, p.o.Shuffle, p.o.Seed, p.o.Train, p.o.Test, fmt.Sprint(p.o.Groups), p.s.about})
	return fmt.Sprintf("shards %x", sha256.Sum256(b)), err
}

func (p *shardPack) pack() error {
	if p.s.Len() == 0 {
		return errors.New("pack: there is nothing to pack")
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
		err := ordered.Run(p.ctx, ordered.Options{From: next, To: len(items), Workers: p.o.Jobs}, func(ctx context.Context, _, k int) (*webdataset.Sample, error) {
			return p.s.read(ctx, items[k])
		}, func(k int, s *webdataset.Sample, err error) error {
			if p.ctx.Err() != nil { // what was read before it ended waits until it is read again
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
			return p.bad(err)
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

// classesFile has the name of a class on each line.
const classesFile = "classes.txt"

// fatalError is an error of writing, which is none of the sample's.
type fatalError struct{ err error }

func (e *fatalError) Error() string { return e.err.Error() }
func (e *fatalError) Unwrap() error { return e.err }

func (p *shardPack) folder() string { return filepath.Join(p.dir, p.sections[p.at].folder) }

// pattern is the names of a folder's shards.
func (p *shardPack) pattern(folder string) string {
	return filepath.Join(strings.ReplaceAll(folder, "%", "%%"), p.o.Name)
}

// write writes a sample, and ends the shard if it is full. next is the item behind it.
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

// finish puts the open shard, if there is one with samples, under its name and notes it.
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
	if err := p.j.note(shardState{p.at, next, p.bads, s}); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	s.Name = name
	p.report.Shards = append(p.report.Shards, s)
	p.report.Samples += s.Samples
	p.number++
	return nil
}

// The folders of the parts that Train and Test make.
const (
	trainPart = "train"
	testPart  = "test"
	valPart   = "val"
)

// divide makes the sections.
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
	err := ordered.Run(p.ctx, ordered.Options{To: n, Workers: p.o.Jobs}, func(ctx context.Context, _, k int) (float64, error) {
		return p.s.length(ctx, k)
	}, func(k int, length float64, err error) error {
		p.step()
		if err == nil {
			lengths[k] = length
			return nil
		}
		lengths[k] = math.NaN()
		p.lost++
		return p.bad(err)
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
