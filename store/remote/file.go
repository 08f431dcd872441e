package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/infer-prep/infer-prep/store"
)

// small is the most bytes that Open reads. An object that has no more is in
// memory when it is open.
const small = 1 << 20

// file is an open object. Its ctx is that of Open: ReadAt has none of its own.
type file struct {
	s      *Store
	name   string
	size   int64
	id     identity     // when it was opened
	whole  []byte       // the content of a small object, or nil; Close takes it
	using  sync.RWMutex // held for reading by users of whole
	o      *object
	ctx    context.Context
	cancel context.CancelCauseFunc
	closed atomic.Bool
	// work counts the goroutines that fetch blocks. Memory.mu guards Add, so
	// that none starts after Close.
	work    sync.WaitGroup
	streams streams
	// body brings the blocks of a reader from the beginning, or is nil. bad is
	// what its checksum has shown. Memory.mu guards them.
	body *body
	bad  error
}

// Open implements store.Opener. It sends one request, and reads the first MiB
// of its answer. Until the file is closed, its reads end with ctx. An object of
// at most 1 MiB is in memory when Open returns (store.MappedBytes), and reading
// it needs neither the service nor ctx.
func (s *Store) Open(ctx context.Context, name string) (store.File, error) {
	f, err := s.open(ctx, name)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return f, nil
}

func (s *Store) open(ctx context.Context, name string) (*file, error) {
	if s.err != nil {
		return nil, s.err
	}
	if id, ok := s.remembered(name); ok {
		f, err := s.reopen(ctx, name, id)
		if !errors.Is(err, ErrChanged) {
			return f, err
		}
	}
	fctx, cancel := context.WithCancelCause(ctx)
	t := &transfer{s: s, name: name, end: small, tries: attempts{s: s}}
	if s.readsOn() {
		t.end, t.whole = math.MaxInt64, true
	}
	if err := t.connect(fctx); err != nil {
		cancel(err)
		return nil, err
	}
	s.cache.remember(name, t.id)
	if t.id.size <= small {
		defer cancel(fs.ErrClosed)
		f := &file{s: s, name: name, size: t.id.size, id: t.id, whole: s.content(t.id.size)}
		if t.id.size == 0 {
			t.stop()
			return f, nil
		}
		err := t.run(fctx, func(off int64) []byte { return f.whole[off:] }, func(int64) {})
		if err == nil {
			s.cache.put(name, t.id, 0, f.whole)
		}
		return f, err
	}
	f := s.newFile(fctx, cancel, name, t.id)
	f.begin(t)
	return f, nil
}

// remembered returns the identity of an object whose beginning may be here.
func (s *Store) remembered(name string) (identity, bool) {
	if id, ok := s.memory.known(name); ok {
		return id, true
	}
	return s.cache.known(name)
}

// reopen opens an object whose bytes may be here. It requests one byte, to
// learn whether the object has changed.
func (s *Store) reopen(ctx context.Context, name string, id identity) (*file, error) {
	fctx, cancel := context.WithCancelCause(ctx)
	var one [1]byte
	t := &transfer{s: s, name: name, id: id, known: true, end: 1, tries: attempts{s: s}}
	if err := t.run(fctx, func(int64) []byte { return one[:] }, func(int64) {}); err != nil {
		cancel(err)
		return nil, err
	}
	if id.size > small {
		return s.newFile(fctx, cancel, name, id), nil
	}
	defer cancel(fs.ErrClosed)
	f := &file{s: s, name: name, size: id.size, id: id, whole: s.content(id.size)}
	if s.cache.get(name, id, 0, f.whole) {
		return f, nil
	}
	t = &transfer{s: s, name: name, id: id, known: true, end: id.size, tries: attempts{s: s}}
	err := t.run(fctx, func(off int64) []byte { return f.whole[off:] }, func(int64) {})
	if err == nil {
		s.cache.put(name, id, 0, f.whole)
	}
	return f, err
}

// content returns memory for a small object.
func (s *Store) content(n int64) []byte {
	if b, _ := s.small.Get().(*[]byte); b != nil && int64(cap(*b)) >= n {
		return (*b)[:n]
	}
	return make([]byte, n, max(1, n+n/4)) // with room for larger ones
}

func (s *Store) newFile(ctx context.Context, cancel context.CancelCauseFunc, name string, id identity) *file {
	return &file{s: s, name: name, size: id.size, id: id, o: s.memory.open(name, id), ctx: ctx, cancel: cancel}
}

// begin fetches the first blocks with the open transfer of Open.
func (f *file) begin(t *transfer) {
	m := &f.s.memory
	m.mu.Lock()
	n := (min(t.end, small) + m.size - 1) / m.size
	var bs []*block
	if f.missing(0, n) == n { // else another file is ahead
		m.room(n * m.size)
		bs = m.add(f.o, 0, n, 0)
		f.work.Add(1)
		if t.end > small {
			f.body = newBody(bs)
		}
	}
	f.streams.start(n * m.size)
	m.mu.Unlock()
	switch {
	case bs == nil:
		t.stop()
	case f.body != nil:
		go f.follow(f.body, t)
	default:
		t.end = min(n*m.size, f.size)
		go f.fetch(bs, t, false)
	}
}

// Size implements store.File.
func (f *file) Size() int64 { return f.size }

// Modified and Version implement store.Described.
func (f *file) Modified() time.Time { return f.id.modified }
func (f *file) Version() string     { return f.id.version }

// Bytes implements store.Mapped.
func (f *file) Bytes() []byte {
	f.using.RLock()
	defer f.using.RUnlock()
	return f.whole
}

// Close ends the requests of the file, also those of a ReadAt, and waits until
// they have ended.
func (f *file) Close() error {
	if f.closed.Swap(true) {
		return pathError("close", f.name, fs.ErrClosed)
	}
	if f.o == nil {
		f.using.Lock()
		b := f.whole
		f.whole = nil
		f.using.Unlock()
		f.s.small.Put(&b)
		return nil
	}
	f.cancel(fs.ErrClosed)
	m := &f.s.memory
	m.mu.Lock() // a ReadAt that saw closed unset has added its work
	f.streams.stop(m)
	f.elsewhere()
	m.mu.Unlock()
	f.work.Wait()
	m.closed(f.o)
	return nil
}

// perRead is the most blocks that are waited for at once.
const perRead = 64

// ReadAt implements io.ReaderAt. It ends with the context of Open.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	switch {
	case off < 0:
		return 0, pathError("read", f.name, fmt.Errorf("at byte %d: want an offset of at least 0", off))
	case f.closed.Load():
		return 0, pathError("read", f.name, fs.ErrClosed)
	case off >= f.size:
		return 0, io.EOF
	}
	var end error
	if int64(len(p)) > f.size-off {
		p, end = p[:f.size-off], io.EOF
	}
	n := 0
	if f.o == nil {
		f.using.RLock()
		defer f.using.RUnlock()
		if f.whole == nil {
			return 0, pathError("read", f.name, fs.ErrClosed)
		}
		n = copy(p, f.whole[off:])
	}
	for n < len(p) {
		k, err := f.readBlocks(p[n:], off+int64(n), n > 0)
		n += k
		if err != nil {
			f.s.counters.served.Add(int64(n))
			return n, pathError("read", f.name, err)
		}
	}
	f.s.counters.served.Add(int64(n))
	return n, end
}

// readBlocks reads some bytes at off, which is before the file's end. rest
// reports that a read goes on.
func (f *file) readBlocks(p []byte, off int64, rest bool) (n int, err error) {
	m := &f.s.memory
	var in [perRead]*block
	bs, sequential, err := f.take(in[:0], off, int64(len(p)), rest)
	if err != nil {
		return 0, err
	}
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, b := range bs {
			m.release(b, sequential && off+int64(n) >= min((b.index+1)*m.size, f.size))
		}
	}()
	for _, b := range bs {
		select {
		case <-b.ready:
		case <-f.ctx.Done():
			return n, ended(f.ctx, nil)
		}
		if b.err != nil {
			if b.gone && f.ctx.Err() == nil {
				return n, nil // that of another file: the caller reads on
			}
			return n, b.err
		}
		at := off + int64(n) - b.index*m.size
		n += copy(p[n:], b.buf[at:min(m.size, f.size-b.index*m.size)])
	}
	return n, nil
}

// take returns the first blocks of n bytes at off, used by the caller, and has
// those fetched that are not here. sequential reports whether the file is being
// read in order.
func (f *file) take(bs []*block, off, n int64, rest bool) (_ []*block, sequential bool, err error) {
	m := &f.s.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if f.closed.Load() {
		return nil, false, fs.ErrClosed
	}
	if f.ctx.Err() != nil {
		return nil, false, ended(f.ctx, nil)
	}
	if f.bad != nil {
		return nil, false, f.bad
	}
	first := off / m.size
	last := min((off+n-1)/m.size, first+perRead-1)
	for i := first; i <= last; i++ {
		b := f.o.blocks[i]
		if b != nil {
			m.use(b)
			bs = append(bs, b)
			continue
		}
		to := f.missing(i, min(last+1, i+unit/m.size))
		m.room((to - i) * m.size)
		added := m.add(f.o, i, to, 1)
		bs = append(bs, added...)
		if !f.readOn(added) {
			f.elsewhere()
			f.spawn(added, false)
		}
		i = to - 1
	}
	from, to, sequential := f.streams.read(m, off, n, f.size, rest)
	if to-from > small {
		f.s.scattered.Store(false)
	}
	for i := from / m.size; i*m.size < to; i++ {
		if f.o.blocks[i] != nil {
			continue
		}
		end := f.missing(i, min((to+m.size-1)/m.size, i+unit/m.size))
		if m.ahead >= maxAhead || !m.room((end-i)*m.size) {
			f.streams.refused(i * m.size)
			break
		}
		if added := m.add(f.o, i, end, 0); !f.readOn(added) {
			f.spawn(added, true)
		}
		i = end - 1
	}
	return bs, sequential, nil
}

// missing returns the end of the blocks from i on that are not here, at most
// limit.
func (f *file) missing(i, limit int64) int64 {
	for i < limit && f.o.blocks[i] == nil {
		i++
	}
	return i
}

// spawn fetches blocks in a goroutine of their own.
func (f *file) spawn(bs []*block, ahead bool) {
	f.work.Add(1)
	if ahead {
		f.s.memory.ahead++
	}
	go f.fetch(bs, nil, ahead)
}

// fetch fetches neighbouring blocks, from the cache folder or with the transfer
// t or a new one.
func (f *file) fetch(bs []*block, t *transfer, ahead bool) {
	defer f.work.Done()
	m := &f.s.memory
	var err error
	for len(bs) > 0 && err == nil {
		if t == nil {
			if f.cached(bs[0]) {
				f.finish(bs[0], nil)
				bs = bs[1:]
				continue
			}
			n := 1
			for n < len(bs) && !f.s.cache.has(f.name, f.o.id, bs[n].index*m.size, f.length(bs[n])) {
				n++
			}
			last := bs[n-1]
			t = &transfer{
				s: f.s, name: f.name, id: f.o.id, known: true, tries: attempts{s: f.s},
				off: bs[0].index * m.size, end: last.index*m.size + f.length(last),
			}
		}
		dst, done := f.into(&bs)
		err = t.run(f.ctx, dst, done)
		t = nil
	}
	for _, b := range bs {
		f.finish(b, err)
	}
	m.mu.Lock()
	if ahead {
		m.ahead--
	}
	if errors.Is(err, ErrChanged) {
		m.forget(f.o)
	}
	m.mu.Unlock()
}

// into returns the arguments of transfer.receive for neighbouring blocks.
// Blocks that are complete are finished and taken from bs.
func (f *file) into(bs *[]*block) (dst func(off int64) []byte, done func(upto int64)) {
	m, all, start := &f.s.memory, *bs, (*bs)[0].index
	return func(off int64) []byte {
			b := all[off/m.size-start]
			if b.buf == nil {
				b.buf = m.buffer()
			}
			return b.buf[off%m.size : f.length(b)]
		}, func(upto int64) {
			for len(*bs) > 0 && (*bs)[0].index*m.size+f.length((*bs)[0]) <= upto {
				f.finish((*bs)[0], nil)
				*bs = (*bs)[1:]
			}
		}
}

// length returns the number of bytes of a block.
func (f *file) length(b *block) int64 {
	return min(f.s.memory.size, f.size-b.index*f.s.memory.size)
}

// cached reads a block from the cache folder, if it is there.
func (f *file) cached(b *block) bool {
	if !f.s.cache.on() || f.o.id.version == "" {
		return false
	}
	if b.buf == nil {
		b.buf = f.s.memory.buffer()
	}
	b.fromCache = f.s.cache.get(f.name, f.o.id, b.index*f.s.memory.size, b.buf[:f.length(b)])
	return b.fromCache
}

// finish hands a block to its readers, and then to the cache folder.
func (f *file) finish(b *block, err error) {
	m := &f.s.memory
	m.finish(f.ctx, b, err)
	if err == nil && !b.fromCache {
		f.s.cache.put(f.name, f.o.id, b.index*m.size, b.buf[:f.length(b)])
	}
	m.mu.Lock()
	m.release(b, false)
	m.mu.Unlock()
}
