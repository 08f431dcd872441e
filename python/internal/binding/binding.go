// Package binding is the Go part of the Python package: graphs, pipelines and
// the tensors that they lend. Folder python/lib gives it a C interface.
package binding

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"

	_ "github.com/infer-prep/infer-prep/codec/all" // every image format
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/mobile"
	_ "github.com/infer-prep/infer-prep/sound/all" // every sound format
	"github.com/infer-prep/infer-prep/tensor"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
	_ "github.com/infer-prep/infer-prep/transforms/frames"
	_ "github.com/infer-prep/infer-prep/transforms/radiology"
	_ "github.com/infer-prep/infer-prep/transforms/subwords"
)

var (
	errClosed   = errors.New("is closed")
	errInput    = errors.New("invalid argument")
	errInternal = errors.New("internal error")
	errNode     = errors.New("of a node")
)

// Code returns the kind of an error, as mobile.Code does for the bindings of
// Java and Kotlin. Python makes an exception class of it.
func Code(err error) string {
	for _, kind := range []error{device.ErrUnknown, device.ErrUnavailable, device.ErrClass, device.ErrFellBack} {
		if errors.Is(err, kind) {
			return "device"
		}
	}
	switch {
	case errors.Is(err, errInternal):
		return "internal"
	case errors.Is(err, errClosed):
		return "closed"
	case errors.Is(err, errInput):
		return "input"
	case errors.As(err, new(*RaisedError)):
		return "function"
	}
	switch code := mobile.Code(err); {
	case code == "io" && errors.Is(err, dataset.ErrUnknownNode):
		return "node"
	case code == "input" && errors.Is(err, dataset.ErrParam) && (errors.As(err, new(*dataset.NodeError)) || errors.Is(err, errNode)):
		return "param"
	default:
		return code
	}
}

// ofPython has Python's names of options that errors name.
var ofPython = strings.NewReplacer("Options.AllDone", "all_done", "AllDone returned false", "all_done returned False",
	"store.AllowOutside permits it", "allow_outside=True permits it", "StageWorkers", "workers", "StageQueue", "queue", "want Prefetch", "want prefetch",
	"Sink.Dir", "out", "Sink.Format", "format", "Sink.BatchSize", "batch_size", "Sink.LastBatch", "last_batch", "Sink.Force", "force", "Existing \"", "existing \"",
	"set Pad", "pad= pads them", "Options.AllowChanged resumes", "allow_changed=True resumes", "(Options.MaxSkips)", "(max_skips)", " (Options.MaxSkipShare)", "",
	"Options.World", "world", "drop it with Project", "drop it with project()", " (a source needs an import of its package)", "")

// Text returns an error's text, with the option that permits what it refuses.
func Text(err error) string {
	if errors.Is(err, device.ErrClass) {
		return err.Error() + `; least="approximate" permits it`
	}
	text := err.Error()
	if t := (*json.UnmarshalTypeError)(nil); errors.As(err, &t) {
		text = strings.ReplaceAll(text, t.Error(), wrongType(t))
	}
	text = ofPython.Replace(text)
	if errors.Is(err, device.ErrUnavailable) && strings.HasSuffix(text, "INFER_PREP_ORT") {
		text += "; pip install onnxruntime brings it"
	}
	return text
}

// wrongType says in Python's words that a value has a wrong type.
func wrongType(t *json.UnmarshalTypeError) string {
	have := "a " + t.Value
	if strings.HasPrefix(t.Value, "array") || strings.HasPrefix(t.Value, "object") {
		have = "an " + t.Value
	}
	want := t.Type.String()
	switch t.Type.Kind() {
	case reflect.String:
		want = "str"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		want = "int"
	case reflect.Float32, reflect.Float64:
		want = "float"
	case reflect.Slice, reflect.Array:
		want = "a list"
	case reflect.Map, reflect.Struct:
		want = "a dict"
	}
	if t.Field == "" {
		return have + ", want " + want
	}
	return fmt.Sprintf("'%s' is %s, want %s", t.Field, have, want)
}

// Unmarshal parses JSON that Python passes.
func Unmarshal(b []byte, to any) error {
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("infer_prep: options: %w: %w", errInput, err)
	}
	return nil
}

// Guard turns a panic into an error. Every function that C calls defers it: a
// panic would end the Python process.
func Guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("infer_prep: %w: %v\n%s", errInternal, p, debug.Stack())
	}
}

// Column describes an output of a graph, or a column of a pipeline.
type Column struct {
	Name   string `json:"name"`
	DType  string `json:"dtype"`
	Layout string `json:"layout"` // "" for none
	Shape  []int  `json:"shape"`  // -1 is a size that depends on the data
	// Batch is the rule by which tensors form a batch: stack, pad or concat.
	Batch string `json:"batch"`
}

func columnsOf(l []datagraph.Column) []Column {
	out := make([]Column, len(l))
	for i, c := range l {
		out[i] = Column{Name: c.Name, DType: c.Desc.DType.String(), Shape: dims(c.Desc.Shape), Batch: c.Batch.Rule.String()}
		if c.Desc.Layout != tensor.NoLayout {
			out[i].Layout = c.Desc.Layout.String()
		}
	}
	return out
}

func dims(s tensor.Shape) []int {
	d := make([]int, s.Rank())
	for i := range d {
		d[i] = s.At(i)
	}
	return d
}

// isMsgp reports whether b is the msgp form of a graph or a definition, whose
// first byte starts an array or a map; JSON is ASCII there.
func isMsgp(b []byte) bool { return len(b) > 0 && b[0] >= 0x80 }
