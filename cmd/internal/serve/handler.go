package serve

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/infer-prep/infer-prep/tensor"
)

// Handler returns the routes of the protocol and /metrics.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	get := func(path string, h http.HandlerFunc) { mux.Handle(path, only(http.MethodGet, h)) }
	get("/v2", s.serverMetadata)
	get("/v2/health/live", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, map[string]bool{"live": true}) })
	get("/v2/health/ready", s.serverReady)
	for _, model := range []string{"/v2/models/{model}", "/v2/models/{model}/versions/{version}"} {
		get(model, s.ofModel(s.modelMetadata))
		get(model+"/ready", s.ofModel(s.modelReady))
		get(model+"/sizes", s.ofModel(s.sizes))
		mux.Handle(model+"/infer", only(http.MethodPost, s.ofModel(s.infer(formOf))))
		if s.o.Video != nil {
			mux.Handle(model+"/video", only(http.MethodPost, s.ofModel(s.infer(videoFormOf))))
		}
	}
	get("/metrics", s.serveMetrics)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, fmt.Errorf("no such path: %.200s; the model is /v2/models/%s", r.URL.Path, s.o.Model))
	})
	return s.unread(mux)
}

// unread treats the body of each request as one that is not wanted: the
// connection closes after the response, and the body has a moment to arrive.
// The method infer reads bodies and lifts both.
func (s *Server) unread(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 || s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		if r.ContentLength != 0 {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.linger()))
		}
		h.ServeHTTP(w, r)
	})
}

// linger is the time for the rest of a body that is not wanted.
func (s *Server) linger() time.Duration {
	if s.ending.Err() != nil {
		return s.pace.linger / 4
	}
	return s.pace.linger
}

// only refuses other methods.
func only(method string, h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == method || r.Method == http.MethodHead && method == http.MethodGet {
			h(w, r)
			return
		}
		w.Header().Set("Allow", method)
		refuse(w, http.StatusMethodNotAllowed, fmt.Errorf("method %.100s: want %s", r.Method, method))
	})
}

// maxError is the largest number of bytes of an error's text in a response.
const maxError = 1000

// refuse replies with the protocol's error object.
func refuse(w http.ResponseWriter, status int, err error) {
	text := err.Error()
	if len(text) > maxError {
		text = strings.ToValidUTF8(text[:maxError], "") + "…"
	}
	reply(w, status, map[string]string{"error": text})
}

// ofModel refuses the names and versions of other models.
func (s *Server) ofModel(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		version := r.PathValue("version")
		switch {
		case r.PathValue("model") != s.o.Model:
			refuse(w, http.StatusNotFound, fmt.Errorf("unknown model %.100q: want %q", r.PathValue("model"), s.o.Model))
		case version != "" && version != s.o.Version:
			refuse(w, http.StatusNotFound, fmt.Errorf("unknown version %.100q of model %q: want %q", version, s.o.Model, s.o.Version))
		default:
			h(w, r)
		}
	}
}

func (s *Server) serverMetadata(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, struct {
		Name       string   `json:"name"`
		Version    string   `json:"version"`
		Extensions []string `json:"extensions"`
	}{"infer-prep", s.o.Program, []string{"binary_tensor_data"}})
}

// notReady is the status of readiness during a shutdown: the protocol wants
// 4xx.
const notReady = http.StatusBadRequest

func (s *Server) readyStatus() (bool, int) {
	if s.draining.Load() {
		return false, notReady
	}
	return true, http.StatusOK
}

func (s *Server) serverReady(w http.ResponseWriter, _ *http.Request) {
	ready, status := s.readyStatus()
	reply(w, status, map[string]bool{"ready": ready})
}

func (s *Server) modelReady(w http.ResponseWriter, _ *http.Request) {
	ready, status := s.readyStatus()
	reply(w, status, struct {
		Name  string `json:"name"`
		Ready bool   `json:"ready"`
	}{s.o.Model, ready})
}

func (s *Server) modelMetadata(w http.ResponseWriter, _ *http.Request) {
	m := struct {
		Name     string       `json:"name"`
		Versions []string     `json:"versions"`
		Platform string       `json:"platform"`
		Inputs   []outputJSON `json:"inputs"`
		Outputs  []outputJSON `json:"outputs"`
	}{s.o.Model, []string{s.o.Version}, "infer-prep", []outputJSON{{Name: s.input, Datatype: "BYTES", Shape: []int{-1}}}, nil}
	for _, c := range s.columns {
		m.Outputs = append(m.Outputs, columnJSON(c))
	}
	reply(w, http.StatusOK, m)
}

// infer returns what answers an inference request, and counts it. formOf reads
// the request's headers.
func (s *Server) infer(formOf func(*http.Request) (form, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { s.inferForm(w, r, formOf) }
}

func (s *Server) inferForm(w http.ResponseWriter, r *http.Request, formOf func(*http.Request) (form, error)) {
	start := time.Now()
	control := http.NewResponseController(w)
	status, read, err := s.respond(start, w, r, formOf)
	if err != nil {
		s.keep(w, read)
		if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "1")
		}
		_ = control.SetWriteDeadline(time.Now().Add(s.o.Timeout))
		refuse(w, status, err)
	}
	s.metrics.requests.add(status)
	s.metrics.seconds.observe(time.Since(start))
	if !read && status != http.StatusRequestTimeout {
		_ = control.Flush()
		_ = control.SetReadDeadline(time.Now().Add(s.linger()))
		_, _ = io.CopyN(io.Discard, r.Body, lingerBytes)
	}
}

// keep lets the connection of a request whose body was read serve others.
func (s *Server) keep(w http.ResponseWriter, read bool) {
	if read && !s.draining.Load() {
		w.Header().Del("Connection")
	}
}

// respond admits a request, processes it and writes its response, which is done
// unless there is an error. read reports whether the body was read to its end.
func (s *Server) respond(start time.Time, w http.ResponseWriter, r *http.Request, formOf func(*http.Request) (form, error)) (status int, read bool, err error) {
	defer func() {
		if p := recover(); p != nil { // a bug: the server goes on
			s.o.Log.Printf("internal error: %v\n%s", p, debug.Stack())
			status, err = http.StatusInternalServerError, errors.New("internal error")
		}
	}()
	read = r.ContentLength == 0
	if !s.admit() {
		return http.StatusTooManyRequests, read, fmt.Errorf("%d requests are in progress, the limit of --jobs and --queue; try again later", s.o.Jobs+s.o.Queue)
	}
	defer s.leave()
	l := &lease{s: s}
	defer l.end()
	var out *response
	f, err := formOf(r)
	if err == nil {
		var body []byte
		if body, err = s.read(start, w, r, l); err == nil {
			read = true
			out, err = s.answer(r.Context(), start, f, body, l)
		}
	}
	if err != nil {
		if status = statusOf(err); status == http.StatusInternalServerError {
			s.o.Log.Print(err)
		}
		return status, read, err
	}
	s.keep(w, read)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.o.Timeout))
	status = http.StatusOK
	if out.write(w) != nil {
		status = statusGone
	}
	s.release(out.batches)
	return status, read, nil
}

// answer processes a request whose body has arrived.
func (s *Server) answer(ctx context.Context, start time.Time, f form, body []byte, l *lease) (*response, error) {
	q, err := s.parse(f, body, l)
	if err != nil {
		return nil, err
	}
	q.details, q.sizes = f.details, make([][2]int, len(q.images))
	deadline := s.o.Timeout
	if q.timeout > 0 {
		deadline = min(deadline, q.timeout)
	}
	ctx, cancel := context.WithDeadline(ctx, start.Add(deadline))
	defer cancel()
	var batches []*tensor.Tensor
	if q.video != nil {
		batches, err = s.video(ctx, q, l)
	} else {
		batches, err = s.batches(ctx, q, l)
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fail(http.StatusGatewayTimeout, "the request took longer than %v", deadline)
	}
	if err != nil {
		return nil, f.explain(s.o.Noun, err)
	}
	return s.encode(q, batches, l)
}

// read reads a request's body and decompresses it. The lease grows with the
// bytes that have arrived.
func (s *Server) read(start time.Time, w http.ResponseWriter, r *http.Request, l *lease) ([]byte, error) {
	tooLarge := fail(http.StatusRequestEntityTooLarge, "the body has more than %d bytes, the limit of --limit-body", s.o.Body)
	if r.ContentLength > s.o.Body {
		return nil, tooLarge
	}
	a := s.arrive(http.MaxBytesReader(w, r.Body, s.o.Body), http.NewResponseController(w), start.Add(s.o.Timeout))
	defer a.close()
	var body io.Reader = a
	size := int64(-1)
	var err error
	switch coding := strings.ToLower(r.Header.Get("Content-Encoding")); coding {
	case "", "identity":
		size = r.ContentLength
	case "gzip":
		body, err = gzip.NewReader(a)
	case "deflate":
		body, err = zlib.NewReader(a)
	default:
		return nil, fail(http.StatusUnsupportedMediaType, "Content-Encoding %.100q: want gzip, deflate or none", coding)
	}
	var b []byte
	if err == nil {
		b, err = readAll(body, size, s.o.Body, l, tooLarge)
	}
	if err == nil && body != a { // net/http wants to see the end
		var n int
		if n, err = io.ReadFull(a, make([]byte, 1)); n > 0 {
			err = errors.New("more data follow the compressed ones")
		} else if err == io.EOF {
			err = nil
		}
	}
	var large *http.MaxBytesError
	var net interface{ Timeout() bool }
	var status *statusError
	switch {
	case err == nil:
		return b, nil
	case errors.As(err, &large):
		return nil, tooLarge
	case errors.As(err, &status):
		return nil, err
	case errors.As(err, &net) && net.Timeout():
		return nil, a.late(start)
	case r.Context().Err() != nil:
		return nil, r.Context().Err()
	}
	return nil, fail(http.StatusBadRequest, "the body: %w", err)
}

// firstRead is the memory for a body before its first bytes have arrived.
const firstRead = 256 << 10

// readAll reads r to its end: size bytes if that is not negative, and at most
// most. Its memory doubles as bytes arrive.
func readAll(r io.Reader, size, most int64, l *lease, tooLarge error) ([]byte, error) {
	room := int64(firstRead)
	if size >= 0 {
		room = min(room, size)
	}
	var b []byte
	for {
		if err := l.grow(room); err != nil {
			return nil, err
		}
		old := int64(cap(b))
		b = append(make([]byte, 0, room), b...)
		l.shrink(old)
		for len(b) < cap(b) {
			n, err := r.Read(b[len(b):cap(b)])
			b = b[:len(b)+n]
			if err == io.EOF {
				return b, nil
			}
			if err != nil {
				return nil, err
			}
		}
		// The memory is full: either this is the end, or there is more.
		var one [1]byte
		n, err := io.ReadFull(r, one[:])
		switch {
		case err == io.EOF:
			return b, nil
		case n == 0:
			return nil, err
		case room >= most:
			return nil, tooLarge
		}
		room = min(2*room, most)
		if size >= 0 {
			room = min(room, max(size, int64(len(b))+1))
		}
		r = io.MultiReader(bytes.NewReader(one[:]), r)
	}
}
