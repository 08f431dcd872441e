package video

import (
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// Batch joins the outputs of several videos as a call of the reference with all
// of them and with return_tensors does. Each element of videos has the outputs
// of a Runner of this Processor, which the caller has cloned. Joined outputs
// follow one another; others are stacked along a new first axis. SmolVLM pads
// frames and sides with zeros; PeVideo pads the number of frames, and has then
// a further output, padding_mask_videos.
//
// Outputs that do not fit together are an error that wraps ErrFrames; the
// reference raises an exception. Without return_tensors it returns lists, as
// the argument is. The values of an output have at most
// limits.Bytes bytes; the zero value means codec.DefaultLimits.
func (p *Processor) Batch(videos [][]*tensor.Tensor, limits codec.Limits) ([]Output, []*tensor.Tensor, error) {
	l := p.layout.outputs()
	fail := func(err error) ([]Output, []*tensor.Tensor, error) {
		return nil, nil, fmt.Errorf("video: %s: batch: %w", p.sampling.class, err)
	}
	if len(videos) == 0 {
		return fail(fmt.Errorf("%w: no videos", ErrFrames))
	}
	for i, v := range videos {
		if len(v) != len(l) {
			return fail(fmt.Errorf("%w: video %d has %d outputs, want %d", ErrFrames, i, len(v), len(l)))
		}
	}
	var more []Output
	var masks []*tensor.Tensor
	if b, ok := p.layout.(batcher); ok {
		var err error
		if videos, more, masks, err = b.batch(videos, limits); err != nil {
			return fail(err)
		}
	}
	out := make([]*tensor.Tensor, len(l))
	for k, o := range l {
		column := make([]*tensor.Tensor, len(videos))
		for i, v := range videos {
			column[i] = v[k]
		}
		var err error
		if out[k], err = join(column, o.Joined, limits); err != nil {
			return fail(fmt.Errorf("%s: %w", o.Name, err))
		}
	}
	return append(l, more...), append(out, masks...), nil
}

// batcher is a layout that changes the outputs of videos before they are
// joined, or adds outputs of a batch.
type batcher interface {
	batch(videos [][]*tensor.Tensor, limits codec.Limits) (padded [][]*tensor.Tensor, more []Output, masks []*tensor.Tensor, err error)
}

// join stacks tensors, or lets them follow one another along their first axis.
func join(l []*tensor.Tensor, joined bool, limits codec.Limits) (*tensor.Tensor, error) {
	first := l[0].Shape.Slice()
	free := 0 // axes that may differ
	if joined {
		free = 1
	}
	if len(first) < free {
		return nil, fmt.Errorf("%w: %v has no axis to join", ErrFrames, l[0].Desc)
	}
	rows, size := 0, int64(0)
	for i, t := range l {
		s := t.Shape.Slice()
		same := t.DType == l[0].DType && len(s) == len(first)
		for a := free; same && a < len(s); a++ {
			same = s[a] == first[a]
		}
		if !same {
			return nil, fmt.Errorf("%w: video %d has %v, and video 0 has %v: a batch needs equal shapes", ErrFrames, i, t.Desc, l[0].Desc)
		}
		if joined {
			rows += s[0]
		}
		size += t.Size()
	}
	if err := fits(float64(size), limits); err != nil {
		return nil, err
	}
	shape := append([]int{len(l)}, first...)
	if joined {
		shape = append([]int{rows}, first[1:]...)
	}
	d := tensor.Desc{DType: l[0].DType, Shape: tensor.Dims(shape...)}
	data := make([]byte, 0, size)
	for _, t := range l {
		if !t.Dense() {
			t = t.Clone()
		}
		data = append(data, t.Data...)
	}
	return tensor.Wrap(d, data)
}

// fits checks the size of an output, in bytes.
func fits(size float64, limits codec.Limits) error {
	most := limits.WithDefaults().Bytes
	if most < 0 {
		most = math.MaxInt
	}
	if size > float64(most) {
		return fmt.Errorf("%w: %.0f bytes of values, want at most %d", codec.ErrLimit, size, most)
	}
	return nil
}

// pad returns t with zeros behind its values along each axis. The shape is at
// least t's.
func pad(t *tensor.Tensor, shape []int) *tensor.Tensor {
	if !t.Dense() {
		t = t.Clone()
	}
	from := t.Shape.Slice()
	size := t.DType.Size()
	n := size
	for _, s := range shape {
		n *= s
	}
	dst := make([]byte, n)
	var walk func(dst, src []byte, axis int)
	walk = func(dst, src []byte, axis int) {
		if axis == len(shape)-1 {
			copy(dst, src)
			return
		}
		d, s := len(dst)/shape[axis], len(src)/from[axis]
		for i := range from[axis] {
			walk(dst[i*d:][:d], src[i*s:][:s], axis+1)
		}
	}
	walk(dst, t.Data, 0)
	return dense(t.DType, dst, shape...)
}

// padded pads an output of the videos along its first axis and, with sides, the
// last two, to the largest. Other axes must be equal, which join checks.
func padded(videos [][]*tensor.Tensor, k int, sides bool, limits codec.Limits) error {
	var most []int
	for _, v := range videos {
		s := v[k].Shape.Slice()
		if most == nil {
			most = append(most, s...)
		}
		for a := range most {
			most[a] = max(most[a], s[a])
		}
	}
	bytes := float64(len(videos) * videos[0][k].DType.Size())
	for _, n := range most {
		bytes *= float64(n)
	}
	if err := fits(bytes, limits); err != nil {
		return err
	}
	for _, v := range videos {
		shape := append([]int{}, v[k].Shape.Slice()...)
		shape[0] = most[0]
		if n := len(shape); sides {
			copy(shape[n-2:], most[n-2:])
		}
		v[k] = pad(v[k], shape)
	}
	return nil
}

// copies returns the lists of outputs for changes.
func copies(videos [][]*tensor.Tensor) [][]*tensor.Tensor {
	l := make([][]*tensor.Tensor, len(videos))
	for i, v := range videos {
		l[i] = append([]*tensor.Tensor{}, v...)
	}
	return l
}
