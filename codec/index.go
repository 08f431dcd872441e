//go:build !small

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
	notes map[indexKey]indexNote
}

// indexKey finds a note. It is quickly made of a few of an image's bytes.
type indexKey struct {
	few    uint64 // a hash of bytes at four places
	length int
	kind   uint8
}

// indexNote is the note of an image.
type indexNote struct {
	hash uint64 // of all bytes of the image
	note []byte
}

// indexEntry is the memory in bytes of an entry without its note: a key, a
// value, and the free places of the map.
const indexEntry = 112

// NewIndex returns an Index of at most limit bytes, 0 or more.
func NewIndex(limit int64) (*Index, error) {
	if limit < 0 {
		return nil, errfmt.Errorf("codec: index of %d bytes: want 0 or more", limit)
	}
	return &Index{limit: limit, seed: maphash.MakeSeed(), notes: map[indexKey]indexNote{}}, nil
}

// key returns the key of data.
func (x *Index) key(data []byte, kind uint8) indexKey {
	const piece = 64
	var few [4 * piece]byte
	n := copy(few[:piece], data)
	n += copy(few[n:n+piece], data[len(data)/3:])
	n += copy(few[n:n+piece], data[len(data)/3*2:])
	n += copy(few[n:], data[max(0, len(data)-piece):])
	return indexKey{maphash.Bytes(x.seed, few[:n]), len(data), kind}
}

// Find returns the note about data, nil if there is none. A decoder's kind
// stands for what its notes depend on besides data: notes of another kind are
// not found. The caller must not change the note. full reports whether Keep
// would drop any note.
func (x *Index) Find(data []byte, kind uint8) (note []byte, full bool) {
	k := x.key(data, kind)
	x.mu.RLock()
	e, full := x.notes[k], x.limit-x.used <= indexEntry
	x.mu.RUnlock()
	if e.note != nil && maphash.Bytes(x.seed, data) == e.hash {
		return e.note, full
	}
	return nil, full
}

// Keep copies a note about data, unless the Index has one or too little room.
func (x *Index) Keep(data []byte, kind uint8, note []byte) {
	n := int64(len(note)) + indexEntry
	k, hash := x.key(data, kind), maphash.Bytes(x.seed, data)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.used+n > x.limit || x.notes[k].note != nil {
		return
	}
	x.notes[k] = indexNote{hash, bytes.Clone(note)}
	x.used += n
}

// Stats returns the number of images with notes, and the memory of the notes in
// bytes.
func (x *Index) Stats() (images int, bytes int64) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.notes), x.used
}
