package tiff

import (
	"container/list"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/infer-prep/infer-prep/codec"
)

// Cache keeps decompressed strips and tiles, so that windows that share one
// decompress it once. Any number of Readers may share a Cache, see
// Options.Cache. It is safe for concurrent use: goroutines that need the same
// strip or tile wait for the one that decompresses it. Strips and tiles that
// the file stores uncompressed, or that are larger than the limit, are not
// kept.
type Cache struct {
	limit int64
	ids   atomic.Uint64 // of images

	mu     sync.Mutex
	used   int64
	blocks map[blockID]*list.Element
	recent list.List // of *cachedBlock, the last used first

	readers freeReaders
}

// blockID names a strip or tile. It holds no pointer, so that a Cache keeps no
// Reader alive.
type blockID struct {
	image uint64
	n     int
}

// cachedBlock is a decompressed strip or tile.
type cachedBlock struct {
	id    blockID
	ready chan struct{} // closed when data or err is set
	data  []byte        // constant after ready is closed, while users > 0
	err   error
	users int // guarded by Cache.mu
}

// NewCache returns a Cache of at most limit bytes, 0 or more. Strips and tiles
// that are in use may exceed the limit, one for each goroutine.
func NewCache(limit int64) (*Cache, error) {
	if limit < 0 {
		return nil, fmt.Errorf("tiff: cache of %d bytes: want 0 or more", limit)
	}
	return &Cache{limit: limit, blocks: map[blockID]*list.Element{}}, nil
}

// get returns block n of an image, whose blockReader is b. The caller must
// release it.
func (c *Cache) get(id blockID, b *blockReader, size int) (*cachedBlock, error) {
	c.mu.Lock()
	if e := c.blocks[id]; e != nil {
		k := e.Value.(*cachedBlock)
		c.recent.MoveToFront(e)
		k.users++
		c.mu.Unlock()
		<-k.ready
		if k.err != nil {
			return nil, k.err
		}
		return k, nil
	}
	k := &cachedBlock{id: id, ready: make(chan struct{}), users: 1}
	k.data = c.room(size)
	c.used += int64(cap(k.data))
	c.blocks[id] = c.recent.PushFront(k)
	c.mu.Unlock()

	k.err = codec.Errorf(name, -1, codec.ErrInternal, "block %d: the decoder failed", id.n) // if it panics
	defer func() {
		if k.err != nil {
			c.mu.Lock()
			c.drop(c.blocks[id])
			c.mu.Unlock()
		}
		close(k.ready)
	}()
	own := b.block
	b.block = k.data
	_, err := b.read(id.n, 0) // into k.data, which is large enough
	b.block = own
	k.err = err
	return k, err
}

// has reports whether a block is kept, or being decompressed.
func (c *Cache) has(id blockID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.blocks[id] != nil
}

// release ends the use of a block.
func (c *Cache) release(k *cachedBlock) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k.users--
	c.room(0)
}

// room drops the blocks that were not used for the longest time, until size
// bytes fit or all are in use. It returns memory of that size. Cache.mu is
// held.
func (c *Cache) room(size int) (buf []byte) {
	for e := c.recent.Back(); e != nil && c.used+int64(size) > c.limit; {
		k, before := e.Value.(*cachedBlock), e.Prev()
		if k.users == 0 {
			c.drop(e)
			if cap(k.data) >= size && cap(k.data) <= 2*size {
				buf = k.data[:size]
			}
		}
		e = before
	}
	if buf == nil && size > 0 {
		buf = make([]byte, size)
	}
	return buf
}

// drop forgets a block. Cache.mu is held.
func (c *Cache) drop(e *list.Element) {
	k := e.Value.(*cachedBlock)
	c.recent.Remove(e)
	delete(c.blocks, k.id)
	c.used -= int64(cap(k.data))
}
