package video

import (
	"fmt"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// composer is a layout that joins frames into images of other sizes.
type composer interface {
	compose(r *Runner, m Metadata, chosen []int, frame func(i int) ([]byte, error)) ([]*tensor.Tensor, error)
}

// composed is the layout of MiniCPM-V 4.6 with stack_frames above 1. The images
// are the chosen frames of each second and, behind each, a canvas of the frames
// between it and the next, with black lines of 6 pixels between them.
type composed struct {
	*strip
	rule miniCPM
}

// lineWidth is the number of black pixels between frames of a canvas.
const lineWidth = 6

// composes returns the layout for more than one frame a second. Its graph reads
// pixels.
func (l *strip) composes(rule miniCPM) *composed {
	g := *l.g
	g.Steps = g.Steps[1:] // Decode
	g.Inputs = []datagraph.Column{{Name: datagraph.Image, Desc: tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, 3)}}
	c := *l
	c.stack = &stack{l.output, &g}
	return &composed{&c, rule}
}

// between returns the times of the frames between those of each second.
func (s miniCPM) between(d float64) ([]float64, error) {
	seconds := math.Ceil(d)
	if err := bounded(seconds * float64(s.stack)); err != nil {
		return nil, err
	}
	var l []float64
	for i := range int(seconds) {
		for j := 1; j < s.stack; j++ {
			if t := float64(i) + float64(float64(j)/float64(s.stack)); t < d {
				l = append(l, t)
			}
		}
	}
	k := int64(s.most) * int64(s.stack-1)
	if int64(len(l)) <= k {
		return l, nil
	}
	at, err := floors(0, len(l)-1, int(k))
	times := make([]float64, len(at))
	for i, j := range at {
		times[i] = l[j]
	}
	return times, err
}

// units returns the frames of each image, given those that are chosen.
func (l *composed) units(m Metadata, chosen []int) ([][]int, error) {
	if m.Duration == 0 {
		return nil, lacks("duration", "stack_frames needs it")
	}
	times, err := l.rule.between(m.Duration)
	if err != nil {
		return nil, err
	}
	if len(times) >= len(chosen) {
		return nil, fmt.Errorf("%w: %d frames of a video of %v seconds, want more than the %d between seconds", ErrSample, len(chosen), m.Duration, len(times))
	}
	main, sub := chosen[:len(chosen)-len(times)], chosen[len(chosen)-len(times):]
	var u [][]int
	at := 0
	for i := range main {
		u = append(u, main[i:i+1])
		from := at
		for at < len(times) && times[at] < float64(i+1) {
			at++
		}
		if at > from {
			u = append(u, sub[from:at])
		}
	}
	return u, nil
}

// canvasGrid returns the rows and columns of n frames of that size.
func canvasGrid(n, height, width int) (rows, columns int) {
	far := func(rows, columns int) float64 {
		w, h := columns*width+(columns-1)*lineWidth, rows*height+(rows-1)*lineWidth
		return math.Abs(float64(w)/float64(max(1, h)) - 1)
	}
	wide, tall := far(1, n), far(n, 1)
	switch {
	case n == 4:
		return 2, 2
	case n == 3 && tall < wide, n == 2 && (tall < wide || tall == wide && width < height):
		return n, 1
	}
	return 1, n
}

// canvas returns the canvas of frames of one size.
func canvas(frames []*tensor.Tensor, limit int64) (*tensor.Tensor, error) {
	h, w := frames[0].Height(), frames[0].Width()
	rows, columns := canvasGrid(len(frames), h, w)
	if len(frames) == 1 {
		return frames[0], nil
	}
	H, W := int64(rows)*int64(h)+int64(rows-1)*lineWidth, int64(columns)*int64(w)+int64(columns-1)*lineWidth
	if max(H, W) > importer.MaxSide || float64(H)*float64(W)*3 > float64(limit) {
		return nil, fmt.Errorf("%w: %d frames become %dx%d pixels, want at most %d bytes", codec.ErrLimit, len(frames), W, H, limit)
	}
	c, line := make([]byte, H*W*3), int(W)*3
	for i, f := range frames {
		top, left := i/columns*(h+lineWidth), i%columns*(w+lineWidth)*3
		for y := range h {
			copy(c[(top+y)*line+left:][:w*3], f.Data[y*w*3:])
		}
	}
	return tensor.Wrap(tensor.Image(tensor.Uint8, tensor.HWC, int(H), int(W), 3), c)
}

func (l *composed) compose(r *Runner, m Metadata, chosen []int, frame func(i int) ([]byte, error)) ([]*tensor.Tensor, error) {
	units, err := l.units(m, chosen)
	if err != nil {
		return nil, fmt.Errorf("video: %s: %w", r.processor.sampling.class, err)
	}
	plan, err := datagraph.Compile(datagraph.New(transforms.NewDecode()), datagraph.CompileOptions{Limits: r.limits})
	if err == nil {
		err = r.compile(len(chosen), codec.Info{})
	}
	if err != nil {
		return nil, fmt.Errorf("video: %s: %w", r.processor.sampling.class, err)
	}
	decoder := plan.NewRunner()
	var first, f *tensor.Tensor
	before := -1
	var parts [][]*tensor.Tensor
	total := int64(0)
	for _, unit := range units {
		var frames []*tensor.Tensor
		for _, i := range unit {
			if i != before {
				data, err := frame(i)
				if err != nil {
					return nil, r.fail(i, err)
				}
				out, err := decoder.Run(tensor.FromBytes(data))
				if err != nil {
					return nil, r.fail(i, err)
				}
				f, before = out[0].Clone(), i
			}
			if first == nil {
				first = f
			}
			if f.Height() != first.Height() || f.Width() != first.Width() {
				return nil, r.fail(i, fmt.Errorf("%w: %dx%d pixels, and frame %d has %dx%d: want one size", ErrFrames, f.Width(), f.Height(), chosen[0], first.Width(), first.Height()))
			}
			if total+int64(len(frames)+1)*int64(len(f.Data)) > r.most() {
				return nil, r.fail(i, fmt.Errorf("%w: frames of an image and all values: want at most %d bytes", codec.ErrLimit, r.most()))
			}
			frames = append(frames, f)
		}
		part, err := l.part(r, frames)
		if err != nil {
			return nil, r.fail(unit[0], err)
		}
		if total += int64(len(part[0].Data)); total > r.most() {
			return nil, r.fail(unit[0], fmt.Errorf("%w: the values: want at most %d bytes", codec.ErrLimit, r.most()))
		}
		parts = append(parts, part)
	}
	return joinParts(parts), nil
}

// part returns the outputs for an image of these frames.
func (l *composed) part(r *Runner, frames []*tensor.Tensor) ([]*tensor.Tensor, error) {
	image, err := canvas(frames, r.most())
	if err != nil {
		return nil, err
	}
	out, err := r.runner.Run(image)
	if err != nil {
		return nil, err
	}
	v := out[0]
	if !v.Dense() {
		v = v.Clone()
	}
	d, places, err := l.plan(1, v.Desc)
	if err == nil {
		err = r.room(v.Size(), places)
	}
	if err != nil {
		return nil, err
	}
	values := dense(d.DType, make([]byte, d.Size()), d.Shape.Slice()...)
	l.place(values.Data, v, 0)
	more, err := l.more(filled{frames: 1, places: places, last: out})
	return append([]*tensor.Tensor{values}, more...), err
}

// joinWidths joins tensors of four axes along the last one.
func joinWidths(parts []*tensor.Tensor) *tensor.Tensor {
	s := parts[0].Shape.Slice()
	lines, width := s[0]*s[1]*s[2], 0
	for _, p := range parts {
		width += p.Shape.At(3)
	}
	var values []byte
	for i := range lines {
		for _, p := range parts {
			size := len(p.Data) / lines
			values = append(values, p.Data[i*size:][:size]...)
		}
	}
	return dense(parts[0].DType, values, s[0], s[1], s[2], width)
}

// joinParts joins the outputs of images: the first along its last axis, the
// others along the first, and the last counts the images.
func joinParts(parts [][]*tensor.Tensor) []*tensor.Tensor {
	first := make([]*tensor.Tensor, len(parts))
	for i, p := range parts {
		first[i] = p[0]
	}
	out := []*tensor.Tensor{joinWidths(first)}
	for k := 1; k < len(parts[0])-1; k++ {
		var all []byte
		rows := 0
		for _, p := range parts {
			all = append(all, p[k].Data...)
			rows += p[k].Shape.At(0)
		}
		s := slices.Clone(parts[0][k].Shape.Slice())
		s[0] = rows
		out = append(out, dense(parts[0][k].DType, all, s...))
	}
	return append(out, numbers([]int{len(parts)}))
}
