// Command server is an HTTP server that preprocesses images. It shows how to
// use one compiled graph from many requests in a server of your own: a pool of
// Runners bounds the number of images in progress, and limits bound the cost of
// each. The command infer-prep serve is a complete server.
//
//	go run ./examples/server -addr localhost:8080
//	curl --data-binary @cat.jpg localhost:8080/tensor > cat.npy
//
// POST /tensor takes an encoded image of at most -max-bytes as the request body
// and answers with the tensor of preset imagenet as a .npy file: float32
// (3, 224, 224).
//
// Errors are text with these status codes: 400 for a damaged image, 413 for a
// body or an image above the limits, 415 for a body that is no supported image,
// 503 if no Runner is free within -wait.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"time"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/preset"
	"github.com/infer-prep/infer-prep/tensor"
)

func main() {
	addr := flag.String("addr", "localhost:8080", "address to listen on")
	o := options{}
	flag.IntVar(&o.runners, "runners", runtime.GOMAXPROCS(0), "images in progress at once")
	flag.Int64Var(&o.maxBytes, "max-bytes", 16<<20, "largest request body")
	flag.Int64Var(&o.limits.Pixels, "max-pixels", 50e6, "most pixels of an image")
	flag.DurationVar(&o.wait, "wait", time.Second, "how long a request may wait for a free Runner")
	flag.Parse()

	h, err := newServer(o)
	if err != nil {
		log.Fatal(err)
	}
	s := &http.Server{Addr: *addr, Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, func() { s.Shutdown(context.Background()) })
	log.Printf("listening on %s", *addr)
	if err := s.ListenAndServe(); err != http.ErrServerClosed {
		log.Fatal(err)
	}
}

type options struct {
	runners  int
	maxBytes int64
	limits   codec.Limits
	wait     time.Duration
}

// server is safe for concurrent use.
type server struct {
	options
	pool *datagraph.Pool
}

func newServer(o options) (http.Handler, error) {
	g, err := preset.Graph("imagenet")
	if err != nil {
		return nil, err
	}
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{Limits: o.limits})
	if err != nil {
		return nil, err
	}
	s := &server{o, plan.NewPool(datagraph.PoolOptions{Jobs: o.runners})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /tensor", s.tensor)
	return mux, nil
}

func (s *server) tensor(w http.ResponseWriter, r *http.Request) {
	image, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.maxBytes))
	if err != nil {
		fail(w, err)
		return
	}
	npy, err := s.preprocess(r.Context(), image)
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Write(npy)
}

var errBusy = errors.New("all runners are busy, try again later")

// preprocess returns the tensor of an encoded image as a .npy file.
func (s *server) preprocess(ctx context.Context, image []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.wait, errBusy)
	defer cancel()
	var b bytes.Buffer
	err := s.pool.Do(ctx, func(r *datagraph.Runner) error {
		out, err := r.Run(tensor.FromBytes(image))
		if err != nil {
			return err
		}
		return tensor.WriteNPY(&b, out[0]) // the Runner reuses its outputs
	})
	return b.Bytes(), err
}

// fail answers with the status code that fits the error.
func fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	var tooLarge *http.MaxBytesError
	var decoding *codec.Error
	switch {
	case errors.As(err, &tooLarge), errors.Is(err, codec.ErrLimit):
		status = http.StatusRequestEntityTooLarge
	case errors.Is(err, codec.ErrUnsupported), errors.As(err, &decoding) && decoding.Format == "" && errors.Is(err, codec.ErrFormat):
		status = http.StatusUnsupportedMediaType // no format, or none that is supported
	case errors.Is(err, codec.ErrFormat):
		status = http.StatusBadRequest
	case errors.Is(err, errBusy):
		w.Header().Set("Retry-After", "1")
		status = http.StatusServiceUnavailable
	}
	http.Error(w, err.Error(), status)
}
