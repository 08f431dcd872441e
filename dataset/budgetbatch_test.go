package dataset_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// padded is the padding of the column of vectors.
var padded = []dataset.PadColumn{{Column: "v", Shape: []int{-1}, Value: -1}}

func budget(n *dataset.BudgetBatch) *dataset.BudgetBatch {
	n.Column, n.Axes = "v", []int{0}
	return n
}

// rowsOf returns the numbers of the rows in batches of padded vectors.
func rowsOf(text string) (l [][]int) {
	var batches [][][]int
	if err := json.Unmarshal([]byte(text), &batches); err != nil {
		panic(err)
	}
	l = [][]int{}
	for _, b := range batches {
		rows := []int{}
		for _, r := range b {
			rows = append(rows, r[0])
		}
		l = append(l, rows)
	}
	return l
}

// TestBudgetAsFairseq compares batches with those of fairseq's batch_by_size;
// testdata/gen/datasets/budget.py generates them.
func TestBudgetAsFairseq(t *testing.T) {
	text, err := os.ReadFile("../testdata/datasets/budget.json")
	require.NoError(t, err)
	var cases []struct {
		Lengths           []int
		Tokens, Sentences int
		Batches           *[][]int
	}
	require.NoError(t, json.Unmarshal(text, &cases))
	require.Len(t, cases, 36)
	for _, c := range cases {
		d := dataset.Of(budget(&dataset.BudgetBatch{Budget: int64(c.Tokens), MaxSamples: c.Sentences, Pad: padded}), dataset.From(&vectors{c.Lengths}))
		if c.Batches != nil {
			require.Equal(t, *c.Batches, rowsOf(all(t, d)), "%+v", c)
			continue
		}
		// fairseq refuses a sentence that is too long.
		b, err := dataset.Build(t.Context(), d, dataset.Options{})
		require.NoError(t, err)
		p := pull(t, b, nil)
		for err == nil {
			_, err = p.Next(t.Context())
		}
		require.ErrorContains(t, err, fmt.Sprintf("want at most the budget of %d", c.Tokens))
		require.NoError(t, p.Close())
		require.NoError(t, b.Close())
	}
}

// TestBudgetCounts checks what counts against the budget.
func TestBudgetCounts(t *testing.T) {
	rows := func(n *dataset.BudgetBatch, lengths ...int) [][]int {
		return rowsOf(all(t, dataset.Of(budget(n), dataset.From(&vectors{lengths}))))
	}
	require.Equal(t, [][]int{{0, 1}, {2, 3}, {4}}, rows(&dataset.BudgetBatch{Budget: 6, Pad: padded}, 1, 3, 2, 3, 1))
	require.Equal(t, [][]int{{0}, {2}, {1}}, rows(&dataset.BudgetBatch{Budget: 3, Boundaries: []int{2}, Pad: padded}, 2, 1, 2), "one bucket for 1 and one for more")
	require.Equal(t, [][]int{{0, 2}, {4}, {1, 3, 5}}, rows(&dataset.BudgetBatch{Budget: 9, MaxSamples: 3, Boundaries: []int{3}, Pad: padded}, 4, 2, 4, 1, 8, 2))
	require.Equal(t, [][]int{{0, 1}, {2}}, rows(&dataset.BudgetBatch{Budget: 9, Pad: []dataset.PadColumn{{Column: "v", Shape: []int{4}}}}, 1, 2, 1), "each is padded to 4")

	// A concatenated column has no padding.
	concat := datagraph.Batching{Rule: datagraph.BatchConcat}
	require.JSONEq(t, `[[0,1,1,1,2],[3,3,3,3,4]]`, all(t, dataset.Of(&dataset.BudgetBatch{Column: "y", Axes: []int{0}, Budget: 5}, ruled(concat, 1, 3, 1, 4, 1).Project("y"))))
	pad := datagraph.Batching{Rule: datagraph.BatchPad, Value: 9}
	require.JSONEq(t, `[[[0]],[[1,1,1]],[[2]],[[3,3,3,3]],[[4]]]`, all(t, ruled(pad, 1, 3, 1, 4, 1).Project("y").BudgetBatch("y", 5)))
}

// TestBudgetErrors checks the errors of definitions.
func TestBudgetErrors(t *testing.T) {
	v := dataset.From(&vectors{[]int{1}})
	for _, c := range []struct {
		n    dataset.BudgetBatch
		says string
	}{
		{dataset.BudgetBatch{Column: "v", Budget: 1}, "axes [], want 1 to 8 axes"},
		{dataset.BudgetBatch{Column: "v", Axes: []int{1, 0}, Budget: 1}, "axes [1 0], want ascending axes"},
		{dataset.BudgetBatch{Column: "v", Axes: []int{-1}, Budget: 1}, "axes [-1]"},
		{dataset.BudgetBatch{Column: "v", Axes: []int{0}}, "a budget of 0, want 1 to 1099511627776"},
		{dataset.BudgetBatch{Column: "v", Axes: []int{0}, Budget: 1, MaxSamples: -1}, "at most -1 samples, want 0 to 1048576"},
		{dataset.BudgetBatch{Column: "v", Axes: []int{0}, Budget: 1, Boundaries: []int{2, 2}}, "boundaries [2 2], want ascending"},
		{dataset.BudgetBatch{Column: "v", Axes: []int{0, 1}, Budget: 1}, "want an axis 1"},
		{dataset.BudgetBatch{Column: "w", Axes: []int{0}, Budget: 1}, `"w"`},
	} {
		_, err := dataset.Build(t.Context(), dataset.Of(&c.n, v), dataset.Options{})
		require.ErrorContains(t, err, c.says)
	}
	_, err := dataset.Build(t.Context(), v.BudgetBatch("v", 5, padded...).BucketBatch("v", []int{}, []int{1}), dataset.Options{})
	require.ErrorContains(t, err, "a buffer of batches cannot be refilled")
}

// grids is a source of images of the sizes, filled with their numbers.
type grids struct{ sizes [][2]int }

func (g *grids) Validate() error                                          { return nil }
func (g *grids) Open(context.Context, store.Opener) (dataset.Data, error) { return g, nil }
func (g *grids) Close() error                                             { return nil }
func (g *grids) Len() int64                                               { return int64(len(g.sizes)) }

func (g *grids) Columns() []dataset.Column {
	return []dataset.Column{{Name: "image", Desc: tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, 1)}}
}

func (g *grids) Read(_ context.Context, i int64, s *dataset.Sample) error {
	d := tensor.Image(tensor.Uint8, tensor.HWC, g.sizes[i][0], g.sizes[i][1], 1)
	if err := s.Column("image").Reset(d); err != nil {
		return err
	}
	for k := range s.Column("image").Data {
		s.Column("image").Data[k] = uint8(i + 1)
	}
	return nil
}

// TestBudgetPixels checks batches of images by their padded pixels.
func TestBudgetPixels(t *testing.T) {
	d := dataset.Of(&dataset.BudgetBatch{
		Column: "image", Axes: []int{0, 1}, Budget: 64, Pad: []dataset.PadColumn{{Column: "image", Shape: []int{-1, -1, 1}}},
	}, dataset.Of(&grids{[][2]int{{2, 8}, {4, 8}, {8, 2}, {1, 8}, {7, 1}, {8, 8}, {3, 3}}}))
	b, err := dataset.Build(t.Context(), d, dataset.Options{})
	require.NoError(t, err)
	defer b.Close()
	p := pull(t, b, nil)
	defer p.Close()
	var shapes []string
	for {
		s, err := p.Next(t.Context())
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		shapes = append(shapes, s.Column("image").Shape.String())
	}
	require.Equal(t, []string{"(2, 4, 8, 1)", "(1, 8, 2, 1)", "(1, 1, 8, 1)", "(1, 7, 1, 1)", "(1, 8, 8, 1)", "(1, 3, 3, 1)"}, shapes)
}

// batchTexts returns up to most batches of vectors as JSON.
func batchTexts(t *testing.T, p runner, most int) []string {
	t.Helper()
	l := []string{}
	for len(l) < most {
		s, err := p.Next(t.Context())
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		text, err := json.Marshal(nested(&s.Values[0].Tensor))
		require.NoError(t, err)
		l = append(l, string(text))
	}
	return l
}

// TestBudgetProperties checks random budgets: no batch exceeds its budget, and
// no batch had room for the next sample of its bucket. All engines return the
// same batches, also when a run resumes after each one, and report the same
// samples as too large.
func TestBudgetProperties(t *testing.T) {
	for seed := range graphs(t, 100) {
		r := rand.New(rand.NewPCG(uint64(seed), 9))
		v := &vectors{}
		for range r.IntN(60) {
			v.Lengths = append(v.Lengths, 1+r.IntN(12)+r.IntN(2)*r.IntN(8))
		}
		n := budget(&dataset.BudgetBatch{Budget: int64(12 + r.IntN(30)), MaxSamples: r.IntN(6), Pad: padded})
		for b := 1 + r.IntN(12); b < 20 && r.IntN(4) > 0; b += 1 + r.IntN(6) {
			n.Boundaries = append(n.Boundaries, b)
		}
		bucket := func(row int) (i int) {
			for i < len(n.Boundaries) && v.Lengths[row] >= n.Boundaries[i] {
				i++
			}
			return i
		}
		cost := func(rows []int) (c int64) {
			for _, row := range rows {
				c = max(c, int64(v.Lengths[row]))
			}
			return c * int64(len(rows))
		}
		what := fmt.Sprintf("%d: %+v of %v", seed, *n, v.Lengths)
		d := dataset.Of(n, dataset.From(v).Shuffle())
		b, err := dataset.Build(t.Context(), d, dataset.Options{Seed: uint64(seed), OnError: dataset.SkipOnError})
		require.NoError(t, err, what)
		p := pull(t, b, nil)
		want := batchTexts(t, p, most)
		require.NoError(t, p.Close())

		seen := map[int]bool{}
		last := map[int][]int{} // by bucket
		for _, rows := range rowsOf("[" + strings.Join(want, ",") + "]") {
			require.LessOrEqual(t, cost(rows), n.Budget, what)
			i := bucket(rows[0])
			for _, row := range rows {
				require.False(t, seen[row], "%s: row %d again", what, row)
				seen[row] = true
				require.Equal(t, i, bucket(row), what)
			}
			if l := last[i]; len(l) > 0 && len(l) != n.MaxSamples {
				require.Greater(t, cost(append(l, rows[0])), n.Budget, what)
			}
			last[i] = rows
		}
		for row, length := range v.Lengths {
			require.Equal(t, int64(length) <= n.Budget, seen[row], "%s: row %d", what, row)
		}

		for _, workers := range []int{1, 8} {
			q := parallel(t, b, workers, nil)
			require.Equal(t, want, batchTexts(t, q, most), "%s: %d workers", what, workers)
			require.NoError(t, q.Close())
		}
		var state *dataset.State
		got := []string{}
		for k := range want {
			q := pull(t, b, state)
			if k%3 == 2 {
				require.NoError(t, q.Close())
				q = parallel(t, b, 2, state)
			}
			got = append(got, batchTexts(t, q, 1)...)
			text, err := q.State().MarshalBinary()
			require.NoError(t, err)
			state = &dataset.State{}
			require.NoError(t, state.UnmarshalBinary(text))
			require.NoError(t, q.Close())
		}
		require.Equal(t, want, got, what)
		require.NoError(t, b.Close())
	}
}

// TestBudgetTooLarge checks that a run which ends with a sample that is too
// large resumes with it, after the samples that waited.
func TestBudgetTooLarge(t *testing.T) {
	d := dataset.From(&vectors{[]int{2, 2, 9, 2}}).BudgetBatch("v", 8, padded...)
	build := func(p dataset.ErrorPolicy) *dataset.Built {
		b, err := dataset.Build(t.Context(), d, dataset.Options{OnError: p})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, b.Close()) })
		return b
	}
	for _, workers := range []int{0, 2} {
		p := pull(t, build(dataset.FailOnError), nil)
		if workers > 0 {
			require.NoError(t, p.Close())
			p = parallel(t, build(dataset.FailOnError), workers, nil)
		}
		_, err := p.Next(t.Context())
		var e *dataset.SampleError
		require.ErrorAs(t, err, &e)
		require.EqualValues(t, 2, e.Ordinal)
		require.ErrorContains(t, err, `column "v" has a size of 9, want at most the budget of 8`)
		state := p.State()
		require.NoError(t, p.Close())
		q := pull(t, build(dataset.SkipOnError), state)
		require.Equal(t, []string{"[[0,0],[1,1],[3,3]]"}, batchTexts(t, q, 9))
		require.NoError(t, q.Close())
	}
}
