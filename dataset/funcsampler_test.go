package dataset_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
)

// TestFuncSampler checks rows, epochs, passes of a Repeat, ranks and the
// written form.
func TestFuncSampler(t *testing.T) {
	called := 0
	reverse := func(c *dataset.Call, rows int64, order []int64) error {
		called++
		for i := range order {
			order[i] = (rows - 1 - int64(i) + int64(c.Epoch)) % rows
		}
		return nil
	}
	d := dataset.Of(&numbers{N: 5}).SampleFunc(4, reverse)
	b, err := dataset.Build(t.Context(), d, dataset.Options{})
	require.NoError(t, err)
	defer b.Close()
	require.EqualValues(t, 4, b.Len())
	p := pull(t, b, nil)
	defer p.Close()
	require.Equal(t, []string{"[4]", "[3]", "[2]", "[1]"}, rest(t, p, most))
	require.NoError(t, p.NextEpoch())
	require.Equal(t, []string{"[0]", "[4]", "[3]", "[2]"}, rest(t, p, most))
	require.Equal(t, 2, called)
	q := parallel(t, b, 8, nil)
	defer q.Close()
	require.Equal(t, []string{"[4]", "[3]", "[2]", "[1]"}, rest(t, q, most))
	require.Equal(t, 2, called, "the Built keeps the orders")

	l, err := ranks(t, d.Repeat(3), 2, dataset.Options{})
	require.NoError(t, err)
	for rank, b := range l {
		p := pull(t, b, nil)
		defer p.Close()
		require.Equal(t, [][]string{{"[4]", "[2]", "[0]", "[3]", "[1]", "[4]"}, {"[3]", "[1]", "[4]", "[2]", "[0]", "[3]"}}[rank], rest(t, p, most))
	}

	_, err = json.Marshal(d)
	require.ErrorIs(t, err, dataset.ErrUnknownNode)
	text, err := json.Marshal(dataset.Of(&dataset.FuncSampler{Name: "test/order", Count: 7}, dataset.Of(&numbers{N: 5})))
	require.NoError(t, err)
	require.Contains(t, string(text), `{"node":"func_sampler","version":1,"params":{"name":"test/order","count":7}`)
}

// TestFuncSamplerErrors checks invalid rows, errors and panics of the function,
// at once and in a later epoch, below a Concat and above one.
func TestFuncSamplerErrors(t *testing.T) {
	ten := func() *dataset.Dataset { return dataset.Of(&numbers{N: 10}) }
	bad := func(from uint64, what func(order []int64) error) dataset.SamplerFunc {
		return func(c *dataset.Call, rows int64, order []int64) error {
			for i := range order {
				order[i] = int64(i)
			}
			if c.Epoch < from {
				return nil
			}
			return what(order)
		}
	}
	set := func(v int64) func([]int64) error {
		return func(order []int64) error { order[3] = v; return nil }
	}
	for _, c := range []struct {
		name string
		d    *dataset.Dataset
		n    int // good samples
		want string
	}{
		{"too large", ten().SampleFunc(5, bad(0, set(10))), 0, "dataset: func_sampler: invalid definition: the sampler's row 3 of epoch 0 is 10, want 0 to 9"},
		{"negative", ten().SampleFunc(5, bad(0, set(-7))), 0, "row 3 of epoch 0 is -7"},
		{"not set", ten().SampleFunc(5, func(*dataset.Call, int64, []int64) error { return nil }), 0, "row 0 of epoch 0 is -1"},
		{"an error", ten().SampleFunc(0, bad(0, func([]int64) error { return errTrouble })), 0, "dataset: func_sampler: trouble"},
		{"a panic", ten().SampleFunc(0, bad(0, func([]int64) error { panic("oh") })), 0, "panic: oh"},
		{"later", ten().SampleFunc(4, bad(2, set(10))).Repeat(5), 8, "row 3 of epoch 2 is 10"},
		{"below a Concat", ten().Concat(ten().SampleFunc(4, bad(0, set(10)))), 10, "dataset: concat/1:func_sampler: "},
		{"above a Concat", ten().Concat(ten()).SampleFunc(4, bad(0, set(20))), 0, "dataset: func_sampler: "},
		{"below a Zip", dataset.NewZip(ten(), ten().SampleFunc(4, bad(0, set(10))).Rename([]string{"x"}, []string{"y"})), 0, "dataset: zip/1:rename/func_sampler: "},
	} {
		for _, policy := range []dataset.ErrorPolicy{dataset.FailOnError, dataset.SkipOnError, dataset.ReplaceOnError} {
			b, err := dataset.Build(t.Context(), c.d, dataset.Options{OnError: policy})
			require.NoError(t, err)
			for name, p := range engines(t, b, nil) {
				l, err := upTo(t, p, most)
				require.Len(t, l, c.n, "%s: %s", c.name, name)
				require.ErrorContains(t, err, c.want, "%s: %s", c.name, name)
				var ne *dataset.NodeError
				require.True(t, errors.As(err, &ne))
				state := p.State()
				require.NoError(t, p.Close())
				q := pull(t, b, state)
				_, err = upTo(t, q, 1)
				require.ErrorContains(t, err, c.want, "%s: %s: resumed", c.name, name)
				require.NoError(t, q.Close())
			}
			require.NoError(t, b.Close())
		}
	}
	order := func(n int64) dataset.Node { return &dataset.FuncSampler{Name: "test/order", Count: n} }
	for want, d := range map[string]*dataset.Dataset{
		"random access":                 dataset.Of(&numbers{N: 5, Stream: true}).Sample(order(0)),
		"a sampler of an endless":       ten().Repeat(0).Sample(order(0)),
		"7 rows of 0":                   dataset.Of(&numbers{}).Sample(order(7)),
		"count -1":                      ten().Sample(order(-1)),
		"count 268435457":               ten().Sample(order(1<<28 + 1)),
		`function "test/some" is a`:     ten().Sample(&dataset.FuncSampler{Name: "test/some"}),
		"func_sampler below a cache":    ten().Sample(order(0)).FileCache(t.TempDir()+"/cache", 1<<10),
		`unknown dataset function "no"`: ten().Sample(&dataset.FuncSampler{Name: "no"}),
	} {
		_, err := dataset.Build(t.Context(), d, dataset.Options{})
		require.ErrorContains(t, err, want)
	}
	b, err := dataset.Build(t.Context(), dataset.Of(&numbers{}).Sample(order(0)), dataset.Options{})
	require.NoError(t, err)
	defer b.Close()
	p := pull(t, b, nil)
	defer p.Close()
	require.Empty(t, rest(t, p, most))
}
