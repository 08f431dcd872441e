package torchvision

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/internal/lazyregexp"
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// These are the presets' defaults.
const defaultResize = 256

var (
	defaultMean = []float64{0.485, 0.456, 0.406}
	defaultStd  = []float64{0.229, 0.224, 0.225}
)

// builder adds steps and follows what the image is between them.
type builder struct {
	*datagraph.Graph
	fromTensor bool // the reference starts with a tensor
	tensor     bool // not a Pillow image
	dtype      tensor.DType
	chw        bool // the column's layout; a tensor of the reference always is
	gray       bool // one channel
	arguments  bool // from a preset's arguments, not from what Python prints
}

// generation is the version of torchvision's transforms.
type generation uint8

const (
	either generation = iota // both print the same
	v1
	v2
)

// step adds one transform.
type step func(b *builder, o *importer.Object, from generation)

// known are the transforms that an inference graph can have, and presets.
var known map[string]step

func init() {
	none := func(*builder, *importer.Object, generation) {}
	known = map[string]step{
		"ImageClassification": func(b *builder, o *importer.Object, _ generation) { b.classification(o) },
		"SemanticSegmentation": func(b *builder, o *importer.Object, _ generation) {
			if !o.Null("resize_size") {
				b.resizeTo(o, b.side(o, "resize_size", 0))
			} else {
				o.Inert("resize_size", "interpolation", "antialias")
			}
			b.divide()
			b.normalize(o, defaultMean, defaultStd)
		},
		"ObjectDetection":   func(b *builder, o *importer.Object, _ generation) { b.divide() },
		"Resize":            (*builder).resize,
		"CenterCrop":        (*builder).centerCrop,
		"Pad":               (*builder).pad,
		"Grayscale":         (*builder).grayscale,
		"RGB":               (*builder).rgb,
		"ToTensor":          (*builder).toTensor,
		"MaybeToTensor":     func(b *builder, _ *importer.Object, _ generation) { b.maybe((*builder).divide) },
		"PILToTensor":       (*builder).pilToTensor,
		"ToPILImage":        (*builder).toPIL,
		"MaybePILToTensor":  func(b *builder, _ *importer.Object, _ generation) { b.maybe(func(*builder) {}) },
		"ToImage":           func(b *builder, _ *importer.Object, _ generation) { b.tensor = true },
		"ToPureTensor":      none,
		"Identity":          none,
		"ToDtype":           (*builder).toDtype,
		"ConvertImageDtype": (*builder).convertDtype,
		"Normalize":         (*builder).normalizes,
	}
}

// containers print their transforms.
var containers = []string{"Compose", "Sequential"}

// steps adds the transforms of a list in order. outer is the version of what
// contains them.
func (b *builder) steps(list []*importer.Object, outer generation) {
	for _, call := range list {
		name := call.Keys()[0]
		o := call.Object(name)
		if slices.Contains(containers, name) {
			inner := o.Objects(callsKey)
			v, _ := o.Get(formKey)
			n, ok := importer.Int(v, int(v1), int(v2))
			form := generation(n)
			if slices.ContainsFunc(inner, printsV2) {
				form = v2
			} else if !ok {
				form = outer
			}
			if form == v2 && slices.ContainsFunc(inner, printsV1) {
				form = either // a Compose of v2 with transforms of v1
			}
			b.steps(inner, form)
			continue
		}
		if m := function().FindStringSubmatch(name); m != nil && slices.Contains(toRGB, m[1]) {
			name = "RGB"
			if b.tensor {
				call.Fail(importer.ErrValue, call.Keys()[0], "the image is a tensor, want a Pillow image: the function calls its convert(\"RGB\")")
			}
		}
		add, ok := known[name]
		if !ok {
			o.InertAll()
			text := "it is random, want the transforms of inference"
			if name == "Lambda" || strings.HasPrefix(name, "<function") || strings.HasPrefix(name, "functools") {
				text = "it is a Python function, of which Python prints only the name: want transforms without functions"
			} else if name[0] == '<' {
				text = "Python does not print what this object does: want transforms of torchvision"
			} else if !strings.HasPrefix(name, "Random") && !slices.Contains(random, name) {
				text = "want a transform that is known here" + registry.DidYouMean(name, names())
			}
			call.Fail(importer.ErrUnsupported, name, text)
			continue
		}
		if b.dtype != tensor.Uint8 && b.dtype != tensor.Float32 && !slices.Contains([]string{"ToDtype", "ConvertImageDtype", "ToImage", "ToPureTensor", "Identity"}, name) &&
			!(b.dtype == tensor.Uint16 && slices.Contains([]string{"Resize", "CenterCrop", "Pad", "RGB", "ImageClassification", "SemanticSegmentation", "ObjectDetection"}, name)) {
			o.InertAll()
			call.Fail(importer.ErrUnsupported, name, fmt.Sprintf("of %v values: want it before the conversion to %[1]v", b.dtype))
			continue
		}
		form := outer
		switch {
		case printsV2(call):
			form = v2
		case printsV1(call):
			form = v1
		}
		add(b, o, form)
	}
}

// function matches what Python prints for a function.
var function = lazyregexp.New(`^<function (\w+) at 0x[0-9a-fA-F]+>$`)

// toRGB lists the functions that return image.convert("RGB"): those of OpenAI's
// CLIP and of OpenCLIP.
var toRGB = []string{"_convert_image_to_rgb", "_convert_to_rgb"}

// isList reports whether an argument is a list, as v2 prints every size.
func isList(o *importer.Object, key string) bool {
	v, _ := o.Get(key)
	_, ok := v.([]any)
	return ok
}

// random lists random transforms by other names than Random….
var random = []string{"ColorJitter", "AutoAugment", "RandAugment", "TrivialAugmentWide", "AugMix", "ScaleJitter", "GaussianBlur", "ElasticTransform"}

// printsV2 reports whether a call has a form that only v2 prints.
func printsV2(call *importer.Object) bool {
	name := call.Keys()[0]
	v, _ := call.Get(name)
	o, ok := v.(*importer.Object)
	switch name {
	case "ToImage", "ToDtype", "ToPureTensor", "RGB":
		return true
	case "Normalize":
		return ok && o.Has("inplace")
	case "Resize":
		return ok && (o.Has("antialias") && !o.Has("max_size") || !o.Has("size"))
	}
	return false
}

// printsV1 reports whether a call has a form that only v1 prints.
func printsV1(call *importer.Object) bool {
	name := call.Keys()[0]
	v, _ := call.Get(name)
	o, ok := v.(*importer.Object)
	switch name {
	case "Normalize":
		return ok && !o.Has("inplace")
	case "Resize":
		return ok && (o.Null("max_size") || o.Has("max_size") && o.Has("size") && !isList(o, "size"))
	}
	return false
}

func names() []string {
	l := slices.Clone(containers)
	for name := range known {
		l = append(l, name)
	}
	slices.Sort(l)
	return l
}

// end checks what the transforms return, and completes the graph.
func (b *builder) end(file *importer.Object) error {
	if err := file.Err("torchvision"); err != nil {
		return err
	}
	name := file.Keys()[0]
	if !b.tensor {
		file.Fail(importer.ErrValue, name, "it returns a Pillow image, want a tensor: append PILToTensor() or ToImage(), or with --backend tensor start from decode_image's tensor")
		return file.Err("torchvision")
	}
	b.finish(name)
	return nil
}

// finish completes the graph.
func (b *builder) finish(name string) {
	if !b.chw {
		b.Add(transforms.NewHWC2CHW())
	}
	b.Reference = "torchvision 0.29.2 " + name
	if b.fromTensor {
		// decode_image returns 16-bit PNG as uint16, and frames as an axis.
		if d, ok := b.Steps[0].Op.(*transforms.Decode); ok {
			d.Refuse |= codec.RefuseDepth16 | codec.RefuseAnimation | codec.RefuseCanvas
		}
		b.Reference += " of a tensor"
	}
}

// interpolations maps the values of InterpolationMode.
var interpolations = map[string]transforms.Interpolation{
	"nearest": transforms.Nearest, "nearest-exact": transforms.NearestExact, "bilinear": transforms.Bilinear,
	"bicubic": transforms.Bicubic, "box": transforms.Box, "hamming": transforms.Hamming, "lanczos": transforms.Lanczos,
}

// pillowNumbers maps Pillow's numbers of filters, as torchvision reads them.
var pillowNumbers = map[string]string{"0": "nearest", "1": "lanczos", "2": "bilinear", "3": "bicubic", "4": "box", "5": "hamming"}

// resize adds Resize.
func (b *builder) resize(o *importer.Object, from generation) {
	if v, _ := o.Get("max_size"); v != nil && !o.Has("size") {
		// v2 does not print a size of None. max_size is then the longer edge.
		b.sampled(o, &transforms.Resize{Fit: transforms.FitLongest, Edge: o.Side("max_size", 1)}, v2)
		return
	}
	h, w, both := b.sides(o, "size")
	r := &transforms.Resize{Fit: transforms.FitExact, Height: h, Width: w}
	if !both {
		r = &transforms.Resize{Fit: transforms.FitShortest, Edge: h}
	}
	if v, _ := o.Get("max_size"); v != nil {
		n, ok := importer.Int(v, h+1, importer.MaxSide)
		if !ok || both {
			o.Bad("max_size", "None, or for a size of one number a larger number, to 16777216")
		}
		r.MaxEdge = n
	}
	b.sampled(o, r, from)
}

// resizeTo adds the resize of a preset, which uses v1.
func (b *builder) resizeTo(o *importer.Object, edge int) {
	b.sampled(o, &transforms.Resize{Fit: transforms.FitShortest, Edge: edge}, v1)
}

// sampled reads interpolation and antialias and adds r.
func (b *builder) sampled(o *importer.Object, r *transforms.Resize, from generation) {
	r.Interpolation = transforms.Bilinear
	if o.Has("interpolation") || !b.arguments {
		v, _ := o.Get("interpolation")
		word, _ := v.(string)
		if n, ok := v.(json.Number); ok { // v2 prints Pillow's number as it was given
			word = pillowNumbers[string(n)]
		}
		for _, module := range []string{"InterpolationMode.", "PIL.Image."} { // PIL before torchvision 0.9
			word = strings.TrimPrefix(word, module)
		}
		var ok bool
		if r.Interpolation, ok = interpolations[strings.ToLower(strings.ReplaceAll(word, "_", "-"))]; !ok {
			o.Bad("interpolation", "nearest, nearest-exact, bilinear, bicubic, box, hamming or lanczos")
		}
	}
	smooth := r.Interpolation == transforms.Bilinear || r.Interpolation == transforms.Bicubic || r.Interpolation == transforms.Lanczos
	antialias := true
	if v, _ := o.Get("antialias"); v == "warn" { // a default of torchvision 0.15 and 0.16 that means None
		antialias = false
	} else if antialias = o.Bool("antialias", true); !o.Has("antialias") && b.tensor && smooth && !b.arguments {
		o.Fail(importer.ErrMissing, "antialias", "Python prints neither None nor a preset's, and tensors need it: add antialias=True or antialias=False (as None is), or give the source, such as v2.Resize(…, antialias=True)")
	}
	switch {
	case !b.tensor: // Pillow's filters always antialias
		r.Backend = transforms.Pillow
		if r.Interpolation == transforms.NearestExact {
			r.Interpolation = transforms.Nearest // samples pixel centres
		}
	case from == either:
		o.Fail(importer.ErrValue, "", "v1 and v2 scale tensors differently: want the text as Python prints it, with v1's max_size or v2's list of sizes")
	case r.Interpolation == transforms.Box, r.Interpolation == transforms.Hamming,
		r.Interpolation == transforms.Lanczos && (from == v1 || !antialias):
		o.Bad("interpolation", "nearest, nearest-exact, bilinear, bicubic, or in v2 with antialias lanczos, for a tensor")
	case b.dtype == tensor.Uint16 && r.Interpolation != transforms.Bilinear && smooth:
		// torch converts values outside of uint16 as the processor does.
		o.Bad("interpolation", "nearest, nearest-exact or bilinear, for a tensor of uint16")
	default:
		r.Backend = transforms.Torch
		if from == v2 && b.dtype == tensor.Uint8 {
			r.Backend = transforms.TorchUint8
		}
		r.NoAntialias = smooth && !antialias
	}
	if b.dtype == tensor.Uint16 { // scaled in float32 and truncated
		b.Add(transforms.NewToType(tensor.Float32)).Add(r).Add(transforms.NewToType(tensor.Uint16))
		return
	}
	b.Add(r)
}

// classification adds the steps of ImageClassification.
func (b *builder) classification(o *importer.Object) {
	if !o.Has("crop_size") {
		o.Fail(importer.ErrMissing, "crop_size", "want a whole number")
	}
	crop := b.side(o, "crop_size", 1)
	b.resizeTo(o, b.side(o, "resize_size", defaultResize))
	b.Add(transforms.NewCenterCrop(crop, crop))
	b.divide()
	b.normalize(o, defaultMean, defaultStd)
}

// side reads a number or a list of one, the form that presets store and print.
func (b *builder) side(o *importer.Object, key string, def int) int {
	v, _ := o.Get(key)
	if l, ok := importer.Ints(v, 1, 1, importer.MaxSide); ok {
		return l[0]
	}
	return o.Side(key, def)
}

// sides reads a size: a number, a list of one, or height and width.
func (b *builder) sides(o *importer.Object, key string) (h, w int, both bool) {
	v, _ := o.Get(key)
	if l, ok := importer.Ints(v, 2, 1, importer.MaxSide); ok {
		return l[0], l[1], true
	}
	if l, ok := importer.Ints(v, 1, 1, importer.MaxSide); ok {
		return l[0], l[0], false
	}
	n, ok := importer.Int(v, 1, importer.MaxSide)
	if !ok {
		o.Bad(key, "a whole number of 1 to 16777216, or height and width")
		n = 1
	}
	return n, n, false
}

func (b *builder) centerCrop(o *importer.Object, _ generation) {
	h, w, _ := b.sides(o, "size")
	b.Add(transforms.NewCenterCrop(h, w))
}

func (b *builder) pad(o *importer.Object, _ generation) {
	const want = "a whole number of 0 to 16777216, or a list of 1, 2 (left and right, top and bottom) or 4 (left, top, right, bottom)"
	v, _ := o.Get("padding")
	var l []int // left, top, right, bottom
	for _, n := range []int{1, 2, 4} {
		if s, ok := importer.Ints(v, n, 0, importer.MaxSide); ok {
			l = []int{s[0], s[1%n], s[2%n], s[3%n]}
		}
	}
	if n, ok := importer.Int(v, 0, importer.MaxSide); ok {
		l = []int{n, n, n, n}
	}
	if l == nil {
		o.Bad("padding", want)
		return
	}
	p := transforms.NewPad(l[1], l[3], l[0], l[2])
	if p.Mode.UnmarshalText([]byte(o.String("padding_mode"))) != nil { // torchvision has the same names
		o.Bad("padding_mode", "constant, edge, reflect or symmetric")
	}
	fill, ok := o.Get("fill")
	if !ok && p.Mode == transforms.PadConstant {
		o.Fail(importer.ErrMissing, "fill", "Python prints neither None nor a dict of fills: add that of images, such as fill=0 (as None is), or give the source, such as v2.Pad(…, fill=0)")
	}
	if fill != nil {
		f, ok := importer.Float(fill)
		if p.Fill = []float64{f}; !ok {
			for _, n := range []int{1, 3} {
				if s, yes := importer.Floats(fill, n); yes {
					p.Fill, ok = s, true
				}
			}
		}
		if !ok {
			o.Bad("fill", "a number, or one for each channel")
		}
	}
	b.Add(p)
}

// grayscale adds Grayscale. v2's arithmetic on tensors fuses multiplications
// and additions, as its adjust_saturation does with a factor of 0.
func (b *builder) grayscale(o *importer.Object, from generation) {
	channels := o.Int("num_output_channels", 0, 1, 3)
	if channels == 0 && !o.Has("num_output_channels") {
		o.Fail(importer.ErrMissing, "num_output_channels", "want 1 or 3")
	}
	if channels == 2 {
		o.Bad("num_output_channels", "1 or 3")
	}
	g := &transforms.Grayscale{Channels: channels, Backend: transforms.Pillow}
	switch {
	case b.dtype != tensor.Uint8:
		o.Fail(importer.ErrUnsupported, "", "of a float tensor: want it before ToDtype, ToTensor or ConvertImageDtype")
		return
	case b.tensor && b.gray && channels == 3 && from == v1:
		return // v1 keeps the one channel of a tensor
	case !b.tensor || b.gray && (from != either || channels == 1):
	case from == either:
		o.Fail(importer.ErrValue, "", "v1 and v2 differ for tensors: want it in a Compose as Python prints it, with its indentation")
	case from == v1:
		g.Backend = transforms.Torch
	default:
		b.Add(&transforms.AdjustSaturation{Factor: 0, Backend: transforms.Torch})
	}
	b.Add(g)
	b.gray = channels == 1
}

// rgb adds RGB, which copies a gray channel. A Pillow image that is converted
// only after other steps may have another mode before: Pillow scales palettes
// and single bits to the nearest, weighs colours by alpha, and its tensor has
// the mode's channels.
func (b *builder) rgb(o *importer.Object, _ generation) {
	switch {
	case !b.gray:
		if !b.fromTensor && (b.tensor || len(b.Steps) > 1) {
			b.Steps[0].Op.(*transforms.Decode).Refuse |= codec.RefuseAlpha | codec.RefusePalette | codec.RefuseBilevel | codec.RefuseDepth16 | codec.RefuseCMYK
		}
	case b.dtype != tensor.Uint8:
		o.Fail(importer.ErrUnsupported, "", "of a gray float tensor: want it before ToDtype, ToTensor or ConvertImageDtype")
	default:
		b.Add(&transforms.Grayscale{Channels: 3, Backend: transforms.Pillow})
		b.gray = false
	}
}

// maybe adds a conversion of Pillow images, which returns tensors unchanged.
func (b *builder) maybe(convert func(*builder)) {
	if !b.tensor {
		convert(b)
	}
	b.tensor = true
}

// wantPillow rejects a tensor for v1's conversions. v2's return it unchanged.
func (b *builder) wantPillow(o *importer.Object, from generation) {
	if b.tensor && from != v2 {
		o.Fail(importer.ErrValue, "", "the image is a tensor already, which v1 rejects")
	}
}

func (b *builder) toTensor(o *importer.Object, from generation) {
	b.wantPillow(o, from)
	b.maybe((*builder).divide)
}

// toPIL adds ToPILImage, which keeps the bytes of a uint8 tensor. v2 returns
// Pillow images as they are.
func (b *builder) toPIL(o *importer.Object, from generation) {
	if v, _ := o.Get("mode"); v != nil && (v != "RGB" || b.gray) {
		o.Bad("mode", "None, or RGB for three channels")
	}
	switch {
	case !b.tensor && from != v2:
		o.Fail(importer.ErrValue, "", "the image is a Pillow image already, which v1 rejects: leave it out")
	case b.dtype != tensor.Uint8:
		o.Fail(importer.ErrUnsupported, "", fmt.Sprintf("of %v values, want uint8", b.dtype))
	}
	b.tensor = false
}

func (b *builder) pilToTensor(o *importer.Object, from generation) {
	b.wantPillow(o, from)
	b.tensor = true
}

// toDtype adds v2's ToDtype.
func (b *builder) toDtype(o *importer.Object, _ generation) {
	b.convert(o, v2, o.Bool("scale", false))
}

// convertDtype adds ConvertImageDtype.
func (b *builder) convertDtype(o *importer.Object, from generation) { b.convert(o, from, true) }

// dtypes maps torch's types.
var dtypes = map[string]tensor.DType{
	"torch.uint8": tensor.Uint8, "torch.int8": tensor.Int8, "torch.int16": tensor.Int16, "torch.short": tensor.Int16,
	"torch.uint16": tensor.Uint16, "torch.int32": tensor.Int32, "torch.int": tensor.Int32, "torch.int64": tensor.Int64,
	"torch.long": tensor.Int64, "torch.float16": tensor.Float16, "torch.half": tensor.Float16,
	"torch.bfloat16": tensor.BFloat16, "torch.float32": tensor.Float32, "torch.float": tensor.Float32,
	"torch.float64": tensor.Float64, "torch.double": tensor.Float64,
}

// convert adds a conversion of a tensor to the argument dtype, with scale from
// the range of a byte to 0 to 1.
func (b *builder) convert(o *importer.Object, from generation, scale bool) {
	if !b.tensor && from == v2 { // v2 returns Pillow images as they are
		o.Inert("dtype")
		return
	}
	if !b.tensor {
		o.Inert("dtype")
		o.Fail(importer.ErrValue, "", "the image is a Pillow image, want a tensor: add PILToTensor() before, or with --backend tensor start from decode_image's tensor")
		return
	}
	to, ok := dtypes[o.String("dtype")]
	if !o.Has("dtype") {
		o.Fail(importer.ErrMissing, "dtype", "Python does not print it: add it, such as dtype=torch.float32, or give the source, such as v2.ToDtype(torch.float32, scale=True)")
		to, ok = tensor.Float32, true // what follows has no errors for it
	}
	if !ok {
		o.Bad("dtype", "a type of torch, such as torch.float32")
		return
	}
	was, floats := b.dtype, to == tensor.Float32 || b.dtype == tensor.Uint8 && (to == tensor.Float16 || to == tensor.BFloat16)
	whole := was == tensor.Uint8 || was == tensor.Uint16
	switch {
	case to == was:
		return
	case whole && scale && floats:
		// torch computes half precision in float32 and rounds.
		switch from {
		case either:
			o.Fail(importer.ErrValue, "", "v1 divides and v2 multiplies: want it in a Compose as Python prints it, with its indentation")
		case v1:
			b.divide()
		default:
			b.multiply()
		}
		if to != tensor.Float32 {
			b.Add(transforms.NewToType(to))
		}
	case whole && !scale, was == tensor.Float32 && (to == tensor.Float16 || to == tensor.BFloat16 || to == tensor.Float64):
		b.Add(transforms.NewToType(to))
	default:
		o.Fail(importer.ErrUnsupported, "dtype", fmt.Sprintf("from %v to %v, want torch.float32, of uint8 also torch.float16 or torch.bfloat16, or of uint8 or uint16 without scale any type", was, to))
	}
	b.dtype = to
}

// multiply adds v2's conversion to floats of 0 to 1.
func (b *builder) multiply() {
	b.Add(&transforms.Rescale{Scale: 1 / b.most(), Rule: transforms.RescaleMultiply})
}

// most returns the largest value of the tensor's type.
func (b *builder) most() float64 {
	if b.dtype == tensor.Uint16 {
		return 65535
	}
	return 255
}

// divide adds v1's conversion to a float tensor.
func (b *builder) divide() {
	if b.dtype == tensor.Uint16 {
		b.Add(&transforms.Rescale{Scale: b.most(), Rule: transforms.RescaleDivide})
		b.tensor, b.dtype = true, tensor.Float32
		return
	}
	b.Add(transforms.NewToTensor())
	b.tensor, b.dtype, b.chw = true, tensor.Float32, true
}

// normalizes adds Normalize.
func (b *builder) normalizes(o *importer.Object, from generation) {
	o.Bool("inplace", false)
	for _, key := range []string{"mean", "std"} {
		if v, _ := o.Get(key); from == v2 {
			if _, ok := importer.Float(v); ok {
				o.Bad(key, "a list of numbers: v2 takes no single number")
			}
		}
	}
	if !b.tensor {
		o.Fail(importer.ErrValue, "", "the image is a Pillow image, want a float tensor: add ToImage() or ToTensor() before, and ToDtype after ToImage")
	} else if b.dtype != tensor.Float32 {
		o.Fail(importer.ErrValue, "", "the values are bytes, want floats: add ToDtype, ToTensor or ConvertImageDtype before")
	}
	b.normalize(o, nil, nil)
}

// normalize reads mean and std and adds the normalization.
func (b *builder) normalize(o *importer.Object, mean, std []float64) {
	mean, std = b.values(o, "mean", mean), b.values(o, "std", std)
	if slices.Contains(std, 0) {
		o.Bad("std", "numbers other than 0")
	}
	b.Add(transforms.NewNormalize(mean, std))
}

// values reads one number for each channel, or one for all.
func (b *builder) values(o *importer.Object, key string, def []float64) []float64 {
	v, ok := o.Get(key)
	if !ok && def != nil {
		return slices.Clone(def)
	}
	n, want := 3, "a list of three numbers"
	if b.gray {
		n, want = 1, "a list of one number"
	}
	first := v
	if l, ok := v.([]any); ok && len(l) > 0 { // v2 prints list(tensor)
		first = l[0]
	}
	if s, _ := first.(string); strings.HasPrefix(s, "tensor") {
		want += "; Python prints only four digits of a tensor: make the transform with lists, or import timm's config"
	}
	if l, ok := importer.Floats(v, n); ok {
		return l
	}
	if _, ok := importer.Float(v); ok { // of v1's Normalize, for all channels
		v = []any{v}
	}
	if l, ok := importer.Floats(v, 1); ok && def == nil {
		return slices.Repeat(l, n)
	}
	o.Bad(key, want)
	return []float64{1}
}
