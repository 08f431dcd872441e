package webdataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/store"
)

// SetOptions are the options of a Set. The zero value reads all samples in
// order.
type SetOptions struct {
	// Rank of Ranks and Worker of Workers identify the reader. Default 0 of 1
	// each. All ranks have the same number of workers.
	Rank, Ranks, Worker, Workers int
	// Batch is the number of samples in a batch. All workers get the same
	// number of whole batches. Default 1.
	Batch int
	// Pad repeats samples from the beginning of the epoch to fill the last
	// batches, so that every sample is read. Without it, the epoch omits up to
	// one batch per worker.
	Pad bool
	// Shuffle shuffles the shards, in a new order in each epoch, before they
	// are divided among the readers.
	Shuffle bool
	// Buffer, if not 0, is the size of the shuffle buffer: a reader keeps that
	// many samples and returns a random one. Initial is the number of samples
	// to read before the first. Default 100, at most Buffer.
	Buffer, Initial int
	// Resample, if not 0, is the number of batches in a reader's epoch. The
	// reader draws shards at random, with replacement.
	Resample int
	// Seed is the seed of all random orders.
	Seed uint64
	// Limit is the largest number of bytes in the fields of one sample. Default
	// 1 GiB.
	Limit int64
}

// span is the samples from..to of a shard.
type span struct {
	shard    int
	from, to int64
}

// Set reads one reader's samples of many shards, epoch by epoch. The order is a
// function of the options, the shards and the epoch. A Set is for one goroutine
// at a time.
//
// The samples of an epoch, in the order of the shards, are cut into one piece
// for each reader, all with the same number of batches. A reader opens only the
// shards of its own piece. In a shard that is cut, it skips other readers'
// samples, by the index if there is one.
type Set struct {
	ctx    context.Context
	opener store.Opener
	o      SetOptions
	shards []string
	counts []int64
	total  int64
	part   int64 // of parts
	parts  int64
	epoch  uint64

	plan   []span
	at     int // in plan
	from   int64
	r      *Reader
	x      *Indexed
	memory Buffer
	buffer []*Sample
	primed bool
	pick   rng.Stream
	err    error
}

// OpenSet opens a Set of shards, as Shards returns them. It needs the number of
// samples of each shard: from the index, or from the shard's headers if the
// index is missing or stale.
func OpenSet(ctx context.Context, opener store.Opener, shards []string, o SetOptions) (*Set, error) {
	if o.Ranks == 0 {
		o.Ranks = 1
	}
	if o.Workers == 0 {
		o.Workers = 1
	}
	if o.Batch == 0 {
		o.Batch = 1
	}
	if o.Initial == 0 {
		o.Initial = 100
	}
	o.Initial = min(o.Initial, o.Buffer)
	const most = 1 << 20
	if o.Ranks < 1 || o.Ranks > most || o.Rank < 0 || o.Rank >= o.Ranks || o.Workers < 1 || o.Workers > most || o.Worker < 0 || o.Worker >= o.Workers {
		return nil, fmt.Errorf("webdataset: rank %d of %d, worker %d of %d", o.Rank, o.Ranks, o.Worker, o.Workers)
	}
	if o.Batch < 1 || o.Batch > most || o.Buffer < 0 || o.Initial < 0 || o.Resample < 0 || int64(o.Resample) > 1<<40 {
		return nil, fmt.Errorf("webdataset: batch %d, want 1 to %d; buffer %d, initial %d, resample %d, want none below 0", o.Batch, most, o.Buffer, o.Initial, o.Resample)
	}
	if len(shards) == 0 {
		return nil, errors.New("webdataset: no shards")
	}
	s := &Set{ctx: ctx, opener: opener, o: o, shards: shards, part: int64(o.Rank)*int64(o.Workers) + int64(o.Worker), parts: int64(o.Ranks) * int64(o.Workers)}
	for _, name := range shards {
		n, err := Count(ctx, opener, name)
		if err != nil {
			return nil, err
		}
		s.counts = append(s.counts, n)
		s.total += n
	}
	if s.total == 0 {
		return nil, fmt.Errorf("webdataset: %d shards without a sample", len(shards))
	}
	s.begin()
	return s, nil
}

// Count returns the number of samples of a shard, from its index or by reading
// it.
func Count(ctx context.Context, o store.Opener, shard string) (int64, error) {
	if err := refuse(shard); err != nil {
		return 0, err
	}
	x, err := LoadIndex(ctx, o, shard)
	if err == nil {
		return int64(len(x.Entries)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrStale) {
		return 0, err
	}
	r, err := Open(ctx, o, shard, Options{})
	if err != nil {
		return 0, err
	}
	n, err := r.count()
	if err = errors.Join(err, r.Close()); err != nil {
		return 0, err
	}
	return n, nil
}

// count counts the samples without reading their data.
func (r *Reader) count() (n int64, err error) {
	last := ""
	for {
		_, key, _, err := r.member()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if n == 0 || key != last {
			n++
		}
		last = key
	}
}

// Len returns the number of samples of this reader in an epoch, the same for
// all readers.
func (s *Set) Len() int64 {
	batch := int64(s.o.Batch)
	if s.o.Resample > 0 {
		return int64(s.o.Resample) * batch
	}
	n := s.total / (batch * s.parts)
	if s.o.Pad && s.total%(batch*s.parts) != 0 {
		n++
	}
	return n * batch
}

// Total returns the number of samples of all shards.
func (s *Set) Total() int64 { return s.total }

// Epoch returns the number of the epoch, from 0.
func (s *Set) Epoch() uint64 { return s.epoch }

// begin plans the epoch.
func (s *Set) begin() {
	s.plan, s.at, s.from, s.err, s.primed = s.plan[:0], 0, 0, nil, false
	s.buffer = s.buffer[:0]
	part := uint64(s.part)
	s.pick = rng.NewKey(s.o.Seed, s.epoch, "webdataset/samples").At(part)
	n := s.Len()
	if s.o.Resample > 0 {
		draw := rng.NewKey(s.o.Seed, s.epoch, "webdataset/resample").At(part)
		for n > 0 {
			i := draw.IntN(len(s.shards))
			if k := min(n, s.counts[i]); k > 0 {
				s.plan = append(s.plan, span{i, 0, k})
				n -= k
			}
		}
	} else {
		order := make([]int, len(s.shards))
		for i := range order {
			order[i] = i
		}
		if s.o.Shuffle {
			shuffle := rng.NewKey(s.o.Seed, s.epoch, "webdataset/shards").At(0)
			shuffle.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		skip := s.part * n % s.total // within the epoch, which wraps around if padded
		for k := 0; n > 0; k = (k + 1) % len(order) {
			i := order[k]
			if skip >= s.counts[i] {
				skip -= s.counts[i]
				continue
			}
			to := min(s.counts[i], skip+n)
			s.plan = append(s.plan, span{i, skip, to})
			n -= to - skip
			skip = 0
		}
	}
	if len(s.plan) > 0 {
		s.from = s.plan[0].from
	}
}

// Next returns the next sample, valid until the next call, and io.EOF at the
// end of the epoch. It returns any other error again until Reset.
func (s *Set) Next() (*Sample, error) {
	if s.err != nil {
		return nil, s.err
	}
	x, err := s.next()
	if err != nil {
		s.err = err
		return nil, err
	}
	return x, nil
}

// next is Next with the shuffle buffer. As in webdataset, it reads two samples
// for each one that it returns until the buffer is full.
func (s *Set) next() (*Sample, error) {
	if s.o.Buffer == 0 {
		return s.read()
	}
	want := len(s.buffer) + 1
	if !s.primed {
		want = s.o.Initial
		s.primed = true
	} else if want < s.o.Buffer {
		want++
	}
	for len(s.buffer) < max(want, 1) {
		x, err := s.read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		s.buffer = append(s.buffer, x.clone())
	}
	n := len(s.buffer)
	if n == 0 {
		return nil, io.EOF
	}
	i := s.pick.IntN(n)
	x := s.buffer[i]
	s.buffer[i] = s.buffer[n-1]
	s.buffer[n-1] = nil
	s.buffer = s.buffer[:n-1]
	return x, nil
}

// read returns the next sample of the plan.
func (s *Set) read() (*Sample, error) {
	for {
		if s.at == len(s.plan) {
			return nil, io.EOF // nothing is open
		}
		p := s.plan[s.at]
		if s.from == p.to {
			if err := s.shut(); err != nil {
				return nil, err
			}
			if s.at++; s.at < len(s.plan) {
				s.from = s.plan[s.at].from
			}
			continue
		}
		name := s.shards[p.shard]
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
		if s.r == nil && s.x == nil {
			if err := s.open(name, p); err != nil {
				return nil, err
			}
		}
		if s.x != nil {
			x, _, err := s.x.Read(int(s.from), &s.memory)
			s.from++
			return x, err
		}
		x, err := s.r.Next()
		if err == io.EOF {
			return nil, fmt.Errorf("webdataset: %s: %d samples, it had %d: it was changed meanwhile", store.Redact(name), s.from, s.counts[p.shard])
		}
		s.from++
		return x, err
	}
}

// open opens the shard of a span at its beginning.
func (s *Set) open(name string, p span) error {
	options := Options{Limit: s.o.Limit}
	x, err := OpenIndexed(s.ctx, s.opener, name, options)
	if err == nil {
		if int64(x.Len()) != s.counts[p.shard] {
			return errors.Join(fmt.Errorf("webdataset: %s: %d samples, it had %d: it was changed meanwhile", store.Redact(name), x.Len(), s.counts[p.shard]), x.Close())
		}
		s.x = x
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrStale) {
		return err
	}
	r, err := Open(s.ctx, s.opener, name, options)
	if err != nil {
		return err
	}
	s.r = r
	for range p.from {
		if _, err := r.Next(); err != nil {
			if err == io.EOF {
				err = fmt.Errorf("webdataset: %s: fewer samples than it had: it was changed meanwhile", store.Redact(name))
			}
			return err
		}
	}
	return nil
}

// shut closes the current shard.
func (s *Set) shut() error {
	var err error
	if s.r != nil {
		err = s.r.Close()
	}
	if s.x != nil {
		err = errors.Join(err, s.x.Close())
	}
	s.r, s.x = nil, nil
	return err
}

// Reset begins the given epoch, from any state.
func (s *Set) Reset(epoch uint64) error {
	err := s.shut()
	s.epoch = epoch
	s.begin()
	return err
}

// Close closes the current shard.
func (s *Set) Close() error {
	err := s.shut()
	s.err = errors.New("webdataset: closed")
	return err
}

// Group is a folder of shards, for example of samples with similar length.
type Group struct {
	Name   string // path below the given folder; empty for that folder
	Shards []string
}

// Groups returns the folders with shards (.tar, .tgz, .tar.gz, .tar.zst,
// .tar.bz2, .tar.xz) in a folder and below it. A folder precedes those in it,
// and names are sorted. It lists xz-compressed shards so that opening them is
// an error.
func Groups(ctx context.Context, o store.Opener, folder string) ([]Group, error) {
	var l []Group
	var walk func(folder, name string, depth int) error
	walk = func(folder, name string, depth int) error {
		if depth > maxDepth {
			return fmt.Errorf("webdataset: %s: folders in more than %d others", folder, maxDepth)
		}
		list, err := o.List(ctx, folder)
		if err != nil {
			return fmt.Errorf("webdataset: %w", err)
		}
		g := Group{Name: name}
		for _, i := range list {
			base := baseName(i.Name)
			if !i.Folder && isShard(base) {
				g.Shards = append(g.Shards, join(folder, base, false))
			}
		}
		if len(g.Shards) > 0 {
			l = append(l, g)
		}
		for _, i := range list {
			base := baseName(i.Name)
			if !i.Folder || strings.HasPrefix(base, ".") {
				continue
			}
			if err := walk(join(folder, base, false), strings.TrimPrefix(name+"/"+base, "/"), depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(folder, "", 0); err != nil {
		return nil, err
	}
	if len(l) == 0 {
		return nil, fmt.Errorf("webdataset: %s: no shards: %w", folder, fs.ErrNotExist)
	}
	return l, nil
}

func isShard(base string) bool {
	if strings.HasPrefix(base, ".") {
		return false
	}
	for _, end := range []string{".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.bz2", ".tar.xz"} {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	return false
}
