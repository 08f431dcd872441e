package job

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// columns are the outputs of an image and the way to write them.
type columns struct {
	format  Format
	names   []string // of the outputs, in order
	inputs  []string // the model's input for each output
	batch   bool     // write batches of one image
	joined  []bool   // whether batches concatenate an output
	renamed bool     // Sink.Rename names some
}

// Output describes an output of an image, as reports have it.
type Output struct {
	Name  string `json:"name"`
	Input string `json:"input,omitempty"` // the model's name of it, if different
	File  string `json:"file,omitempty"`
	// Row is the image's first row in the tensor of a batch, or its number in a
	// shard. Rows is the number of its rows in a batch that concatenates.
	Row   *int         `json:"row,omitempty"`
	Rows  *int         `json:"rows,omitempty"`
	DType tensor.DType `json:"dtype"`
	Shape tensor.Shape `json:"shape"`
}

// columns returns the outputs that the job writes, and their batch rules.
func (j *Job) columns() (c columns, rules []datagraph.Batching, err error) {
	if err := j.Validate(); err != nil {
		return c, nil, err
	}
	if c.format, err = j.To.format(); err != nil {
		return c, nil, err
	}
	if c.names, err = j.Outputs(); err != nil {
		return c, nil, err
	}
	c.batch = j.To.BatchAxis
	for i, o := range j.written() {
		rules = append(rules, o.Batch)
		c.joined = append(c.joined, !o.Batch.Rule.Stacks())
		if j.To.BatchSize > 0 && o.Desc.DType == tensor.Bytes {
			return c, nil, option("%s: the output %s is %v, which no batch holds", fieldBatchSize, c.names[i], o.Desc)
		}
	}
	if j.To.Writer != nil && !c.format.Shards && !c.format.many && len(c.names) > 1 {
		return c, nil, option("%s: a file of %s holds one output, the graph has %s: want %s", fieldWriter, fieldFormat.of(c.format.Name), orList(c.names), fieldFormat.of("npz or safetensors"))
	}
	return c, rules, c.rename(j.To.Rename, j.inMemory())
}

// inMemory reports whether the results hold the tensors.
func (j *Job) inMemory() bool { return j.To.Dir == "" && j.To.Writer == nil }

// written returns the outputs that the job writes, the first ones of a run.
func (j *Job) written() []datagraph.Column {
	if j.Columns != nil {
		return j.Columns
	}
	l := j.Preprocessor.Outputs()
	if !j.To.SideOutputs {
		l = l[:len(j.Preprocessor.Graph().Outputs)]
	}
	return l
}

// Validate checks the fields. Run does so, too.
func (j *Job) Validate() error {
	switch {
	case j.Preprocessor == nil:
		return option("%s is nil", Field("Preprocessor"))
	case j.Columns != nil && j.Compute == nil:
		return option("%s needs %s", Field("Columns"), Field("Compute"))
	case j.Stream != nil && len(j.Inputs) > 0:
		return option("%s and %s: want only one of them", Field("Inputs"), Field("Stream"))
	case j.inMemory() && j.OnResult == nil:
		return option("no output: want %s, %s or %s", fieldDir, fieldWriter, Field("OnResult"))
	}
	if err := j.Preprocessor.Graph().WantImage(); err != nil {
		return option("%w", err)
	}
	return j.To.validate(j.Existing)
}

// Outputs returns the names of the outputs that the job writes. It refuses
// types that the format cannot hold, and names that a case-insensitive file
// system would confuse.
func (j *Job) Outputs() (names []string, err error) {
	f, err := j.To.format()
	if err != nil {
		return nil, err
	}
	for _, c := range j.written() {
		if slices.Contains(f.no, c.Desc.DType) && !j.inMemory() {
			if j.Columns != nil {
				return nil, option("the model's output %s is %v, which %s cannot hold", c.Name, c.Desc.DType, fieldFormat.of(f.Name))
			}
			can := formatNames(func(f Format) bool { return !slices.Contains(f.no, c.Desc.DType) })
			return nil, option("the output %s is %v, which %s cannot hold: want %s", c.Name, c.Desc.DType, fieldFormat.of(f.Name), orList(can))
		}
		n := c.Name
		if j.Columns != nil {
			n = fileName(c)
		}
		if i := slices.IndexFunc(names, func(o string) bool { return strings.EqualFold(o, n) }); i >= 0 {
			switch {
			case j.Columns != nil:
				return nil, option("the model's outputs %s and %s have the same file name", j.Columns[i].Name, c.Name)
			case !f.many && !j.inMemory():
				return nil, option("the outputs %s and %s differ only in case, which some file systems ignore: want %s", names[i], n, fieldFormat.of("npz or safetensors"))
			}
		}
		names = append(names, n)
	}
	return names, nil
}

// fileName returns the file name of a model's output. Characters that file
// names cannot hold become underscores.
func fileName(c datagraph.Column) string {
	n := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, c.Name)
	return cmp.Or(strings.TrimLeft(n, ".-"), "output")
}

// named returns the tensors to write, with the names in files, and a result for
// each.
func (c *columns) named(out []*tensor.Tensor) ([]tensor.Named, []Output, error) {
	var named []tensor.Named
	var results []Output
	for i, o := range c.names {
		t := out[i]
		if c.batch && !c.joined[i] {
			var err error
			if t, err = batched(t); err != nil {
				return nil, nil, err
			}
		}
		named = append(named, tensor.Named{Name: c.inputs[i], T: t})
		r := Output{Name: o, DType: t.DType, Shape: t.Shape}
		if c.inputs[i] != o {
			r.Input = c.inputs[i]
		}
		results = append(results, r)
	}
	return named, results, nil
}

// batched returns t with an axis of 1 in front.
func batched(t *tensor.Tensor) (*tensor.Tensor, error) {
	if t.DType == tensor.Bytes {
		return t, nil
	}
	if t.Shape.Rank() == tensor.MaxRank {
		return nil, fmt.Errorf("%v has no room for a batch axis", t.Desc)
	}
	v := *t
	v.Layout = tensor.NoLayout
	v.Shape = tensor.Dims(append([]int{1}, t.Shape.Slice()...)...)
	copy(v.Strides[1:], t.Strides[:])
	return &v, nil
}

// rename names the model's inputs.
func (c *columns) rename(names map[string]string, inMemory bool) error {
	if len(names) > 0 && !c.format.Named && !inMemory {
		l := formatNames(func(f Format) bool { return f.Named })
		return option("%s: the files of %s contain no names: want %s", fieldRename, fieldFormat.of(c.format.Name), fieldFormat.of(orList(l)))
	}
	for o := range names {
		if !slices.Contains(c.names, o) {
			return option("%s %q: want %s", fieldRename, o, orList(c.names))
		}
	}
	c.renamed = len(names) > 0
	for i, o := range c.names {
		n := cmp.Or(names[o], o)
		same := func(o string) bool { return o == n || c.format.file != nil && strings.EqualFold(o, n) } // inputs are file names
		if j := slices.IndexFunc(c.inputs, same); j >= 0 {
			return option("%s: the outputs %s and %s are both named %q", fieldRename, c.names[j], c.names[i], n)
		}
		if c.format.input != nil {
			if err := c.format.input(n); err != nil {
				return option("the input %q with %s: %w", n, fieldFormat.of(c.format.Name), err)
			}
		}
		c.inputs = append(c.inputs, n)
	}
	return nil
}
