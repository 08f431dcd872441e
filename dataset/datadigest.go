package dataset

import (
	"fmt"
	"math/bits"
)

// dataDigest describes the data of one source, so that a State does not resume
// on other data.
type dataDigest struct {
	rows int64 // Unknown for a stream
	keys int64 // number of keys; Unknown unless the source is Keyed
	sum  uint64
	keyHash
	// every is the distance between two marks, and marks[i] the hash after
	// (i+1)*every keys.
	every int64
	marks []int64
}

// dataMarks bounds the marks of all sources of a state together.
const dataMarks = 32

// keyHash is a running hash of keys in order.
type keyHash struct{ h uint64 }

// add adds a key and returns the hash of the key alone: it folds eight bytes at
// a time and ends with the finalizer of MurmurHash3.
func (r *keyHash) add(key string) uint64 {
	h := uint64(len(key)) ^ 0x9e3779b97f4a7c15
	for ; len(key) >= 8; key = key[8:] {
		w := uint64(key[0]) | uint64(key[1])<<8 | uint64(key[2])<<16 | uint64(key[3])<<24 |
			uint64(key[4])<<32 | uint64(key[5])<<40 | uint64(key[6])<<48 | uint64(key[7])<<56
		h = (h ^ w) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	w := uint64(0)
	for i := range len(key) {
		w |= uint64(key[i]) << (8 * i)
	}
	h = (h ^ w) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	r.h = bits.RotateLeft64(r.h^h, 27)*0x9e3779b97f4a7c15 + 1
	return h
}

// digestData reads the keys of a source once. It keeps up to most marks.
func digestData(d Data, most int) dataDigest {
	x := dataDigest{rows: Unknown, keys: Unknown, every: 1}
	if r, ok := d.(Rows); ok {
		x.rows = r.Len()
	}
	k, ok := d.(Keyed)
	if !ok {
		return x
	}
	x.keys = 0
	k.Keys(func(key string) bool {
		x.sum += x.add(key)
		if x.keys++; x.keys%x.every != 0 {
			return true
		}
		if len(x.marks) == most { // keep every second mark
			n := 0
			for i := 1; i < most; i += 2 {
				x.marks[n] = x.marks[i]
				n++
			}
			x.marks = x.marks[:n]
			if x.every *= 2; x.keys%x.every != 0 {
				return true
			}
		}
		x.marks = append(x.marks, int64(x.h))
		return true
	})
	return x
}

func (x *dataDigest) save(w []int64) []int64 {
	w = append(w, x.rows, x.keys, int64(x.sum), int64(x.h), x.every, int64(len(x.marks)))
	return append(w, x.marks...)
}

func loadDigest(r *stateReader) dataDigest {
	x := dataDigest{rows: r.int(), keys: r.int(), sum: uint64(r.int()), keyHash: keyHash{uint64(r.int())}, every: r.int(), marks: r.ints()}
	if r.err == nil && (x.rows < Unknown || x.keys < Unknown || x.every < 1) {
		r.fail("a source of %d rows with %d keys and a mark every %d", x.rows, x.keys, x.every)
	}
	return x
}

// changed describes how the data changed from x to now; "" if it did not.
func (x *dataDigest) changed(now *dataDigest, d Data) string {
	text := ""
	switch {
	case x.rows != now.rows:
		text = fmt.Sprintf("it had %d rows and has %d", x.rows, now.rows)
	case x.keys != now.keys:
		text = fmt.Sprintf("it had %d keys and has %d", x.keys, now.keys)
	case x.h != now.h && x.sum == now.sum:
		text = fmt.Sprintf("it has the same %d keys in another order", now.keys)
	case x.h != now.h || x.sum != now.sum:
		text = fmt.Sprintf("other keys, %d as before", now.keys)
	default:
		return ""
	}
	k, ok := d.(Keyed)
	if !ok || x.keys == Unknown {
		return text
	}
	return text + "; " + x.where(k)
}

// where names the keys among which the first difference is.
func (x *dataDigest) where(d Keyed) string {
	var hash keyHash
	n, same := int64(0), int64(0) // keys so far, and those known to be equal
	first, last := "", ""
	d.Keys(func(key string) bool {
		if n == same {
			first = key
		}
		last = key
		hash.add(key)
		n++
		if i := n/x.every - 1; n%x.every == 0 {
			if i >= int64(len(x.marks)) || uint64(x.marks[i]) != hash.h {
				return false
			}
			same = n
		}
		if n == x.keys && hash.h == x.h {
			same = n
		}
		return true
	})
	switch {
	case n == same || n < x.keys && n%x.every != 0: // the end
		return fmt.Sprintf("the first %d keys are equal", same)
	case n-same == 1:
		return fmt.Sprintf("the first difference is at key %d, now %q", same, first)
	}
	return fmt.Sprintf("the first difference is at one of the keys %d to %d, now %q to %q", same, n-1, first, last)
}

// digestSources returns the digests of all sources.
func (b *Built) digestSources() (l []dataDigest) {
	for _, s := range b.sources {
		l = append(l, digestData(s.data, max(1, dataMarks/len(b.sources))))
	}
	return l
}

// sourceWords returns State.Sources.
func (b *Built) sourceWords() (w []int64) {
	for _, x := range b.digests() {
		w = x.save(w)
	}
	return w
}

// checkSources returns an error if a state was made with other data.
func (b *Built) checkSources(words []int64) error {
	r := &stateReader{words: words}
	for i, now := range b.digests() {
		s := b.sources[i]
		x := loadDigest(r)
		if r.err != nil {
			return r.err
		}
		if text := x.changed(&now, s.data); text != "" && !b.options.AllowChanged {
			return fmt.Errorf("%w: source %s changed since: %s; Options.AllowChanged resumes all the same", ErrState, s.path, text)
		}
	}
	if len(r.words) > 0 {
		return fmt.Errorf("%w: %d words too many about sources", ErrState, len(r.words))
	}
	return nil
}
