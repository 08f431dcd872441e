package dataset

import (
	"math"
	"slices"
	"sync"
)

// A state is noted for every sample that is on its way through an engine, and a
// buffer of many samples is too long to be written down each time. So what a
// ShuffleBuffer saves is a reference: to a heldLog, which knows what waits in the
// buffer now and what each Next changed, and to the number of a Next. Run.State
// puts the list itself in its place.

// heldLog is what waits in a buffer, and how it came to be so.
type heldLog struct {
	mu      sync.Mutex
	held    []held
	at      int64 // samples given
	changes []heldChange
}

// heldChange is a Next: so many samples were put at the end, and the i-th was
// given, whose place the last one took.
type heldChange struct {
	put, i int
	given  held
}

func heldOf(x *Sample) held { return held{x.origin, x.Ordinal} }

// next notes that the new samples were put and the i-th given.
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

// after is what waited after so many samples were given.
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

// forget forgets how it came to what waited after so many samples were given.
func (h *heldLog) forget(given int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if k := len(h.changes) - int(h.at-given); k > 0 {
		h.changes = slices.Delete(h.changes, 0, k)
	}
}

// heldLogs are those of a run's epoch. Buffers are opened in the goroutines that
// ask for their samples.
type heldLogs struct {
	mu   sync.Mutex
	logs map[int64]*heldLog
	path map[int64]string // the node, which may have several, one after another
	next int64
}

func newHeldLogs() *heldLogs { return &heldLogs{logs: map[int64]*heldLog{}, path: map[int64]string{}} }

// add gives a log its number.
func (r *heldLogs) add(path string, h *heldLog) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	r.logs[r.next], r.path[r.next] = h, path
	return r.next
}

// A reference is these two words, of which all others of a state are never the
// first, and the numbers of the log and of the samples given.
const (
	heldMark      = math.MinInt64
	heldReference = 0x68656c64 // "held"
	heldWords     = 4
)

// reference appends one.
func reference(w []int64, log, given int64) []int64 {
	return append(w, heldMark, heldReference, log, given)
}

// references calls f with the place of every reference.
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

// resolve is words with the lists in the place of references.
func (r *heldLogs) resolve(words []int64) []int64 {
	var out []int64
	from := 0
	r.references(words, func(at int, _ int64, log *heldLog, given int64) {
		out = appendHeld(append(out, words[from:at]...), log.after(given))
		from = at + heldWords
	})
	return append(out, words[from:]...)
}

// forget forgets what is older than the state that the words are.
func (r *heldLogs) forget(words []int64) {
	r.references(words, func(_ int, number int64, log *heldLog, given int64) {
		log.forget(given)
		r.mu.Lock()
		defer r.mu.Unlock()
		for n, path := range r.path {
			if n < number && path == r.path[number] { // of a pass before
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
