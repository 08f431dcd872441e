package dataset_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/store"
)

// stateful returns definitions that cover every node with words in a state.
func stateful() []*dataset.Dataset {
	col := []dataset.OutColumn{{Name: "x", Desc: int64Column[0].Desc}}
	rows := func(from, n int64) *dataset.Dataset { return dataset.Of(&numbers{From: from, N: n}) }
	stream := func(from, n int64) *dataset.Dataset { return dataset.Of(&numbers{From: from, N: n, Stream: true}) }
	flat := func(d *dataset.Dataset) *dataset.Dataset {
		return dataset.Of(&dataset.FlatMap{Name: "test/several", In: []string{"x"}, Out: col}, d)
	}
	some := func(d *dataset.Dataset) *dataset.Dataset {
		return dataset.Of(&dataset.Filter{Name: "test/some", In: []string{"x"}}, d)
	}
	y := func(d *dataset.Dataset) *dataset.Dataset { return d.Rename([]string{"x"}, []string{"y"}) }
	return []*dataset.Dataset{
		rows(0, 40).Shuffle().ShuffleBuffer(7),
		stream(0, 40).ShuffleBuffer(9).Batch(3),
		dataset.NewInterleave(2, stream(0, 12), rows(100, 9).Shuffle(), stream(200, 5)),
		dataset.Of(&dataset.Mix{Weights: []float64{1, 2}, UntilAll: true}, stream(0, 20), rows(100, 15)),
		dataset.NewMix([]float64{1, 1}, rows(0, 20), stream(100, 20)),
		dataset.NewZip(stream(0, 20), y(rows(100, 20).Shuffle())),
		rows(0, 30).Batch(4).Unbatch().Batch(3),
		dataset.Of(&dataset.BucketBatch{Column: "v", Boundaries: []int{3, 6}, Sizes: []int{4, 3, 2}, Pad: []dataset.PadColumn{{Column: "v", Shape: []int{-1}}}},
			dataset.Of(&vectors{Lengths: []int{1, 5, 9, 2, 4, 3, 7, 1, 1, 6, 2, 8, 3, 5, 5, 1, 2, 9, 4, 6}}).Shuffle()),
		dataset.Of(&dataset.BudgetBatch{Column: "v", Axes: []int{0}, Budget: 12, MaxSamples: 4, Boundaries: []int{4}, Pad: []dataset.PadColumn{{Column: "v", Shape: []int{-1}}}},
			dataset.Of(&vectors{Lengths: []int{1, 5, 9, 2, 4, 3, 7, 1, 1, 6, 2, 8, 3, 5, 5, 1, 2, 9, 4, 6}}).Shuffle()),
		some(stream(0, 15)).Repeat(3),
		some(rows(0, 15).Shuffle()).Repeat(0).Take(50),
		flat(rows(0, 25).Shuffle()).ShuffleBuffer(5),
		some(stream(0, 30)).Skip(3).Take(20),
		stream(0, 10).Concat(rows(50, 10), stream(100, 10)).ShuffleBuffer(4),
		flat(some(rows(0, 20).Repeat(2))),
		rows(0, 60).Watch(dataset.Callback{Every: 2, StepEnd: func(context.Context, dataset.Progress) error { return nil }}),
		rows(0, 10).Repeat(0).ShuffleBuffer(8).Take(40),
		dataset.Of(&dataset.Batch{SizeFunc: "test/sizes"}, rows(0, 40).Shuffle()),
		dataset.Of(&dataset.FuncSampler{Name: "test/order", Count: 50}, rows(0, 40)).Repeat(2).ShuffleBuffer(3),
	}
}

// statefulRanks is the number of ranks that the states of a definition come
// from: it changes from one definition to the next.
func statefulRanks(i int) int { return 1 + i%3 }

// statesOf returns the states of a definition after some steps of all ranks.
func statesOf(t testing.TB, i int, steps []int) ([]*dataset.Built, []*dataset.State) {
	t.Helper()
	world := statefulRanks(i)
	var built []*dataset.Built
	var states []*dataset.State
	for rank := range world {
		b, err := dataset.Build(t.Context(), stateful()[i], dataset.Options{
			Seed: 7, Rank: rank, World: world, AllDone: func(_ context.Context, done bool) (bool, error) { return done, nil },
		})
		require.NoError(t, err)
		t.Cleanup(func() { _ = b.Close() })
		p, err := pullpipe.New(b, nil)
		require.NoError(t, err)
		for range steps[rank] {
			if _, err := p.Next(t.Context()); err == io.EOF {
				break
			} else {
				require.NoError(t, err)
			}
		}
		built, states = append(built, b), append(states, p.State())
		require.NoError(t, p.Close())
	}
	return built, states
}

// The numbers that forge writes into states.
var forgedWords = []int64{
	0, 1, 2, 3, 5, 8, 13, 40, 100, 1 << 20, 1 << 31, 1 << 32, 1 << 40, 1<<60 - 1, 1 << 60, 1<<62 - 1, 1 << 62, math.MaxInt64 - 1, math.MaxInt64,
	-1, -2, -40, -1 << 31, -1 << 62, math.MinInt64, 0x68656c64,
}

// forge changes a state as edits say, three bytes a change.
func forge(s *dataset.State, edits []byte) *dataset.State {
	f := *s
	f.Words, f.Sources = slices.Clone(s.Words), slices.Clone(s.Sources)
	for ; len(edits) >= 3; edits = edits[3:] {
		what, where, v := edits[0]%11, int(edits[1]), forgedWords[int(edits[2])%len(forgedWords)]
		if len(f.Words) == 0 && what < 7 {
			what = 7
		}
		switch what {
		case 0, 1, 2:
			f.Words[where%len(f.Words)] = v
		case 3, 4:
			f.Words[where%len(f.Words)] += int64(int8(edits[2]))
		case 5:
			f.Words = slices.Delete(f.Words, where%len(f.Words), where%len(f.Words)+1)
		case 6:
			f.Words = slices.Insert(f.Words, where%len(f.Words), v)
		case 7:
			f.Rank, f.World = int(edits[1]%5), int(edits[2]%5)
		case 8:
			f.Step, f.Epoch = v, uint64(where)
		case 10:
			f.Sources[where%len(f.Sources)] = v
		case 9:
			if f.Merged = !f.Merged; f.Merged {
				f.Rank, f.World = 0, 1
			}
		}
	}
	return &f
}

// resumes runs a forged state on both engines and merges it. A state that is
// not refused must run to its end.
func resumes(t testing.TB, i int, forged *dataset.State, built []*dataset.Built, states []*dataset.State) (refused bool) {
	t.Helper()
	what := fmt.Sprintf("definition %d: %s, state %+v", i, describe(stateful()[i]), *forged)
	b, err := forged.MarshalBinary()
	require.NoError(t, err)
	var s dataset.State
	if err := s.UnmarshalBinary(b); err != nil {
		require.ErrorIs(t, err, dataset.ErrState, what)
		return true
	}
	of := built[min(max(s.Rank, 0), len(built)-1)]
	for engine := range 2 {
		var p runner
		var err error
		if engine == 0 {
			p, err = pullpipe.New(of, &s)
		} else {
			p, err = pipeline.New(of, pipeline.Options{Workers: 2}, &s)
		}
		if err != nil {
			require.ErrorIs(t, err, dataset.ErrState, what)
			refused = true
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		for range 300 {
			_, err := p.Next(ctx)
			if err == io.EOF {
				break
			}
			if err != nil {
				var panicked *dataset.PanicError
				require.False(t, errors.As(err, &panicked), "%s: %v", what, err)
				require.ErrorIs(t, err, dataset.ErrState, what)
				refused = true
				break
			}
		}
		cancel()
		_ = p.State()
		require.NoError(t, p.Close())
	}
	l := slices.Clone(states)
	l[min(max(s.Rank, 0), len(l)-1)] = &s
	if _, err := of.Merge(l...); err != nil {
		require.ErrorIs(t, err, dataset.ErrState, what)
	}
	return refused
}

// TestForgedStates checks that no state with a right checksum panics, hangs or
// takes memory that its words do not justify.
func TestForgedStates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	refused := 0
	n := graphs(t, 2000)
	for k := range n {
		i := k % len(stateful())
		built, states := statesOf(t, i, []int{r.IntN(15), r.IntN(15), r.IntN(15)})
		edits := make([]byte, 3*(1+r.IntN(3)))
		for j := range edits {
			edits[j] = byte(r.Uint32())
		}
		if resumes(t, i, forge(states[r.IntN(len(states))], edits), built, states) {
			refused++
		}
		for _, b := range built {
			require.NoError(t, b.Close())
		}
	}
	t.Logf("%d forged states: %d refused, %d run", n, refused, n-refused)
	require.Positive(t, refused)
	require.Less(t, refused, n)
}

// FuzzState resumes real states with changed words and right checksums.
func FuzzState(f *testing.F) {
	for i := range stateful() {
		f.Add(byte(i), byte(3), byte(5), []byte{})
		f.Add(byte(i), byte(9), byte(2), []byte{0, 1, 14, 3, 2, 255})
	}
	f.Fuzz(func(t *testing.T, which, a, b byte, edits []byte) {
		if len(edits) > 60 {
			t.Skip("more than 60 edits: short runs find more")
		}
		i := int(which) % len(stateful())
		built, states := statesOf(t, i, []int{int(a % 16), int(b % 16), int(a % 7)})
		resumes(t, i, forge(states[int(b)%len(states)], edits), built, states)
	})
}

// TestStateOfSmallerData checks that a state of a buffer whose samples the data
// no longer has is refused.
func TestStateOfSmallerData(t *testing.T) {
	source := &numbers{N: 200}
	d := dataset.Of(source).Shuffle().ShuffleBuffer(50)
	b, err := dataset.Build(t.Context(), d, dataset.Options{})
	require.NoError(t, err)
	p := pull(t, b, nil)
	rest(t, p, 100)
	state := p.State()
	require.NoError(t, p.Close())
	require.NoError(t, b.Close())
	small, err := dataset.Build(t.Context(), dataset.Of(&numbers{N: 200, Lost: 100}).Shuffle().ShuffleBuffer(50), dataset.Options{})
	require.NoError(t, err)
	defer small.Close()
	_, err = pullpipe.New(small, state)
	require.ErrorIs(t, err, dataset.ErrState)
}

// keyedNumbers is a source with keys of the rows in Numbers. Numbers has no
// written form, as if the source's files had changed.
type keyedNumbers struct {
	Numbers []int64 `json:"-"`
}

func (n *keyedNumbers) Validate() error { return nil }

func (n *keyedNumbers) Open(context.Context, store.Opener) (dataset.Data, error) {
	return keyedRows{numberRows{&numbers{N: int64(len(n.Numbers))}}, n.Numbers}, nil
}

type keyedRows struct {
	numberRows
	l []int64
}

func (r keyedRows) Read(_ context.Context, i int64, s *dataset.Sample) error {
	return (&numbers{From: r.l[i]}).put(0, s)
}

func (r keyedRows) Keys(yield func(string) bool) {
	for _, n := range r.l {
		if !yield(fmt.Sprint("number ", n)) {
			return
		}
	}
}

// TestStateOfChangedData checks that a state does not resume on other data
// without Options.AllowChanged, and that the error says what changed.
func TestStateOfChangedData(t *testing.T) {
	all := make([]int64, 200)
	for i := range all {
		all[i] = int64(i)
	}
	build := func(l []int64, o dataset.Options) *dataset.Built {
		b, err := dataset.Build(t.Context(), dataset.Of(&keyedNumbers{l}).ShuffleBuffer(10), o)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, b.Close()) })
		return b
	}
	before := build(all, dataset.Options{})
	p := pull(t, before, nil)
	first := rest(t, p, 100)
	state := p.State()
	require.NoError(t, p.Close())
	q := pull(t, build(slices.Clone(all), dataset.Options{}), state)
	require.Len(t, rest(t, q, most), 100, "the same data")
	require.NoError(t, q.Close())

	other := slices.Clone(all)
	other[130] = 999
	swapped := slices.Clone(all)
	swapped[17], swapped[180] = swapped[180], swapped[17]
	for _, k := range []struct {
		name string
		l    []int64
		want string
		left int
	}{
		{"removed", slices.Delete(slices.Clone(all), 40, 50), `it had 200 rows and has 190; the first difference is at one of the keys 40 to 47, now "number 50" to "number 57"`, 90},
		{"added at the end", append(slices.Clone(all), 200, 201), `it had 200 rows and has 202; the first difference is at one of the keys 200 to 201, now "number 200" to "number 201"`, 102},
		{"removed at the end", all[:122], "it had 200 rows and has 122; the first 120 keys are equal", 22},
		{"renamed", other, `other keys, 200 as before; the first difference is at one of the keys 128 to 135, now "number 128" to "number 135"`, 100},
		{"moved", swapped, `it has the same 200 keys in another order; the first difference is at one of the keys 16 to 23`, 100},
	} {
		_, err := pullpipe.New(build(k.l, dataset.Options{}), state)
		require.ErrorIs(t, err, dataset.ErrState, k.name)
		require.ErrorContains(t, err, "test/keyed_numbers", k.name)
		require.ErrorContains(t, err, k.want, k.name)
		_, err = build(k.l, dataset.Options{}).Merge(state)
		require.ErrorContains(t, err, k.want, k.name)

		allowed := build(k.l, dataset.Options{AllowChanged: true})
		p := pull(t, allowed, state)
		require.Len(t, rest(t, p, 1000), k.left, k.name)
		require.NoError(t, p.NextEpoch(), k.name)
		require.Len(t, rest(t, p, 1000), len(k.l), "%s: the next epoch", k.name)
		again := p.State()
		require.NoError(t, p.Close())
		_, err = pullpipe.New(build(k.l, dataset.Options{}), again)
		require.NoError(t, err, "%s: a state of the new data", k.name)
	}
	require.Len(t, first, 100)
	_, err := pullpipe.New(build(all[:90], dataset.Options{AllowChanged: true}), state)
	require.ErrorIs(t, err, dataset.ErrState)
	require.ErrorContains(t, err, "a buffered sample at place")
}

// TestStateOfChangedFolder removes and adds images between two runs.
func TestStateOfChangedFolder(t *testing.T) {
	dir := t.TempDir()
	add := func(from, to int) {
		for i := from; i < to; i++ {
			name := filepath.Join(dir, fmt.Sprint("class", i%2), fmt.Sprintf("%04d.jpg", i))
			require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
			require.NoError(t, os.WriteFile(name, []byte{1}, 0o644))
		}
	}
	add(0, 200)
	build := func() *dataset.Built {
		b, err := dataset.Build(t.Context(), dataset.From(imagefolder.New(dir)).Shuffle(), dataset.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, b.Close()) })
		return b
	}
	p, err := pullpipe.New(build(), nil)
	require.NoError(t, err)
	for range 100 {
		_, err := p.Next(t.Context())
		require.NoError(t, err)
	}
	state := p.State()
	require.NoError(t, p.Close())
	_, err = pullpipe.New(build(), state)
	require.NoError(t, err)

	require.NoError(t, os.Remove(filepath.Join(dir, "class0", "0000.jpg")))
	_, err = pullpipe.New(build(), state)
	require.ErrorIs(t, err, dataset.ErrState)
	require.ErrorContains(t, err, `source shuffle/image_folder changed since: it had 200 rows and has 199; the first difference is at one of the keys 0 to 7, now "class0/0002.jpg" to`)
	add(200, 201)
	_, err = pullpipe.New(build(), state)
	require.ErrorIs(t, err, dataset.ErrState)
	require.ErrorContains(t, err, `other keys, 200 as before`)
}

// TestStateOfOldVersion checks that version 1, which did not name its data, is
// refused with a clear text.
func TestStateOfOldVersion(t *testing.T) {
	old := binary.LittleEndian.AppendUint32(nil, 0x74735049)
	old = append(old, 1, 5, 0, 3, 0, 1, 0, 0)
	old = binary.LittleEndian.AppendUint32(old, crc32.ChecksumIEEE(old))
	var s dataset.State
	err := s.UnmarshalBinary(old)
	require.ErrorIs(t, err, dataset.ErrState)
	require.ErrorContains(t, err, "version 1, want version 2")
	b, err := dataset.Build(t.Context(), dataset.Of(&numbers{N: 9}), dataset.Options{})
	require.NoError(t, err)
	defer b.Close()
	_, err = pullpipe.New(b, &dataset.State{Version: 1, World: 1})
	require.ErrorContains(t, err, "version 1, want version 2")
}

func init() {
	dataset.Register(dataset.Info{Name: "test/keyed_numbers", Version: 1, New: func() dataset.Node { return &keyedNumbers{} }})
}
