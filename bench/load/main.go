//go:build linux

// Command load sends images to a server over HTTP and measures it. It is the
// load generator of make bench-serve.
//
//	load URL DIR CONNECTIONS SECONDS
//
// It reads all DIR/*.jpg, opens CONNECTIONS connections, and sends one image
// after another on each for SECONDS. It prints one JSON object: the number of
// requests, the seconds that they took, and percentiles of their latency in
// milliseconds. With SECONDS 0 it sends each image once and prints the SHA-256
// of all tensors in order. A response that is not 200 is an error.
//
// A tensor is the body of the response, without the JSON object in front of it
// whose length the header Inference-Header-Content-Length has.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/infer-prep/infer-prep/bench/internal/peer"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "load: %v\n", err)
		os.Exit(1)
	}
}

const lengthHeader = "Inference-Header-Content-Length"

func run(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("%q: want URL DIR CONNECTIONS SECONDS", args)
	}
	_, images, err := peer.Images(args[1])
	if err != nil {
		return err
	}
	connections, err := strconv.Atoi(args[2])
	if err != nil || connections < 1 || len(images) == 0 {
		return fmt.Errorf("%d images, %s connections: want at least 1", len(images), args[2])
	}
	seconds, err := strconv.ParseFloat(args[3], 64)
	if err != nil {
		return err
	}
	if seconds == 0 {
		return digest(args[0], images)
	}
	return load(args[0], images, connections, time.Duration(seconds*float64(time.Second)))
}

// sender sends images on one connection.
type sender struct {
	url    string
	client http.Client
	body   bytes.Buffer // of the last response
}

func newSender(url string) *sender {
	return &sender{url: url, client: http.Client{Transport: &http.Transport{MaxConnsPerHost: 1, DisableCompression: true}, Timeout: time.Minute}}
}

// send sends an image and returns the tensor's bytes, valid until the next
// call.
func (s *sender) send(image []byte) ([]byte, error) {
	r, err := http.NewRequest(http.MethodPost, s.url, bytes.NewReader(image))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/octet-stream")
	r.Header.Set(lengthHeader, "0")
	resp, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	s.body.Reset()
	if _, err := io.Copy(&s.body, resp.Body); err != nil {
		return nil, err
	}
	b := s.body.Bytes()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %.200s", resp.Status, b)
	}
	if h := resp.Header.Get(lengthHeader); h != "" {
		n, err := strconv.Atoi(h)
		if err != nil || n < 0 || n > len(b) {
			return nil, fmt.Errorf("%s: %q of %d bytes", lengthHeader, h, len(b))
		}
		b = b[n:]
	}
	return b, nil
}

func digest(url string, images [][]byte) error {
	s := newSender(url)
	h := sha256.New()
	for _, image := range images {
		b, err := s.send(image)
		if err != nil {
			return err
		}
		h.Write(b)
	}
	return print(struct {
		Digest string `json:"digest"`
	}{fmt.Sprintf("%x", h.Sum(nil))})
}

func load(url string, images [][]byte, connections int, duration time.Duration) error {
	latencies := make([][]time.Duration, connections)
	errs := make([]error, connections)
	var wg sync.WaitGroup
	start := time.Now()
	for c := range connections {
		wg.Go(func() {
			s := newSender(url)
			// Each connection begins elsewhere, so that they send different
			// images at once.
			for i := c * len(images) / connections; time.Since(start) < duration; i++ {
				began := time.Now()
				if _, err := s.send(images[i%len(images)]); err != nil {
					errs[c] = err
					return
				}
				latencies[c] = append(latencies[c], time.Since(began))
			}
		})
	}
	wg.Wait()
	took := time.Since(start).Seconds()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	all := slices.Concat(latencies...)
	slices.Sort(all)
	at := func(p float64) float64 { return float64(all[int(p*float64(len(all)-1))].Microseconds()) / 1000 }
	return print(struct {
		Requests int     `json:"requests"`
		Seconds  float64 `json:"seconds"`
		P50      float64 `json:"p50"`
		P90      float64 `json:"p90"`
		P99      float64 `json:"p99"`
		Most     float64 `json:"most"`
	}{len(all), took, at(.5), at(.9), at(.99), at(1)})
}

func print(v any) error { return json.NewEncoder(os.Stdout).Encode(v) }
