package tensor

import (
	"fmt"
	"math/bits"
	"sync"
)

// Pool keeps tensors' memory for reuse. It is safe for concurrent use, and
// holds nothing that is in use: a tensor that is never put back is simply
// collected.
//
// A tensor from Get belongs to the caller until Put. From then on neither it
// nor any view of it may be used, as another Get may give it to someone else.
type Pool struct {
	mu   sync.Mutex
	idle int64 // bytes in free
	max  int64
	free [poolClasses][]*Tensor
}

// Sizes are rounded up to four classes an octave, (4, 5, 6 or 7) << k bytes, so
// that at most a quarter is wasted (64 bytes for the smallest).
const (
	poolMin     = 64
	poolClasses = 4 * (62 - 6)
)

// lease says that a tensor is a pool's, and its memory. Copies of the Tensor
// struct (views) share the lease but are not t.
type lease struct {
	pool *Pool
	t    *Tensor
	buf  []byte
	out  bool // guarded by pool.mu
}

// NewPool makes a pool that keeps at most maxIdle bytes of tensors that are not
// in use.
func NewPool(maxIdle int64) *Pool { return &Pool{max: maxIdle} }

// poolClass is the class whose buffers hold n bytes, and their size.
func poolClass(n int64) (int, int64) {
	if n <= poolMin {
		return 0, poolMin
	}
	k := bits.Len64(uint64(n-1)) - 3 // n-1 has three bits above bit k
	q := (n-1)>>k + 1                // 5..8
	return 4*(k-4) + int(q) - 4, q << k
}

// Get gives a dense tensor of description d, whose elements are whatever was
// there. The description must be concrete and not Bytes, whose length it does
// not know; else the error is ErrDesc.
func (p *Pool) Get(d Desc) (*Tensor, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	n := d.Size()
	if d.DType == Bytes || n < 0 || n > 1<<60 {
		return nil, fmt.Errorf("%w: %v has no size for a pool", ErrDesc, d)
	}
	class, size := poolClass(n)
	if size != int64(int(size)) {
		return nil, fmt.Errorf("%w: %v does not fit the address space", ErrDesc, d)
	}
	p.mu.Lock()
	var t *Tensor
	if l := p.free[class]; len(l) > 0 {
		t = l[len(l)-1]
		l[len(l)-1] = nil
		p.free[class] = l[:len(l)-1]
		p.idle -= size
		t.lease.out = true
	}
	p.mu.Unlock()
	if t == nil {
		t = &Tensor{Data: Alloc(int(size))}
		t.lease = &lease{pool: p, t: t, buf: t.Data, out: true}
	}
	return t, t.Reset(d)
}

// Put takes t back, and reports whether it did. It refuses, and does nothing
// with, what is not the very tensor that Get gave: views and copies of it,
// tensors of another pool or of none, and a tensor put before. A tensor that
// the pool has no room for is taken and let go.
//
// If t was Reset to a larger size and so moved to other memory, the pool takes
// back the memory that it gave.
func (p *Pool) Put(t *Tensor) bool {
	if t == nil || t.lease == nil || t.lease.pool != p || t.lease.t != t {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !t.lease.out {
		return false
	}
	t.lease.out = false
	size := int64(len(t.lease.buf))
	if p.idle+size > p.max {
		t.lease = nil
		return true
	}
	t.Desc, t.Data = Desc{}, t.lease.buf
	class, _ := poolClass(size)
	p.free[class] = append(p.free[class], t)
	p.idle += size
	return true
}

// Idle is how many bytes the pool holds that are not in use.
func (p *Pool) Idle() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.idle
}
