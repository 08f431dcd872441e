package mindir

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// builder collects the ops, step by step.
type builder struct {
	opt     Options
	ops     []transforms.Op
	notes   []string
	column  string // the column that holds the image
	decoded bool
	chw     bool
	dtype   tensor.DType
}

// step reads one map step.
func (b *builder) step(m *importer.Object) {
	if t := m.String("op_type"); t != "Map" {
		m.Bad("op_type", `"Map"`)
	}
	in, out := columns(m, "input_columns"), columns(m, "output_columns")
	if out == nil {
		out = in
	}
	operations := m.Objects("operations")
	if in == nil {
		m.Bad("input_columns", "the names of columns")
		return
	}
	switch {
	case !slices.Contains(in, b.column):
		if slices.Contains(out, b.column) {
			m.Bad("output_columns", fmt.Sprintf("columns other than the image, %s", b.column))
		}
		for _, o := range operations {
			o.InertAll()
		}
		m.Inert("project_columns")
		return
	case len(in) != 1:
		m.Bad("input_columns", fmt.Sprintf("%s alone", b.column))
	case len(out) != 1:
		m.Bad("output_columns", "one column")
	default:
		b.column = out[0]
	}
	if p := columns(m, "project_columns"); p != nil && !slices.Contains(p, b.column) {
		m.Bad("project_columns", fmt.Sprintf("columns with %s", b.column))
	}
	if len(operations) == 0 {
		m.Bad("operations", "a list of ops")
	}
	for _, o := range operations {
		b.op(o)
	}
}

// columns returns a list of names, nil if it is absent or empty.
func columns(m *importer.Object, key string) []string {
	v, _ := m.Get(key)
	l, ok := v.([]any)
	if !ok && v != nil {
		m.Bad(key, "a list of names")
	}
	var names []string
	for _, e := range l {
		s, ok := e.(string)
		if !ok {
			m.Bad(key, "a list of names")
			return nil
		}
		names = append(names, s)
	}
	return names
}

// op adds one op on the image.
func (b *builder) op(o *importer.Object) {
	name := o.String("tensor_op_name")
	if o.Has("python_module") {
		o.Inert("python_module", "tensor_op_params")
		if strings.HasPrefix(name, "<") || !o.Has("tensor_op_params") {
			o.Fail(importer.ErrValue, "tensor_op_name", fmt.Sprintf("%q is a Python function: the file has only its name", name))
		} else {
			o.Fail(importer.ErrValue, "tensor_op_name", fmt.Sprintf("%q is an op of MindSpore's Python layer, which takes PIL images; want ops on arrays", name))
		}
		return
	}
	if random(name) {
		o.Inert("tensor_op_params")
		if !b.opt.DropRandom {
			o.Fail(importer.ErrValue, "tensor_op_name", fmt.Sprintf("%q is a random op of training; want ops of inference", name))
			return
		}
		if !slices.Contains(droppable, name) {
			o.Fail(importer.ErrValue, "tensor_op_name", fmt.Sprintf("%q is a random op that cannot be left out, since it may change the image's size or type", name))
			return
		}
		b.notes = append(b.notes, "left out: "+name)
		return
	}
	make, ok := makers[name]
	if !ok {
		o.Inert("tensor_op_params")
		o.Fail(importer.ErrValue, "tensor_op_name", fmt.Sprintf("%s%s; want one of %s", importer.Describe(name), registry.DidYouMean(name, makerNames()), strings.Join(makerNames(), ", ")))
		return
	}
	if name != "Decode" && len(b.ops) == 0 {
		b.notes = append(b.notes, "the file does not decode the image, so a decode comes first")
	}
	p := o.Object("tensor_op_params")
	if p == nil {
		p = o // report a missing parameter at the op
	}
	onCPU(p, name)
	for _, key := range strings.Fields(stored[name]) {
		if !p.Has(key) {
			p.Fail(importer.ErrMissing, key, "MindSpore 2.10.0 stores it for every "+name)
		}
	}
	make(b, p)
}

// stored has the parameters of ops that MindSpore 2.10.0 always stores and that
// have defaults in Python. The functions of makers require all others.
var stored = map[string]string{
	"Decode": "rgb", "Resize": "interpolation", "ResizedCrop": "interpolation top left", "Normalize": "is_hwc", "NormalizePad": "is_hwc",
	"Pad": "padding_mode", "Posterize": "bits", "Mask": "dtype op",
}

// onCPU rejects an op that runs on another device than a CPU, whose kernels
// return other values.
func onCPU(p *importer.Object, name string) {
	v, ok := p.Get("device_target")
	if !ok || v == "CPU" {
		return
	}
	if f, number := v.(json.Number); number && name == "AdjustContrast" && f == p.Peek("contrast_factor") {
		return // MindSpore 2.10.0 stores the factor here
	}
	p.Bad("device_target", `"CPU"`)
}

// random reports whether the name is that of a random op. MindSpore prefixes
// random ops with Random, with few exceptions.
func random(name string) bool {
	return strings.HasPrefix(name, "Random") ||
		slices.Contains([]string{"AutoAugment", "RandAugment", "TrivialAugmentWide", "UniformAugment", "UniformAug", "CutOut", "BoundingBoxAugment"}, name)
}

// droppable lists random ops that keep the image's size and type.
var droppable = []string{
	"RandomAdjustSharpness", "RandomAffine", "RandomAutoContrast", "RandomColor", "RandomColorAdjust", "RandomEqualize", "RandomHorizontalFlip",
	"RandomInvert", "RandomLighting", "RandomPosterize", "RandomSharpness", "RandomSolarize", "RandomVerticalFlip",
	"AutoAugment", "RandAugment", "TrivialAugmentWide", "CutOut",
}

// makers maps the file's names of ops to functions that add the op to b.
var makers map[string]func(b *builder, p *importer.Object)

func makerNames() []string {
	var l []string
	for n := range makers {
		l = append(l, n)
	}
	slices.Sort(l)
	return l
}

func init() {
	makers = map[string]func(b *builder, p *importer.Object){
		"Decode": func(b *builder, p *importer.Object) {
			if !p.Bool("rgb", true) {
				p.Bad("rgb", "true")
			}
			if b.decoded || len(b.ops) > 0 {
				p.Fail(importer.ErrValue, "", "a Decode after other ops")
				return
			}
			b.decoded = true
			b.add(decode())
		},
		"Resize": func(b *builder, p *importer.Object) {
			b.wantHWC(p, "size")
			i, backend := interpolation(p)
			r := &transforms.Resize{Interpolation: i, Backend: backend}
			if h, w, short := sizes(p, "size"); short {
				r.Fit, r.Edge = transforms.FitShortest, h
			} else {
				r.Fit, r.Height, r.Width = transforms.FitExact, h, w
			}
			if backend == transforms.Pillow && b.dtype != tensor.Uint8 {
				p.Bad("interpolation", "another interpolation than PILCUBIC (4), which takes uint8 alone")
			}
			b.add(r)
		},
		"CenterCrop": func(b *builder, p *importer.Object) {
			b.wantHWC(p, "size")
			h, w := box(p, "size")
			c := transforms.NewCenterCrop(h, w)
			c.CropRounding = transforms.CropFloor
			b.add(c)
		},
		"Crop": func(b *builder, p *importer.Object) {
			b.wantHWC(p, "size")
			h, w := box(p, "size")
			left, top := pair(p, "coordinates", 0) // x first, unlike in Python
			b.add(transforms.NewCrop(top, left, h, w))
		},
		"ResizedCrop": func(b *builder, p *importer.Object) {
			b.wantHWC(p, "size")
			i, backend := interpolation(p)
			h, w := box(p, "size")
			if backend == transforms.Pillow && b.dtype != tensor.Uint8 {
				p.Bad("interpolation", "another interpolation than PILCUBIC (4), which takes uint8 alone")
			}
			b.add(&transforms.ResizedCrop{
				Top: p.Int("top", 0, 0, importer.MaxSide), Left: p.Int("left", 0, 0, importer.MaxSide),
				Height: side(p, "height"), Width: side(p, "width"), OutHeight: h, OutWidth: w, Interpolation: i, Backend: backend,
			})
		},
		"Normalize": func(b *builder, p *importer.Object) {
			b.wantLayout(p)
			mean, std := numbers(p, "mean"), divisors(p)
			b.float()
			b.add(transforms.NewNormalize(mean, std))
		},
		"NormalizePad": func(b *builder, p *importer.Object) {
			if p.Bool("is_hwc", true) {
				p.Bad("is_hwc", "false: with true MindSpore 2.10.0 leaves the pixels of three channels packed in the buffer of four")
			}
			b.wantLayout(p)
			n := transforms.NewNormalizePad(numbers(p, "mean"), divisors(p))
			n.DType = dtype(p, "dtype")
			b.dtype = n.DType
			b.add(n)
		},
		"Rescale": func(b *builder, p *importer.Object) {
			b.add(&transforms.Rescale{Scale: number(p, "rescale"), Offset: number(p, "shift"), Rule: transforms.RescaleFused})
			b.dtype = tensor.Float32
		},
		"ToTensor": func(b *builder, p *importer.Object) {
			b.wantHWC(p, "output_type")
			if dtype(p, "output_type") != tensor.Float32 {
				p.Bad("output_type", `"float32"`)
			}
			if b.dtype != tensor.Uint8 {
				p.Fail(importer.ErrValue, "output_type", fmt.Sprintf("the image is %v, want uint8", b.dtype))
			}
			b.add(&transforms.Rescale{Scale: 1.0 / 255, Rule: transforms.RescaleMultiply})
			b.add(transforms.NewHWC2CHW())
			b.chw, b.dtype = true, tensor.Float32
		},
		"HwcToChw": func(b *builder, p *importer.Object) {
			b.wantHWC(p, "")
			b.add(transforms.NewHWC2CHW())
			b.chw = true
		},
		"TypeCast": func(b *builder, p *importer.Object) {
			b.dtype = dtype(p, "data_type")
			b.add(transforms.NewToType(b.dtype))
		},
		"HorizontalFlip": func(b *builder, p *importer.Object) {
			b.wantHWC(p, "")
			b.add(transforms.NewHorizontalFlip())
		},
		"VerticalFlip": func(b *builder, p *importer.Object) {
			b.wantHWC(p, "")
			b.add(transforms.NewVerticalFlip())
		},
		"Invert": func(b *builder, p *importer.Object) {
			b.wantBytes(p, "")
			b.add(transforms.NewInvert())
		},
		"Pad": func(b *builder, p *importer.Object) {
			b.wantHWC(p, "padding")
			mode, fill := padding(p)
			v, _ := p.Get("padding")
			l, ok := importer.Ints(v, 4, 0, importer.MaxSide)
			if !ok {
				p.Bad("padding", "[left, top, right, bottom]")
				return
			}
			b.add(&transforms.Pad{Left: l[0], Top: l[1], Right: l[2], Bottom: l[3], Mode: mode, Fill: fill})
		},
		"PadEnd": func(b *builder, p *importer.Object) {
			v, _ := p.Get("pad_shape")
			l, ok := importer.Ints(v, 3, 1, importer.MaxSide)
			if !ok {
				p.Bad("pad_shape", "three sizes")
			}
			b.add(&transforms.PadEnd{Shape: l, Fill: scalar(p, "pad_value")})
		},
		"Fill": func(b *builder, p *importer.Object) {
			b.add(transforms.NewFill(scalarOf(p)))
		},
		"Mask": func(b *builder, p *importer.Object) {
			if p.Int("dtype", 1, 0, 255) != 1 {
				p.Bad("dtype", "1, which is bool")
			}
			r := transforms.Relation(p.Int("op", 0, 0, int(transforms.RelationGE)))
			b.add(transforms.NewMask(r, scalar(p, "constant")))
			b.dtype = tensor.Bool
		},
		"AdjustBrightness": func(b *builder, p *importer.Object) {
			b.wantBytes(p, "brightness_factor")
			b.add(&transforms.AdjustBrightness{Factor: number(p, "brightness_factor"), Backend: transforms.OpenCV})
		},
		"AdjustContrast": func(b *builder, p *importer.Object) {
			b.wantBytes(p, "contrast_factor")
			b.add(&transforms.AdjustContrast{Factor: number(p, "contrast_factor"), Backend: transforms.OpenCV})
		},
		"AdjustSaturation": func(b *builder, p *importer.Object) {
			b.wantBytes(p, "saturation_factor")
			b.add(&transforms.AdjustSaturation{Factor: number(p, "saturation_factor"), Backend: transforms.OpenCV})
		},
		"AdjustHue": func(b *builder, p *importer.Object) {
			b.wantBytes(p, "hue_factor")
			b.add(&transforms.AdjustHue{Factor: number(p, "hue_factor"), Backend: transforms.OpenCV})
		},
		"AdjustSharpness": func(b *builder, p *importer.Object) {
			b.wantBytes(p, "sharpness_factor")
			b.add(&transforms.AdjustSharpness{Factor: number(p, "sharpness_factor"), Backend: transforms.OpenCV})
		},
		"AdjustGamma": func(b *builder, p *importer.Object) {
			b.wantBytes(p, "gamma")
			b.add(&transforms.AdjustGamma{Gamma: number(p, "gamma"), Gain: number(p, "gain"), Backend: transforms.Pillow})
		},
		"AutoContrast": func(b *builder, p *importer.Object) {
			b.wantBytes(p, "cutoff")
			cutoff := number(p, "cutoff")
			b.add(&transforms.AutoContrast{CutoffLow: cutoff, CutoffHigh: cutoff, Ignore: ignored(p), Backend: transforms.MindSpore})
		},
		"Equalize": func(b *builder, p *importer.Object) {
			b.wantBytes(p, "")
			b.add(&transforms.Equalize{Backend: transforms.OpenCV})
		},
		"Posterize": func(b *builder, p *importer.Object) {
			b.wantBytes(p, "bits")
			b.add(transforms.NewPosterize(p.Int("bits", 8, 0, 8)))
		},
		"Solarize": func(b *builder, p *importer.Object) {
			b.wantBytes(p, "threshold")
			v, _ := p.Get("threshold")
			l, ok := importer.Floats(v, 2)
			if !ok {
				p.Bad("threshold", "two numbers")
				return
			}
			if l[0] == l[1] { // one number in Python: from there on
				l[1] = 255
			}
			b.add(&transforms.Solarize{Threshold: transforms.Range{Min: l[0], Max: l[1]}})
		},
	}
}

//go:noinline
func (b *builder) add(op transforms.Op) { b.ops = append(b.ops, op) }

// float converts the image to float32, as MindSpore's arithmetic ops do.
func (b *builder) float() {
	if b.dtype != tensor.Float32 {
		b.add(transforms.NewToType(tensor.Float32))
		b.dtype = tensor.Float32
	}
}

// wantHWC rejects ops that would treat the planes of a CHW image as rows.
func (b *builder) wantHWC(p *importer.Object, key string) {
	if b.chw {
		p.Fail(importer.ErrValue, key, "the image is CHW already, and MindSpore would take it for HWC")
	}
}

// wantBytes rejects CHW images, as wantHWC does, and images other than uint8.
func (b *builder) wantBytes(p *importer.Object, key string) {
	b.wantHWC(p, key)
	if b.dtype != tensor.Uint8 {
		p.Fail(importer.ErrValue, key, fmt.Sprintf("the image is %v, want uint8", b.dtype))
	}
}

// wantLayout checks that is_hwc matches the image's layout.
func (b *builder) wantLayout(p *importer.Object) {
	if p.Bool("is_hwc", true) == b.chw {
		p.Bad("is_hwc", fmt.Sprintf("%v, as the image is", !b.chw))
	}
}

// interpolations are the interpolations by the data engine's numbers.
var interpolations = []transforms.Interpolation{
	transforms.Bilinear, transforms.Nearest, transforms.Bicubic, transforms.Area, transforms.PILCubic,
}

// interpolation reads the data engine's number of an interpolation.
func interpolation(p *importer.Object) (transforms.Interpolation, transforms.Backend) {
	i := interpolations[p.Int("interpolation", 0, 0, len(interpolations)-1)]
	if i == transforms.PILCubic {
		return i, transforms.Pillow
	}
	return i, transforms.OpenCV
}

// sizes reads [height, width], or [shorter edge].
func sizes(p *importer.Object, key string) (h, w int, short bool) {
	v, _ := p.Get(key)
	if l, ok := importer.Ints(v, 1, 1, importer.MaxSide); ok {
		return l[0], 0, true
	}
	l, ok := importer.Ints(v, 2, 1, importer.MaxSide)
	if !ok {
		p.Bad(key, "[height, width] or [shorter edge]")
		return 1, 1, false
	}
	return l[0], l[1], false
}

func box(p *importer.Object, key string) (h, w int) { return pair(p, key, 1) }

func pair(p *importer.Object, key string, least int) (a, b int) {
	v, _ := p.Get(key)
	l, ok := importer.Ints(v, 2, least, importer.MaxSide)
	if !ok {
		p.Bad(key, "two whole numbers")
		return 1, 1
	}
	return l[0], l[1]
}

func side(p *importer.Object, key string) int {
	if !p.Has(key) {
		p.Bad(key, "a whole number")
	}
	return p.Side(key, 1)
}

func number(p *importer.Object, key string) float64 {
	v, _ := p.Get(key)
	f, ok := importer.Float(v)
	if !ok {
		p.Bad(key, "a number")
	}
	return f
}

// scalar reads a tensor without axes: an object of p.
func scalar(p *importer.Object, key string) float64 {
	o := p.Object(key)
	if o == nil {
		p.Bad(key, "a tensor of one number")
		return 0
	}
	return scalarOf(o)
}

// scalarOf reads the object of a tensor without axes.
func scalarOf(o *importer.Object) float64 {
	o.Inert("type")
	if v, _ := o.Get("shape"); v != nil {
		if _, ok := importer.Ints(v, 0, 0, 0); !ok {
			o.Bad("shape", "no axes")
		}
	}
	v, _ := o.Get("data")
	l, ok := importer.Floats(v, 1)
	if !ok {
		o.Bad("data", "one number")
		return 0
	}
	return l[0]
}

// ignored reads the values that AutoContrast leaves out: any number of them.
func ignored(p *importer.Object) transforms.NumberList {
	v, _ := p.Get("ignore")
	l, ok := v.([]any)
	if !ok {
		p.Bad("ignore", "a list of numbers")
		return nil
	}
	if len(l) == 0 {
		return nil
	}
	list, ok := importer.Floats(v, len(l))
	if !ok {
		p.Bad("ignore", "a list of numbers")
	}
	return list
}

// numbers reads one number for all channels, or one for each.
func numbers(p *importer.Object, key string) []float64 {
	v, _ := p.Get(key)
	for _, n := range []int{1, 3} {
		if l, ok := importer.Floats(v, n); ok {
			return l
		}
	}
	p.Bad(key, "a list of three numbers, or of one")
	return []float64{1}
}

// divisors reads std.
func divisors(p *importer.Object) []float64 {
	std := numbers(p, "std")
	if slices.ContainsFunc(std, func(f float64) bool { return float32(f) == 0 }) {
		p.Bad("std", "numbers other than 0")
	}
	return std
}

// padModes are the modes by the data engine's numbers.
var padModes = []transforms.PadMode{transforms.PadConstant, transforms.PadEdge, transforms.PadReflect, transforms.PadSymmetric}

// padding reads the mode and fill.
func padding(p *importer.Object) (transforms.PadMode, []float64) {
	mode := padModes[p.Int("padding_mode", 0, 0, len(padModes)-1)]
	v, _ := p.Get("fill_value")
	fill, ok := importer.Floats(v, 3)
	if !ok {
		p.Bad("fill_value", "three numbers")
		fill = []float64{0}
	}
	return mode, fill
}

// dtypes maps the names of MindSpore's types that casts support here.
var dtypes = map[string]tensor.DType{
	"uint8": tensor.Uint8, "int8": tensor.Int8, "uint16": tensor.Uint16, "int16": tensor.Int16, "int32": tensor.Int32, "int64": tensor.Int64,
	"float16": tensor.Float16, "float32": tensor.Float32, "float64": tensor.Float64,
}

func dtype(p *importer.Object, key string) tensor.DType {
	d, ok := dtypes[p.String(key)]
	if !ok {
		p.Bad(key, "uint8, int8, uint16, int16, int32, int64, float16, float32 or float64")
		return tensor.Float32
	}
	return d
}
