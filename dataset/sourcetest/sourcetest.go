// Package sourcetest checks that a dataset.Source keeps the contract of package
// dataset. Tests of sources use it, in this module and in others.
package sourcetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/spec"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// most is the number of rows read from the beginning and from the end.
const most = 200

// Run checks a valid source. The opened Data must keep the contract of Rows or
// Stream, and of Keyed, Classed and ClassIndexed if it implements them. It must
// have the same samples when it is opened again. All samples must be readable.
// An invalid row must be an error of kind ErrParam.
func Run(t *testing.T, src dataset.Source) {
	t.Helper()
	require.NoError(t, src.Validate())
	first := read(t, src, func(d dataset.Data) {
		columns(t, d)
		keys(t, d)
		switch d := d.(type) {
		case dataset.Rows:
			rows(t, d)
		case dataset.Stream:
			stream(t, d)
		default:
			require.Fail(t, "neither Rows nor Stream", "%T", d)
		}
		classes(t, d)
	})
	again := read(t, src, nil)
	require.Len(t, again, len(first), "samples when it is opened again")
	for i := range first {
		equal(t, first[i], again[i], "opened again: sample %d", i)
	}
}

// Spec checks that a registered node survives encoding as JSON and msgp
// unchanged, and that truncated, extended and incomplete forms are refused.
func Spec(t *testing.T, n dataset.Node) {
	t.Helper()
	i := dataset.InfoOf(n)
	require.Positive(t, i.Version, "%T is not registered", n)
	require.NotEmpty(t, i.Doc)
	require.NotSame(t, i.New(), i.New())
	require.Equal(t, reflect.TypeOf(n), reflect.TypeOf(i.New()))

	text, err := json.Marshal(n)
	require.NoError(t, err)
	back := i.New()
	require.NoError(t, spec.Unmarshal(text, back), "%s", text)
	require.Equal(t, n, back)
	var params map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &params))
	for name := range params {
		fewer := map[string]json.RawMessage{}
		for k, v := range params {
			if k != name {
				fewer[k] = v
			}
		}
		b, err := json.Marshal(fewer)
		require.NoError(t, err)
		require.Error(t, spec.Unmarshal(b, i.New()), "JSON without %q", name)
	}
	params["no_such_parameter"] = json.RawMessage("1")
	b, err := json.Marshal(params)
	require.NoError(t, err)
	require.Error(t, spec.Unmarshal(b, i.New()), "JSON with an unknown parameter")

	source, ok := n.(dataset.Source)
	require.True(t, ok, "%T is no Source", n)
	bin, err := dataset.From(source).MarshalMsg(nil)
	require.NoError(t, err)
	for range 8 {
		b, err := dataset.From(source).MarshalMsg(nil)
		require.NoError(t, err)
		require.Equal(t, bin, b, "msgp gives other bytes")
	}
	var whole dataset.Dataset
	left, err := whole.UnmarshalMsg(bin)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Equal(t, n, whole.Node, "msgp")
	for cut := range bin {
		_, err := new(dataset.Dataset).UnmarshalMsg(bin[:cut])
		require.Error(t, err, "msgp cut to %d of %d bytes", cut, len(bin))
	}
}

// Allocs returns the number of allocations to read a row in steady state,
// averaged over the first rows.
func Allocs(t *testing.T, src dataset.Source) float64 {
	t.Helper()
	d, err := src.Open(t.Context(), store.Local)
	require.NoError(t, err)
	defer d.Close()
	r, ok := d.(dataset.Rows)
	require.True(t, ok, "%T is no Rows", d)
	s := dataset.NewSample(d.Columns())
	n := min(r.Len(), most)
	for i := range n {
		require.NoError(t, r.Read(t.Context(), i, s))
	}
	i := int64(0)
	return testing.AllocsPerRun(100, func() {
		if err := r.Read(t.Context(), i, s); err != nil {
			t.Error(err)
		}
		i = (i + 1) % n
	})
}

// Samples returns copies of all samples of a source; for a Stream, those of
// epoch 0.
func Samples(t *testing.T, src dataset.Source) []*dataset.Sample {
	t.Helper()
	return samples(t, src, store.Local)
}

func samples(t *testing.T, src dataset.Source, o store.Opener) []*dataset.Sample {
	t.Helper()
	d, err := src.Open(t.Context(), o)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	if st, ok := d.(dataset.Stream); ok {
		return epoch(t, st, 0, -1)
	}
	r, ok := d.(dataset.Rows)
	require.True(t, ok, "%T is neither Rows nor Stream", d)
	var all []*dataset.Sample
	s := dataset.NewSample(d.Columns())
	for i := range r.Len() {
		require.NoError(t, r.Read(t.Context(), i, s), "row %d", i)
		all = append(all, clone(t, s))
	}
	return all
}

// read opens a source, passes it to f and returns its samples.
func read(t *testing.T, src dataset.Source, f func(dataset.Data)) []*dataset.Sample {
	t.Helper()
	d, err := src.Open(t.Context(), store.Local)
	require.NoError(t, err)
	if f != nil {
		f(d)
	}
	var all []*dataset.Sample
	switch d := d.(type) {
	case dataset.Rows:
		s := dataset.NewSample(d.Columns())
		for _, i := range indices(d) {
			require.NoError(t, d.Read(t.Context(), i, s), "row %d", i)
			all = append(all, clone(t, s))
		}
	case dataset.Stream:
		all = epoch(t, d, 0, most)
	}
	require.NoError(t, d.Close())
	require.NotPanics(t, func() { _ = d.Close() }, "Close twice")
	return all
}

// keys checks Keyed.
func keys(t *testing.T, d dataset.Data) {
	t.Helper()
	k, ok := d.(dataset.Keyed)
	if !ok {
		return
	}
	list := func(most int) (l []string) {
		k.Keys(func(key string) bool {
			require.Less(t, len(l), most, "Keys goes on after yield returned false")
			require.NotEmpty(t, key, "key %d", len(l))
			l = append(l, key)
			return len(l) < most
		})
		return l
	}
	all := list(math.MaxInt)
	require.Equal(t, all, list(math.MaxInt), "keys when asked again")
	if len(all) > 0 {
		require.Equal(t, all[:1], list(1), "the first key")
	}
}

func columns(t *testing.T, d dataset.Data) {
	t.Helper()
	c := d.Columns()
	require.NotEmpty(t, c, "columns")
	seen := map[string]bool{}
	for _, c := range c {
		require.NotEmpty(t, c.Name, "name of a column")
		require.False(t, seen[c.Name], "two columns are named %q", c.Name)
		seen[c.Name] = true
		require.NoError(t, c.Desc.Validate(), "column %q", c.Name)
		require.NoError(t, c.Desc.DType.Validate(), "column %q", c.Name)
	}
	require.Equal(t, c, d.Columns(), "columns when asked again")
}

// matches requires that a sample matches its columns.
func matches(t *testing.T, d dataset.Data, s *dataset.Sample, what string, i int64) {
	t.Helper()
	c := d.Columns()
	require.Len(t, s.Values, len(c), "%s %d: values", what, i)
	require.NotEmpty(t, s.Key, "%s %d: key", what, i)
	for n, c := range c {
		v := &s.Values[n]
		require.True(t, c.Desc.Matches(v.Desc), "%s %d: column %q is %v, want %v", what, i, c.Name, v.Desc, c.Desc)
		if v.DType == tensor.Bytes {
			continue
		}
		require.True(t, v.Shape.Known(), "%s %d: column %q is %v", what, i, c.Name, v.Desc)
		dense, err := tensor.New(v.Desc)
		require.NoError(t, err)
		require.NoError(t, v.CopyTo(dense), "%s %d: column %q", what, i, c.Name)
	}
}

// indices returns the indices of the first and last rows.
func indices(r dataset.Rows) (l []int64) {
	n := r.Len()
	for i := range min(n, most) {
		l = append(l, i)
	}
	for i := max(n-most, int64(len(l))); i < n; i++ {
		l = append(l, i)
	}
	return l
}

// together reads all rows from several goroutines.
func together(t *testing.T, r dataset.Rows, all []int64, want map[int64]*dataset.Sample) {
	t.Helper()
	n := r.Len()
	var wg sync.WaitGroup
	errs := make([]error, 8)
	got := make([][]*dataset.Sample, len(errs))
	for g := range errs {
		wg.Go(func() {
			s := dataset.NewSample(r.Columns())
			for k := range all {
				i := all[(k*(g%2*2-1)+g*len(all)/8+len(all))%len(all)]
				if errs[g] = r.Read(t.Context(), i, s); errs[g] != nil {
					return
				}
				c := new(dataset.Sample)
				if errs[g] = c.CopyFrom(s); errs[g] != nil {
					return
				}
				c.Ordinal = uint64(i)
				got[g] = append(got[g], c)
				if r.Len() != n {
					errs[g] = errors.New("method Len changes its result")
				}
			}
		})
	}
	wg.Wait()
	for g := range errs {
		require.NoError(t, errs[g])
		for _, s := range got[g] {
			equal(t, want[int64(s.Ordinal)], s, "row %d, read by several goroutines", s.Ordinal)
		}
	}
}

func rows(t *testing.T, r dataset.Rows) {
	t.Helper()
	n := r.Len()
	require.GreaterOrEqual(t, n, int64(0), "Len")
	all := indices(r)
	if x, ok := r.(dataset.Sharded); ok && n > 0 {
		l := x.Shards()
		require.True(t, slices.IsSorted(l) && l[0] == 0 && l[len(l)-1] <= n, "Shards: %v", l)
	}

	// Read each row twice into samples without memory: values with equal
	// addresses are shared.
	want := map[int64]*dataset.Sample{}
	type shared struct{ now, before tensor.Tensor }
	var share []shared
	for _, i := range all {
		a, b := dataset.NewSample(r.Columns()), dataset.NewSample(r.Columns())
		require.NoError(t, r.Read(t.Context(), i, a), "row %d", i)
		require.NoError(t, r.Read(t.Context(), i, b), "row %d", i)
		matches(t, r, a, "row", i)
		equal(t, a, b, "row %d, read twice", i)
		want[i] = clone(t, a)
		for c := range a.Values {
			if x, y := a.Values[c].Data, b.Values[c].Data; len(x) > 0 && unsafe.SliceData(x) == unsafe.SliceData(y) {
				share = append(share, shared{a.Values[c].Tensor, want[i].Values[c].Tensor})
			}
		}
	}
	// Read rows of all sizes into one sample: forwards, backwards and strided.
	s := dataset.NewSample(r.Columns())
	for k := range all {
		for _, i := range []int64{all[k], all[len(all)-1-k], all[k*7%len(all)]} {
			require.NoError(t, r.Read(t.Context(), i, s), "row %d", i)
			equal(t, want[i], s, "row %d in a used sample", i)
		}
	}
	// Read into a sample that held other data.
	for c := range s.Values {
		require.NoError(t, s.Values[c].Reset(tensor.Desc{DType: tensor.Float64, Shape: tensor.Dims(3, 5)}))
	}
	for _, i := range all {
		require.NoError(t, r.Read(t.Context(), i, s), "row %d", i)
		equal(t, want[i], s, "row %d in a sample of other data", i)
	}

	together(t, r, all, want)
	for _, s := range share {
		dense, err := tensor.New(s.before.Desc)
		require.NoError(t, err)
		if s.now.DType == tensor.Bytes {
			dense = &s.now
		} else {
			require.NoError(t, s.now.CopyTo(dense))
		}
		require.True(t, bytes.Equal(s.before.Data, dense.Data), "shared memory was written")
	}

	c, classed := r.(dataset.Classed)
	for _, i := range []int64{-1, n, n + 1, 1 << 62, -1 << 63} {
		require.NotPanics(t, func() {
			require.ErrorIs(t, r.Read(t.Context(), i, dataset.NewSample(r.Columns())), dataset.ErrParam, "row %d of %d", i, n)
			if classed {
				_, err := c.Class(i)
				require.ErrorIs(t, err, dataset.ErrParam, "class of row %d of %d", i, n)
			}
		})
	}
}

func stream(t *testing.T, d dataset.Stream) {
	t.Helper()
	for e := range uint64(3) {
		whole := epoch(t, d, e, most)
		again := epoch(t, d, e, most)
		require.Len(t, again, len(whole), "samples of epoch %d, started again", e)
		for i := range whole {
			matches(t, d, whole[i], "sample", int64(i))
			equal(t, whole[i], again[i], "epoch %d started again: sample %d", e, i)
		}
	}
	// Run two readers at once, and close one early.
	a, err := d.Start(t.Context(), 0)
	require.NoError(t, err)
	b, err := d.Start(t.Context(), 0)
	require.NoError(t, err)
	s, u := dataset.NewSample(d.Columns()), dataset.NewSample(d.Columns())
	for range 3 {
		if err := a.Next(t.Context(), s); err == io.EOF {
			break
		}
		require.NoError(t, err)
		require.NoError(t, b.Next(t.Context(), u))
		equal(t, clone(t, s), clone(t, u), "two readers at once")
	}
	require.NoError(t, a.Close())
	require.NotPanics(t, func() { _ = a.Close() }, "Close twice")
	require.NoError(t, b.Close())
}

// epoch reads up to n samples of an epoch, or all of them if n < 0.
func epoch(t *testing.T, d dataset.Stream, e uint64, n int) (all []*dataset.Sample) {
	t.Helper()
	r, err := d.Start(t.Context(), e)
	require.NoError(t, err, "Start(%d)", e)
	s := dataset.NewSample(d.Columns())
	for n < 0 || len(all) < n {
		err := r.Next(t.Context(), s)
		if err == io.EOF {
			require.Equal(t, io.EOF, r.Next(t.Context(), s), "after the end")
			break
		}
		require.NoError(t, err, "sample %d of epoch %d", len(all), e)
		all = append(all, clone(t, s))
	}
	require.NoError(t, r.Close())
	return all
}

func classes(t *testing.T, d dataset.Data) {
	t.Helper()
	if x, ok := d.(dataset.ClassIndexed); ok {
		require.Equal(t, x.ClassIndex(), x.ClassIndex(), "names of classes when asked again")
	}
	c, ok := d.(dataset.Classed)
	if !ok {
		return
	}
	for _, i := range indices(c) {
		a, err := c.Class(i)
		require.NoError(t, err)
		b, err := c.Class(i)
		require.NoError(t, err)
		require.Equal(t, a, b, "class of row %d", i)
	}
}

func clone(t *testing.T, s *dataset.Sample) *dataset.Sample {
	t.Helper()
	c := new(dataset.Sample)
	require.NoError(t, c.CopyFrom(s))
	return c
}

// equal requires that two samples have the same values and key.
func equal(t *testing.T, want, got *dataset.Sample, what string, args ...any) {
	t.Helper()
	args = append([]any{what + ": column %d"}, append(args, 0)...)
	require.Equal(t, want.Key, got.Key, args...)
	require.Len(t, got.Values, len(want.Values), args...)
	got = clone(t, got)
	for i := range want.Values {
		args[len(args)-1] = i
		require.Equal(t, want.Values[i].Desc, got.Values[i].Desc, args...)
		require.True(t, bytes.Equal(want.Values[i].Data, got.Values[i].Data), args...)
	}
}
