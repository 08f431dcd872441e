// Package tflite imports the metadata of a TFLite model: the size and type of
// its input, and the NormalizationOptions that tflite-support's metadata
// writers store in the buffer TFLITE_METADATA.
//
// The file does not state how to resize an image to the input's size. The
// reference is the reader for which the metadata exists, the TFLite Task
// Library of tflite-support 0.4.4. It resizes the whole image with libyuv's
// bilinear filter and does not keep the aspect ratio; see
// transforms.ResizeLibyuv. Float32 models get (x - mean) * (1/std) in float32,
// uint8 models the bytes. The reference's input is
// Image.open(f).convert("RGB"), since the library's own file reader decodes
// JPEG differently.
//
// The importer rejects the models that the Task Library rejects: several
// inputs, quantized types other than uint8, other than 3 channels, a color
// space other than RGB (the default is unknown), and float32 without
// normalization. It also rejects inputs of unknown size, and process units
// other than NormalizationOptions.
//
// These have no influence: normalization of a uint8 model, since the library
// feeds it the bytes; the quantization parameters; and all other metadata, such
// as descriptions, statistics and outputs.
//
// The output is an HWC image without a batch axis, named after the input's
// tensor. Underscores replace characters that column names cannot have.
package tflite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// maxFile is the largest offset of FlatBuffers, a signed 32-bit number.
const maxFile = 2<<30 - 1

func init() {
	importer.Register(importer.Importer{
		Name: "tflite", Import: Import, MaxBytes: maxFile,
		Doc:    "a TFLite model with metadata, as the Task Library of tflite-support 0.4.4 applies it",
		Detect: func(_ string, head []byte) bool { return len(head) >= 8 && string(head[4:8]) == modelID },
	})
}

// These are the identifiers at byte 4 of a model and of its metadata.
const (
	modelID    = "TFL3"
	metadataID = "M001"
)

// metadataName names the model's entry that points to the metadata's buffer.
const metadataName = "TFLITE_METADATA"

// The field numbers are those of TensorFlow Lite's schema.fbs and
// tflite-support's metadata_schema.fbs.
const (
	modelSubgraphs, modelBuffers, modelMetadata = 2, 4, 6
	subgraphTensors, subgraphInputs             = 0, 1
	tensorShape, tensorType, tensorName         = 0, 1, 3
	tensorSignature                             = 7
	bufferData                                  = 0
	entryName, entryBuffer                      = 0, 1

	metaSubgraphs, metaFiles                 = 3, 6
	metaInputs, metaSubgraphFiles, metaUnits = 2, 4, 5
	metaOutputs                              = 3
	tensorContent, tensorUnits, tensorFiles  = 3, 4, 6
	contentType, contentProperties           = 0, 1
	imageColor                               = 0
	unitType, unitOptions                    = 0, 1
	normMean, normStd                        = 0, 1
	fileName                                 = 0
)

// These are values of the schemas' enums.
const (
	typeFloat32, typeUint8 = 0, 3
	contentImage           = 2
	colorRGB               = 1
	unitNormalization      = 1
)

var typeNames = []string{
	"float32", "float16", "int32", "uint8", "int64", "string", "bool", "int16", "complex64", "int8", "float64", "complex128", "uint64",
	"resource", "variant", "uint32", "uint16", "int4",
}

// The limits of lists are far above those of real models.
const (
	maxEntries = 1 << 10
	maxRank    = 16
)

// Model describes a model's one input.
type Model struct {
	Name          string // name of the input's tensor
	Height, Width int    // in pixels
	DType         tensor.DType
	Mean, Std     []float64 // one value for all channels or three; nil without normalization
	Files         []string  // associated files, such as labels; they are in a zip file at the model's end
}

// Import reads a model.
func Import(data []byte) (*datagraph.Graph, error) {
	m, err := Read(data)
	if err != nil {
		return nil, err
	}
	g := datagraph.New(transforms.NewDecode(), transforms.NewResizeLibyuv(m.Height, m.Width))
	g.Reference = "tflite-support 0.4.4 Task Library, from the model's TFLITE_METADATA; resize: its libyuv bilinear, which no model names"
	if m.DType == tensor.Float32 {
		inverse := make([]float64, len(m.Std))
		for i, s := range m.Std {
			inverse[i] = float64(1 / float32(s))
		}
		g.Add(&transforms.Rescale{Scale: 1, Rule: transforms.RescaleMultiply})
		g.Add(transforms.NewNormalize(m.Mean, []float64{1})).Add(transforms.NewMultiply(inverse...))
	}
	return importer.Finish("tflite", g.Rename(column(m.Name)))
}

// column converts a name to a valid column name.
func column(name string) string {
	s := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, name)
	s = strings.TrimLeft(s, ".-")
	if s = s[:min(len(s), 64)]; s == "" {
		return datagraph.Image
	}
	return s
}

// Read reads a model and its metadata.
func Read(data []byte) (*Model, error) {
	m, err := read(data)
	if err != nil {
		return nil, fmt.Errorf("importer: tflite: %w", err)
	}
	return m, nil
}

func read(data []byte) (*Model, error) {
	b := &buffer{b: data, what: "model"}
	if len(data) > maxFile {
		b.fail("%d bytes, want at most %d", len(data), maxFile)
		return nil, b.err
	}
	if string(b.at(4, 4)) != modelID {
		b.fail("no %s at byte 4: not a TFLite model", modelID)
		return nil, b.err
	}
	root := b.root()
	m := &Model{}
	errs := m.input(root)
	meta := metadata(root)
	if b.err != nil {
		return nil, b.err
	}
	if meta == nil {
		return nil, append(errs, &importer.Error{Kind: importer.ErrMissing, Path: metadataName, Text: "the model has no metadata"})
	}
	mb := &buffer{b: meta, what: metadataName}
	if string(mb.at(4, 4)) != metadataID {
		mb.fail("no %s at byte 4", metadataID)
		return nil, mb.err
	}
	errs = append(errs, m.normalization(mb.root())...)
	if mb.err != nil {
		return nil, mb.err
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return m, nil
}

//go:noinline
func bad(path, format string, args ...any) *importer.Error {
	return &importer.Error{Kind: importer.ErrValue, Path: path, Text: fmt.Sprintf(format, args...)}
}

// input reads the one input of the first subgraph.
func (m *Model) input(root table) importer.Errors {
	graph := root.tables(modelSubgraphs).get(0)
	inputs := graph.ints(subgraphInputs, maxEntries)
	if len(inputs) != 1 {
		return importer.Errors{bad("inputs", "%d, want one, the image", len(inputs))}
	}
	tensors := graph.tables(subgraphTensors)
	if inputs[0] < 0 || inputs[0] >= tensors.n {
		return importer.Errors{bad("inputs", "tensor %d of %d", inputs[0], tensors.n)}
	}
	t := tensors.get(inputs[0])
	m.Name = string(t.bytes(tensorName))
	var errs importer.Errors
	switch typ := t.uint(tensorType, 1); typ {
	case typeFloat32:
		m.DType = tensor.Float32
	case typeUint8:
		m.DType = tensor.Uint8
	default:
		name := fmt.Sprint(typ)
		if typ < int64(len(typeNames)) {
			name = typeNames[typ]
		}
		errs = append(errs, bad("inputs.type", "%s, want float32 or uint8, the types that the Task Library feeds", name))
	}
	shape := t.ints(tensorShape, maxRank)
	if len(shape) != 4 || shape[0] != 1 || shape[3] != 3 || min(shape[1], shape[2]) < 1 || max(shape[1], shape[2]) > importer.MaxSide {
		return append(errs, bad("inputs.shape", "%v, want [1, height, width, 3]", shape))
	}
	m.Height, m.Width = int(shape[1]), int(shape[2])
	if signature := t.ints(tensorSignature, maxRank); len(signature) > 0 {
		for i, n := range signature {
			if i > 0 && i < len(shape) && n != shape[i] {
				return append(errs, bad("inputs.shape_signature", "%v, want a fixed height and width", signature))
			}
		}
	}
	return errs
}

// metadata returns the contents of the metadata's buffer, nil if absent.
func metadata(root table) []byte {
	entries := root.tables(modelMetadata)
	if entries.n > maxEntries {
		root.b.fail("%d entries of metadata, want at most %d", entries.n, maxEntries)
		return nil
	}
	for i := range entries.n {
		e := entries.get(i)
		if string(e.bytes(entryName)) == metadataName {
			return root.tables(modelBuffers).get(e.uint(entryBuffer, 4)).bytes(bufferData)
		}
	}
	return nil
}

// normalization reads the input's metadata.
func (m *Model) normalization(root table) importer.Errors {
	graph := root.tables(metaSubgraphs).get(0)
	inputs := graph.tables(metaInputs)
	if inputs.n != 1 {
		return importer.Errors{bad("input_tensor_metadata", "%d entries, want one, the image's", inputs.n)}
	}
	t := inputs.get(0)
	m.files(root, graph, t)
	var errs importer.Errors
	if n := graph.tables(metaUnits).n; n > 0 {
		errs = append(errs, bad("input_process_units", "%d of the whole subgraph, want those of the input alone", n))
	}
	content := t.table(tensorContent)
	if k := content.uint(contentType, 1); k != contentImage {
		errs = append(errs, bad("content_properties_type", "%d, want %d, ImageProperties", k, contentImage))
	} else if c := content.table(contentProperties).uint(imageColor, 1); c != colorRGB {
		errs = append(errs, bad("color_space", "%d, want %d, RGB; 0 and an absent one are unknown", c, colorRGB))
	}
	units := t.tables(tensorUnits)
	if units.n > maxEntries {
		root.b.fail("%d process units, want at most %d", units.n, maxEntries)
		return nil
	}
	found := false
	for i := range units.n {
		u := units.get(i)
		if k := u.uint(unitType, 1); k != unitNormalization {
			errs = append(errs, bad("process_units", "options of type %d, want %d, NormalizationOptions", k, unitNormalization))
			continue
		}
		if found {
			errs = append(errs, bad("process_units", "two normalizations"))
			break
		}
		found = true
		o := u.table(unitOptions)
		m.Mean, m.Std = o.floats(normMean, maxEntries), o.floats(normStd, maxEntries)
		if n := len(m.Mean); n != 1 && n != 3 || len(m.Std) != n {
			errs = append(errs, bad("process_units.mean", "%d values and std %d, want one of each, or three", n, len(m.Std)))
		}
		if slices.ContainsFunc(m.Std, func(f float64) bool { return !(f != 0 && 1/float32(f) == 1/float32(f) && 1/f < 1e38 && 1/f > -1e38) }) {
			errs = append(errs, bad("process_units.std", "%v, want numbers other than 0", m.Std))
		}
	}
	if !found && m.DType == tensor.Float32 {
		errs = append(errs, &importer.Error{Kind: importer.ErrMissing, Path: "process_units", Text: "a float32 model wants NormalizationOptions"})
	}
	return errs
}

// files lists the associated files of the model, the subgraph and its tensors.
func (m *Model) files(root, graph, input table) {
	add := func(l tables) {
		for i := range min(l.n, maxEntries) {
			m.Files = append(m.Files, string(l.get(i).bytes(fileName)))
		}
	}
	add(root.tables(metaFiles))
	add(graph.tables(metaSubgraphFiles))
	add(input.tables(tensorFiles))
	outputs := graph.tables(metaOutputs)
	for i := range min(outputs.n, maxEntries) {
		if len(m.Files) > maxEntries {
			return
		}
		add(outputs.get(i).tables(tensorFiles))
	}
}
