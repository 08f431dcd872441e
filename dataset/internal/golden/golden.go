// Package golden compares sources with the output of reference readers, for
// tests.
package golden

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/spec"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Case is a dataset as a reference reads it.
type Case struct {
	Name          string
	Params        json.RawMessage
	Columns       []string
	ClassIndexing map[string]int32 `json:"class_indexing"`
	Rows          []map[string]Value
}

// Value is one column of a row: Size and SHA256 of a file, Hex of a string,
// Data of an array as text, or SHA256 of the array's bytes.
type Value struct {
	DType  string
	Shape  []int
	Data   []string
	Hex    string
	Size   int
	SHA256 string
}

// Load reads the cases of a reference, such as mindspore.json, from a file.
func Load(t testing.TB, file string) []Case {
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	var f struct{ Cases []Case }
	require.NoError(t, json.Unmarshal(b, &f))
	require.NotEmpty(t, f.Cases)
	return f.Cases
}

// Specs decodes a case's JSON parameters and checks that they survive encoding
// as JSON and msgp.
func (c *Case) Specs(t testing.TB, fresh func() dataset.Node) dataset.Source {
	n := fresh()
	require.NoError(t, spec.Unmarshal(c.Params, n))
	b, err := json.Marshal(n)
	require.NoError(t, err)
	require.JSONEq(t, string(c.Params), string(b))
	require.NoError(t, n.Validate())
	// The same as part of a definition.
	def := dataset.From(n.(dataset.Source))
	b, err = json.Marshal(def)
	require.NoError(t, err)
	var read dataset.Dataset
	require.NoError(t, json.Unmarshal(b, &read))
	require.Equal(t, *def, read)
	m, err := def.MarshalMsg(nil)
	require.NoError(t, err)
	rest, err := read.UnmarshalMsg(m)
	require.NoError(t, err)
	require.Empty(t, rest)
	require.Equal(t, *def, read)
	return n.(dataset.Source)
}

// Compare opens s and requires the rows of the case, in any order of reading
// and from several goroutines, and columns that match their description.
func (c *Case) Compare(t testing.TB, s dataset.Source) {
	data, err := s.Open(t.Context(), store.Local)
	require.NoError(t, err)
	defer func() { require.NoError(t, data.Close()) }()
	d := data.(dataset.Rows)
	columns := d.Columns()
	var names []string
	for _, k := range columns {
		names = append(names, k.Name)
		require.NoError(t, k.Desc.Validate())
	}
	require.Equal(t, c.Columns, names)
	require.EqualValues(t, len(c.Rows), d.Len())
	if c.ClassIndexing != nil {
		require.Equal(t, c.ClassIndexing, data.(dataset.ClassIndexed).ClassIndex())
	}
	read := func(s *dataset.Sample, i int) error {
		if err := d.Read(t.Context(), int64(i), s); err != nil {
			return err
		}
		if s.Key == "" {
			return fmt.Errorf("row %d has no key", i)
		}
		for j, k := range columns {
			if err := c.equal(i, k, &s.Values[j].Tensor); err != nil {
				return fmt.Errorf("row %d (%s), column %s: %w", i, s.Key, k.Name, err)
			}
		}
		return nil
	}
	c.run(t, s, columns)
	one := dataset.NewSample(columns)
	for i := range c.Rows {
		require.NoError(t, read(one, i))
	}
	errs := make([]error, 4)
	var wg sync.WaitGroup
	for g := range errs {
		wg.Go(func() {
			s := dataset.NewSample(columns)
			for n := range 3 * len(c.Rows) {
				if errs[g] = read(s, (n*7+g)%len(c.Rows)); errs[g] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

// run requires the rows of the case from an engine.
func (c *Case) run(t testing.TB, s dataset.Source, columns []dataset.Column) {
	b, err := dataset.Build(t.Context(), dataset.From(s), dataset.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	p, err := pullpipe.New(b, nil)
	require.NoError(t, err)
	n := 0
	for s, err := range p.All(t.Context()) {
		require.NoError(t, err)
		for j, k := range columns {
			require.NoError(t, c.equal(n, k, &s.Values[j].Tensor), "row %d (%s), column %s", n, s.Key, k.Name)
		}
		n++
	}
	require.Len(t, c.Rows, n)
}

// Equal compares a value. as lists, for each type of the reference, the types
// that this module may use in its place.
func (v *Value) Equal(got *tensor.Tensor, as map[string][]string) error {
	sum := func(b []byte) string {
		h := sha256.Sum256(b)
		return hex.EncodeToString(h[:])
	}
	if v.DType == "bytes" {
		switch want, err := hex.DecodeString(v.Hex); {
		case err != nil || got.DType != tensor.Bytes:
			return fmt.Errorf("%v, want bytes", got.Desc)
		case v.SHA256 == "" && !bytes.Equal(want, got.Data):
			return fmt.Errorf("got %q, want %q", got.Data, want)
		case v.SHA256 != "" && (len(got.Data) != v.Size || sum(got.Data) != v.SHA256):
			return fmt.Errorf("got %d bytes %s, want %d bytes %s", len(got.Data), sum(got.Data), v.Size, v.SHA256)
		}
		return nil
	}
	if g := got.DType.String(); g != v.DType && !slices.Contains(as[v.DType], g) {
		return fmt.Errorf("got %s, want %s", g, v.DType)
	}
	if fmt.Sprint(got.Shape.Slice()) != fmt.Sprint(v.Shape) {
		return fmt.Errorf("got shape %v, want %v", got.Shape, v.Shape)
	}
	got = got.Clone()
	if v.SHA256 != "" {
		x := sha256.New()
		if err := tensor.WriteRaw(x, got); err != nil {
			return err
		}
		if h := hex.EncodeToString(x.Sum(nil)); h != v.SHA256 {
			return fmt.Errorf("got %s, want %s", h, v.SHA256)
		}
		return nil
	}
	if int64(len(v.Data)) != got.Len() {
		return fmt.Errorf("got %d elements, want %d", got.Len(), len(v.Data))
	}
	for i, s := range v.Data {
		var same bool
		var have any
		switch got.DType {
		case tensor.Float32:
			x := tensor.View[float32](got)[i]
			want, err := strconv.ParseFloat(s, 64)
			same = err == nil && (math.Float32bits(x) == math.Float32bits(float32(want)) || x != x && want != want)
			have = x
		case tensor.Float64:
			x := tensor.View[float64](got)[i]
			want, err := strconv.ParseFloat(s, 64)
			same = err == nil && (math.Float64bits(x) == math.Float64bits(want) || x != x && want != want)
			have = x
		case tensor.Uint8:
			have = got.Data[i]
			same = fmt.Sprint(have) == s
		case tensor.Int32:
			have = tensor.View[int32](got)[i]
			same = fmt.Sprint(have) == s
		case tensor.Int64:
			have = tensor.View[int64](got)[i]
			same = fmt.Sprint(have) == s
		default:
			return fmt.Errorf("no comparison of %v", got.DType)
		}
		if !same {
			return fmt.Errorf("at %d of %v: got %v, want %s", i, got.Desc, have, s)
		}
	}
	return nil
}

// wider lists the MindSpore types that this module lacks, with their
// replacements.
var wider = map[string][]string{"uint32": {"int32", "int64"}}

// equal compares one column of a row.
func (c *Case) equal(row int, k dataset.Column, got *tensor.Tensor) error {
	if !k.Desc.Matches(got.Desc) {
		return fmt.Errorf("%v does not match the column's %v", got.Desc, k.Desc)
	}
	v := c.Rows[row][k.Name]
	return v.Equal(got, wider)
}

// Allocs returns the average number of allocations to read a row, once the
// sample has its memory.
func Allocs(t testing.TB, d dataset.Rows) float64 {
	ctx := t.Context()
	s := dataset.NewSample(d.Columns())
	all := func() {
		for i := range d.Len() {
			require.NoError(t, d.Read(ctx, i, s))
		}
	}
	all()
	return testing.AllocsPerRun(20, all) / float64(d.Len())
}
