package remote

import (
	"context"
	"sync"
)

const (
	// plainBlock is the size of a block. A record of an image of 110 KB, the
	// mean of ImageNet, then needs one request of 175 KB on average.
	plainBlock = 64 << 10
	// cachedBlock is the size of a block if there is a cache folder: files of
	// 64 KB would cost more to open than to read.
	cachedBlock = 256 << 10
	// maxCold is how many blocks of large objects stay behind a reader in
	// order. Several goroutines read neighbouring parts out of order; and few
	// blocks that are used again and again stay in the processor's cache.
	maxCold = 64
)

// object holds the blocks of an object, for all files that have it open.
type object struct {
	name string
	id   identity
	// files counts the open files. shared reports whether Store.objects has
	// the object. Both are guarded by memory.mu, and so is blocks.
	files  int
	shared bool
	blocks map[int64]*block
}

// block is a part of an object that is in memory, or on its way. It starts at a
// multiple of the block size.
type block struct {
	o     *object
	index int64
	ready chan struct{} // closed when buf or err is set
	buf   []byte        // constant after ready is closed, while refs > 0
	err   error
	// gone reports that the file that fetched the block was closed, or its
	// context ended: other files fetch the block again.
	gone bool
	// fromCache reports that the cache folder has the block. It is for the
	// goroutine that fetches the block.
	fromCache bool

	// refs counts those who use the block. A block without any is in the list
	// of memory. They are guarded by memory.mu.
	refs       int
	prev, next *block
	over       bool // a reader in order has left it behind
	cold       bool // in the list of blocks that are over
}

// memory holds the blocks of a Store. Those that nobody uses are in one of two
// lists, the next to be evicted first.
type memory struct {
	mu      sync.Mutex
	limit   int64 // bytes
	size    int64 // of a block
	objects map[string]*object
	used    int64 // bytes of all blocks
	list    block // the root of a list
	// cold is the root of the list of blocks that a reader in order has left
	// behind: they are evicted before all others. colds is their number.
	cold  block
	colds int
	free  [][]byte
	// streams counts the readers in order that read ahead, and ahead the
	// requests that only read ahead.
	streams, ahead int
}

func (m *memory) init(limit, size int64) {
	m.limit, m.size, m.objects = limit, size, map[string]*object{}
	m.list.prev, m.list.next = &m.list, &m.list
	m.cold.prev, m.cold.next = &m.cold, &m.cold
}

// open returns the object of a name and identity, for one more file. Objects
// without a version are not shared.
func (m *memory) open(name string, id identity) *object {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o := m.objects[name]; o != nil && o.id == id && id.version != "" {
		o.files++
		return o
	}
	o := &object{name: name, id: id, files: 1, blocks: map[int64]*block{}}
	if id.version != "" {
		if old := m.objects[name]; old != nil {
			m.forget(old)
		}
		m.objects[name], o.shared = o, true
	}
	return o
}

// known returns the identity that a name had when it was opened last, if its
// first block is in memory.
func (m *memory) known(name string) (identity, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o := m.objects[name]; o != nil && o.blocks[0] != nil {
		return o.id, true
	}
	return identity{}, false
}

// closed is called when a file of o was closed.
func (m *memory) closed(o *object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o.files--
	m.sweep(o)
}

// forget makes an object that has changed unknown.
func (m *memory) forget(o *object) {
	if o.shared {
		delete(m.objects, o.name)
		o.shared = false
	}
	m.sweep(o)
}

// sweep drops what nobody can ask for any more.
func (m *memory) sweep(o *object) {
	if o.files > 0 {
		return
	}
	if !o.shared {
		for _, b := range o.blocks {
			if b.refs == 0 {
				m.unlink(b)
				m.drop(b)
			}
		}
	}
	if o.shared && len(o.blocks) == 0 {
		delete(m.objects, o.name)
		o.shared = false
	}
}

// room evicts blocks until n more bytes fit. It reports whether they do.
func (m *memory) room(n int64) bool {
	for m.used+n > m.limit {
		b := m.cold.next
		if b == &m.cold {
			b = m.list.next
		}
		if b == &m.list {
			break
		}
		m.evict(b)
	}
	return m.used+n <= m.limit
}

// evict removes a block that nobody uses.
func (m *memory) evict(b *block) {
	m.unlink(b)
	m.drop(b)
	m.sweep(b.o)
}

// drop removes a block that nobody uses from its object.
func (m *memory) drop(b *block) {
	if b.o.blocks[b.index] == b {
		delete(b.o.blocks, b.index)
	}
	m.used -= m.size
	// Requests come in bursts: a reader frees a window before the next.
	if b.buf != nil && int64(len(m.free)+1)*m.size <= min(maxWindow, m.limit/4) {
		m.free = append(m.free, b.buf)
	}
	b.buf = nil
}

// buffer returns memory for a block.
func (m *memory) buffer() []byte {
	m.mu.Lock()
	if n := len(m.free); n > 0 {
		b := m.free[n-1]
		m.free = m.free[:n-1]
		m.mu.Unlock()
		return b
	}
	m.mu.Unlock()
	return make([]byte, m.size)
}

func (m *memory) unlink(b *block) {
	b.prev.next, b.next.prev = b.next, b.prev
	b.prev, b.next = nil, nil
	if b.cold {
		b.cold = false
		m.colds--
	}
}

// use adds a user of a block.
func (m *memory) use(b *block) {
	if b.refs == 0 && b.next != nil {
		m.unlink(b)
	}
	b.refs++
}

// release removes a user of a block. A block that is over is evicted before
// all others.
func (m *memory) release(b *block, over bool) {
	b.refs--
	b.over = b.over || over
	if b.refs > 0 {
		return
	}
	over, b.over = b.over, false
	if b.err != nil || b.o.blocks[b.index] != b || !b.o.shared && b.o.files == 0 {
		m.drop(b)
		return
	}
	root := &m.list
	if b.cold = over; over {
		root = &m.cold
		m.colds++
	}
	b.prev, b.next = root.prev, root
	b.prev.next, b.next.prev = b, b
	if over && m.colds > maxCold && b.o.id.size > m.limit/2 {
		m.evict(m.cold.next)
	}
}

// add creates the blocks of o between the indices from and to, used by their
// fetch and by more others.
func (m *memory) add(o *object, from, to int64, more int) []*block {
	bs := make([]*block, to-from)
	for i := range bs {
		b := &block{o: o, index: from + int64(i), ready: make(chan struct{}), refs: 1 + more}
		bs[i], o.blocks[b.index] = b, b
	}
	m.used += int64(len(bs)) * m.size
	return bs
}

// finish reports that a block is in memory, or failed with err.
func (m *memory) finish(ctx context.Context, b *block, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		b.err, b.gone = err, ctx.Err() != nil
		if b.o.blocks[b.index] == b {
			delete(b.o.blocks, b.index) // the next reader tries again
		}
	}
	close(b.ready)
}
