// Command mixing draws how well shuffles mix a dataset whose shards hold one
// class each, the worst case: the mean number of classes in a batch, by the
// number of samples that a window or a buffer mixes.
//
//	go run ./tools/mixing FILE.svg
package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

//go:generate go run . ../../docs/mixing.svg

const (
	shards = 1000 // each with a class of its own
	each   = 200  // samples in a shard
	batch  = 256
	most   = 100 // batches that are counted
)

// sorted is a source of the classes of samples, in the order of the classes.
type sorted struct{}

func (sorted) Validate() error                                            { return nil }
func (s sorted) Open(context.Context, store.Opener) (dataset.Data, error) { return s, nil }
func (sorted) Columns() []dataset.Column {
	return []dataset.Column{{Name: "class", Desc: tensor.Desc{DType: tensor.Int32}}}
}
func (sorted) Len() int64   { return shards * each }
func (sorted) Close() error { return nil }
func (sorted) Shards() (l []int64) {
	for i := range int64(shards) {
		l = append(l, i*each)
	}
	return l
}
func (sorted) Read(_ context.Context, i int64, s *dataset.Sample) error {
	return s.Values[0].SetInt32(int32(i / each))
}

func init() {
	dataset.Register(dataset.Info{Name: "mixing_classes", Version: 1, New: func() dataset.Node { return &sorted{} }, Doc: "samples in the order of their classes"})
}

// classes returns the mean number of classes in a batch.
func classes(d *dataset.Dataset) (float64, error) {
	ctx := context.Background()
	b, err := dataset.Build(ctx, d, dataset.Options{Seed: 1})
	if err != nil {
		return 0, err
	}
	defer b.Close()
	p, err := pullpipe.New(b, nil)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	sum := 0
	for range most {
		seen := map[int32]bool{}
		for range batch {
			s, err := p.Next(ctx)
			if err != nil {
				return 0, err
			}
			seen[tensor.View[int32](&s.Values[0].Tensor)[0]] = true
		}
		sum += len(seen)
	}
	return float64(sum) / most, nil
}

// series is a line of the plot.
type series struct {
	name, colour string
	of           func(window int64) *dataset.Dataset
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: mixing FILE.svg")
		os.Exit(2)
	}
	if err := draw(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "mixing:", err)
		os.Exit(1)
	}
}

// The plot, in pixels.
const (
	width, height = 640, 360
	left, right   = 60, 190
	top, bottom   = 30, 50
	first, last   = 6, 17 // windows of 1<<first to 1<<last samples
	highest       = 250
)

func x(log int) float64 {
	return left + float64(log-first)/(last-first)*(width-left-right)
}
func y(n float64) float64 { return height - bottom - n/highest*(height-top-bottom) }

func draw(file string) error {
	source := func() *dataset.Dataset { return dataset.Of(&sorted{}) }
	full, err := classes(source().Shuffle())
	if err != nil {
		return err
	}
	lines := []series{
		{"shuffle_shards, 256 lanes", "#1b6e3c", func(w int64) *dataset.Dataset { return source().ShuffleShards(w, 256) }},
		{"shuffle_shards, 16 lanes", "#2f8fd0", func(w int64) *dataset.Dataset { return source().ShuffleShards(w, 16) }},
		{"shuffle_shards, 1 lane", "#8a4fbf", func(w int64) *dataset.Dataset { return source().ShuffleShards(w, 1) }},
		{"shuffle_buffer", "#c0504d", func(w int64) *dataset.Dataset { return source().ShuffleBuffer(int(w)) }},
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", width, height)
	text := func(x, y float64, anchor, colour, format string, args ...any) {
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n", x, y, anchor, colour, fmt.Sprintf(format, args...))
	}
	line := func(x1, y1, x2, y2 float64, colour string) {
		fmt.Fprintf(&b, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x1, y1, x2, y2, colour)
	}
	text(left, 18, "start", "#000", "classes in a batch of %d; %d shards of %d samples, one class each", batch, shards, each)
	for n := 0; n <= highest; n += 50 {
		line(left, y(float64(n)), width-right, y(float64(n)), "#ddd")
		text(left-6, y(float64(n))+4, "end", "#000", "%d", n)
	}
	for l := first; l <= last; l++ {
		if (last-l)%2 == 0 {
			text(x(l), height-bottom+18, "middle", "#000", "%d", 1<<l)
		}
	}
	text((left+width-right)/2, height-12, "middle", "#000", "samples in a window of a lane, or in the buffer")
	line(left, y(full), width-right, y(full), "#000")
	text(width-right+8, y(full)-4, "start", "#000", "shuffle")
	for i, s := range lines {
		var points []string
		for l := first; l <= last; l++ {
			n, err := classes(s.of(1 << l))
			if err != nil {
				return err
			}
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(l), y(math.Round(n))))
		}
		fmt.Fprintf(&b, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"%s\"/>\n", s.colour, strings.Join(points, " "))
		text(width-right+8, float64(height/2+20*i), "start", s.colour, "%s", s.name)
	}
	b.WriteString("</svg>\n")
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
