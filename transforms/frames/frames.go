// Package frames registers the op decode_frames, which decodes frames of an
// animated GIF, PNG, WebP or AVIF file.
package frames

import (
	"fmt"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/animation"
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

//go:generate go run ../../tools/msgpgen

func init() { transforms.Register((*DecodeFrames)(nil)) }

// Short is the policy for a file with too few frames.
type Short uint8

// The policies.
const (
	ShortError Short = iota // an error, which says how many frames there are
	ShortClamp              // the last frame in place of each that is missing
	ShortLoop               // the frames from the first one on again
)

var shortNames = []string{"error", "clamp", "loop"}

func (s Short) String() string { return enum.String("policy for too few frames", shortNames, s) }

// MarshalText returns the name.
func (s Short) MarshalText() ([]byte, error) {
	return enum.Format("policy for too few frames", shortNames, s)
}

// UnmarshalText parses the name.
func (s *Short) UnmarshalText(t []byte) error {
	return enum.Parse(s, "policy for too few frames", shortNames, t)
}

// DecodeFrames decodes frames of an animated GIF, PNG, WebP or AVIF file:
// First, First + Step and so on. It takes an encoded image (a bytes scalar) and
// returns uint8 of the shape (frames, height, width, 3), without a layout. A
// still image of any format has one frame.
//
// A frame is the whole canvas, composed as Pillow does frame after frame, and
// converted to RGB, which drops transparency. A frame costs the time of all
// frames before it. AVIF needs package codec/avif and libavif. Animations that
// are not composed exactly as Pillow does are codec.ErrUnsupported. All frames
// of the file must fit the Context's Limits.
//
// Reference: Pillow 13.0.0, seek of each frame in turn and convert("RGB").
type DecodeFrames struct {
	First int `json:"first"` // number of the first frame, 0 to 1048575; default 0
	// Count is the number of frames, 0 to 1048576. 0 means all from First on.
	// Default 0.
	Count int   `json:"count"`
	Step  int   `json:"step"`  // 1 to 1048576; default 1
	Short Short `json:"short"` // what takes the place of missing frames; default error
}

//msgp:tuple DecodeFrames

// NewDecodeFrames returns the op for a number of frames from the first one on,
// 0 for all.
func NewDecodeFrames(count int) *DecodeFrames { return &DecodeFrames{Count: count, Step: 1} }

// Info describes the op.
func (*DecodeFrames) Info() transforms.Info {
	return transforms.Info{
		Name: "decode_frames", Version: 1, New: func() transforms.Op { return NewDecodeFrames(0) },
		Out:       []string{"frames"},
		Reference: "Pillow 13.0.0 Image.seek, convert", Exactness: "0",
	}
}

// Validate checks the numbers and the policy.
func (o *DecodeFrames) Validate() error {
	for _, v := range []struct {
		name     string
		v, least int
		most     int
	}{{"first", o.First, 0, animation.MaxFrames - 1}, {"count", o.Count, 0, animation.MaxFrames}, {"step", o.Step, 1, animation.MaxFrames}} {
		if v.v < v.least || v.v > v.most {
			return fmt.Errorf("%w: %s is %d, want %d to %d", transforms.ErrParam, v.name, v.v, v.least, v.most)
		}
	}
	if int(o.Short) >= len(shortNames) {
		return fmt.Errorf("%w: short is %v, want one of %q", transforms.ErrParam, o.Short, shortNames)
	}
	return nil
}

func (o *DecodeFrames) desc(count, height, width int) tensor.Desc {
	return tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(count, height, width, 3)}
}

// Infer describes frames of unknown height and width.
func (o *DecodeFrames) Infer(dst, in []tensor.Desc) error {
	if in[0] != tensor.Encoded() {
		return fmt.Errorf("%w: %v, want bytes: an encoded image", transforms.ErrInput, in[0])
	}
	n := o.Count
	if n == 0 {
		n = tensor.Unknown
	}
	dst[0] = o.desc(n, tensor.Unknown, tensor.Unknown)
	return nil
}

// opened is the file that InferData opened, for Apply.
type opened struct {
	data []byte
	a    *animation.Animation
}

func (o *DecodeFrames) open(c *transforms.Context, data []byte) (*animation.Animation, error) {
	a, err := animation.Open(data, c.Limits)
	if err != nil {
		return nil, err
	}
	n := len(a.Delays)
	last := int64(o.First) + int64(max(o.Count-1, 0))*int64(o.Step)
	if last >= int64(n) && (o.Short == ShortError || o.Count == 0) {
		return nil, fmt.Errorf("%w: the file has %d frames, want frame %d", transforms.ErrInput, n, last)
	}
	if limit, size := c.Limits.WithDefaults().Bytes, int64(a.Width)*int64(a.Height)*3; limit > 0 && int64(o.Count) > limit/size {
		return nil, fmt.Errorf("%w: %w: %d frames of %dx%d pixels, the limit is %d bytes", transforms.ErrInput, codec.ErrLimit, o.Count, a.Width, a.Height, limit)
	}
	return a, nil
}

// InferData reads the structure of the file.
func (o *DecodeFrames) InferData(c *transforms.Context, dst []tensor.Desc, src []*tensor.Tensor) error {
	c.State = nil
	a, err := o.open(c, src[0].Data)
	if err != nil {
		return err
	}
	n := o.Count
	if n == 0 {
		n = (len(a.Delays)-o.First-1)/o.Step + 1
	}
	dst[0] = o.desc(n, a.Height, a.Width)
	c.State = &opened{src[0].Data, a}
	return nil
}

// Apply decodes the frames.
func (o *DecodeFrames) Apply(c *transforms.Context, dst, src []*tensor.Tensor) error {
	data := src[0].Data
	s, ok := c.State.(*opened)
	if !ok || len(data) == 0 || len(s.data) != len(data) || &s.data[0] != &data[0] {
		a, err := o.open(c, data)
		if err != nil {
			return err
		}
		s = &opened{data, a}
	}
	c.State = nil
	frames, size := dst[0].Shape.At(0), s.a.Width*s.a.Height*3
	for k := range frames {
		i := int64(o.First) + int64(k)*int64(o.Step)
		switch n := int64(len(s.a.Delays)); {
		case i < n:
		case o.Short == ShortClamp:
			i = n - 1
		default:
			i %= n
		}
		rgb, err := s.a.Frame(int(i))
		if err != nil {
			return err
		}
		copy(dst[0].Data[k*size:][:size], rgb)
	}
	return nil
}
