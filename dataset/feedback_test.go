package dataset_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/fakeimage"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
	t "github.com/infer-prep/infer-prep/transforms"
)

func fakeImages(n int64) *dataset.Dataset {
	s := fakeimage.New()
	s.Images, s.Height, s.Width = n, 6, 8
	return dataset.From(s)
}

// policyGraph has a feedback policy of three lists, and its index.
func policyGraph() *datagraph.Graph {
	g := datagraph.New()
	g.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, 6, 8, 3)
	p := t.NewFeedbackPolicy("aug").
		Policy(1, t.NewRandomApply(0.5, t.NewInvert())).
		Policy(1, t.NewVerticalFlip(), t.NewRandomHorizontalFlip()).
		Policy(2, t.NewRandomCrop(6, 8, 1))
	g.Add(p).Add(t.NewPolicyIndex("aug"))
	g.Outputs = append(g.Outputs, "policy")
	return g
}

// policyDataset has 23 samples in batches of 4 above two maps and a buffer.
func policyDataset() *dataset.Dataset {
	after := datagraph.New(t.NewRandomVerticalFlip())
	after.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, 6, 8, 3)
	return fakeImages(23).Shuffle().Map(policyGraph()).Map(after).ShuffleBuffer(5).Batch(4)
}

// feeder is a run whose weights change.
type feeder interface {
	runner
	Epoch() uint64
	Step() int64
	SetWeights(name string, weights []float64) error
	Weights(name string) ([]float64, error)
}

// digest describes a batch: a checksum of the images, and the indices.
func digest(s *dataset.Sample, b *dataset.Built) string {
	sum := crc32.NewIEEE()
	var index []int32
	for i, c := range b.Columns() {
		if c.Name == "policy" {
			index = slices.Clone(tensor.View[int32](&s.Values[i].Tensor))
		}
		sum.Write(s.Values[i].Data)
	}
	return fmt.Sprintf("%08x %v", sum.Sum32(), index)
}

// feed runs epochs and changes the weights within the first one and after each.
// It calls at before each Next.
func feed(test *testing.T, p feeder, b *dataset.Built, epochs uint64, at func(step int)) []string {
	test.Helper()
	l := []string{}
	for step := 0; ; step++ {
		if at != nil {
			at(step)
		}
		s, err := p.Next(test.Context())
		if err == io.EOF {
			w, err := p.Weights("aug")
			require.NoError(test, err)
			next, err := t.UpdateWeights(w, []float64{0.5, math.NaN(), 2}, 1, 0.1)
			require.NoError(test, err)
			if p.Epoch() > 0 { // else those that were set within the epoch stay
				require.NoError(test, p.SetWeights("aug", next))
			}
			if p.Epoch()+1 == epochs {
				return l
			}
			require.NoError(test, p.NextEpoch())
			continue
		}
		require.NoError(test, err)
		l = append(l, digest(s, b))
		if p.Epoch() == 0 && p.Step() == 3 {
			require.NoError(test, p.SetWeights("aug", []float64{0, 1, 4}))
		}
	}
}

func policyBuilt(test *testing.T, o dataset.Options) *dataset.Built {
	test.Helper()
	o.Seed = 7
	b, err := dataset.Build(test.Context(), policyDataset(), o)
	require.NoError(test, err)
	test.Cleanup(func() { _ = b.Close() })
	return b
}

func feeders(test *testing.T, b *dataset.Built, s *dataset.State) map[string]feeder {
	test.Helper()
	l := map[string]feeder{}
	p, err := pullpipe.New(b, s)
	require.NoError(test, err)
	l["pullpipe"] = p
	for _, n := range []int{1, 3} {
		q, err := pipeline.New(b, pipeline.Options{Workers: n}, s)
		require.NoError(test, err)
		l[fmt.Sprint("pipeline ", n)] = q
	}
	return l
}

// TestFeedback checks that both engines, with and without passes, make the same
// samples, and that a run resumed anywhere goes on with them.
func TestFeedback(test *testing.T) {
	b := policyBuilt(test, dataset.Options{})
	var want []string
	var states []*dataset.State
	p, err := pullpipe.New(b, nil)
	require.NoError(test, err)
	want = feed(test, p, b, 3, func(int) { states = append(states, p.State()) })
	require.Len(test, want, 18)
	require.NoError(test, p.Close())
	for _, batch := range want[6:12] {
		require.NotRegexp(test, `\b0\b`, batch, "a list of weight 0")
	}

	for _, o := range []dataset.Options{{}, {Disable: []dataset.Pass{dataset.FuseMaps}}, {CacheBytes: 1 << 20}} {
		b := policyBuilt(test, o)
		for name, p := range feeders(test, b, nil) {
			require.Equal(test, want, feed(test, p, b, 3, nil), "%s %v", name, o)
			require.NoError(test, p.Close())
		}
	}
	for i, s := range states {
		if testing.Short() && i%4 != 0 {
			continue
		}
		require.Equal(test, 3, s.Version)
		raw, err := s.MarshalBinary()
		require.NoError(test, err)
		var again dataset.State
		require.NoError(test, again.UnmarshalBinary(raw))
		require.Equal(test, normal(*s), normal(again))
		text, err := json.Marshal(s)
		require.NoError(test, err)
		again = dataset.State{}
		require.NoError(test, json.Unmarshal(text, &again))
		require.Equal(test, normal(*s), normal(again))
		// Calls of Next that returned io.EOF are states too.
		done := i - int(s.Epoch)
		for name, p := range feeders(test, b, &again) {
			require.Equal(test, want[done:], feed(test, p, b, 3, nil), "%s from state %d", name, i)
			require.NoError(test, p.Close())
		}
	}
}

// TestFeedbackRanks checks that ranks with equal weights draw what one rank
// draws, and that Merge refuses others.
func TestFeedbackRanks(test *testing.T) {
	d := func() *dataset.Dataset { return fakeImages(20).Shuffle().Map(policyGraph()).Batch(2) }
	open := func(rank, world int, s *dataset.State) (*dataset.Run, *dataset.Built) {
		b, err := dataset.Build(test.Context(), d(), dataset.Options{Seed: 3, Rank: rank, World: world})
		require.NoError(test, err)
		test.Cleanup(func() { _ = b.Close() })
		p, err := pullpipe.New(b, s)
		require.NoError(test, err)
		test.Cleanup(func() { _ = p.Close() })
		return p, b
	}
	// samples returns what the policy drew, by the ordinal in the epoch.
	count := func(p *dataset.Run, b *dataset.Built, n int) (l []int32) {
		for range n {
			s, err := p.Next(test.Context())
			require.NoError(test, err)
			l = append(l, tensor.View[int32](&s.Values[slices.IndexFunc(b.Columns(), func(c dataset.Column) bool { return c.Name == "policy" })].Tensor)...)
		}
		return l
	}
	weights := []float64{1, 0, 3}
	one, b := open(0, 1, nil)
	require.NoError(test, one.SetWeights("aug", weights)) // before the first Next: for epoch 0
	whole := count(one, b, 10)
	require.NotContains(test, whole, int32(1))
	var states []*dataset.State
	for rank := range 2 {
		p, b := open(rank, 2, nil)
		require.NoError(test, p.SetWeights("aug", weights))
		var want []int32
		for i := rank; i < 12; i += 2 {
			want = append(want, whole[i])
		}
		require.Equal(test, want, count(p, b, 3))
		require.NoError(test, p.SetWeights("aug", []float64{5, 5, 5}))
		states = append(states, p.State())
	}
	merged, err := b.Merge(states...)
	require.NoError(test, err)
	require.Equal(test, []dataset.PolicyWeights{{Name: "aug", Epoch: weights, Next: []float64{5, 5, 5}}}, merged.Weights)
	p, b := open(0, 1, merged)
	require.Equal(test, whole[12:], count(p, b, 4))

	for _, change := range []func(w *dataset.PolicyWeights){
		func(w *dataset.PolicyWeights) { w.Next = []float64{5, 5, 6} },
		func(w *dataset.PolicyWeights) { w.Epoch = []float64{1, 1, 3} },
	} {
		other := *states[1]
		other.Weights = slices.Clone(other.Weights)
		change(&other.Weights[0])
		_, err = b.Merge(states[0], &other)
		require.ErrorIs(test, err, dataset.ErrState)
		require.ErrorContains(test, err, `ranks 0 and 1 have other weights of feedback policies: "aug" has [1 0 3], next [5 5 5], and "aug" has`)
	}
}

// TestFeedbackFrequencies compares the lists drawn with the weights.
func TestFeedbackFrequencies(test *testing.T) {
	b, err := dataset.Build(test.Context(), fakeImages(int64(short.Rounds(test, 4000, 400))).Map(policyGraph()), dataset.Options{Seed: 1})
	require.NoError(test, err)
	defer b.Close()
	p, err := pullpipe.New(b, nil)
	require.NoError(test, err)
	defer p.Close()
	for _, w := range [][]float64{{1, 1, 2}, {0, 1, 9}, {0.5, 0.25, 0.25}} {
		require.NoError(test, p.SetWeights("aug", w))
		now, err := p.Weights("aug")
		require.NoError(test, err)
		require.Equal(test, w, now)
		counts, n := [3]float64{}, 0.0
		for s, err := range p.All(test.Context()) {
			require.NoError(test, err)
			counts[tensor.View[int32](&s.Values[1].Tensor)[0]]++
			n++
		}
		for i, c := range counts {
			share := w[i] / (w[0] + w[1] + w[2])
			require.InDelta(test, share, c/n, 5*math.Sqrt(share*(1-share)/n), "%v[%d]", w, i)
		}
		require.NoError(test, p.NextEpoch())
	}
}

// TestFeedbackAllocations checks that a sample costs no more allocations than
// with another map that adds a column.
func TestFeedbackAllocations(test *testing.T) {
	count := func(d *dataset.Dataset) float64 {
		b, err := dataset.Build(test.Context(), d, dataset.Options{})
		require.NoError(test, err)
		defer b.Close()
		p, err := pullpipe.New(b, nil)
		require.NoError(test, err)
		defer p.Close()
		next := func() {
			s, err := p.Next(context.Background())
			require.NoError(test, err)
			require.NotNil(test, s)
		}
		for range 100 { // meet the variants
			next()
		}
		return testing.AllocsPerRun(100, next)
	}
	without := policyGraph()
	without.Steps[0].Op, without.Steps[1].Op = t.NewInvert(), t.NewConstant(1)
	require.Equal(test, count(fakeImages(400).Map(without)), count(fakeImages(400).Map(policyGraph())))
}

func TestFeedbackErrors(test *testing.T) {
	b := policyBuilt(test, dataset.Options{})
	p, err := pullpipe.New(b, nil)
	require.NoError(test, err)
	_, err = p.Weights("agu")
	require.ErrorIs(test, err, dataset.ErrParam)
	require.ErrorContains(test, err, `unknown feedback policy "agu"; did you mean "aug"?`)
	require.ErrorContains(test, p.SetWeights("x", nil), `unknown feedback policy "x"`)
	err = p.SetWeights("aug", []float64{1, 2})
	require.ErrorIs(test, err, t.ErrParam)
	require.ErrorContains(test, err, `feedback policy "aug"`)
	require.ErrorContains(test, p.SetWeights("aug", []float64{1, math.NaN(), 2}), "weights[1] is NaN")
	_, err = p.Next(test.Context())
	require.NoError(test, err)
	w := []float64{1, 2, 3}
	require.NoError(test, p.SetWeights("aug", w))
	w[0] = 9 // the run has its own
	now, err := p.Weights("aug")
	require.NoError(test, err)
	require.Equal(test, []float64{1, 1, 2}, now, "of this epoch")
	state := p.State()
	require.Equal(test, []dataset.PolicyWeights{{Name: "aug", Epoch: []float64{1, 1, 2}, Next: []float64{1, 2, 3}}}, state.Weights)
	require.NoError(test, p.Close())
	require.ErrorIs(test, p.SetWeights("aug", []float64{1, 2, 3}), dataset.ErrClosed)

	// A state without weights has those of the definition.
	old := *state
	old.Version, old.Weights = 2, nil
	p, err = pullpipe.New(b, &old)
	require.NoError(test, err)
	now, err = p.Weights("aug")
	require.NoError(test, err)
	require.Equal(test, []float64{1, 1, 2}, now)
	require.NoError(test, p.Close())
	one := []float64{1, 1, 1}
	for _, l := range [][]dataset.PolicyWeights{
		{{Name: "x", Epoch: one, Next: one}},
		{{Name: "aug", Epoch: one, Next: one}, {Name: "aug", Epoch: one, Next: one}},
		{{Name: "aug", Epoch: one, Next: one[:2]}},
		{{Name: "aug", Epoch: []float64{0, 0, 0}, Next: one}},
	} {
		s := *state
		s.Weights = l
		_, err = pullpipe.New(b, &s)
		require.ErrorIs(test, err, dataset.ErrState)
		require.ErrorContains(test, err, "feedback policy")
	}

	none, err := dataset.Build(test.Context(), fakeImages(3), dataset.Options{})
	require.NoError(test, err)
	p, err = pullpipe.New(none, nil)
	require.NoError(test, err)
	_, err = p.Weights("aug")
	require.ErrorContains(test, err, "the definition has none")
	require.Equal(test, 2, p.State().Version)

	other := policyGraph()
	other.Steps[0].Op = t.NewFeedbackPolicy("aug").Policy(1, t.NewInvert())
	index := datagraph.New(t.NewPolicyIndex("aug"))
	index.Inputs[0].Desc = other.Inputs[0].Desc
	index.Outputs = []string{"policy"}
	for text, d := range map[string]*dataset.Dataset{
		"start with the weights [1 1 2] and [1], want equal ones": fakeImages(3).Map(policyGraph()).Project("image").Map(other),
		`policy_index of "aug": no earlier step`:                  fakeImages(3).Map(policyGraph()).Project("image").Map(index),
	} {
		_, err := dataset.Build(test.Context(), d, dataset.Options{})
		require.ErrorIs(test, err, dataset.ErrDefinition)
		require.ErrorContains(test, err, text)
	}
}

// TestFeedbackDamage cuts and forges states.
func TestFeedbackDamage(test *testing.T) {
	p, err := pullpipe.New(policyBuilt(test, dataset.Options{}), nil)
	require.NoError(test, err)
	defer p.Close()
	raw, err := p.State().MarshalBinary()
	require.NoError(test, err)
	for n := range raw {
		body := raw[:n:n]
		var s dataset.State
		require.ErrorIs(test, s.UnmarshalBinary(body), dataset.ErrState)
		if n < 4 {
			continue
		}
		sum := crc32.ChecksumIEEE(body)
		body = append(body, byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
		if n != len(raw)-4 {
			require.ErrorIs(test, s.UnmarshalBinary(body), dataset.ErrState, "%d bytes", n)
		}
	}
}

// TestFeedbackInference checks that an inference graph has neither the policy
// nor its index.
func TestFeedbackInference(test *testing.T) {
	g, notes, err := dataset.InferenceGraph(test.Context(), policyDataset(), dataset.InferenceOptions{})
	require.NoError(test, err)
	require.Equal(test, []string{"image"}, g.Outputs)
	require.Empty(test, g.Steps)
	require.Len(test, notes, 2)
	require.Equal(test, "feedback_policy", notes[0].Op)
	_, _, err = dataset.InferenceGraph(test.Context(), policyDataset(), dataset.InferenceOptions{Random: dataset.RefuseRandom})
	require.ErrorIs(test, err, dataset.ErrRandom)
	require.ErrorContains(test, err, "feedback_policy")
	_, _, err = dataset.InferenceGraph(test.Context(), policyDataset(), dataset.InferenceOptions{Outputs: []string{"policy"}, Column: "image"})
	require.ErrorContains(test, err, "policy")
}

// normal returns s with words that are not nil.
func normal(s dataset.State) dataset.State {
	s.Words = append([]int64{}, s.Words...)
	return s
}

// TestFeedbackWatch sets weights in a callback of the definition, which a
// pipeline calls ahead of the training.
func TestFeedbackWatch(test *testing.T) {
	var run feeder
	d := fakeImages(23).Shuffle().Map(policyGraph()).Watch(dataset.Callback{EpochEnd: func(_ context.Context, at dataset.Progress) error {
		w, err := run.Weights("aug")
		if err != nil {
			return err
		}
		if w, err = t.UpdateWeights(w, []float64{0, float64(at.Epoch), 3}, 1, 0); err != nil {
			return err
		}
		return run.SetWeights("aug", w)
	}}).Batch(4)
	b, err := dataset.Build(test.Context(), d, dataset.Options{Seed: 2})
	require.NoError(test, err)
	defer b.Close()
	var states []*dataset.State
	epochs := func(p feeder) []string {
		run = p
		l := []string{}
		for p.Epoch() < 3 {
			states = append(states, p.State())
			s, err := p.Next(test.Context())
			if err == io.EOF {
				require.NoError(test, p.NextEpoch())
				continue
			}
			require.NoError(test, err)
			l = append(l, digest(s, b))
		}
		require.NoError(test, p.Close())
		return l
	}
	var want []string
	for _, name := range []string{"pullpipe", "pipeline 1", "pipeline 3"} {
		states = nil
		got := epochs(feeders(test, b, nil)[name])
		if want == nil {
			want = got
		}
		require.Equal(test, want, got, name)
		for i, s := range slices.Clone(states) {
			if i%5 == 0 {
				done := i - int(s.Epoch)
				require.Equal(test, want[done:], epochs(feeders(test, b, s)["pipeline 3"]), "state %d of %s", i, name)
				require.Equal(test, want[done:], epochs(feeders(test, b, s)["pullpipe"]), "state %d of %s", i, name)
			}
		}
	}
}
