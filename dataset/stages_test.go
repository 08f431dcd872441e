package dataset_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/pipeline"
)

// TestStages compares StepInfo.Stage with the stages that a run starts.
func TestStages(t *testing.T) {
	tried, below := 0, 0
	for seed := range graphs(t, 300) {
		r := rand.New(rand.NewPCG(uint64(seed), 8))
		d := definition(r, r.IntN(4)+1)
		if r.IntN(2) == 0 {
			col := []dataset.OutColumn{{Name: "x", Desc: int64Column[0].Desc}}
			d = dataset.Of(&dataset.Func{Name: "test/noise", In: []string{"x"}, Out: col}, d.Cache(1<<20))
		}
		b, err := dataset.Build(t.Context(), d, dataset.Options{})
		if err != nil {
			continue
		}
		known, paths := map[string]bool{}, map[string]bool{}
		cached := false
		for _, s := range b.Steps() {
			require.False(t, paths[s.Path], "%s: two steps at %s", describe(d), s.Path)
			paths[s.Path] = true
			if s.Stage {
				known[s.Path] = true
			}
			cached = cached || s.Node == "cache"
		}
		if cached {
			below++
		}
		p := parallel(t, b, 2, nil).(*pipeline.Pipeline)
		ended := len(rest(t, p, most)) < most
		run := map[string]bool{}
		for _, s := range p.Stats() {
			run[s.Path] = true
		}
		delete(run, "sending")
		for path := range run {
			require.True(t, known[path], "%s: stage %s", describe(d), path)
		}
		if ended {
			tried++
			require.Equal(t, known, run, describe(d))
		}
		require.NoError(t, p.Close())
		require.NoError(t, b.Close())
	}
	require.Greater(t, tried, graphs(t, 100))
	require.Greater(t, below, graphs(t, 10))
}

// TestStagesOfDataset names the stages of an ordinary definition.
func TestStagesOfDataset(t *testing.T) {
	col := []dataset.OutColumn{{Name: "x", Desc: int64Column[0].Desc}}
	d := dataset.Of(&dataset.Func{Name: "test/noise", In: []string{"x"}, Out: col}, dataset.Of(&numbers{N: 9}).Shuffle()).Rename([]string{"x"}, []string{"y"}).Batch(2)
	b, err := dataset.Build(context.Background(), d, dataset.Options{})
	require.NoError(t, err)
	defer b.Close()
	var l []string
	for _, s := range b.Steps() {
		if s.Stage {
			l = append(l, strings.ReplaceAll(s.Path, s.Node, "*"))
		}
	}
	require.Equal(t, []string{"batch/rename/*", "batch/rename/func/shuffle/*"}, l)
}
