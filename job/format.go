package job

import (
	"io"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/tensor/npz"
)

// Format is a way to write tensors to files.
type Format struct {
	Name, Ext string
	// Shards reports that a file holds many images.
	Shards bool
	// Models reports that the files are for programs that run models. They
	// name tensors by the model's inputs.
	Models bool
	// Floats reports that these programs read float32 HWC only.
	Floats bool
	// Numbered reports that images are numbered, in order.
	Numbered bool
	// Folder reports that the files have names of their own, and cannot be
	// written to a stream.
	Folder bool
	// List is the name of a file that lists the images that were done, and
	// their files; "" if there is none.
	List string
	// Named reports that files contain the tensors' names, which Sink.Rename
	// changes.
	Named bool

	// many reports that one file holds all outputs of an image.
	many bool
	// no lists the types that the format cannot hold.
	no    []tensor.DType
	write func(w io.Writer, ts []tensor.Named) error
	// file returns the path of output i of an image below the output folder.
	// nil means the default, the image's name with Ext.
	file func(s *imageFiles, image string, i int) string
	// input refuses invalid names of the model's inputs. line returns an
	// image's line in the file List, or refuses the image.
	input func(name string) error
	line  func(s *imageFiles, image string, files []string) (string, error)
	// stream reports that files can follow one another in a stream.
	stream bool
	// shards writes record files that hold many images; nil for others.
	shards *shardFormat
}

var formats = slices.Concat([]Format{
	{Name: "npy", Ext: ".npy", stream: true, no: []tensor.DType{tensor.BFloat16, tensor.Bytes}, write: func(w io.Writer, ts []tensor.Named) error {
		return tensor.WriteNPY(w, ts[0].T)
	}},
	{Name: "npz", Ext: ".npz", many: true, Named: true, no: []tensor.DType{tensor.BFloat16, tensor.Bytes}, write: npz.Write},
	{Name: "raw", Ext: ".raw", stream: true, write: writeRaw},
	{Name: "pb", Ext: ".pb", Named: true, write: func(w io.Writer, ts []tensor.Named) error {
		return tensor.WriteTensorProto(w, ts[0].Name, ts[0].T)
	}},
	{Name: "safetensors", Ext: ".safetensors", many: true, Named: true, no: []tensor.DType{tensor.Bytes}, write: func(w io.Writer, ts []tensor.Named) error {
		return tensor.WriteSafetensors(w, ts, nil)
	}},
}, modelFormats, shardFormats)

func writeRaw(w io.Writer, ts []tensor.Named) error { return tensor.WriteRaw(w, ts[0].T) }

// Formats lists the formats.
func Formats() []Format { return slices.Clone(formats) }

// formatNames lists the names of the formats that ok accepts.
func formatNames(ok func(Format) bool) (l []string) {
	for _, f := range formats {
		if ok(f) {
			l = append(l, f.Name)
		}
	}
	return l
}

// orList joins names as in "a, b or c".
func orList(l []string) string {
	if len(l) < 2 {
		return strings.Join(l, "")
	}
	return strings.Join(l[:len(l)-1], ", ") + " or " + l[len(l)-1]
}
