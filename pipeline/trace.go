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

// Trace writes what workers do as a Chrome trace (the Trace Event Format's JSON
// array), which chrome://tracing and Perfetto open. It may be used by several
// pipelines, one after another.
type Trace struct {
	mu    sync.Mutex
	w     *bufio.Writer
	begin time.Time
	some  bool
	tids  map[string]int
	err   error
}

// NewTrace begins a trace. Close must be called at the end.
func NewTrace(w io.Writer) *Trace {
	t := &Trace{w: bufio.NewWriter(w), begin: time.Now(), tids: map[string]int{}}
	_, t.err = t.w.WriteString("[")
	return t
}

type traceEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	TS    float64        `json:"ts"` // microseconds
	Dur   float64        `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Args  map[string]any `json:"args,omitempty"`
}

// event notes a piece of work. A nil Trace notes nothing.
func (t *Trace) event(path string, worker int, begin time.Time, took time.Duration, s *dataset.Sample) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	name := fmt.Sprintf("%s #%d", path, worker)
	tid, ok := t.tids[name]
	if !ok {
		tid = len(t.tids) + 1
		t.tids[name] = tid
		t.write(traceEvent{Name: "thread_name", Phase: "M", PID: 1, TID: tid, Args: map[string]any{"name": name}})
	}
	t.write(traceEvent{
		Name: path, Phase: "X", TS: float64(begin.Sub(t.begin).Nanoseconds()) / 1e3, Dur: float64(took.Nanoseconds()) / 1e3,
		PID: 1, TID: tid, Args: map[string]any{"key": s.Key, "ordinal": s.Ordinal},
	})
}

func (t *Trace) write(e traceEvent) {
	if t.err != nil {
		return
	}
	b, err := json.Marshal(e)
	if err != nil {
		t.err = err
		return
	}
	if t.some {
		t.w.WriteString(",\n") // errors stay with the writer until Flush
	}
	t.some = true
	t.w.Write(b)
}

// Close ends the trace. It does not close the writer.
func (t *Trace) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return t.err
	}
	t.w.WriteString("]\n")
	return t.w.Flush()
}
