package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/infer-prep/infer-prep/cmd/internal/serve"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// numberedFolder is the start of the names of onnx-test's folders.
const numberedFolder = "test_data_set_"

// modelFormats are the formats of programs that run models. They name tensors
// by the model's inputs.
var modelFormats = []format{
	// For ONNX's backend tests and onnxruntime's onnx_test_runner: a folder
	// test_data_set_N for each sample, with the model's inputs by number.
	{
		name: "onnx-test", ext: ".pb", named: true, numbered: true,
		write: func(w io.Writer, ts []tensor.Named) error { return tensor.WriteTensorProto(w, ts[0].Name, ts[0].T) },
		file: func(s *imageFiles, image string, i int) string {
			return filepath.Join(fmt.Sprintf(numberedFolder+"%d", s.numberOf(image)), fmt.Sprintf("input_%d.pb", i))
		},
		list: "test_data_sets.txt",
		line: func(s *imageFiles, image string, files []string) (string, error) {
			return filepath.Base(filepath.Dir(files[0])) + "\t" + filepath.ToSlash(image), refuse(image, unicode.IsControl, "a control character")
		},
	},
	// The body of an inference request of the KServe protocol, version 2, for
	// Triton.
	{
		name: "triton", ext: ".json", many: true, named: true, no: []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Bytes},
		write: writeRequest,
	},
	// For perf_analyzer --input-data DIR: a folder with a file for each input,
	// named after it, with the elements only.
	{
		name: "triton-raw", named: true, write: func(w io.Writer, ts []tensor.Named) error { return tensor.WriteRaw(w, ts[0].T) },
		file:  func(s *imageFiles, image string, i int) string { return filepath.Join(image, s.inputs[i]) },
		input: isFileName,
	},
	// For --input_list of Qualcomm's snpe-net-run and qnn-net-run: float32 NHWC
	// files, and a list of them with a line for each sample.
	{
		name: "input-list", ext: ".raw", named: true, write: func(w io.Writer, ts []tensor.Named) error { return tensor.WriteRaw(w, ts[0].T) },
		prepare: nhwcFloats, list: "input_list.txt",
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
		name: "tensorrt", ext: ".raw", named: true, write: func(w io.Writer, ts []tensor.Named) error { return tensor.WriteRaw(w, ts[0].T) },
		list: "load_inputs.txt",
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

// nhwcFloats converts images to HWC and, without --dtype, all outputs to
// float32.
func nhwcFloats(f *runFlags, g *datagraph.Graph) error {
	if f.layout != "" && !strings.EqualFold(f.layout, "HWC") {
		return usageErr("--layout %s: --format input-list needs HWC", f.layout)
	}
	descs, err := g.Infer()
	if err != nil {
		return usageErr("%w", err)
	}
	names := g.Outputs
	if f.outputs == "all" {
		names = slices.Concat(g.Outputs, g.SideOutputs)
	}
	for _, o := range names {
		d := g.Last(descs, o)
		if d.IsImage() && d.Layout == tensor.CHW {
			g.Then(transforms.NewCHW2HWC(), []string{o}, []string{o})
		}
		if f.dtype == "" && d.DType != tensor.Float32 && d.DType != tensor.Bytes {
			g.Then(transforms.NewToType(tensor.Float32), []string{o}, []string{o})
		}
	}
	return nil
}

// rename applies --name.
func (s *columns) rename(names []string) error {
	s.inputs = slices.Clone(s.names)
	if len(names) > 0 && !s.format.named {
		var l []string
		for _, f := range formats {
			if f.named {
				l = append(l, f.name)
			}
		}
		return usageErr("--name: the files of --format %s contain no names: want --format %s", s.format.name, orList(l))
	}
	given := map[int]bool{}
	for _, n := range names {
		output, input, ok := strings.Cut(n, "=")
		i := slices.Index(s.names, output)
		if i < 0 && len(s.names) == 1 && !ok {
			i, input, ok = 0, n, true
		}
		switch {
		case i < 0 || !ok:
			return usageErr("--name %q: want OUTPUT=INPUT, where OUTPUT is %s", n, orList(s.names))
		case input == "":
			return usageErr("--name %q: the name is empty", n)
		case given[i]:
			return usageErr("--name %q: the output is named twice", n)
		}
		given[i] = true
		s.inputs[i] = input
	}
	s.renamed = len(names) > 0
	for i, n := range s.inputs {
		same := func(o string) bool { return o == n || s.format.file != nil && strings.EqualFold(o, n) } // inputs are file names
		if j := slices.IndexFunc(s.inputs[:i], same); j >= 0 {
			return usageErr("--name: the outputs %s and %s are both named %q", s.names[j], s.names[i], n)
		}
		if s.format.input != nil {
			if err := s.format.input(n); err != nil {
				return usageErr("the input %q with --format %s: %w", n, s.format.name, err)
			}
		}
	}
	return nil
}

// number numbers the images, in order. Other files get no number. It ends at
// the first input whose images are not known yet: a container or a stream.
func (s *imageFiles) number(ctx context.Context, inputs []input) {
	s.numbers = map[string]int{}
	for i := range inputs {
		in := &inputs[i]
		if s.late = in.pipe || in.container != nil; s.late || !s.format.numbered {
			return
		}
		if _, ok := s.numbers[in.name]; !ok && in.err == nil && (in.explicit || in.isImage(ctx)) {
			s.numbers[in.name] = len(s.numbers)
		}
		in.numbered = true
	}
}

// numberLate numbers an image that number could not.
func (s *imageFiles) numberLate(ctx context.Context, in *input) {
	if !s.format.numbered || !s.late || in.numbered || in.err != nil || !in.explicit && !in.isImage(ctx) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.numbers[in.name]; ok {
		in.err = fmt.Errorf("%s: an earlier image has the same name, %s", in.path, in.name)
		return
	}
	s.numbers[in.name] = len(s.numbers)
}

// numberOf returns the number of an image, -1 if it has none.
func (s *imageFiles) numberOf(name string) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if n, ok := s.numbers[name]; ok {
		return n
	}
	return -1
}

// add adds an image that succeeded to the list. Its files are written.
func (s *imageFiles) add(o outcome) ([]outcome, error) {
	if s.format.list != "" {
		line, err := s.format.line(s, o.in.name, s.files(o.in.name))
		if err == nil { // write reported it
			s.lines = append(s.lines, line)
		}
	}
	return []outcome{o}, nil
}

// close writes the list.
func (s *imageFiles) close() ([]outcome, error) {
	if s.format.list == "" || len(s.lines) == 0 {
		return nil, nil
	}
	return nil, wrapFail(newfile.Write(context.Background(), filepath.Join(s.dir, s.format.list), func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(s.lines, "\n")+"\n")
		return err
	}))
}

// abort writes no list.
func (s *imageFiles) abort() error { return nil }

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
		b = append(append(append(b, `],"datatype":"`...), serve.Datatype(t.DType)...), `","data":[`...)
		for k := range int(t.Len()) {
			if k > 0 {
				b = append(b, ',')
			}
			if b, err = serve.AppendJSON(b, t, k); err != nil {
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
