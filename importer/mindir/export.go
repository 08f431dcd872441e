package mindir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/protowire"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// ErrExport reports a graph that MindSpore's data engine cannot run with the
// same results.
var ErrExport = errors.New("not a data graph of MindSpore")

// Export returns a MindIR file with the model and the graph's steps as its
// preprocessing, in the form of mindspore.export with a dataset, version
// 2.10.0. It replaces the preprocessing of model.
//
// The steps are one map on the column "image"; its output column is the graph's
// output. Importing the result gives the graph's ops again, which Export
// checks. The error matches [ErrExport] if the data engine has no equal op, and
// names the op; most ops of Pillow and torchvision have none. Numbers are
// float32 in MindSpore.
func Export(model []byte, g *datagraph.Graph) ([]byte, error) {
	steps, err := mapOps(g)
	if err != nil {
		return nil, fmt.Errorf("importer: mindir: %w", err)
	}
	out, err := withPreprocessor(model, g.Outputs[0], steps)
	if err != nil {
		return nil, fmt.Errorf("importer: mindir: %w", err)
	}
	back, err := Import(out)
	if err != nil {
		return nil, fmt.Errorf("importer: mindir: %w: %w", ErrExport, err)
	}
	if i := firstOther(g, back); i >= 0 {
		return nil, fmt.Errorf("importer: mindir: %w: step %d: MindSpore has no op with these parameters", ErrExport, i)
	}
	return out, nil
}

// firstOther returns the first step that differs between two chains, or -1.
func firstOther(a, b *datagraph.Graph) int {
	for i := range max(len(a.Steps), len(b.Steps)) {
		if i >= len(a.Steps) || i >= len(b.Steps) || !reflect.DeepEqual(rounded(a.Steps[i].Op), rounded(b.Steps[i].Op)) {
			return i
		}
	}
	return -1
}

// rounded returns op with the numbers that it rounds to float32 itself rounded.
func rounded(op transforms.Op) transforms.Op {
	switch o := op.(type) {
	case *transforms.Normalize:
		return transforms.NewNormalize(singles(o.Mean), singles(o.Std))
	case *transforms.NormalizePad:
		c := *o
		c.Mean, c.Std = singles(o.Mean), singles(o.Std)
		return &c
	case *transforms.Rescale:
		c := *o
		c.Scale, c.Offset = single(o.Scale), single(o.Offset)
		return &c
	}
	return op
}

func single(v float64) float64 { return float64(float32(v)) }

func singles(l []float64) []float64 {
	l = slices.Clone(l)
	for i, v := range l {
		l[i] = single(v)
	}
	return l
}

// params are the parameters of an op in a file.
type params map[string]any

// operation is an op in a file.
type operation struct {
	Name   string `json:"tensor_op_name"`
	Params params `json:"tensor_op_params"`
}

// mapOps returns the ops of a graph.
func mapOps(g *datagraph.Graph) (l []operation, err error) {
	if err := g.WantImage(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrExport, err)
	}
	if len(g.Outputs) != 1 {
		return nil, fmt.Errorf("%w: %d outputs, want one", ErrExport, len(g.Outputs))
	}
	column, chw, dtype := g.Inputs[0].Name, false, tensor.Uint8
	for i := 0; i < len(g.Steps); i++ {
		s := &g.Steps[i]
		if len(s.In) != 1 || len(s.Out) != 1 || s.In[0] != column {
			return nil, fmt.Errorf("%w: step %d, %s, does not change the image alone", ErrExport, i, s.Op.Info().Name)
		}
		column = s.Out[0]
		var next transforms.Op
		if i+1 < len(g.Steps) {
			next = g.Steps[i+1].Op
		}
		// Two of our ops are one of MindSpore's.
		if t, ok := s.Op.(*transforms.ToType); ok && t.DType == tensor.Float32 && dtype != tensor.Float32 {
			if _, ok := next.(*transforms.Normalize); ok {
				dtype = tensor.Float32
				continue
			}
		}
		if r, ok := s.Op.(*transforms.Rescale); ok && *r == (transforms.Rescale{Scale: 1.0 / 255, Rule: transforms.RescaleMultiply}) && dtype == tensor.Uint8 {
			if _, ok := next.(*transforms.HWC2CHW); ok {
				l = append(l, operation{"ToTensor", params{"output_type": "float32"}})
				column, chw, dtype = g.Steps[i+1].Out[0], true, tensor.Float32
				i++
				continue
			}
		}
		name, p, ok := storedOp(s.Op, chw)
		if !ok {
			return nil, fmt.Errorf("%w: step %d, %s: MindSpore has no equal op", ErrExport, i, s.Op.Info().Name)
		}
		for key, v := range p {
			if f, ok := v.(json.RawMessage); ok && !isSingle(f) {
				return nil, fmt.Errorf("%w: step %d, %s: %s %s is no float32, which MindSpore would make of it", ErrExport, i, name, key, f)
			}
		}
		l = append(l, operation{name, p})
		switch o := s.Op.(type) {
		case *transforms.HWC2CHW:
			chw = true
		case *transforms.ToType:
			dtype = o.DType
		case *transforms.Normalize, *transforms.Rescale:
			dtype = tensor.Float32
		}
	}
	if column != g.Outputs[0] {
		return nil, fmt.Errorf("%w: the output is %q, want the last step's", ErrExport, g.Outputs[0])
	}
	return l, nil
}

// storedOp returns an op as MindSpore 2.10.0 stores it.
func storedOp(op transforms.Op, chw bool) (name string, p params, ok bool) {
	cpu := func(name string, kv ...any) (string, params, bool) {
		p := params{"device_target": "CPU"}
		for i := 0; i < len(kv); i += 2 {
			p[kv[i].(string)] = kv[i+1]
		}
		return name, p, true
	}
	plain := func(name string, kv ...any) (string, params, bool) {
		name, p, ok := cpu(name, kv...)
		delete(p, "device_target")
		return name, p, ok
	}
	switch o := op.(type) {
	case *transforms.Decode:
		return cpu("Decode", "rgb", true)
	case *transforms.Resize:
		size := []int{o.Height, o.Width}
		if o.Fit == transforms.FitShortest {
			size = []int{o.Edge}
		}
		i, ok := interpolationNumber(o.Interpolation)
		name, p, _ := cpu("Resize", "interpolation", i, "size", size)
		return name, p, ok
	case *transforms.ResizedCrop:
		i, ok := interpolationNumber(o.Interpolation)
		name, p, _ := cpu("ResizedCrop", "height", o.Height, "width", o.Width, "top", o.Top, "left", o.Left,
			"interpolation", i, "size", []int{o.OutHeight, o.OutWidth})
		return name, p, ok
	case *transforms.CenterCrop:
		return plain("CenterCrop", "size", []int{o.Height, o.Width})
	case *transforms.Crop:
		return cpu("Crop", "coordinates", []int{o.Left, o.Top}, "size", []int{o.Height, o.Width})
	case *transforms.Normalize:
		return cpu("Normalize", "is_hwc", !chw, "mean", floats(singles(o.Mean)), "std", floats(singles(o.Std)))
	case *transforms.NormalizePad:
		return plain("NormalizePad", "dtype", o.DType.String(), "is_hwc", !chw, "mean", floats(singles(o.Mean)), "std", floats(singles(o.Std)))
	case *transforms.Rescale:
		return plain("Rescale", "rescale", float(single(o.Scale)), "shift", float(single(o.Offset)))
	case *transforms.HWC2CHW:
		return "HwcToChw", nil, true
	case *transforms.ToType:
		return plain("TypeCast", "data_type", o.DType.String())
	case *transforms.HorizontalFlip:
		return cpu("HorizontalFlip")
	case *transforms.VerticalFlip:
		return cpu("VerticalFlip")
	case *transforms.Invert:
		return cpu("Invert")
	case *transforms.Pad:
		mode := slices.Index(padModes, o.Mode)
		fill := slices.Clone(o.Fill)
		if len(fill) == 1 {
			fill = []float64{fill[0], fill[0], fill[0]}
		}
		return cpu("Pad", "fill_value", fill, "padding", []int{o.Left, o.Top, o.Right, o.Bottom}, "padding_mode", mode)
	case *transforms.AdjustBrightness:
		return cpu("AdjustBrightness", "brightness_factor", float(o.Factor))
	case *transforms.AdjustContrast:
		return cpu("AdjustContrast", "contrast_factor", float(o.Factor), "device_target", float(o.Factor)) // as 2.10.0 stores it
	case *transforms.AdjustSaturation:
		return cpu("AdjustSaturation", "saturation_factor", float(o.Factor))
	case *transforms.AdjustHue:
		return cpu("AdjustHue", "hue_factor", float(o.Factor))
	case *transforms.AdjustSharpness:
		return cpu("AdjustSharpness", "sharpness_factor", float(o.Factor))
	case *transforms.AdjustGamma:
		return plain("AdjustGamma", "gain", float(o.Gain), "gamma", float(o.Gamma))
	case *transforms.AutoContrast:
		return cpu("AutoContrast", "cutoff", float(o.CutoffLow), "ignore", append([]float64{}, o.Ignore...))
	case *transforms.Equalize:
		return cpu("Equalize")
	case *transforms.Posterize:
		return cpu("Posterize", "bits", o.Bits)
	case *transforms.Solarize:
		return cpu("Solarize", "threshold", floats([]float64{o.Threshold.Min, o.Threshold.Max}))
	}
	return "", nil, false
}

// interpolationNumber returns the data engine's number of an interpolation.
func interpolationNumber(i transforms.Interpolation) (int, bool) {
	n := slices.Index(interpolations, i)
	return n, n >= 0
}

// float returns v as Python's json.dumps writes it: a whole number has a
// fraction.
func float(v float64) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil // infinite or NaN, which ops reject
	}
	if !bytes.ContainsAny(b, ".e") {
		b = append(b, ".0"...)
	}
	return b
}

// isSingle reports whether a number that float wrote is a float32.
func isSingle(b json.RawMessage) bool {
	var v float64
	return json.Unmarshal(b, &v) == nil && single(v) == v
}

func floats(l []float64) (out []json.RawMessage) {
	for _, v := range l {
		out = append(out, float(v))
	}
	return out
}

// withPreprocessor returns a model with this preprocessing.
func withPreprocessor(model []byte, output string, ops []operation) ([]byte, error) {
	operations, err := json.Marshal(ops)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrExport, err)
	}
	column, err := json.Marshal([]string{output})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrExport, err)
	}
	var op []byte
	add := func(n protowire.Number, v []byte) {
		op = protowire.AppendBytes(protowire.AppendTag(op, n, protowire.BytesType), v)
	}
	add(fieldInputColumns, []byte(`["`+datagraph.Image+`"]`))
	add(fieldOutputColumns, column)
	add(fieldOpType, []byte(`"Map"`))
	add(fieldOperations, operations)
	op = protowire.AppendVarint(protowire.AppendTag(op, fieldOffload, protowire.VarintType), 0)
	pre := protowire.AppendBytes(protowire.AppendTag(nil, fieldOp, protowire.BytesType), op)

	// Fields stay in the order of their numbers.
	var before, after []byte
	graph := false
	for at := 0; at < len(model); {
		num, typ, n := protowire.ConsumeTag(model[at:])
		if n < 0 {
			return nil, formatErr("", "at byte %d: %v", at, protowire.ParseError(n))
		}
		m := protowire.ConsumeValue(typ, model[at+n:])
		if m < 0 {
			return nil, formatErr("", "at byte %d: %v", at, protowire.ParseError(m))
		}
		field := model[at : at+n+m]
		switch {
		case num < fieldPreprocessor:
			before = append(before, field...)
			graph = graph || num == fieldGraph
		case num > fieldPreprocessor:
			after = append(after, field...)
		}
		at += n + m
	}
	if !graph {
		return nil, formatErr("", "the file has no graph, want a MindIR model")
	}
	out := protowire.AppendBytes(protowire.AppendTag(before, fieldPreprocessor, protowire.BytesType), pre)
	return append(out, after...), nil
}
