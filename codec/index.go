package codec

import (
	"bytes"
	"hash/maphash"
	"sync"

	"github.com/infer-prep/infer-prep/internal/errfmt"
)

// Index keeps notes that decoders make about images, so that decoding a region
// of the same data again does less work; see Options.Index. An image is known
// by its bytes: their number and a 64-bit hash with a random seed. So the notes
// of a changed file are never used, wherever its bytes come from.
//
// An Index keeps the first notes that fit its limit and drops none of them. In
// an epoch each image comes once, and notes that replace each other would all
// be gone when their images come again. It is safe for concurrent use.
type Index struct {
	limit int64
	seed  maphash.Seed

	mu    sync.RWMutex
	used  int64
	notes map[IndexKey][]byte
}

// IndexKey identifies the notes about an image in one Index.
type IndexKey struct {
	hash   uint64
	length int
	kind   uint8
}

// indexEntry is the memory in bytes of an entry without its note: a key, a
// slice, and the free places of the map.
const indexEntry = 96

// NewIndex returns an Index of at most limit bytes, 0 or more.
func NewIndex(limit int64) (*Index, error) {
	if limit < 0 {
		return nil, errfmt.Errorf("codec: index of %d bytes: want 0 or more", limit)
	}
	return &Index{limit: limit, seed: maphash.MakeSeed(), notes: map[IndexKey][]byte{}}, nil
}

// Key returns the key of data. A decoder's kind names what its notes depend on
// besides data; notes of another kind are not found.
func (x *Index) Key(data []byte, kind uint8) IndexKey {
	return IndexKey{maphash.Bytes(x.seed, data), len(data), kind}
}

// Find returns the note of k, nil if there is none. The caller must not change
// it. full reports whether Keep would drop every note.
func (x *Index) Find(k IndexKey) (note []byte, full bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.notes[k], x.limit-x.used <= indexEntry
}

// Keep copies a note, unless the Index has one of k or too little room.
func (x *Index) Keep(k IndexKey, note []byte) {
	n := int64(len(note)) + indexEntry
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.used+n > x.limit || x.notes[k] != nil {
		return
	}
	x.notes[k] = bytes.Clone(note)
	x.used += n
}

// Stats returns the number of images with notes, and the memory of the notes in
// bytes.
func (x *Index) Stats() (images int, bytes int64) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.notes), x.used
}
