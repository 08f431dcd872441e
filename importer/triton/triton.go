// Package triton adapts the outputs of a data graph to the inputs of a Triton
// model configuration, config.pbtxt.
//
// [Config.Fit] renames the graph's outputs to the model's inputs. It converts
// nothing: a tensor whose type, shape or layout differs from the model's is an
// error that states the expected one. A configuration does not describe
// preprocessing, so this package builds no graph and registers no importer. The
// format is that of Triton Inference Server's model_config.proto (2.x). The
// package reads max_batch_size and the fields of ModelInput. It rejects unknown
// fields. It ignores the fields that say nothing about the contents of a
// request: those about versions, outputs, batching, instances, ensembles and
// the server, and an input's reshape, allow_ragged_batch, optional and
// is_non_linear_format_io.
//
// An absent max_batch_size is 0, as in protobuf. Inputs that the server would
// complete from the model are an error, and so is an input without name, type
// or dimensions. Without format, the layout is not checked.
package triton

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
)

// Config describes a model's inputs, as the configuration states them.
type Config struct {
	Name string // name of the model; may be empty
	// MaxBatchSize above 0 means that the inputs have a batch dimension, which
	// Dims do not contain.
	MaxBatchSize int
	Inputs       []Input
}

// Input is one of the model's inputs.
type Input struct {
	Name   string
	DType  tensor.DType
	Layout tensor.Layout // NoLayout if the input's format is absent
	Dims   []int         // -1 means any size
}

// ignored lists the fields of ModelConfig that do not describe a request's
// contents.
var ignored = []string{
	"platform", "backend", "runtime", "version_policy", "output", "batch_input", "batch_output", "optimization", "dynamic_batching", "sequence_batching",
	"ensemble_scheduling", "instance_group", "default_model_filename", "cc_model_filenames", "metric_tags", "parameters", "model_warmup",
	"model_operations", "model_transaction_policy", "model_repository_agents", "response_cache", "model_metrics",
}

// ignoredInput lists such fields of ModelInput: the server reshapes after the
// request.
var ignoredInput = []string{"reshape", "allow_ragged_batch", "optional", "is_non_linear_format_io"}

// dtypes maps the names of DataType.
var dtypes = map[string]tensor.DType{
	"TYPE_UINT8": tensor.Uint8, "TYPE_INT8": tensor.Int8, "TYPE_UINT16": tensor.Uint16, "TYPE_INT16": tensor.Int16, "TYPE_INT32": tensor.Int32,
	"TYPE_INT64": tensor.Int64, "TYPE_FP16": tensor.Float16, "TYPE_BF16": tensor.BFloat16, "TYPE_FP32": tensor.Float32, "TYPE_FP64": tensor.Float64,
	"TYPE_BOOL": tensor.Bool,
}

// formats maps the names of ModelInput.Format.
var formats = map[string]tensor.Layout{"FORMAT_NONE": tensor.NoLayout, "FORMAT_NHWC": tensor.HWC, "FORMAT_NCHW": tensor.CHW}

const (
	maxInputs = 1 << 10
	maxRank   = 16
)

// Parse reads a config.pbtxt.
func Parse(data []byte) (*Config, error) {
	c, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("importer: triton: %w", err)
	}
	return c, nil
}

func parse(data []byte) (*Config, error) {
	p := &parser{b: string(importer.Text(data[:min(len(data), maxFile)]))}
	if len(data) > maxFile {
		return nil, p.fail("%d bytes, want at most %d", len(data), maxFile)
	}
	m, err := p.message(0, 0)
	if err != nil {
		return nil, err
	}
	c := &Config{}
	var errs importer.Errors
	seen := map[string]bool{}
	for _, f := range m.fields {
		single := f.name == "name" || f.name == "max_batch_size"
		if single && seen[f.name] {
			errs = append(errs, bad(f.name, "set twice"))
		}
		seen[f.name] = true
		switch {
		case f.name == "name":
			c.Name = text(f, f.name, &errs)
		case f.name == "max_batch_size":
			c.MaxBatchSize = number(f, f.name, 0, &errs)
		case f.name == "input" && f.msg == nil:
			errs = append(errs, bad("input", "%s, want a message", f.text))
		case f.name == "input":
			if len(c.Inputs) == maxInputs {
				return nil, bad("input", "more than %d inputs", maxInputs)
			}
			c.Inputs = append(c.Inputs, input(f.msg, fmt.Sprintf("input.%d.", len(c.Inputs)), &errs))
		case !slices.Contains(ignored, f.name):
			errs = append(errs, &importer.Error{Kind: importer.ErrUnknownKey, Path: f.name})
		}
	}
	if !seen["input"] {
		errs = append(errs, &importer.Error{Kind: importer.ErrMissing, Path: "input", Text: "the server completes such a configuration; want the inputs written out"})
	}
	for i, in := range c.Inputs {
		if slices.ContainsFunc(c.Inputs[:i], func(o Input) bool { return o.Name == in.Name }) {
			errs = append(errs, bad(fmt.Sprintf("input.%d.name", i), "%q twice", in.Name))
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return c, nil
}

//go:noinline
func bad(path, format string, args ...any) *importer.Error {
	return &importer.Error{Kind: importer.ErrValue, Path: path, Text: fmt.Sprintf(format, args...)}
}

func text(f field, path string, errs *importer.Errors) string {
	if !f.quoted {
		*errs = append(*errs, bad(path, "%s, want a string", f.text))
	}
	return f.text
}

func number(f field, path string, least int, errs *importer.Errors) int {
	n, err := strconv.ParseInt(f.text, 0, 32)
	if err != nil || f.quoted || f.msg != nil || int(n) < least {
		*errs = append(*errs, bad(path, "%s, want a whole number of at least %d", f.text, least))
		return 0
	}
	return int(n)
}

func input(m *message, path string, errs *importer.Errors) Input {
	in := Input{}
	seen := map[string]bool{}
	for _, f := range m.fields {
		if seen[f.name] && f.name != "dims" {
			*errs = append(*errs, bad(path+f.name, "set twice"))
		}
		seen[f.name] = true
		var ok bool
		switch {
		case f.name == "name":
			in.Name = text(f, path+"name", errs)
		case f.name == "data_type":
			if in.DType, ok = dtypes[f.text]; !ok || f.quoted {
				*errs = append(*errs, bad(path+"data_type", "%s, want a type of numbers", f.text))
			}
		case f.name == "format":
			if in.Layout, ok = formats[f.text]; !ok || f.quoted {
				*errs = append(*errs, bad(path+"format", "%s, want FORMAT_NONE, FORMAT_NHWC or FORMAT_NCHW", f.text))
			}
		case f.name == "dims":
			n := number(f, path+"dims", -1, errs)
			if len(in.Dims) == maxRank {
				*errs = append(*errs, bad(path+"dims", "more than %d dimensions", maxRank))
				break
			}
			in.Dims = append(in.Dims, n)
		case f.name == "is_shape_tensor":
			if f.text != "false" {
				*errs = append(*errs, bad(path+f.name, "%s, want false", f.text))
			}
		case !slices.Contains(ignoredInput, f.name):
			*errs = append(*errs, &importer.Error{Kind: importer.ErrUnknownKey, Path: path + f.name})
		}
	}
	for _, k := range []string{"name", "data_type", "dims"} {
		if !seen[k] {
			*errs = append(*errs, &importer.Error{Kind: importer.ErrMissing, Path: path + k})
		}
	}
	return in
}

// Fit renames g's outputs to the model's inputs and checks that they match. An
// output with the name of an input belongs to it; the others follow in order.
// The graph has no batch dimension. If max_batch_size is 0, an input may have
// one in front, of size 1 or any size. On an error, Fit does not change g.
func (c *Config) Fit(g *datagraph.Graph) error {
	if err := c.fit(g); err != nil {
		return fmt.Errorf("importer: triton: %w", err)
	}
	return nil
}

func (c *Config) fit(g *datagraph.Graph) error {
	if len(c.Inputs) != len(g.Outputs) {
		return bad("input", "%d (%s), and the graph has %d outputs (%s)", len(c.Inputs), names(c.Inputs), len(g.Outputs), strings.Join(g.Outputs, ", "))
	}
	descs, err := g.Infer()
	if err != nil {
		return err
	}
	// Inputs with the name of an output come first, then the rest in order.
	to := map[string]Input{} // by output
	var rest []Input
	for _, in := range c.Inputs {
		if slices.Contains(g.Outputs, in.Name) {
			to[in.Name] = in
		} else {
			rest = append(rest, in)
		}
	}
	var errs importer.Errors
	for _, o := range g.Outputs {
		if _, ok := to[o]; ok {
			continue
		}
		to[o], rest = rest[0], rest[1:]
	}
	for _, o := range g.Outputs {
		in := to[o]
		if want := in.accepts(g.Last(descs, o), c.MaxBatchSize > 0); want != "" {
			errs = append(errs, bad("input "+in.Name, "it %s, and the graph's output %s is %v", want, o, g.Last(descs, o)))
		}
	}
	if len(errs) > 0 {
		return errs
	}
	renamed := *g
	renamed.Steps = slices.Clone(g.Steps)
	renamed.Outputs = slices.Clone(g.Outputs)
	for i, o := range g.Outputs {
		name := to[o].Name
		if name == o {
			continue
		}
		if slices.Contains(g.SideOutputs, name) {
			return bad("input "+name, "a side output of the graph has this name")
		}
		if !renamable(&renamed, o, name) {
			return bad("input "+name, "the graph uses a column of this name after its output %s", o)
		}
		renamed.RenameOutput(i, name)
	}
	if err := renamed.Validate(); err != nil {
		return bad("input", "%v", err)
	}
	*g = renamed
	return nil
}

// renamable reports whether the last step that writes column old can write name
// instead. It cannot if that step also writes name, or if a later step uses
// name.
func renamable(g *datagraph.Graph, old, name string) bool {
	for i, s := range slices.Backward(g.Steps) {
		if slices.Contains(s.Out, old) {
			return !slices.Contains(s.Out, name) && !slices.ContainsFunc(g.Steps[i+1:], func(later datagraph.Step) bool {
				return slices.Contains(later.In, name) || slices.Contains(later.Out, name)
			})
		}
	}
	return false // old is an input of the graph
}

func names(inputs []Input) string {
	var l []string
	for _, i := range inputs {
		l = append(l, i.Name)
	}
	return strings.Join(l, ", ")
}

// accepts returns the requirements that d violates, "" if none.
func (in Input) accepts(d tensor.Desc, batched bool) string {
	var l []string
	if d.DType != in.DType {
		l = append(l, fmt.Sprintf("wants dtype %v", in.DType))
	}
	dims := in.Dims
	if !batched && len(dims) == d.Shape.Rank()+1 && (dims[0] == 1 || dims[0] == -1) {
		dims = dims[1:]
	}
	if !fits(dims, d) {
		l = append(l, fmt.Sprintf("wants dims %v", in.Dims))
	}
	if in.Layout != tensor.NoLayout && d.Layout != in.Layout {
		l = append(l, fmt.Sprintf("wants layout %v", in.Layout))
	}
	return strings.Join(l, ", ")
}

// fits reports whether a tensor's sizes match dims. Unknown sizes match any.
func fits(dims []int, d tensor.Desc) bool {
	if len(dims) != d.Shape.Rank() {
		return false
	}
	for i, n := range dims {
		if have := d.Shape.At(i); n >= 0 && have != tensor.Unknown && have != n {
			return false
		}
	}
	return true
}
