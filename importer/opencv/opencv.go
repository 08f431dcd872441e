// Package opencv imports the parameters of cv2.dnn.blobFromImage or
// cv2.dnn.Image2BlobParams:
//
//	{"scalefactor": 0.00392156862745098, "size": [640, 480], "mean": [0, 0, 0], "swapRB": true}
//
// An object "opencv" around them is optional. The keys have OpenCV's names:
//
//   - scalefactor: a number for all channels, or a list of three or four, which
//     NHWC does not take unless they are equal. Default 1.
//   - size: [width, height]. Default [0, 0]: the image's own size.
//   - mean: three numbers, or four, of which the last is unused. Default 0.
//     With swapRB the order is that of the output, red first.
//   - swapRB: true returns RGB, false BGR. Default false.
//   - crop: true scales the image to cover the size and cuts out the centre, as
//     paddingmode 1 does. Default false.
//   - ddepth: 5 or "CV_32F" (default), 0 or "CV_8U". CV_8U allows neither scale
//     nor mean.
//   - datalayout: 2 or "NCHW" (default), 4 or "NHWC".
//   - paddingmode: 0 (DNN_PMODE_NULL, default), 1 (DNN_PMODE_CROP_CENTER) or 2
//     (DNN_PMODE_LETTERBOX).
//   - borderValue: the letterbox's colour, three or four numbers, blue first,
//     before mean and scale. Default 0.
//
// The reference is OpenCV 5.0.0.93: cv2.imread, and the blob without its first
// axis. The mean is subtracted in float32 and the factor multiplied in float32,
// or in float64 with NHWC. The output is the column blob. The blob is equal
// with and without IPP, which the wheels from PyPI use on x86-64.
//
// Graphs decode as imread does: the EXIF orientation is applied as OpenCV finds
// it, 16-bit gray keeps its high byte, alpha is dropped, and a JPEG that ends
// early is decoded as far as it goes. What imread decodes to pixels that this
// project does not make is refused: CMYK, and the files that codec.Damage
// lists. cv2.imdecode refuses a JPEG that ends early; the decode step's damage
// policy imdecode does that.
//
// All keys take effect, and OpenCV's own defaults stand for those that are
// missing. No key is inert but the fourth number of a scalar, which has no
// channel.
package opencv

import (
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

// output is the name of the graphs' output.
const output = "blob"

func init() {
	importer.Register(importer.Importer{
		Name: "opencv", Import: Import,
		Doc: "cv2.dnn.blobFromImage arguments as JSON, as OpenCV 5.0.0.93 applies them",
		Detect: func(_ string, head []byte) bool {
			return importer.HasKey(head, "opencv", "scalefactor", "swapRB", "ddepth", "datalayout", "paddingmode")
		},
	})
}

// Import reads the parameters.
func Import(data []byte) (*datagraph.Graph, error) {
	file, err := importer.ParseLiteral(data)
	if err != nil {
		return nil, err
	}
	o := file
	if file.Has("opencv") {
		if o = file.Object("opencv"); o == nil {
			file.Bad("opencv", "an object")
			return nil, file.Err("opencv")
		}
	}
	g := build(o)
	if err := file.Err("opencv"); err != nil {
		return nil, err
	}
	return importer.Finish("opencv", g)
}

// These are OpenCV's numbers of padding modes.
const (
	padNull = iota
	padCropCenter
	padLetterbox
)

func build(o *importer.Object) *datagraph.Graph {
	d := transforms.NewDecode()
	d.Orientation, d.Gray16 = codec.OrientationApply, codec.Gray16High
	d.Refuse, d.Damage = codec.RefuseCMYK, codec.DamageImread
	swap := o.Bool("swapRB", false)
	if !swap {
		d.Color = codec.ToBGR
	}
	g := datagraph.New(d)
	g.Reference = "OpenCV 5.0.0.93 imread, dnn.blobFromImage"
	resize(o, g, swap)

	mean, factor, rows := scalar(o, "mean", 0), factors(o), rows(o)
	if bytes(o) {
		if slices.ContainsFunc(mean, func(f float64) bool { return f != 0 }) {
			o.Bad("mean", "zeros beside ddepth CV_8U")
		}
		if slices.ContainsFunc(factor, func(f float64) bool { return f != 1 }) {
			o.Bad("scalefactor", "1 beside ddepth CV_8U")
		}
	} else {
		// With mean 0 and factor 1, OpenCV's arithmetic changes nothing.
		g.Add(&transforms.Rescale{Scale: 1, Rule: transforms.RescaleMultiply})
		if slices.ContainsFunc(mean, func(f float64) bool { return f != 0 }) {
			g.Add(transforms.NewNormalize(mean, []float64{1}))
		}
		switch {
		case !slices.ContainsFunc(factor, func(f float64) bool { return f != 1 }):
		case !rows:
			g.Add(transforms.NewMultiply(factor...))
		case len(factor) == 1:
			g.Add(transforms.NewRescale(factor[0]))
		default:
			o.Bad("scalefactor", "the same for all channels, with datalayout NHWC: OpenCV multiplies in float64 there")
		}
	}
	if !rows {
		g.Add(transforms.NewHWC2CHW())
	}
	return g.Rename(output)
}

// bytes reads ddepth. It reports whether the output is uint8.
func bytes(o *importer.Object) bool {
	v, ok := o.Get("ddepth")
	if !ok || v == "CV_32F" {
		return false
	}
	if v == "CV_8U" {
		return true
	}
	n, ok := importer.Int(v, 0, 5)
	if !ok || n != 0 && n != 5 {
		o.Bad("ddepth", `5 or "CV_32F", 0 or "CV_8U"`)
	}
	return n == 0
}

// rows reads datalayout. It reports whether the output is NHWC. 2 and 4 are
// OpenCV's numbers.
func rows(o *importer.Object) bool {
	v, ok := o.Get("datalayout")
	n, number := importer.Int(v, 2, 4)
	switch {
	case !ok, v == "NCHW", number && n == 2:
		return false
	case v == "NHWC", number && n == 4:
		return true
	}
	o.Bad("datalayout", `2 or "NCHW", 4 or "NHWC"`)
	return false
}

// resize adds the steps that scale the image.
func resize(o *importer.Object, g *datagraph.Graph, swap bool) {
	mode := o.Int("paddingmode", padNull, padNull, padLetterbox)
	if o.Bool("crop", false) {
		if mode == padLetterbox {
			o.Bad("crop", "false beside paddingmode 2")
		}
		mode = padCropCenter
	}
	border := scalar(o, "borderValue", 0)
	if swap {
		border[0], border[2] = border[2], border[0]
	}
	if o.Has("borderValue") && mode != padLetterbox {
		o.Bad("borderValue", "none without paddingmode 2")
	}
	v, ok := o.Get("size")
	if !ok {
		return
	}
	l, ok := importer.Ints(v, 2, 0, importer.MaxSide)
	if !ok || (l[0] == 0) != (l[1] == 0) {
		o.Bad("size", "[width, height]")
		return
	}
	w, h := l[0], l[1]
	if w == 0 {
		return
	}
	switch mode {
	case padNull:
		g.Add(&transforms.Resize{Fit: transforms.FitExact, Height: h, Width: w, Interpolation: transforms.Bilinear, Backend: transforms.OpenCV})
	case padCropCenter:
		g.Add(transforms.NewBlobCrop(h, w))
	case padLetterbox:
		g.Add(&transforms.Resize{
			Fit: transforms.FitInside, Height: h, Width: w, SizeRule: transforms.SizeTruncate32,
			Interpolation: transforms.Bilinear, Backend: transforms.OpenCV,
		})
		p := transforms.NewPadToSize(h, w)
		p.Fill = border
		g.Add(p)
	}
}

// scalar reads a list of three numbers, or of four, as in cv::Scalar.
func scalar(o *importer.Object, key string, def float64) []float64 {
	v, ok := o.Get(key)
	if !ok {
		return []float64{def, def, def}
	}
	for _, n := range []int{3, 4} {
		if l, ok := importer.Floats(v, n); ok {
			return l[:3]
		}
	}
	o.Bad(key, "a list of three or four numbers")
	return []float64{def, def, def}
}

// factors reads scalefactor, one or three numbers.
func factors(o *importer.Object) []float64 {
	v, ok := o.Get("scalefactor")
	if !ok {
		return []float64{1}
	}
	if f, ok := importer.Float(v); ok {
		return []float64{f}
	}
	l := scalar(o, "scalefactor", 1)
	if l[1] == l[0] && l[2] == l[0] {
		l = l[:1]
	}
	return l
}
