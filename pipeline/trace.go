package pipeline

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/infer-prep/infer-prep/dataset"
)

// Trace writes the work of the workers as a Chrome trace (the JSON array of the
// Trace Event Format), which chrome://tracing and Perfetto open. It has a track
// of samples for each worker, and a counter of samples at work and ready for
// each stage. Several pipelines may use it, one after another.
type Trace struct {
	mu      sync.Mutex
	w       *bufio.Writer
	begin   time.Duration
	some    bool
	closed  bool
	tids    map[string]int
	counted map[string]time.Duration
	err     error
}

// tracePID is the process number of all events.
const tracePID = 1

// NewTrace returns a Trace that writes to w. Call Close at the end.
func NewTrace(w io.Writer) *Trace {
	t := &Trace{w: bufio.NewWriter(w), begin: now(), tids: map[string]int{}, counted: map[string]time.Duration{}}
	_, t.err = t.w.WriteString("[")
	t.write(traceEvent{Name: "process_name", Phase: "M", Args: map[string]any{"name": "infer-prep"}})
	return t
}

type traceEvent struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Phase string         `json:"ph"`
	TS    float64        `json:"ts"` // microseconds
	Dur   *float64       `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Args  map[string]any `json:"args,omitempty"`
}

// counterInterval is the minimum time between two counter events of a stage.
const counterInterval = 10 * time.Millisecond

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// event records a worker's work on a sample. A nil Trace records nothing.
func (t *Trace) event(s *stage, worker int, begin, took time.Duration, x *dataset.Sample) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	path := s.st.Path
	name := fmt.Sprintf("%s #%d", path, worker)
	tid, ok := t.tids[name]
	if !ok {
		tid = len(t.tids) + 1
		t.tids[name] = tid
		t.write(traceEvent{Name: "thread_name", Phase: "M", TID: tid, Args: map[string]any{"name": name}})
		t.write(traceEvent{Name: "thread_sort_index", Phase: "M", TID: tid, Args: map[string]any{"sort_index": tid}})
	}
	dur := microseconds(took)
	t.write(traceEvent{
		Name: path, Cat: "stage", Phase: "X", TS: microseconds(begin - t.begin), Dur: &dur,
		TID: tid, Args: map[string]any{"key": x.Key, "epoch": x.Epoch, "ordinal": x.Ordinal},
	})
	end := begin + took
	if last, ok := t.counted[path]; ok && end-last < counterInterval {
		return
	}
	t.counted[path] = end
	_, active := s.c.busy.read()
	t.write(traceEvent{
		Name: path + " samples", Cat: "stage", Phase: "C", TS: microseconds(end - t.begin),
		Args: map[string]any{"at work": active, "ready": s.c.ready.Load()},
	})
}

func (t *Trace) write(e traceEvent) {
	if t.err != nil {
		return
	}
	e.PID = tracePID
	b, err := json.Marshal(e)
	if err != nil {
		t.err = err
		return
	}
	if t.some {
		t.w.WriteString(",\n") // Flush returns its error
	}
	t.some = true
	t.w.Write(b)
}

// Close completes the JSON and ignores later events. It does not close the
// writer.
func (t *Trace) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.err != nil {
		return t.err
	}
	t.closed = true
	t.w.WriteString("]\n")
	t.err = t.w.Flush()
	return t.err
}
