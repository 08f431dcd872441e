package job

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/infer-prep/infer-prep/internal/kserve"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/tensor"
)

// numberedFolder is the start of the names of onnx-test's folders.
const numberedFolder = "test_data_set_"

// modelFormats are the formats of programs that run models. They name tensors
// by the model's inputs.
var modelFormats = []Format{
	// For ONNX's backend tests and onnxruntime's onnx_test_runner: a folder
	// test_data_set_N for each sample, with the model's inputs by number.
	{
		Name: "onnx-test", Ext: ".pb", Models: true, Named: true, Numbered: true, Folder: true,
		write: func(w io.Writer, ts []tensor.Named) error { return tensor.WriteTensorProto(w, ts[0].Name, ts[0].T) },
		file: func(s *imageFiles, image string, i int) string {
			return filepath.Join(fmt.Sprintf(numberedFolder+"%d", s.numberOf(image)), fmt.Sprintf("input_%d.pb", i))
		},
		List: "test_data_sets.txt",
		line: func(s *imageFiles, image string, files []string) (string, error) {
			return filepath.Base(filepath.Dir(files[0])) + "\t" + filepath.ToSlash(image), refuse(image, unicode.IsControl, "a control character")
		},
	},
	// The body of an inference request of the KServe protocol, version 2, for
	// Triton.
	{
		Name: "triton", Ext: ".json", Models: true, many: true, Named: true, no: []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Bytes},
		write: writeRequest,
	},
	// For perf_analyzer --input-data DIR: a folder with a file for each input,
	// named after it, with the elements only.
	{
		Name: "triton-raw", Models: true, Named: true, Folder: true, write: writeRaw,
		file:  func(s *imageFiles, image string, i int) string { return filepath.Join(image, s.inputs[i]) },
		input: isFileName,
	},
	// For --input_list of Qualcomm's snpe-net-run and qnn-net-run: float32 NHWC
	// files, and a list of them with a line for each sample.
	{
		Name: "input-list", Ext: ".raw", Models: true, Floats: true, Named: true, write: writeRaw,
		List: "input_list.txt",
		line: func(s *imageFiles, _ string, files []string) (string, error) {
			var l []string
			for i, f := range files {
				if err := refuse(f, unicode.IsSpace, "white space"); err != nil {
					return "", err
				}
				if len(files) > 1 || s.renamed {
					f = s.inputs[i] + ":=" + f
				}
				l = append(l, f)
			}
			return strings.Join(l, " "), nil
		},
		input: func(name string) error {
			if strings.Contains(name, ":=") {
				return fmt.Errorf("the name contains :=, which the list cannot hold")
			}
			return refuse(name, unicode.IsSpace, "white space")
		},
	},
	// For --loadInputs of TensorRT's trtexec. The list has its value for each
	// sample.
	{
		Name: "tensorrt", Ext: ".raw", Models: true, Named: true, write: writeRaw,
		List: "load_inputs.txt",
		line: func(s *imageFiles, _ string, files []string) (string, error) {
			var l []string
			for i, f := range files {
				if err := refuse(f, func(r rune) bool { return r == ',' || r == '\'' || unicode.IsControl(r) }, "a comma, a quote or a control character"); err != nil {
					return "", err
				}
				name := s.inputs[i]
				if strings.Contains(name+f, ":") { // the last colon ends an unquoted name
					name = "'" + name + "'"
				}
				l = append(l, name+":"+f)
			}
			return strings.Join(l, ","), nil
		},
		input: func(name string) error {
			return refuse(name, func(r rune) bool { return r == ',' || r == '\'' || unicode.IsControl(r) }, "a comma, a quote or a control character")
		},
	},
}

// refuse returns an error if s contains a character that the format cannot
// hold.
func refuse(s string, is func(r rune) bool, what string) error {
	if strings.ContainsFunc(s, is) {
		return fmt.Errorf("%[2]q contains %[1]s, which the format cannot hold", what, s)
	}
	return nil
}

// isFileName refuses names that are not valid file names.
func isFileName(name string) error {
	if name == "." || name == ".." || newfile.IsTemp(name) {
		return fmt.Errorf("not a valid file name")
	}
	return refuse(name, func(r rune) bool { return strings.ContainsRune(`/\:*?"<>|`, r) || unicode.IsControl(r) }, "a special character")
}

// writeRequest writes a request with its tensors as JSON. Numbers keep their
// exact value.
func writeRequest(w io.Writer, ts []tensor.Named) error {
	b := []byte(`{"inputs":[`)
	for i, n := range ts {
		if i > 0 {
			b = append(b, ',')
		}
		t := n.T
		if !t.Dense() {
			t = t.Clone()
		}
		name, err := json.Marshal(n.Name)
		if err != nil {
			return err
		}
		b = append(append(b, `{"name":`...), name...)
		b = append(b, `,"shape":[`...)
		for a := range t.Shape.Rank() {
			if a > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(t.Shape.At(a)), 10)
		}
		b = append(append(append(b, `],"datatype":"`...), kserve.Datatype(t.DType)...), `","data":[`...)
		for k := range int(t.Len()) {
			if k > 0 {
				b = append(b, ',')
			}
			if b, err = kserve.AppendJSON(b, t, k); err != nil {
				return fmt.Errorf("%s: %w", n.Name, err)
			}
			if len(b) > 1<<16 {
				if _, err := w.Write(b); err != nil {
					return err
				}
				b = b[:0]
			}
		}
		b = append(b, "]}"...)
	}
	_, err := w.Write(append(b, "]}\n"...))
	return err
}
