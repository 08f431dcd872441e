package mxnet

import (
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// luma are the weights of mx.image's ContrastJitterAug and SaturationJitterAug.
var luma = [3]float32{0.299, 0.587, 0.114}

// compensated is a sum of float32 as MXNet's nd.sum computes it: with Kahan's
// compensation.
type compensated struct{ sum, rest float32 }

func (s *compensated) add(v float32) {
	y := v - s.rest
	t := s.sum + y
	s.rest = float32(t-s.sum) - y
	s.sum = t
}

// addLuma adds the weighted values of a pixel.
func (s *compensated) addLuma(p []float32) {
	for c, w := range luma {
		s.add(float32(p[c] * w))
	}
}

// jitter changes the colours of a float32 HWC image of three channels, as the
// augmenters of mx.image do.
type jitter struct {
	kind  jitterKind
	alpha float64 // the factor of brightness, contrast and saturation
	add   [3]float32
}

type jitterKind uint8

const (
	jitterBrightness jitterKind = iota // x*alpha
	jitterContrast                     // x*alpha + (1-alpha)*(the mean brightness)
	jitterSaturation                   // x*alpha + (1-alpha)*(the pixel's brightness)
	jitterAdd
)

// Info names the op: graphs cannot hold it.
func (*jitter) Info() transforms.Info { return transforms.Info{Name: "jitter"} }

func (o *jitter) Validate() error { return nil }

func (o *jitter) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return nil
}

func (o *jitter) Apply(c *transforms.Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	in, out := tensor.View[float32](s), tensor.View[float32](dst[0])
	alpha, gray := float32(o.alpha), float32(0)
	if o.kind == jitterContrast {
		var sum compensated
		for i := 0; i+3 <= len(in); i += 3 {
			sum.addLuma(in[i : i+3])
		}
		gray = float32(float32(float64(3*(1-o.alpha))/float64(len(in))) * sum.sum)
	}
	for i := 0; i+3 <= len(in); i += 3 {
		p, q := in[i:i+3], out[i:i+3]
		switch o.kind {
		case jitterSaturation:
			var sum compensated
			sum.addLuma(p)
			gray = float32(sum.sum * float32(1-o.alpha))
			fallthrough
		case jitterBrightness, jitterContrast:
			for c := range q {
				q[c] = float32(p[c]*alpha) + gray
			}
		case jitterAdd:
			for c := range q {
				q[c] = p[c] + o.add[c]
			}
		}
	}
	return nil
}

// jitters draws the colour augmentation of mx.image's CreateAugmenter:
// brightness, contrast and saturation in random order, hue, lighting, gray.
type jitters struct {
	randomOp
	p    *ImageCommonParams
	hue  transforms.HueJitter
	gray transforms.RandomGrayscale
}

func newJitters(p *ImageCommonParams) *jitters {
	return &jitters{p: p, hue: transforms.HueJitter{Hue: p.Hue}, gray: transforms.RandomGrayscale{Probability: p.RandGray, Backend: transforms.MXNet}}
}

// none reports whether it has no effect.
func (o *jitters) none() bool {
	p := o.p
	return p.Brightness == 0 && p.Contrast == 0 && p.Saturation == 0 && p.Hue == 0 && p.PCANoise == 0 && p.RandGray == 0
}

// Info names the op: graphs cannot hold it.
func (*jitters) Info() transforms.Info { return transforms.Info{Name: "jitters"} }

func (o *jitters) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return nil
}

func (o *jitters) Draw(d *transforms.Draw) error {
	p := o.p
	emit := func(j jitter) error {
		op := transforms.NewOp[jitter](d)
		*op = j
		return d.Emit(op)
	}
	if p.Brightness > 0 || p.Contrast > 0 || p.Saturation > 0 {
		order := [3]jitterKind{jitterBrightness, jitterContrast, jitterSaturation}
		d.Shuffle(3, func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, kind := range order {
			v := [3]float64{p.Brightness, p.Contrast, p.Saturation}[kind]
			if v == 0 {
				continue
			}
			if err := emit(jitter{kind: kind, alpha: 1 + d.Uniform(-v, v)}); err != nil {
				return err
			}
		}
	}
	if p.Hue > 0 {
		if err := d.Emit(&o.hue); err != nil {
			return err
		}
	}
	if p.PCANoise > 0 {
		var alpha [3]float64
		for i := range alpha {
			alpha[i] = float64(d.Normal() * p.PCANoise)
		}
		if err := emit(lighting(alpha)); err != nil {
			return err
		}
	}
	if p.RandGray > 0 {
		return d.Emit(&o.gray)
	}
	return nil
}

// lighting adds AlexNet's noise along the principal components.
func lighting(alpha [3]float64) jitter {
	values := [3]float64{55.46, 4.794, 1.148}
	vectors := [3][3]float64{{-0.5675, 0.7192, 0.4009}, {-0.5808, -0.0045, -0.8140}, {-0.5836, -0.6948, 0.4203}}
	j := jitter{kind: jitterAdd}
	for c, v := range vectors {
		s := 0.
		for k := range v {
			s += float64(float64(v[k]*alpha[k]) * values[k])
		}
		j.add[c] = float32(s)
	}
	return j
}
