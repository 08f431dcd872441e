package graph

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/tensor"
)

// writeSteps runs the graph on r.image and writes the outputs of every step to
// dir, and pictures of images and, in a graph of sounds, of samples and
// features.
func writeSteps(ctx context.Context, r *Inferred, dir string) error {
	if !paths.IsURI(dir) {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return command.FailErr("%w", paths.Error(dir, err))
		}
	}
	sound := r.Graph.OfSound()
	run := r.Plan.NewRunner()
	run.OnStep = func(step int, out []*tensor.Tensor) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, o := range out {
			if err := writeStep(ctx, paths.Join(dir, r.StepName(step, i)), o, sound); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := run.Run(r.Data); err != nil {
		if ctx.Err() != nil {
			return &command.ExitError{Status: command.ExitInterrupted, Err: fmt.Errorf("interrupted")}
		}
		return command.FailErr("%s: %w", r.Image, paths.Reason(err))
	}
	return nil
}

// StepName returns the file name of output i of a step, without the extension.
func (r *Inferred) StepName(step, i int) string {
	s := r.steps[step]
	return fmt.Sprintf("%0*d-%s.%s", max(2, len(fmt.Sprint(len(r.steps)-1))), step, s.Op, s.Out[i].Name)
}

func writeStep(ctx context.Context, name string, t *tensor.Tensor, sound bool) error {
	ext, write := ".npy", tensor.WriteNPY
	if t.DType == tensor.BFloat16 || t.DType == tensor.Bytes {
		ext, write = ".raw", tensor.WriteRaw
	}
	if err := newfile.Write(ctx, name+ext, func(w io.Writer) error { return write(w, t) }); err != nil {
		return err
	}
	m := Picture(t)
	if m == nil && sound {
		m = soundPicture(t, 0, 0)
	}
	if m != nil {
		return newfile.Write(ctx, name+".png", func(w io.Writer) error { return png.Encode(w, m) })
	}
	return nil
}

// Picture draws a tensor, or returns nil if it is not an image of 1, 3 or 4
// channels.
func Picture(t *tensor.Tensor) image.Image {
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
	at := tensor.Float64s(t)
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
			if !(v > 0) { // also NaN, and images of a single value
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
