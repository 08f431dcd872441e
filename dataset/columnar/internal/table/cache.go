package table

import (
	"container/list"
	"sync"
)

// maxCached is the cost of the values that a Cache keeps.
const maxCached = 256 << 20

// Cache keeps decoded parts of files, those used last. Samples share the memory
// of parts, so that of a forgotten one is not reused. The zero Cache is ready
// for use. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu    sync.Mutex
	used  int64
	at    map[K]*list.Element // of *entry[K, V]
	order list.List           // the part used last is in front
}

// entry is a part, or one that a goroutine decodes while others wait.
type entry[K comparable, V any] struct {
	key   K
	done  chan struct{}
	value V
	cost  int64
	err   error
}

// Get returns a part. If the Cache does not have it, one of the callers calls
// load, which returns the part and its bytes. After an error the next call
// loads it again.
func (c *Cache[K, V]) Get(key K, load func() (V, int64, error)) (V, error) {
	c.mu.Lock()
	if l := c.at[key]; l != nil {
		c.order.MoveToFront(l)
		e := l.Value.(*entry[K, V])
		c.mu.Unlock()
		<-e.done
		return e.value, e.err
	}
	e := &entry[K, V]{key: key, done: make(chan struct{})}
	if c.at == nil {
		c.at = map[K]*list.Element{}
	}
	l := c.order.PushFront(e)
	c.at[key] = l
	c.mu.Unlock()

	e.value, e.cost, e.err = load()
	close(e.done)
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.err != nil {
		c.order.Remove(l)
		delete(c.at, key)
		return e.value, e.err
	}
	c.used += e.cost
	for l := c.order.Back(); c.used > maxCached && l != nil; {
		before := l.Prev()
		x := l.Value.(*entry[K, V])
		select {
		case <-x.done:
			if x != e && x.err == nil {
				c.used -= x.cost
				c.order.Remove(l)
				delete(c.at, x.key)
			}
		default: // a goroutine decodes it
		}
		l = before
	}
	return e.value, nil
}
