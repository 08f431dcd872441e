// Package mindir imports the preprocessing in a MindIR file: the map steps that
// MindSpore's export stores in the model's field preprocessor if it gets a
// dataset.
//
// The reference is MindSpore 2.10.0 on a CPU with images as arrays, the form of
// the stored steps. A file has its own names of ops and its own numbers of
// interpolations (bilinear is 0), which differ from Python's. The importer
// skips steps of columns that do not reach the image, such as labels. MindSpore
// exports one image, the column "image". If its steps do not decode it, because
// the source did, the graph starts with a Decode.
//
// The importer rejects random ops by name; see [ImportWith]. It also rejects
// ops of MindSpore's Python layer and ops without an equal in package
// transforms. The Python layer works on PIL images, or has functions that are
// stored without code. MindSpore stores Slice without its parameters.
//
// The importer fills in no parameter: MindSpore 2.10.0 stores all of them, and
// an absent one is an error. It requires that a CPU runs every step:
// device_target is "CPU" or absent (for AdjustContrast, 2.10.0 stores the
// factor there), and offload is false. Nothing else of a step is ignored.
//
// Graphs decode as Pillow does. For JPEG, PNG, and plain BMP and TIFF,
// MindSpore returns the same pixels. The graph rejects CMYK images, which
// MindSpore decodes differently. These images differ too: BMP with 16 bits a
// pixel, TIFF with 16 bits or alpha, and JPEG with a quantization that
// overflows 16 bits. MindSpore rejects crops outside the image, for CenterCrop
// only far outside; the graph pads them with 0.
//
// [Export] writes the field.
//
// The output has the name of the image's last column and no batch dimension:
// batching is not a map step, so the file does not store it.
package mindir

import (
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/internal/protowire"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// maxFile is the size limit of a protobuf message in bytes.
const maxFile = 2<<30 - 1

func init() {
	importer.Register(importer.Importer{
		Name: "mindir", Import: Import, MaxBytes: maxFile,
		Doc: "a MindIR model exported with its dataset, as MindSpore 2.10.0 applies it",
		// The first field is the version, a short text such as 0.3.0.
		Detect: func(_ string, head []byte) bool {
			return len(head) > 3 && head[0] == 1<<3|2 && head[1] < 16 && '0' <= head[2] && head[2] <= '9'
		},
	})
}

// These are the field numbers of MindIR's ModelProto, PreprocessorProto and
// PreprocessOpProto, as MindSpore 2.10.0 writes them.
const (
	fieldGraph        = 7
	fieldPreprocessor = 9
	fieldOp           = 1

	fieldInputColumns   = 1
	fieldOutputColumns  = 2
	fieldProjectColumns = 3
	fieldOpType         = 4
	fieldOperations     = 5
	fieldOffload        = 6
)

// maxMaps limits the map steps of a file.
const maxMaps = 1024

// Options configures an import.
type Options struct {
	// DropRandom skips random ops that keep the image's size and type, as
	// evaluation does. Other random ops remain errors.
	DropRandom bool
}

// Import reads a MindIR file.
func Import(data []byte) (*datagraph.Graph, error) {
	g, _, err := ImportWith(data, Options{})
	return g, err
}

// ImportWith reads a MindIR file. The notes name the skipped ops.
func ImportWith(data []byte, opt Options) (g *datagraph.Graph, notes []string, err error) {
	doc, err := document(data)
	if err != nil {
		return nil, nil, fmt.Errorf("importer: mindir: %w", err)
	}
	file, err := importer.Parse(doc)
	if err != nil {
		return nil, nil, err
	}
	b := &builder{opt: opt, column: datagraph.Image, dtype: tensor.Uint8}
	pre := file.Object("preprocessor")
	for _, m := range pre.Objects("op") {
		b.step(m)
	}
	if err := file.Err("mindir"); err != nil {
		return nil, nil, err
	}
	if !b.decoded {
		b.ops = append([]transforms.Op{decode()}, b.ops...)
	}
	g = datagraph.New(b.ops...).Rename(b.column)
	g.Reference = "MindSpore 2.10.0 dataset.vision"
	g, err = importer.Finish("mindir", g)
	return g, b.notes, err
}

func formatErr(path, text string, args ...any) error {
	return &importer.Error{Kind: importer.ErrFormat, Path: path, Text: fmt.Sprintf(text, args...)}
}

// document returns the preprocessor field as one JSON object. Its strings are
// valid JSON.
func document(data []byte) ([]byte, error) {
	if len(data) > maxFile {
		return nil, formatErr("", "%d bytes, want at most %d", len(data), maxFile)
	}
	var steps []string
	found := false
	err := fields(data, "", func(num protowire.Number, typ protowire.Type, v []byte) error {
		if num != fieldPreprocessor {
			return nil
		}
		if typ != protowire.BytesType {
			return formatErr("preprocessor", "wire type %d, want a message", typ)
		}
		found = true
		return fields(v, "preprocessor", func(num protowire.Number, typ protowire.Type, v []byte) error {
			if num != fieldOp || typ != protowire.BytesType {
				return &importer.Error{Kind: importer.ErrUnknownKey, Path: fmt.Sprintf("preprocessor.#%d", num)}
			}
			if len(steps) == maxMaps {
				return formatErr("preprocessor.op", "more than %d steps", maxMaps)
			}
			s, err := mapStep(v, fmt.Sprintf("preprocessor.op.%d", len(steps)))
			steps = append(steps, s)
			return err
		})
	})
	if err == nil && !found {
		err = &importer.Error{Kind: importer.ErrMissing, Path: "preprocessor", Text: "the model was exported without dataset="}
	}
	if err == nil && len(steps) == 0 {
		err = &importer.Error{Kind: importer.ErrMissing, Path: "preprocessor.op", Text: "want at least one map step"}
	}
	return []byte(`{"preprocessor":{"op":[` + strings.Join(steps, ",") + `]}}`), err
}

// stepNames maps the fields of a step that hold JSON to their names.
var stepNames = map[protowire.Number]string{
	fieldInputColumns: "input_columns", fieldOutputColumns: "output_columns", fieldProjectColumns: "project_columns",
	fieldOpType: "op_type", fieldOperations: "operations",
}

// mapStep returns a PreprocessOpProto as a JSON object.
func mapStep(data []byte, path string) (string, error) {
	text := map[protowire.Number][]byte{}
	err := fields(data, path, func(num protowire.Number, typ protowire.Type, v []byte) error {
		if num == fieldOffload && typ == protowire.VarintType {
			if offload, _ := protowire.ConsumeVarint(v); offload != 0 {
				return &importer.Error{Kind: importer.ErrValue, Path: path + ".offload", Text: "true, want false: an accelerator then runs the step, and its values may differ"}
			}
			return nil
		}
		name, ok := stepNames[num]
		if !ok || typ != protowire.BytesType {
			return &importer.Error{Kind: importer.ErrUnknownKey, Path: fmt.Sprintf("%s.#%d", path, num)}
		}
		if len(v) == 0 {
			return nil
		}
		if _, err := importer.ParseValue(v); err != nil {
			return formatErr(path+"."+name, "%v", err)
		}
		text[num] = v // the last value counts, as in protobuf
		return nil
	})
	if err != nil {
		return "", err
	}
	var l []string
	for num := protowire.Number(fieldInputColumns); num <= fieldOperations; num++ {
		if v, ok := text[num]; ok {
			l = append(l, fmt.Sprintf("%q:%s", stepNames[num], v))
		}
	}
	return "{" + strings.Join(l, ",") + "}", nil
}

// fields calls f for every field of a message. v holds the contents of a bytes
// field and the encoded value of other types. Groups are errors: MindIR has
// none.
func fields(data []byte, path string, f func(num protowire.Number, typ protowire.Type, v []byte) error) error {
	for at := 0; at < len(data); {
		num, typ, n := protowire.ConsumeTag(data[at:])
		if n < 0 {
			return formatErr(path, "at byte %d: %v", at, protowire.ParseError(n))
		}
		if typ == protowire.StartGroupType || typ == protowire.EndGroupType {
			return formatErr(path, "at byte %d: a group, which MindIR does not have", at)
		}
		var v []byte
		var m int
		if typ == protowire.BytesType {
			v, m = protowire.ConsumeBytes(data[at+n:])
		} else {
			m = protowire.ConsumeValue(typ, data[at+n:])
			v = data[at+n:][:max(m, 0)]
		}
		if m < 0 {
			return formatErr(path, "at byte %d: %v", at, protowire.ParseError(m))
		}
		if err := f(num, typ, v); err != nil {
			return err
		}
		at += n + m
	}
	return nil
}

// decode returns MindSpore's Decode: three channels, no orientation, and the
// high byte of 16 bits.
func decode() *transforms.Decode {
	d := transforms.NewDecode()
	d.Gray16 = codec.Gray16High
	d.Refuse = codec.RefuseCMYK
	return d
}
