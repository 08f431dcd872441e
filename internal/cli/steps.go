package cli

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// writeSteps runs the graph on r.image and writes the tensors after every step
// to dir, and pictures of those that are images.
func writeSteps(ctx context.Context, r *inferred, limits codec.Limits, dir string) error {
	t, err := readImage(r.image, limits)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return failErr("%w", plain(dir, err))
	}
	digits := max(2, len(fmt.Sprint(len(r.steps)-1)))
	run := r.plan.NewRunner()
	run.OnStep = func(step int, out []*tensor.Tensor) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, o := range out {
			s := r.steps[step]
			name := filepath.Join(dir, fmt.Sprintf("%0*d-%s.%s", digits, step, s.Op, s.Out[i].Name))
			if err := writeStep(name, o); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := run.Run(t); err != nil {
		if ctx.Err() != nil {
			return &exitError{exitInterrupted, fmt.Errorf("interrupted")}
		}
		return failErr("%s: %w", r.image, message(err))
	}
	return nil
}

func writeStep(name string, t *tensor.Tensor) error {
	ext, write := ".npy", tensor.WriteNPY
	if t.DType == tensor.BFloat16 || t.DType == tensor.Bytes {
		ext, write = ".raw", tensor.WriteRaw
	}
	if err := writeFile(name+ext, func(w io.Writer) error { return write(w, t) }); err != nil {
		return err
	}
	if m := picture(t); m != nil {
		return writeFile(name+".png", func(w io.Writer) error { return png.Encode(w, m) })
	}
	return nil
}

// picture draws an image tensor, nil if it is none that can be drawn.
func picture(t *tensor.Tensor) image.Image {
	if !t.IsImage() || t.Len() == 0 {
		return nil
	}
	h, w, c := t.Height(), t.Width(), t.Channels()
	if c != 1 && c != 3 && c != 4 {
		return nil
	}
	if !t.Dense() {
		t = t.Clone()
	}
	at := elements(t)
	if at == nil {
		return nil
	}
	level := func(i int) uint8 { return uint8(at(i)) }
	if t.DType != tensor.Uint8 {
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := range int(t.Len()) {
			if v := at(i); !math.IsNaN(v) && !math.IsInf(v, 0) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
		level = func(i int) uint8 {
			v := (at(i) - lo) / (hi - lo) * 255
			if !(v > 0) { // NaN too, and an image of one value
				return 0
			}
			return uint8(min(v+0.5, 255))
		}
	}
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	index := func(y, x, k int) int { return (y*w+x)*c + k }
	if t.Layout == tensor.CHW {
		index = func(y, x, k int) int { return (k*h+y)*w + x }
	}
	for y := range h {
		for x := range w {
			p := color.NRGBA{A: 255}
			p.R = level(index(y, x, 0))
			p.G, p.B = p.R, p.R
			if c > 1 {
				p.G, p.B = level(index(y, x, 1)), level(index(y, x, 2))
			}
			if c == 4 {
				p.A = level(index(y, x, 3))
			}
			m.SetNRGBA(x, y, p)
		}
	}
	return m
}

// elements reads a dense tensor's elements as float64, nil if they are no numbers.
func elements(t *tensor.Tensor) func(i int) float64 {
	switch t.DType {
	case tensor.Uint8, tensor.Bool:
		return number[uint8](t)
	case tensor.Int8:
		return number[int8](t)
	case tensor.Uint16:
		return number[uint16](t)
	case tensor.Int16:
		return number[int16](t)
	case tensor.Int32:
		return number[int32](t)
	case tensor.Int64:
		return number[int64](t)
	case tensor.Float32:
		return number[float32](t)
	case tensor.Float64:
		return number[float64](t)
	case tensor.Float16:
		v := tensor.View[uint16](t)
		return func(i int) float64 { return float64(tensor.Float16ToFloat32(v[i])) }
	case tensor.BFloat16:
		v := tensor.View[uint16](t)
		return func(i int) float64 { return float64(tensor.BFloat16ToFloat32(v[i])) }
	}
	return nil
}

func number[T tensor.Elem](t *tensor.Tensor) func(i int) float64 {
	v := tensor.View[T](t)
	return func(i int) float64 { return float64(v[i]) }
}
