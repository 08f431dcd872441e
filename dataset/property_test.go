package dataset_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// numbers is a source of the numbers from From on.
type numbers struct {
	From   int64 `json:"from"`
	N      int64 `json:"n"`
	Stream bool  `json:"stream"`
	// Lost is the number of rows at the end that are gone. It has no written
	// form, as if the source's files had changed.
	Lost int64 `json:"-"`
	// Bad, if not 0, makes every Bad-th number an error.
	Bad int64 `json:"bad"`
}

func (n *numbers) Validate() error { return nil }

func (n *numbers) Open(context.Context, store.Opener) (dataset.Data, error) {
	if n.Stream {
		return numberStream{n}, nil
	}
	return numberRows{n}, nil
}

var int64Column = []dataset.Column{{Name: "x", Desc: tensor.Desc{DType: tensor.Int64}}}

func (n *numbers) put(i int64, s *dataset.Sample) error {
	s.Key = fmt.Sprint("number ", n.From+i)
	if n.Bad > 0 && (n.From+i)%n.Bad == 1%n.Bad {
		return errTrouble
	}
	if err := s.Column("x").Reset(int64Column[0].Desc); err != nil {
		return err
	}
	tensor.View[int64](&s.Column("x").Tensor)[0] = n.From + i
	return nil
}

type numberRows struct{ n *numbers }

func (r numberRows) Columns() []dataset.Column                                { return int64Column }
func (r numberRows) Len() int64                                               { return r.n.N - r.n.Lost }
func (r numberRows) Read(_ context.Context, i int64, s *dataset.Sample) error { return r.n.put(i, s) }
func (r numberRows) Close() error                                             { return nil }

// Shards are shards of 3, 0, 7, 1 and more rows.
func (r numberRows) Shards() (l []int64) {
	for _, first := range []int64{0, 3, 3, 10, 11} {
		if first == 0 || first < r.Len() {
			l = append(l, first)
		}
	}
	return l
}

type numberStream struct{ n *numbers }

func (r numberStream) Columns() []dataset.Column { return int64Column }
func (r numberStream) Close() error              { return nil }
func (r numberStream) Start(_ context.Context, epoch uint64) (dataset.Reader, error) {
	return &numberReader{n: r.n}, nil
}

type numberReader struct {
	n *numbers
	i int64
}

func (r *numberReader) Next(_ context.Context, s *dataset.Sample) error {
	if r.i == r.n.N {
		return io.EOF
	}
	r.i++
	return r.n.put(r.i-1, s)
}
func (r *numberReader) Close() error { return nil }

func x(t *tensor.Tensor) int64 { return tensor.View[int64](t)[0] }

func init() {
	dataset.RegisterFunc("test/noise", dataset.MapFunc(func(c *dataset.Call, dst []*dataset.Value, src []*tensor.Tensor) error {
		if err := dst[0].Reset(src[0].Desc); err != nil {
			return err
		}
		tensor.View[int64](&dst[0].Tensor)[0] = x(src[0])*1000 + int64(c.IntN(1000))
		return nil
	}))
	dataset.RegisterFunc("test/some", dataset.Predicate(func(c *dataset.Call, src []*tensor.Tensor) (bool, error) {
		return x(src[0])%7 < 5, nil
	}))
	dataset.RegisterFunc("test/order", dataset.SamplerFunc(func(c *dataset.Call, rows int64, order []int64) error {
		for i := range order { // rows of one half, which alternates
			order[i] = (int64(c.Epoch%2)*rows/2 + int64(c.IntN(int(rows+1)/2))) % rows
		}
		return nil
	}))
	dataset.RegisterFunc("test/sizes", dataset.SizeFunc(func(c *dataset.Call, batch int64) (int, error) {
		return int(batch+int64(c.Epoch))%3 + c.IntN(3) + 1, nil
	}))
	dataset.RegisterFunc("test/perbatch", dataset.BatchFunc(func(c *dataset.Call, l []*dataset.Sample) error {
		n := int64(len(l)*1000 + c.IntN(100)*100000)
		for _, s := range l { // the columns x to n, x+n
			v := x(&s.Values[0].Tensor)
			s.Resize(2)
			for i, y := range []int64{n, v + n} {
				if err := s.Values[i].Reset(int64Column[0].Desc); err != nil {
					return err
				}
				tensor.View[int64](&s.Values[i].Tensor)[0] = y
			}
		}
		return nil
	}))
	dataset.RegisterFunc("test/several", dataset.FlatMapFunc(func(c *dataset.Call, i int, dst []*dataset.Value, src []*tensor.Tensor) (bool, error) {
		if int64(i) == x(src[0])%4 {
			return false, nil
		}
		if err := dst[0].Reset(src[0].Desc); err != nil {
			return false, err
		}
		tensor.View[int64](&dst[0].Tensor)[0] = x(src[0])*10 + int64(i)
		return true, nil
	}))
}

// definition returns a random definition. Its parts may have no index or no
// end.
func definition(r *rand.Rand, depth int) *dataset.Dataset {
	if depth == 0 || r.IntN(8) == 0 {
		return dataset.Of(&numbers{From: int64(r.IntN(5)) * 100, N: int64(r.IntN(30)), Stream: r.IntN(4) == 0})
	}
	one := func() *dataset.Dataset { return definition(r, depth-1) }
	col := []dataset.OutColumn{{Name: "x", Desc: int64Column[0].Desc}}
	switch r.IntN(21) {
	case 0:
		return one().Shuffle()
	case 1:
		return one().Repeat(int64(r.IntN(3) + 1))
	case 2:
		return one().Skip(int64(r.IntN(10)))
	case 3:
		return one().Take(int64(r.IntN(40)))
	case 4:
		return one().Concat(one(), one())
	case 5:
		return one().Split(uint64(r.IntN(3)), 0.25, 0.75)[r.IntN(2)]
	case 6:
		return dataset.Of(&dataset.Filter{Name: "test/some", In: []string{"x"}}, one())
	case 7, 8:
		return dataset.Of(&dataset.Func{Name: "test/noise", In: []string{"x"}, Out: col}, one())
	case 9:
		return dataset.Of(&dataset.FlatMap{Name: "test/several", In: []string{"x"}, Out: col}, one())
	case 10:
		return one().ShuffleBuffer(r.IntN(12) + 1)
	case 11:
		return dataset.Of(&dataset.Mix{Weights: []float64{1, 2}, UntilAll: r.IntN(2) == 0}, one(), one())
	case 12:
		return dataset.Of(&dataset.Interleave{Block: int64(r.IntN(3) + 1), Lanes: r.IntN(3)}, one(), one(), one())
	case 13:
		return dataset.NewZip(one(), one().Rename([]string{"x"}, []string{"y"})).Project("y").Rename([]string{"y"}, []string{"x"})
	case 14:
		return one().Batch(r.IntN(4) + 1).Unbatch()
	case 15:
		return dataset.Of(&dataset.FuncSampler{Name: "test/order", Count: int64(r.IntN(3) * r.IntN(20))}, one())
	case 16:
		return dataset.Of(&dataset.Batch{SizeFunc: "test/sizes", DropRemainder: r.IntN(2) == 0, Pad: []dataset.PadColumn{}, Out: []dataset.OutColumn{}}, one()).Unbatch()
	case 17:
		out := []dataset.OutColumn{{Name: "n", Desc: int64Column[0].Desc}, col[0]}
		return dataset.Of(&dataset.Batch{Size: r.IntN(4) + 1, PerBatch: "test/perbatch", Pad: []dataset.PadColumn{}, Out: out}, one()).Unbatch().Project("x")
	case 18:
		return one().Sample(&dataset.RandomSampler{Replacement: r.IntN(2) == 0})
	case 19:
		return definition(r, 0).ShuffleShards(int64(r.IntN(12)+1), int64(r.IntN(4)+1))
	default:
		return one().Repeat(0).Take(int64(r.IntN(60)))
	}
}

// built returns a random definition that Build accepts.
func built(t *testing.T, r *rand.Rand, o dataset.Options) (*dataset.Dataset, *dataset.Built) {
	t.Helper()
	for {
		d := definition(r, r.IntN(5)+1)
		if r.IntN(3) == 0 {
			d = d.Batch(r.IntN(5) + 1)
		}
		b, err := dataset.Build(t.Context(), d, o)
		if err == nil {
			return d, b
		}
		require.ErrorIs(t, err, dataset.ErrDefinition, "%v", err)
	}
}

type runner interface {
	Next(context.Context) (*dataset.Sample, error)
	NextEpoch() error
	State() *dataset.State
	Close() error
}

const most = 150

// rest returns up to most of the remaining samples of an epoch.
func rest(t *testing.T, p runner, most int) []string {
	t.Helper()
	l := []string{}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for len(l) < most {
		s, err := p.Next(ctx)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		l = append(l, fmt.Sprint(tensor.View[int64](&s.Values[0].Tensor)))
	}
	return l
}

func pull(t *testing.T, b *dataset.Built, s *dataset.State) runner {
	t.Helper()
	p, err := pullpipe.New(b, s)
	require.NoError(t, err)
	return p
}

func parallel(t *testing.T, b *dataset.Built, workers int, s *dataset.State) runner {
	t.Helper()
	p, err := pipeline.New(b, pipeline.Options{Workers: workers}, s)
	require.NoError(t, err)
	return p
}

func describe(d *dataset.Dataset) string {
	var in []string
	for _, x := range d.In {
		in = append(in, describe(x))
	}
	return fmt.Sprintf("%s%+v(%s)", dataset.InfoOf(d.Node).Name, d.Node, strings.Join(in, ", "))
}

// graphs returns the number of definitions that a test draws.
func graphs(t *testing.T, full int) int {
	t.Helper()
	return short.Rounds(t, full, full/20)
}

// TestSameSamples checks that both engines return the same samples in the same
// order, with 1, 2 and 8 workers, in two epochs, and after a stop and resume at
// any place on either engine.
func TestSameSamples(t *testing.T) {
	lengths := 0
	for seed := range graphs(t, 800) {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		d, b := built(t, r, dataset.Options{Seed: uint64(seed)})
		what := fmt.Sprintf("definition %d: %s", seed, describe(d))
		p := pull(t, b, nil)
		want := [2][]string{rest(t, p, most)}
		lengths += len(want[0])
		ended := len(want[0]) < most
		if n := b.Len(); n >= 0 && ended {
			require.Equal(t, int(n), len(want[0]), "%s: Len", what)
		}
		require.NoError(t, p.NextEpoch())
		want[1] = rest(t, p, most)
		require.NoError(t, p.Close())
		for _, workers := range []int{1, 2, 8} {
			q := parallel(t, b, workers, nil)
			require.Equal(t, want[0], rest(t, q, most), "%s: %d workers", what, workers)
			require.NoError(t, q.NextEpoch())
			require.Equal(t, want[1], rest(t, q, most), "%s: epoch 1, %d workers", what, workers)
			require.NoError(t, q.Close())
		}
		for _, k := range []int{0, 1, r.IntN(len(want[0]) + 1), r.IntN(len(want[0]) + 1), len(want[0])} {
			k = min(k, len(want[0]))
			first := pull(t, b, nil)
			if r.IntN(2) == 0 {
				first = parallel(t, b, 3, nil)
			}
			require.Equal(t, want[0][:k], rest(t, first, k), what)
			bytes, err := first.State().MarshalBinary()
			require.NoError(t, err)
			require.NoError(t, first.Close())
			var state dataset.State
			require.NoError(t, state.UnmarshalBinary(bytes))
			second := pull(t, b, &state)
			if r.IntN(2) == 0 {
				second = parallel(t, b, 2, &state)
			}
			require.Equal(t, want[0][k:], rest(t, second, len(want[0])-k), "%s: resumed after %d", what, k)
			if ended && r.IntN(4) == 0 {
				require.Empty(t, rest(t, second, 1), what)
				require.NoError(t, second.NextEpoch())
				require.Equal(t, want[1], rest(t, second, most), "%s: the epoch after", what)
			}
			require.NoError(t, second.Close())
		}
		require.NoError(t, b.Close())
	}
	t.Logf("%d samples", lengths)
}

// TestResumeAfterEverySample stops and resumes after every sample.
func TestResumeAfterEverySample(t *testing.T) {
	for seed := range graphs(t, 60) {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		d, b := built(t, r, dataset.Options{Seed: uint64(seed)})
		what := fmt.Sprintf("definition %d: %s", seed, describe(d))
		p := pull(t, b, nil)
		want := rest(t, p, 60)
		require.NoError(t, p.Close())
		got := []string{}
		var state *dataset.State
		for range want {
			q := pull(t, b, state)
			got = append(got, rest(t, q, 1)...)
			state = q.State()
			require.NoError(t, q.Close())
		}
		require.Equal(t, want, got, what)
		require.NoError(t, b.Close())
	}
}
