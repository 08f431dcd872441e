package animation

import "github.com/infer-prep/infer-prep/codec"

// sequence is a codec.FormatDecoder that decodes whole frames one after the
// other, as codec/avif's does. It is no part of package codec, because programs
// choose to link such decoders.
type sequence interface {
	codec.FormatDecoder
	// OpenFrames returns the durations of the frames, at most most of them:
	// numerators and denominators in seconds.
	OpenFrames(data []byte, o *codec.Options, most int) ([][2]int, error)
	// DecodeFrame decodes frame i. Frame 0 starts anew, others follow the one
	// before.
	DecodeFrame(dst *codec.Raster, i int) error
}

// frames is the film of a sequence.
type frames struct {
	decoder sequence
	options codec.Options
	raster  codec.Raster
}

func (a *Animation) openSequence(s sequence) (film, error) {
	f := &frames{decoder: s, options: a.canvas.options}
	delays, err := s.OpenFrames(a.data, &f.options, MaxFrames)
	if err != nil {
		return nil, err
	}
	for _, d := range delays {
		a.Delays = append(a.Delays, Delay{d[0], d[1]})
	}
	return f, nil
}

func (f *frames) draw(c *canvas, i int) error {
	r := &f.raster
	if err := f.decoder.DecodeFrame(r, i); err != nil {
		return err
	}
	if c.pix == nil {
		c.pix = make([]byte, 4*c.width*c.height)
	}
	n := r.Mode.Size()
	for y := range c.height {
		out, in := c.pix[4*y*c.width:][:4*c.width], r.Pix[y*r.Stride:]
		for x := range c.width {
			p := out[4*x : 4*x+3]
			if r.Mode == codec.L {
				p[0], p[1], p[2] = in[x], in[x], in[x]
				continue
			}
			copy(p, in[n*x:n*x+3])
		}
	}
	return nil
}
