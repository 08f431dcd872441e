package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"
)

// identity is what an object has in common with itself.
type identity struct {
	version  string // "" if the service has none
	size     int64
	modified time.Time
}

// check returns an error if o is another object, or another state of it.
func (id identity) check(o *Object) error {
	// An answer that does not tell what the first one told may be of another
	// object.
	switch {
	case id.version != "" && o.Version == "":
		return fmt.Errorf("%w: version %s, and the service now tells none", ErrChanged, id.version)
	case id.version != "":
		if id.version != o.Version {
			return fmt.Errorf("%w: version %s is now %s", ErrChanged, id.version, o.Version)
		}
	case !id.modified.IsZero() && o.Modified.IsZero():
		return fmt.Errorf("%w: it was modified at %v, and the service now tells no time", ErrChanged, id.modified)
	case !id.modified.IsZero() && !id.modified.Equal(o.Modified):
		return fmt.Errorf("%w: it was modified at %v, and again at %v", ErrChanged, id.modified, o.Modified)
	}
	if o.Size >= 0 && o.Size != id.size {
		return fmt.Errorf("%w: %d bytes are now %d", ErrChanged, id.size, o.Size)
	}
	return nil
}

// transfer receives a range of an object, over as many requests as it takes.
// It is for one goroutine at a time.
type transfer struct {
	s    *Store
	name string
	// id is the object's identity. known reports whether it is set; otherwise
	// the first answer sets it, and end is lowered to the object's size.
	id       identity
	known    bool
	off, end int64 // the next byte, and the first that is not wanted
	// whole reports that the answer is a whole object. If that is not small,
	// its bytes are handed on before its checksum, all, can be compared.
	whole bool
	all   *sum

	tries attempts
	bad   int // checksums that did not match
	// took is the time that Body.Read has taken.
	took time.Duration
	a    *attempt // the open attempt, or nil
	o    *Object  // its object
	sum  *sum     // the checksum of bytes that are not all here yet, or nil
}

// sum is a checksum of the bytes between start and end.
type sum struct {
	want       []byte
	hash       hash.Hash
	start, end int64
}

// connect opens the object at t.off.
func (t *transfer) connect(ctx context.Context) error {
	for {
		a := t.s.begin(ctx)
		o, err := t.s.b.Get(a.ctx, t.name, t.off, t.end-t.off, t.id.version)
		if err == nil {
			if err = t.accept(o); err == nil {
				t.a, t.o = a, o
				return nil
			}
			_ = o.Body.Close() // the error is that of the object
		}
		err = a.explain(err)
		a.end()
		if err = t.tries.again(ctx, err); err != nil {
			return err
		}
	}
}

// accept checks the answer to a request.
func (t *transfer) accept(o *Object) error {
	if !t.known {
		if o.Size < 0 {
			return errors.New("the service does not tell the object's size")
		}
		t.id, t.known = identity{o.Version, o.Size, o.Modified}, true
		t.end = min(t.end, o.Size)
	} else if err := t.id.check(o); err != nil {
		return err
	}
	if o.Length > t.end-t.off {
		return &TemporaryError{Err: fmt.Errorf("the service announces %d bytes where %d were requested", o.Length, t.end-t.off)}
	}
	switch {
	case o.Sum == nil || o.Length == 0:
	case t.whole && t.id.size > small:
		t.all = &sum{o.Sum, o.NewHash(), t.off, t.end}
	case t.sum == nil:
		t.sum = &sum{o.Sum, o.NewHash(), t.off, t.end}
		if o.Length > 0 {
			t.sum.end = t.off + o.Length
		}
	}
	return nil
}

// stop ends the open attempt.
func (t *transfer) stop() {
	if t.o != nil {
		_ = t.o.Body.Close() // all bytes that matter were read
		t.a.end()
		t.o, t.a = nil, nil
	}
}

// run receives the bytes up to t.end, and ends the attempt. See receive.
func (t *transfer) run(ctx context.Context, dst func(off int64) []byte, done func(upto int64)) error {
	defer t.stop()
	return t.receive(ctx, t.end, dst, done)
}

// receive receives the bytes before upto, or before t.end if that is lower. It
// leaves the attempt open. dst returns memory for at least one byte at off.
// receive asks for it again when a checksum does not match. done reports that
// all bytes before upto are received and good.
func (t *transfer) receive(ctx context.Context, upto int64, dst func(off int64) []byte, done func(upto int64)) error {
	for t.off < min(upto, t.end) {
		if t.o == nil {
			if t.whole { // it was cut off: a range is enough
				t.whole, t.all, t.end = false, nil, min(t.end, upto)
			}
			if err := t.connect(ctx); err != nil {
				return fmt.Errorf("at byte %d: %w", t.off, err)
			}
			continue // end may be lower
		}
		p := dst(t.off)
		p = p[:min(int64(len(p)), t.end-t.off)]
		t.a.alive()
		begin := time.Now()
		n, err := t.o.Body.Read(p)
		t.took += time.Since(begin)
		t.a.idle()
		if n > 0 {
			t.s.counters.received.Add(int64(n))
			t.off += int64(n)
			t.tries.made = 0
			for _, s := range []*sum{t.sum, t.all} {
				if s != nil {
					s.hash.Write(p[:n])
				}
			}
		}
		if t.all != nil && t.off == t.end && !bytes.Equal(t.all.hash.Sum(nil), t.all.want) {
			return fmt.Errorf("bytes 0 to %d: %w", t.end, ErrChecksum)
		}
		if t.sum != nil && t.off >= t.sum.end {
			if !bytes.Equal(t.sum.hash.Sum(nil), t.sum.want) {
				// The bytes are worth nothing: begin again where they began.
				t.off, t.sum = t.sum.start, nil
				t.bad++
				t.tries.made = t.bad - 1
				t.stop()
				if err := t.tries.again(ctx, &TemporaryError{Err: ErrChecksum}); err != nil {
					return fmt.Errorf("at byte %d: %w", t.off, err)
				}
				continue
			}
			t.sum = nil
		}
		if t.sum == nil && n > 0 {
			done(t.off)
		}
		switch {
		case t.off == t.end:
			t.drain(err)
			return nil
		case err == nil && n > 0:
			continue
		case err == nil:
			err = io.ErrNoProgress
		case err == io.EOF:
			err = io.ErrUnexpectedEOF // the body was cut
		}
		err = t.a.explain(&TemporaryError{Err: err})
		t.stop()
		if err := t.tries.again(ctx, err); err != nil {
			return fmt.Errorf("at byte %d: %w", t.off, err)
		}
	}
	return nil
}

// drainTime is how long drain waits. The end of a body is normally there.
const drainTime = 100 * time.Millisecond

// drain reads the end of a body, for clients that use a connection again only
// then. err is that of the last Read.
func (t *transfer) drain(err error) {
	if err == nil && t.o.Length >= 0 { // else the end may be long in coming
		var b [1]byte
		t.a.timer.Reset(drainTime)
		_, _ = t.o.Body.Read(b[:])
	}
}
