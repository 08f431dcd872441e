package serve

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
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
		mux.Handle(model+"/infer", only(http.MethodPost, s.ofModel(s.infer)))
	}
	get("/metrics", s.serveMetrics)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, fmt.Errorf("no such path: %s; the model is /v2/models/%s", r.URL.Path, s.o.Model))
	})
	return mux
}

// only refuses other methods.
func only(method string, h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == method || r.Method == http.MethodHead && method == http.MethodGet {
			h(w, r)
			return
		}
		w.Header().Set("Allow", method)
		refuse(w, http.StatusMethodNotAllowed, fmt.Errorf("method %s: want %s", r.Method, method))
	})
}

// refuse replies with the protocol's error object.
func refuse(w http.ResponseWriter, status int, err error) {
	reply(w, status, map[string]string{"error": err.Error()})
}

// ofModel refuses the names and versions of other models.
func (s *Server) ofModel(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		version := r.PathValue("version")
		switch {
		case r.PathValue("model") != s.o.Model:
			refuse(w, http.StatusNotFound, fmt.Errorf("unknown model %q: want %q", r.PathValue("model"), s.o.Model))
		case version != "" && version != s.o.Version:
			refuse(w, http.StatusNotFound, fmt.Errorf("unknown version %q of model %q: want %q", version, s.o.Model, s.o.Version))
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

// infer answers an inference request, and counts it.
func (s *Server) infer(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	status := http.StatusInternalServerError
	defer func() {
		if p := recover(); p != nil { // a bug: the server goes on
			s.o.Log.Printf("internal error: %v\n%s", p, debug.Stack())
			refuse(w, status, errors.New("internal error"))
		}
		s.metrics.requests.add(status)
		s.metrics.seconds.observe(time.Since(start))
	}()
	if s.draining.Load() {
		w.Header().Set("Connection", "close")
	}
	if !s.admit() {
		status = http.StatusTooManyRequests
		s.refuseInfer(w, r, status, fmt.Errorf("%d requests are in progress, the limit of --jobs and --queue; try again later", s.o.Jobs+s.o.Queue))
		return
	}
	defer s.leave()
	l := &lease{s: s}
	defer l.end()
	out, err := s.answer(start, w, r, l)
	if err != nil {
		if status = statusOf(err); status == http.StatusInternalServerError {
			s.o.Log.Print(err)
		}
		s.refuseInfer(w, r, status, err)
		return
	}
	status = http.StatusOK
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.o.Timeout))
	if out.write(w) != nil {
		status = statusGone
	}
	s.release(out.batches)
}

// Limits of reading a body to its end that is of no use. A client that is still
// writing when its connection closes may not see the response.
const (
	discardBytes = 4 << 20
	discardTime  = 2 * time.Second
)

// refuseInfer replies with an error and its status, and reads the rest of the
// body.
func (s *Server) refuseInfer(w http.ResponseWriter, r *http.Request, status int, err error) {
	control := http.NewResponseController(w)
	if r.Header.Get("Expect") == "" && status != http.StatusRequestTimeout {
		_ = control.SetReadDeadline(time.Now().Add(discardTime))
		_, _ = io.CopyN(io.Discard, r.Body, discardBytes)
		_ = control.SetReadDeadline(time.Time{})
	}
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	_ = control.SetWriteDeadline(time.Now().Add(s.o.Timeout))
	refuse(w, status, err)
}

// answer reads and processes a request.
func (s *Server) answer(start time.Time, w http.ResponseWriter, r *http.Request, l *lease) (*response, error) {
	header := int64(-1)
	if h := r.Header.Get(headerLength); h != "" {
		n, err := strconv.ParseInt(h, 10, 64)
		if err != nil || n < 0 {
			return nil, fail(http.StatusBadRequest, "%s: %q: want a number of at least 0", headerLength, h)
		}
		header = n
	}
	if err := checkType(r.Header.Get("Content-Type")); err != nil {
		return nil, err
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(start.Add(s.o.Timeout))
	body, err := s.read(w, r, l)
	if err != nil {
		return nil, err
	}
	// From here on the server reads only to see whether the client has gone.
	_ = control.SetReadDeadline(time.Time{})
	object := int64(len(body))
	if header >= 0 {
		object = min(object, header)
	}
	if err := l.grow(object); err != nil { // strings of the JSON object, decoded
		return nil, err
	}
	q, err := s.parse(header, body)
	if err != nil {
		return nil, err
	}
	deadline := s.o.Timeout
	if q.timeout > 0 {
		deadline = min(deadline, q.timeout)
	}
	ctx, cancel := context.WithDeadline(r.Context(), start.Add(deadline))
	defer cancel()
	batches, err := s.batches(ctx, q, l)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fail(http.StatusGatewayTimeout, "the request took longer than %v", deadline)
	}
	if err != nil {
		return nil, err
	}
	return s.encode(q, batches, l)
}

// checkType refuses bodies that are surely not of the protocol. Clients of the
// protocol send no type, or that of curl.
func checkType(header string) error {
	if header == "" {
		return nil
	}
	kind, _, err := mime.ParseMediaType(header)
	switch {
	case err != nil:
	case kind == "application/octet-stream", kind == "application/json", strings.HasSuffix(kind, "+json"), kind == "application/x-www-form-urlencoded":
		return nil
	case strings.HasPrefix(kind, "image/"):
		return fail(http.StatusUnsupportedMediaType, "Content-Type %s: send an image itself as application/octet-stream with the header %s: 0", kind, headerLength)
	}
	return fail(http.StatusUnsupportedMediaType, "Content-Type %.100q: want application/json or application/octet-stream", header)
}

// read reads a request's body and decompresses it. The lease grows with the
// bytes that have arrived.
func (s *Server) read(w http.ResponseWriter, r *http.Request, l *lease) ([]byte, error) {
	tooLarge := fail(http.StatusRequestEntityTooLarge, "the body has more than %d bytes, the limit of --limit-body", s.o.Body)
	if r.ContentLength > s.o.Body {
		return nil, tooLarge
	}
	var body io.Reader = http.MaxBytesReader(w, r.Body, s.o.Body)
	size := int64(-1)
	var err error
	switch coding := strings.ToLower(r.Header.Get("Content-Encoding")); coding {
	case "", "identity":
		size = r.ContentLength
	case "gzip":
		body, err = gzip.NewReader(body)
	case "deflate":
		body, err = zlib.NewReader(body)
	default:
		err = fail(http.StatusUnsupportedMediaType, "Content-Encoding %.100q: want gzip, deflate or none", coding)
	}
	var b []byte
	if err == nil {
		b, err = readAll(body, size, s.o.Body, l, tooLarge)
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
		return nil, fail(http.StatusRequestTimeout, "the body did not arrive within %v", s.o.Timeout)
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
		if err := l.grow(room - int64(cap(b))); err != nil {
			return nil, err
		}
		b = append(make([]byte, 0, room), b...)
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
