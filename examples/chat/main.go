// Command chat is a server in the shape of OpenAI's chat completions with an
// engine in the same process. It turns the messages of a request into the
// prompt of Qwen2-VL with the text of the images' tokens, and the images into
// pixel_values and image_grid_thw, as transformers does, and hands them to an
// Engine. A real one tokenizes the prompt and generates. The engine here is
// small: it answers the size and the average color of each image.
//
//	go run ./examples/chat examples/vlm/model localhost:8080
//	printf '{"messages":[{"role":"user","content":[{"type":"text","text":"Which color?"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,%s"}}]}]}' \
//	  "$(base64 -w0 testdata/images/jpeg_large.jpg)" | curl --data-binary @- localhost:8080/v1/chat/completions
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	if flag.NArg() != 2 {
		log.Fatal("usage: chat MODEL-FOLDER ADDRESS")
	}
	// ctrl-C drains; a second one ends the program.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	door, err := Open(ctx, flag.Arg(0), DefaultLimits())
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", flag.Arg(1))
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("listening on http://%s", l.Addr())
	if err := Serve(ctx, l, NewHandler(door, Colors{}), 30*time.Second); err != nil {
		log.Fatal(err)
	}
}

// Serve answers requests until ctx ends. It then refuses new connections and
// waits for the requests that run, at most for the time grace; their contexts
// end after that. It closes l.
func Serve(ctx context.Context, l net.Listener, h http.Handler, grace time.Duration) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	s := &http.Server{
		Handler:           h,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	drain, stop := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer stop()
	if err := s.Shutdown(drain); err != nil {
		cancel()
		return fmt.Errorf("chat: requests still ran after %v: %w", grace, errors.Join(err, s.Close()))
	}
	return nil
}
