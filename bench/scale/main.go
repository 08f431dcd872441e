//go:build linux

// Command scale shows that the cost of a sample does not grow with the number
// of records. It prints one table for full shuffles of a thousand, a hundred
// thousand and ten million synthetic records.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	t "github.com/infer-prep/infer-prep/transforms"
)

// records is a source of N synthetic images of 32 x 32 pixels, each computed
// from its number.
type records struct{ n int64 }

func (r *records) Validate() error                                          { return nil }
func (r *records) Open(context.Context, store.Opener) (dataset.Data, error) { return r, nil }
func (r *records) Close() error                                             { return nil }
func (r *records) Len() int64                                               { return r.n }

func (r *records) Columns() []dataset.Column {
	return []dataset.Column{{Name: "image", Desc: tensor.Image(tensor.Uint8, tensor.HWC, 32, 32, 3)}, {Name: "label", Desc: tensor.Desc{DType: tensor.Int32}}}
}

func (r *records) Read(_ context.Context, i int64, s *dataset.Sample) error {
	if err := s.Column("image").Reset(tensor.Image(tensor.Uint8, tensor.HWC, 32, 32, 3)); err != nil {
		return err
	}
	for j := range s.Column("image").Data {
		s.Column("image").Data[j] = byte(int64(j) * (i + 1))
	}
	return s.Column("label").SetInt32(int32(i))
}

type run interface {
	Next(context.Context) (*dataset.Sample, error)
	Close() error
}

func main() {
	if err := table(); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func table() error {
	fmt.Println("| engine | records | samples timed | samples/s | ms to the first batch | resident MB |")
	fmt.Println("|---|---|---|---|---|---|")
	rates := map[string][]float64{}
	for _, engine := range []string{"pullpipe", "pipeline"} {
		for _, n := range []int64{1_000, 100_000, 10_000_000} {
			g := datagraph.New(t.NewHorizontalFlip(), t.NewToTensor(), t.NewNormalize([]float64{0.5, 0.5, 0.5}, []float64{0.25, 0.25, 0.25}))
			g.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, 3)
			begin := time.Now()
			b, err := dataset.Build(context.Background(), dataset.From(&records{n}).Shuffle().Repeat(0).Map(g).Batch(32), dataset.Options{Seed: 1})
			if err != nil {
				return err
			}
			var r run
			if engine == "pullpipe" {
				r, err = pullpipe.New(b, nil)
			} else {
				r, err = pipeline.New(b, pipeline.Options{Workers: 2}, nil)
			}
			if err != nil {
				return err
			}
			if _, err := r.Next(context.Background()); err != nil {
				return err
			}
			first := time.Since(begin)
			samples := 0
			begin = time.Now()
			for time.Since(begin) < 3*time.Second {
				s, err := r.Next(context.Background())
				if err != nil {
					return err
				}
				samples += s.Column("image").Shape.At(0)
			}
			rate := float64(samples) / time.Since(begin).Seconds()
			rates[engine] = append(rates[engine], rate)
			rss, err := resident()
			if err != nil {
				return err
			}
			fmt.Printf("| %s | %d | %d | %.0f | %.2f | %.1f |\n", engine, n, samples, rate, float64(first.Microseconds())/1e3, rss)
			if err := r.Close(); err != nil {
				return err
			}
			if err := b.Close(); err != nil {
				return err
			}
			runtime.GC()
		}
	}
	fmt.Println("\ngoals:")
	for _, engine := range []string{"pullpipe", "pipeline"} {
		l := rates[engine]
		x, verdict := l[0]/l[2], "met"
		if x > 1.5 {
			verdict = "missed"
		}
		fmt.Printf("%s: samples/s of a thousand records at most 1.5 times those of ten million, %.2f, %s\n", engine, x, verdict)
	}
	return nil
}

// resident returns the program's current memory in MB.
func resident() (float64, error) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, ok := bytes.Cut(b, []byte("VmRSS:"))
	var kib float64
	if _, err := fmt.Sscanf(string(rest), "%f kB", &kib); err != nil || !ok {
		return 0, fmt.Errorf("/proc/self/status has no VmRSS: %w", io.ErrUnexpectedEOF)
	}
	return kib * 1024 / 1e6, nil
}
