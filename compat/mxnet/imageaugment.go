package mxnet

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// decodeGray decodes to gray as OpenCV's IMREAD_GRAYSCALE does: luma as Decode
// computes it, except for PNG, where it is libpng's.
type decodeGray struct{ luma, rgb *transforms.Decode }

func newDecodeGray(o *transforms.Decode) *decodeGray {
	g := &decodeGray{}
	luma, rgb := *o, *o
	luma.Color, rgb.Color = codec.ToLuma, codec.ToRGB
	g.luma, g.rgb = &luma, &rgb
	return g
}

// Info names the op: graphs cannot hold it.
func (*decodeGray) Info() transforms.Info { return transforms.Info{Name: "decode_gray"} }

func (o *decodeGray) Validate() error { return o.luma.Validate() }

func (o *decodeGray) Infer(dst, in []tensor.Desc) error { return o.luma.Infer(dst, in) }

func (o *decodeGray) InferData(c *transforms.Context, dst []tensor.Desc, src []*tensor.Tensor) error {
	return o.luma.InferData(c, dst, src)
}

func (o *decodeGray) Apply(c *transforms.Context, dst, src []*tensor.Tensor) error {
	if !bytes.HasPrefix(src[0].Data, []byte("\x89PNG")) {
		return o.luma.Apply(c, dst, src)
	}
	d := dst[0].Desc
	rgb, err := c.Temp(tensor.Image(tensor.Uint8, tensor.HWC, d.Height(), d.Width(), 3))
	if err != nil {
		return err
	}
	if err := o.rgb.Apply(c, []*tensor.Tensor{rgb}, src); err != nil {
		return err
	}
	// libpng 1.6's png_set_rgb_to_gray with 0.299 and 0.587 computes in 15 bits
	// without rounding.
	for i, p := 0, rgb.Data; i < len(dst[0].Data); i, p = i+1, p[3:] {
		dst[0].Data[i] = uint8((9797*uint32(p[0]) + 19234*uint32(p[1]) + 3737*uint32(p[2])) >> 15)
	}
	return nil
}

// decodeAlpha decodes RGBA. It refuses images without alpha.
type decodeAlpha struct{ *transforms.Decode }

func (o *decodeAlpha) InferData(c *transforms.Context, dst []tensor.Desc, src []*tensor.Tensor) error {
	i, err := o.Open(c, src[0])
	if err != nil {
		return err
	}
	if i.Mode != codec.RGBA && i.Mode != codec.LA && !(i.Mode == codec.P && i.HasAlpha) {
		return fmt.Errorf("%w: an image without alpha, want 4 channels", transforms.ErrInput)
	}
	dst[0] = i.Desc()
	return nil
}

// newDecode returns the op that decodes images to 1 (gray), 3 (RGB) or 4 (RGBA)
// channels.
func newDecode(channels int) transforms.Op {
	o := transforms.NewDecode()
	o.Gray16, o.Orientation = codec.Gray16High, codec.OrientationApply
	switch channels {
	case 1:
		return newDecodeGray(o)
	case 4: // as MXNet: without orientation
		o.Color, o.Orientation = codec.ToRGBA, codec.OrientationIgnore
		return &decodeAlpha{o}
	}
	return o
}

// graph returns the processing of each image. path is the prefix of the random
// numbers' names.
func (p *ImageRecordParams) graph(mean *tensor.Tensor, path string) *datagraph.Graph {
	c := p.DataShape.At(0)
	g := datagraph.New(newDecode(c))
	g.Add(newAugment(p))
	float := false
	if mean != nil && p.DType != tensor.Uint8 {
		// The mean image is subtracted before mirroring.
		g.Add(&subtract{mean: mean, whole: p.DType == tensor.Int8})
		float = true
	}
	switch {
	case p.Mirror:
		g.Add(transforms.NewHorizontalFlip())
	case p.RandMirror:
		g.Add(transforms.NewRandomHorizontalFlip())
	}
	if p.DType != tensor.Uint8 && !float {
		means := p.means()
		g.Add(transforms.NewToType(tensor.Float32))
		g.Add(transforms.NewNormalize(means, ones[:c]))
	}
	switch {
	case p.DType == tensor.Int8:
		g.Add(&transforms.ToType{DType: tensor.Int8, Rule: transforms.CastSaturate})
	case p.DType == tensor.Float32 && (p.MaxRandomContrast != 0 || p.MaxRandomIllumination != 0):
		g.Add(&exposure{p: p})
	case p.DType == tensor.Float32:
		for _, op := range p.expose(p.Scale, float32(0*p.Scale), &transforms.Multiply{}, &transforms.Normalize{}) {
			g.Add(op)
		}
	}
	if !float {
		g.Add(transforms.NewHWC2CHW())
	}
	for i := range g.Steps {
		switch s := &g.Steps[i]; s.Op.(type) {
		case *augment:
			s.Path = path + "/augment"
		case *transforms.RandomHorizontalFlip:
			s.Path = path + "/mirror"
		case *exposure:
			s.Path = path + "/exposure"
		}
	}
	return g
}

var ones = []float64{1, 1, 1, 1}

// means returns the means of the channels.
func (p *ImageRecordParams) means() []float64 {
	l := []float64{float64(p.MeanR), float64(p.MeanG), float64(p.MeanB), float64(p.MeanA)}[:p.DataShape.At(0)]
	if p.DType == tensor.Int8 {
		for i := range l {
			l[i] = math.Round(l[i])
		}
	}
	return l
}

// expose computes x*(contrast/std) + illumination/std, each rounded to float32.
// Multiply scales, then Normalize subtracts a negative mean. It fills both ops.
func (p *ImageRecordParams) expose(contrast, illumination float32, factor *transforms.Multiply, bias *transforms.Normalize) []transforms.Op {
	factor.Factor, bias.Mean = factor.Factor[:0], bias.Mean[:0]
	for _, std := range []float32{p.StdR, p.StdG, p.StdB, p.StdA}[:p.DataShape.At(0)] {
		factor.Factor = append(factor.Factor, float64(contrast/std))
		bias.Mean = append(bias.Mean, float64(-(illumination / std)))
	}
	bias.Std = ones[:len(bias.Mean)]
	return []transforms.Op{factor, bias}
}

// randomOp is embedded in random ops whose parameters are already checked.
type randomOp struct{}

// Validate returns nil.
func (randomOp) Validate() error { return nil }

// Apply fails: random ops must be drawn.
func (randomOp) Apply(*transforms.Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return transforms.ErrNotDrawn
}

// addDrawn adds a random op whose numbers have the name path.
func addDrawn(g *datagraph.Graph, op transforms.Op, path string) {
	g.Add(op)
	g.Steps[len(g.Steps)-1].Path = path
}

// exposure draws contrast and illumination.
type exposure struct {
	randomOp
	p *ImageRecordParams
}

// Info names the op: graphs cannot hold it.
func (*exposure) Info() transforms.Info { return transforms.Info{Name: "exposure"} }

func (o *exposure) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return nil
}

func (o *exposure) Draw(d *transforms.Draw) error {
	p := o.p
	contrast := float32(float32(between(d, -p.MaxRandomContrast, p.MaxRandomContrast)+1) * p.Scale)
	illumination := float32(between(d, -p.MaxRandomIllumination, p.MaxRandomIllumination) * p.Scale)
	factor, bias := transforms.NewOp[transforms.Multiply](d), transforms.NewOp[transforms.Normalize](d)
	for _, op := range p.expose(contrast, illumination, factor, bias) {
		if err := d.Emit(op); err != nil {
			return err
		}
	}
	return nil
}

// between draws a uniform number.
func between(d *transforms.Draw, lo, hi float32) float32 {
	return min(float32(d.Uniform(float64(lo), float64(hi))), hi)
}

// augment is MXNet's aug_default. It draws the ops for one image; most depend
// only on the image's size. The image is uint8 and HWC.
type augment struct {
	randomOp
	p         *ImageRecordParams
	h, w      int
	fill      []float64
	rotations transforms.AngleList
	hls       *transforms.RandomHLS
	lighting  *transforms.RandomLightingNoise
}

func newAugment(p *ImageRecordParams) *augment {
	o := &augment{p: p, h: p.DataShape.At(1), w: p.DataShape.At(2)}
	for range p.DataShape.At(0) {
		o.fill = append(o.fill, float64(p.FillValue))
	}
	if len(o.fill) == 4 {
		o.fill[3] = 0 // MXNet passes three values, and OpenCV uses 0 for the fourth
	}
	o.rotations, _ = p.rotations() // Validate has parsed them
	if len(o.rotations) == 0 && p.Rotate > 0 {
		o.rotations = transforms.AngleList{p.Rotate}
	}
	o.hls = transforms.NewRandomHLS(p.RandomH, p.RandomL, p.RandomS)
	o.lighting = transforms.NewRandomLightingNoise(float64(p.PCANoise))
	return o
}

// Info names the op: graphs cannot hold it.
func (*augment) Info() transforms.Info { return transforms.Info{Name: "augment"} }

// Infer returns an image of DataShape's size.
func (o *augment) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0].WithSize(o.h, o.w)
	return nil
}

// interpolations are the values 0 to 4 of inter_method.
var interpolations = [5]transforms.Interpolation{transforms.Nearest, transforms.Bilinear, transforms.Bicubic, transforms.Area, transforms.Lanczos}

// interpolation returns the interpolation of inter_method for a change of size.
func interpolation(d *transforms.Draw, method, h, w, nh, nw int) transforms.Interpolation {
	switch {
	case method == 9 && nw > w && nh > h:
		return transforms.Bicubic
	case method == 9 && nw < w && nh < h:
		return transforms.Area
	case method == 9:
		return transforms.Bilinear
	case method == 10:
		return interpolations[d.IntN(len(interpolations))]
	default:
		return interpolations[method]
	}
}

// scale resizes the image if its size differs.
func scale(d *transforms.Draw, nh, nw int, m transforms.Interpolation) error {
	if d.In[0].Height() == nh && d.In[0].Width() == nw {
		return nil
	}
	op := transforms.NewOp[transforms.Resize](d)
	*op = transforms.Resize{Fit: transforms.FitExact, Height: nh, Width: nw, Interpolation: m, Backend: backend(m)}
	return d.Emit(op)
}

// scaleShort resizes the image so that its shorter side has a size.
func scaleShort(d *transforms.Draw, size, method int) error {
	h, w := d.In[0].Height(), d.In[0].Width()
	nh, nw := size, size*w/h
	if h > w {
		nh, nw = size*h/w, size
	}
	return scale(d, nh, nw, interpolation(d, method, h, w, nh, nw))
}

// backend returns the one that equals the OpenCV in MXNet's wheel.
func backend(m transforms.Interpolation) transforms.Backend {
	if m == transforms.Bicubic {
		return transforms.MXNet
	}
	return transforms.OpenCV
}

// place returns the position of a crop, random or central.
func place(d *transforms.Draw, h, w int, random bool) (top, left int) {
	top, left = d.In[0].Height()-h, d.In[0].Width()-w
	if random {
		return d.IntN(top + 1), d.IntN(left + 1)
	}
	return top / 2, left / 2
}

// crop crops to a size.
func crop(d *transforms.Draw, h, w int, random bool) error {
	top, left := place(d, h, w, random)
	if h == d.In[0].Height() && w == d.In[0].Width() {
		return nil
	}
	op := transforms.NewOp[transforms.Crop](d)
	*op = transforms.Crop{Top: top, Left: left, Height: h, Width: w}
	return d.Emit(op)
}

// cropScaled crops a box of h x w and scales it to nh x nw.
func cropScaled(d *transforms.Draw, h, w, nh, nw, method int, random bool) error {
	top, left := place(d, h, w, random)
	m := interpolation(d, method, h, w, nh, nw)
	op := transforms.NewOp[transforms.ResizedCrop](d)
	*op = transforms.ResizedCrop{
		Top: top, Left: left, Height: h, Width: w, OutHeight: nh, OutWidth: nw, Interpolation: m, Backend: backend(m),
	}
	return d.Emit(op)
}

// Draw emits the ops in MXNet's order.
func (o *augment) Draw(d *transforms.Draw) error {
	p := o.p
	if p.Resize != -1 {
		if err := scaleShort(d, p.Resize, p.InterMethod); err != nil {
			return err
		}
	}
	if p.warps() {
		if err := o.warp(d); err != nil {
			return err
		}
	}
	if p.Pad > 0 {
		op := transforms.NewOp[transforms.Pad](d)
		*op = transforms.Pad{Top: p.Pad, Bottom: p.Pad, Left: p.Pad, Right: p.Pad, Mode: transforms.PadConstant, Fill: o.fill}
		if err := d.Emit(op); err != nil {
			return err
		}
	}
	if err := o.fit(d); err != nil {
		return err
	}
	return o.colors(d)
}

// colors changes brightness, contrast and saturation in random order, then hue,
// lightness and saturation, then lighting.
func (o *augment) colors(d *transforms.Draw) error {
	p := o.p
	if p.Brightness > 0 || p.Contrast > 0 || p.Saturation > 0 {
		order := [3]int{0, 1, 2}
		d.Shuffle(3, func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, which := range order {
			v := [3]float32{p.Brightness, p.Contrast, p.Saturation}[which]
			if v == 0 {
				continue
			}
			var op transforms.Op
			switch f := float64(1 + between(d, -v, v)); which {
			case 0:
				b := transforms.NewOp[transforms.AdjustBrightness](d)
				*b = transforms.AdjustBrightness{Factor: f, Backend: transforms.MXNet}
				op = b
			case 1:
				c := transforms.NewOp[transforms.AdjustContrast](d)
				*c = transforms.AdjustContrast{Factor: f, Backend: transforms.MXNet}
				op = c
			default:
				s := transforms.NewOp[transforms.AdjustSaturation](d)
				*s = transforms.AdjustSaturation{Factor: f, Backend: transforms.MXNet}
				op = s
			}
			if err := d.Emit(op); err != nil {
				return err
			}
		}
	}
	if p.RandomH > 0 || p.RandomS > 0 || p.RandomL > 0 {
		if err := d.Emit(o.hls); err != nil {
			return err
		}
	}
	if p.PCANoise > 0 {
		return d.Emit(o.lighting)
	}
	return nil
}

// warp shears, rotates, scales and changes the aspect about the image's centre.
func (o *augment) warp(d *transforms.Draw) error {
	p := o.p
	h, w := d.In[0].Height(), d.In[0].Width()
	// The interpolation depends on the scale, so the scale is drawn here.
	scale := between(d, p.MinRandomScale, p.MaxRandomScale)
	side := func(n int) int {
		return int(max(p.MinImgSize, min(p.MaxImgSize, float32(scale*float32(n)))))
	}
	op := transforms.NewOp[transforms.RandomWarp](d)
	*op = transforms.RandomWarp{
		Shear: transforms.Range{Min: -float64(p.MaxShearRatio), Max: float64(p.MaxShearRatio)}, MaxAngle: p.MaxRotateAngle, Angles: o.rotations,
		Scale: transforms.Range{Min: float64(scale), Max: float64(scale)}, Aspect: transforms.Range{Min: 1, Max: 1},
		MinSize: float64(p.MinImgSize), MaxSize: float64(p.MaxImgSize), Interpolation: interpolation(d, p.InterMethod, h, w, side(h), side(w)),
		Backend: transforms.OpenCV4, Fill: o.fill,
	}
	if !p.RandomResizedCrop { // otherwise the crop has the aspect
		lo, hi := p.aspects()
		op.Aspect = transforms.Range{Min: float64(max(lo, leastAspect)), Max: float64(hi)}
	}
	return d.Emit(op)
}

// leastAspect is the smallest aspect that is drawn.
const leastAspect = 0.001

// aspects returns the bounds of the aspect.
func (p *ImageRecordParams) aspects() (lo, hi float32) {
	if p.MinAspectRatio != nil {
		return *p.MinAspectRatio, p.MaxAspectRatio
	}
	return 1 - p.MaxAspectRatio, 1 + p.MaxAspectRatio
}

// resizedCrop crops a box of random area, aspect and position and scales it to
// the size. If nothing varies, or none of ten boxes fits in the image, found is
// false and the plain crop follows.
func (o *augment) resizedCrop(d *transforms.Draw) (found bool, err error) {
	p := o.p
	lo, hi := p.aspects()
	if p.MinRandomArea == 1 && p.MaxRandomArea == 1 && lo == 1 && hi == 1 {
		return false, nil
	}
	h, w := d.In[0].Height(), d.In[0].Width()
	for range 10 {
		area, ratio := between(d, p.MinRandomArea, p.MaxRandomArea), max(between(d, lo, hi), leastAspect)
		if bh, bw, ok := box(h, w, area, ratio, d.Coin(0.5)); ok {
			return true, cropScaled(d, bh, bw, o.h, o.w, p.InterMethod, true)
		}
	}
	return false, nil
}

// box returns the size of a box in an h x w image. area is its share of the
// image's area, and ratio is its width over its height. turned swaps the sides.
// ok reports whether the box fits. Like MXNet, it computes the squares of the
// sides in float32.
func box(h, w int, area, ratio float32, turned bool) (bh, bw int, ok bool) {
	n := float32(area * float32(h*w))
	bh = int(math.Round(math.Sqrt(float64(float32(n / ratio)))))
	bw = int(math.Round(math.Sqrt(float64(float32(n * ratio)))))
	if turned {
		bh, bw = bw, bh
	}
	return bh, bw, bh >= 1 && bw >= 1 && bh <= h && bw <= w
}

var errSmall = errors.New("the image is smaller than max_crop_size")

// fit crops or scales the image to DataShape's size.
func (o *augment) fit(d *transforms.Draw) error {
	p := o.p
	if p.RandomResizedCrop {
		if found, err := o.resizedCrop(d); found || err != nil {
			return err
		}
	}
	h, w := d.In[0].Height(), d.In[0].Width()
	if p.crops() {
		if min(h, w) < p.MaxCropSize {
			return errSmall
		}
		side := p.MinCropSize + d.IntN(p.MaxCropSize-p.MinCropSize+1)
		return cropScaled(d, side, side, o.h, o.w, p.InterMethod, p.RandCrop)
	}
	if h < o.h || w < o.w {
		if err := o.grow(d); err != nil {
			return err
		}
	}
	return crop(d, o.h, o.w, p.RandCrop)
}

// grow scales up an image that is too small, the height first. Like MXNet, it
// computes in float32 and chooses one interpolation from the first and the last
// size.
func (o *augment) grow(d *transforms.Draw) error {
	h, w := d.In[0].Height(), d.In[0].Width()
	m := interpolation(d, o.p.InterMethod, h, w, o.h, o.w)
	if h < o.h {
		if err := scale(d, o.h, max(int(float32(float32(o.h)/float32(h))*float32(w)), 1), m); err != nil {
			return err
		}
		h, w = d.In[0].Height(), d.In[0].Width()
	}
	if w < o.w {
		return scale(d, max(int(float32(float32(o.w)/float32(w))*float32(h)), 1), o.w, m)
	}
	return nil
}
