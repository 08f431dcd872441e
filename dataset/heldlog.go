package dataset

import (
	"math"
	"slices"
	"sync"
)

// An engine saves a state for every sample on its way, and listing a large
// buffer every time would be slow. So a ShuffleBuffer saves a reference: the
// number of a heldLog and the number of a Next. The log knows the buffer's
// content and what each Next changed. Run.State replaces the reference with the
// list.

// heldLog records the content of a buffer and its changes.
type heldLog struct {
	mu      sync.Mutex
	held    []held
	at      int64 // samples returned
	changes []heldChange
}

// heldChange is the effect of a Next: it appended put samples, returned sample
// i, and moved the last sample to its place.
type heldChange struct {
	put, i int
	given  held
}

func heldOf(x *Sample) held { return held{x.origin, x.Ordinal} }

// next records that put was appended and sample i was returned.
func (h *heldLog) next(put []held, i int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = append(h.held, put...)
	n := len(h.held) - 1
	h.changes = append(h.changes, heldChange{len(put), i, h.held[i]})
	h.held[i] = h.held[n]
	h.held = h.held[:n]
	h.at++
}

// after returns the content after given samples were returned.
func (h *heldLog) after(given int64) []held {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := slices.Clone(h.held)
	for k := range h.at - given {
		c := h.changes[len(h.changes)-1-int(k)]
		l = append(l, c.given)
		n := len(l) - 1
		l[c.i], l[n] = l[n], l[c.i]
		l = l[:len(l)-c.put]
	}
	return l
}

// trim drops the changes before given samples were returned.
func (h *heldLog) trim(given int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if k := len(h.changes) - int(h.at-given); k > 0 {
		h.changes = slices.Delete(h.changes, 0, k)
	}
}

// heldLogs are the logs of a run's epoch. It is safe for concurrent use, since
// several goroutines open buffers.
type heldLogs struct {
	mu   sync.Mutex
	logs map[int64]*heldLog
	path map[int64]string // of the node; below a Repeat a node has a log for each pass
	next int64
}

func newHeldLogs() *heldLogs { return &heldLogs{logs: map[int64]*heldLog{}, path: map[int64]string{}} }

// add registers a log and returns its number.
func (r *heldLogs) add(path string, h *heldLog) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	r.logs[r.next], r.path[r.next] = h, path
	return r.next
}

// A reference is these two words, the number of the log and the number of
// samples returned. No other word of a state equals heldMark.
const (
	heldMark      = math.MinInt64
	heldReference = 0x68656c64 // "held"
	heldWords     = 4
)

// reference appends a reference.
func reference(w []int64, log, given int64) []int64 {
	return append(w, heldMark, heldReference, log, given)
}

// hasReference reports whether words contain a reference, which no State does.
func hasReference(words []int64) bool {
	for i := 1; i < len(words); i++ {
		if words[i-1] == heldMark && words[i] == heldReference {
			return true
		}
	}
	return false
}

// references calls f for every reference, with its index.
func (r *heldLogs) references(words []int64, f func(at int, number int64, log *heldLog, given int64)) {
	for i := 0; i+heldWords <= len(words); i++ {
		if words[i] != heldMark || words[i+1] != heldReference {
			continue
		}
		r.mu.Lock()
		log := r.logs[words[i+2]]
		r.mu.Unlock()
		if log != nil {
			f(i, words[i+2], log, words[i+3])
			i += heldWords - 1
		}
	}
}

// resolve returns words with every reference replaced by its list.
func (r *heldLogs) resolve(words []int64) []int64 {
	var out []int64
	from := 0
	r.references(words, func(at int, _ int64, log *heldLog, given int64) {
		out = appendHeld(append(out, words[from:at]...), log.after(given))
		from = at + heldWords
	})
	return append(out, words[from:]...)
}

// trim drops what is older than the state words.
func (r *heldLogs) trim(words []int64) {
	r.references(words, func(_ int, number int64, log *heldLog, given int64) {
		log.trim(given)
		r.mu.Lock()
		defer r.mu.Unlock()
		for n, path := range r.path {
			if n < number && path == r.path[number] { // of an earlier pass
				delete(r.logs, n)
				delete(r.path, n)
			}
		}
	})
}

func (r *heldLogs) empty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.logs) == 0
}
