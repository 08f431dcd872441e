package serve

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// metrics are what /metrics shows, in Prometheus's text format. It takes a page
// of code; Prometheus's client would add 2.4 MB to the program, and its modules
// to those of everybody who imports this one.
type metrics struct {
	requests *codes
	seconds  *histogram
	waiting  *atomic.Int64 // images
	running  *atomic.Int64
	images   *atomic.Int64
	bytes    *atomic.Int64
	pixels   *atomic.Int64
	samples  *atomic.Int64 // of sounds
}

func newMetrics() metrics {
	return metrics{&codes{n: map[int]int64{}}, newHistogram(), new(atomic.Int64), new(atomic.Int64), new(atomic.Int64), new(atomic.Int64), new(atomic.Int64), new(atomic.Int64)}
}

// codes counts responses by status.
type codes struct {
	mu sync.Mutex
	n  map[int]int64
}

func (c *codes) add(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[status]++
}

func (c *codes) total() (n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range c.n {
		n += v
	}
	return n
}

// bounds are the upper bounds of the histogram's buckets, in seconds. They
// cover a small image on a fast core and a large batch behind a queue.
var bounds = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// histogram counts durations.
type histogram struct {
	mu     sync.Mutex
	counts []int64 // by bucket; the last has no bound
	sum    float64
}

func newHistogram() *histogram { return &histogram{counts: make([]int64, len(bounds)+1)} }

func (h *histogram) observe(d time.Duration) {
	i, _ := slices.BinarySearch(bounds, d.Seconds())
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts[i]++
	h.sum += d.Seconds()
}

// serveMetrics writes all metrics.
func (s *Server) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	head := func(name, kind, help string) {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	}
	one := func(name, kind, help string, v int64) {
		head(name, kind, help)
		fmt.Fprintf(w, "%s %d\n", name, v)
	}
	m := &s.metrics
	m.requests.write(w, head)
	m.seconds.write(w, head)
	s.mu.Lock()
	admitted, held := s.admitted, s.held
	s.mu.Unlock()
	one("infer_prep_requests_in_flight", "gauge", "Inference requests that were accepted and have no response yet.", int64(admitted))
	one("infer_prep_images_waiting", "gauge", "Images or sounds that wait for a worker.", m.waiting.Load())
	one("infer_prep_images_in_flight", "gauge", "Images or sounds that workers process.", m.running.Load())
	one("infer_prep_held_bytes", "gauge", "Memory of the bodies and results of requests in flight.", held)
	one("infer_prep_images_total", "counter", "Images or sounds that became tensors.", m.images.Load())
	one("infer_prep_image_bytes_total", "counter", "Encoded bytes of images or sounds whose header was valid.", m.bytes.Load())
	one("infer_prep_image_pixels_total", "counter", "Decoded pixels of images whose header was valid.", m.pixels.Load())
	if s.o.Noun == sound {
		one("infer_prep_sound_samples_total", "counter", "Decoded samples of all channels of sounds whose header was valid.", m.samples.Load())
	}
	ready, _ := s.readyStatus()
	one("infer_prep_ready", "gauge", "1 if the server is ready, 0 during its shutdown.", int64(map[bool]int{true: 1}[ready]))
	one("go_goroutines", "gauge", "Number of goroutines.", int64(runtime.NumGoroutine()))
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	one("go_memstats_heap_inuse_bytes", "gauge", "Bytes of the heap in use.", int64(mem.HeapInuse))
	one("go_memstats_sys_bytes", "gauge", "Bytes obtained from the system.", int64(mem.Sys))
}

func (c *codes) write(w io.Writer, head func(name, kind, help string)) {
	const name = "infer_prep_requests_total"
	head(name, "counter", "Inference requests by the status of their response; 499 if the client had gone.")
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, status := range slices.Sorted(maps.Keys(c.n)) {
		fmt.Fprintf(w, "%s{code=\"%d\"} %d\n", name, status, c.n[status])
	}
}

func (h *histogram) write(w io.Writer, head func(name, kind, help string)) {
	const name = "infer_prep_request_duration_seconds"
	head(name, "histogram", "Time from an inference request's header to its response.")
	h.mu.Lock()
	defer h.mu.Unlock()
	sum := int64(0)
	for i, n := range h.counts {
		bound := "+Inf"
		if i < len(bounds) {
			bound = strconv.FormatFloat(bounds[i], 'g', -1, 64)
		}
		sum += n
		fmt.Fprintf(w, "%s_bucket{le=\"%s\"} %d\n", name, bound, sum)
	}
	fmt.Fprintf(w, "%s_sum %g\n%s_count %d\n", name, h.sum, name, sum)
}
