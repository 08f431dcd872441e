package remote

import "errors"

const (
	// fastEnough is the rate in bytes per second below which a connection is
	// slow: several ranges at once may then be faster than one body. It is that
	// of a line of 1 Gbit/s.
	fastEnough = 125e6
	// judged is the number of bytes after which the rate is looked at.
	judged = 8 << 20
)

// body is the rest of the answer to Open's request. While a file is read in
// order, it brings block after block without another request: services charge
// for requests, and some answer a whole object faster than its ranges. It is
// read no further than asked, so that the connection holds the service back.
// Memory.mu guards it.
type body struct {
	next  int64         // index of the block that it brings after those of queue; -1 if none
	read  bool          // reports that more than the first blocks were asked for
	queue []*block      // blocks that were asked for
	wake  chan struct{} // holds a token when one of the above has changed
}

func newBody(first []*block) *body {
	return &body{next: first[len(first)-1].index + 1, queue: first, wake: make(chan struct{}, 1)}
}

// readsOn reports whether Open requests an object as a whole. It does not where
// ranges are faster; after a file that was not read in order, since the answer
// would have to be cut off, which costs a connection; and with a cache folder,
// which would keep bytes before their checksum is compared.
func (s *Store) readsOn() bool { return !s.slow.Load() && !s.scattered.Load() && !s.cache.on() }

// readOn has the body bring blocks, if they are the next ones.
func (f *file) readOn(bs []*block) bool {
	y := f.body
	if y == nil || y.next != bs[0].index {
		return false
	}
	y.next += int64(len(bs))
	y.read = true
	y.queue = append(y.queue, bs...)
	y.signal()
	return true
}

// elsewhere ends a body that nobody has read beyond the first blocks.
func (f *file) elsewhere() {
	if y := f.body; y != nil && !y.read {
		f.s.scattered.Store(true)
		f.body = nil
		y.next = -1
		y.signal()
	}
}

func (y *body) signal() {
	select {
	case y.wake <- struct{}{}:
	default:
	}
}

// follow fetches the blocks of a body as they are asked for, with the open
// transfer of Open.
func (f *file) follow(y *body, t *transfer) {
	defer f.work.Done()
	defer t.stop()
	m := &f.s.memory
	from := t.off
	var err error
	var failed []*block // those that got err
	for {
		m.mu.Lock()
		n := min(int64(len(y.queue)), unit/m.size)
		bs := y.queue[:n:n]
		y.queue = y.queue[n:]
		switch {
		case errors.Is(err, ErrChecksum):
			f.bad = err
			m.forget(f.o)
		case errors.Is(err, ErrChanged):
			m.forget(f.o)
		case t.off-from >= judged:
			if float64(t.off-from) < f.s.fast*t.took.Seconds() {
				f.s.slow.Store(true)
				y.next = -1
			}
			from, t.took = t.off, 0
		}
		if err != nil || t.off == t.end {
			y.next = -1
		}
		last := y.next < 0
		m.mu.Unlock()
		for _, b := range failed {
			f.finish(b, err)
		}
		failed = nil
		switch {
		case len(bs) == 0 && last:
			return
		case len(bs) == 0:
			select {
			case <-y.wake:
			case <-f.ctx.Done():
				err = ended(f.ctx, nil)
			}
		case err != nil:
			failed = bs
		case t.off == t.end: // the answer was cut off
			f.work.Add(1)
			f.fetch(bs, nil, false)
		default:
			b := bs[len(bs)-1]
			dst, done := f.into(&bs)
			err = t.receive(f.ctx, b.index*m.size+f.length(b), dst, done)
			failed = bs
		}
	}
}
