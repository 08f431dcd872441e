// Package serve serves a graph, and the model behind it, over HTTP with the
// Open Inference Protocol (KServe, version 2) and its binary tensor extension.
// A request holds encoded images; the response holds their tensors.
//
// The cost of all requests together is bounded. Options limits the images in
// progress, the requests that wait, the memory that they hold, and the time of
// each. docs/serve.md describes the protocol as it is implemented.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/importer/hf/tokens"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/internal/kserve"
	"github.com/infer-prep/infer-prep/tensor"
)

// Options configures a Server. Every field is required unless its comment says
// otherwise.
type Options struct {
	Model   string // the model's name in URLs, without a slash
	Version string // the model's only version
	Program string // the version of the program, for the metadata

	Plan *datagraph.Plan // its input must be one encoded image or sound
	// Noun names one input, "image" or "sound". Default: image.
	Noun string
	// SideOutputs adds the graph's side outputs to the model's outputs.
	// Optional.
	SideOutputs bool

	// Tokens computes the tokens of images. Optional.
	Tokens *tokens.Processor
	// Video processes videos, which the path video then takes. Optional.
	Video *video.Processor

	// Device runs the graph, and the model of its options, with a session for
	// each of Jobs. Optional; nil means the CPU. The caller closes it after the
	// server.
	Device *device.Pool
	// Infer says that Device runs a model.
	Infer bool

	Jobs  int // images in progress at once; at least 1
	Queue int // requests that may wait besides Jobs; at least 0

	// Images is the largest number of images in one request; 1 to MaxImages.
	Images int
	// Body is the largest number of bytes of a request's body, before and
	// after decompression.
	Body int64
	// Held bounds the bytes of the bodies and results of all requests.
	Held int64

	// Connections is the largest number of open connections; at least 1. Later
	// ones wait until one closes.
	Connections int

	// Timeout bounds the time for reading and processing a request, and after
	// it the time for writing the response.
	Timeout time.Duration
	// Drain is the time between the start of a shutdown, when readiness turns
	// false, and the end of accepting requests. Default 0.
	Drain time.Duration

	Log *log.Logger // gets faults of the server, one a line
}

// sound is the Noun of sounds.
const sound = "sound"

// Server serves one graph. Handler is safe for concurrent use. Close it when
// its last request has ended.
type Server struct {
	o       Options
	columns []datagraph.Column // the outputs, with their batch rules
	input   string             // the name of the graph's input

	videoColumns []datagraph.Column // the outputs of Options.Video

	pool    *datagraph.Pool
	metrics metrics
	spares  sync.Pool // of *tensor.Tensor, the batches of responses
	pace    pace
	conns   *conns

	draining atomic.Bool        // readiness is false
	ending   context.Context    // ends when requests are no longer accepted
	end      context.CancelFunc // ends it

	mu       sync.Mutex
	admitted int   // requests in progress
	held     int64 // bytes of their bodies and results
}

// New returns a Server.
func New(o Options) (*Server, error) {
	g := o.Plan.Graph()
	o.Noun = cmp.Or(o.Noun, "image")
	s := &Server{
		o: o, input: g.Inputs[0].Name, columns: o.Plan.Outputs(), pool: o.Plan.NewPool(datagraph.PoolOptions{Jobs: o.Jobs}),
		metrics: newMetrics(), pace: usualPace, conns: newConns(o.Connections),
	}
	s.ending, s.end = context.WithCancel(context.Background())
	if !o.SideOutputs {
		s.columns = s.columns[:len(g.Outputs)]
	}
	if o.Infer {
		s.columns = modelColumns(o.Device)
	}
	if o.Video != nil {
		s.videoColumns = videoColumns(o.Video)
	}
	for _, c := range s.columns {
		if kserve.Datatype(c.Desc.DType) == "" || c.Desc.DType == tensor.Bytes {
			return nil, fmt.Errorf("serve: the output %s is %v, which has no batch", c.Name, c.Desc)
		}
	}
	return s, nil
}

// modelColumns describes the outputs of a device's model. Sessions run the
// model on batches of one image: an axis of 1, or of any size, in front is the
// batch's.
func modelColumns(p *device.Pool) []datagraph.Column {
	l := p.Outputs()
	for i, c := range l {
		if c.Desc.Shape.Rank() > 0 && (c.Desc.Shape.At(0) == 1 || c.Desc.Shape.At(0) == tensor.Unknown) {
			l[i].Batch = datagraph.Batching{Rule: datagraph.BatchConcat}
		}
	}
	return l
}

// Timeouts and sizes of connections.
const (
	headerTimeout = 10 * time.Second // for reading a request's header
	idleTimeout   = 2 * time.Minute  // between requests
	maxHeader     = 16 << 10         // bytes of a request's header
)

// Serve answers requests on l until ctx ends. It then turns readiness false,
// accepts requests for the time Drain, and closes l. It returns when every
// accepted request has its response; a request is accepted when its body has
// arrived. An error means that requests were cut off after twice the time
// Timeout, or that l failed.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		WriteTimeout: 2 * s.o.Timeout, // of responses that set no deadline of their own
		ConnState:    s.conns.state, ErrorLog: s.o.Log,
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.draining.Store(true)
	time.Sleep(s.o.Drain)
	// Bodies and headers that are on their way have a moment to arrive. A
	// request that was accepted last has Timeout to be processed, and Timeout
	// to be written.
	s.end()
	s.conns.end(s.pace.ending)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.pace.ending+2*s.o.Timeout)
	defer cancel()
	if err := h.Shutdown(ctx); err != nil {
		s.mu.Lock()
		n := s.admitted
		s.mu.Unlock()
		return errors.Join(fmt.Errorf("serve: %d requests were cut off: %w", n, err), h.Close())
	}
	return nil
}

// Answered returns the number of inference requests that have been answered.
func (s *Server) Answered() int64 { return s.metrics.requests.total() }

// admit reserves a place for a request, and reports whether there is one.
func (s *Server) admit() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.admitted >= s.o.Jobs+s.o.Queue {
		return false
	}
	s.admitted++
	return true
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.admitted--
}

// lease is the memory that a request holds. Its request must end it.
type lease struct {
	s *Server
	n int64
}

// grow adds n bytes. It never waits, since a request that waits for memory
// would hold its own meanwhile. The error is 413 if the request alone exceeds
// the limit, else 429. n may be negative.
func (l *lease) grow(n int64) error {
	s := l.s
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case l.n+n > s.o.Held:
		return fail(http.StatusRequestEntityTooLarge, "the request and its results need %d bytes, the limit of --limit-held is %d", l.n+n, s.o.Held)
	case s.held+n > s.o.Held:
		return fail(http.StatusTooManyRequests, "the requests in progress hold %d bytes, the limit of --limit-held is %d; try again later", s.held, s.o.Held)
	}
	l.n += n
	s.held += n
	return nil
}

// shrink takes n bytes away.
func (l *lease) shrink(n int64) {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	l.s.held -= n
	l.n -= n
}

func (l *lease) end() { l.shrink(l.n) }
