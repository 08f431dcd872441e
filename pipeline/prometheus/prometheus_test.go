package prometheus

import (
	"context"
	"errors"
	"io"
	"testing"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// numbers is a source of five numbers, one of them bad.
type numbers struct{}

func (numbers) Validate() error                                            { return nil }
func (n numbers) Open(context.Context, store.Opener) (dataset.Data, error) { return n, nil }
func (numbers) Columns() []dataset.Column {
	return []dataset.Column{{Name: "x", Desc: tensor.Desc{DType: tensor.Int32}}}
}
func (numbers) Len() int64   { return 5 }
func (numbers) Close() error { return nil }
func (numbers) Read(_ context.Context, i int64, s *dataset.Sample) error {
	if i == 3 {
		return errors.New("bad")
	}
	return s.Column("x").SetInt32(int32(i))
}

func TestCollector(t *testing.T) {
	b, err := dataset.Build(t.Context(), dataset.Of(numbers{}), dataset.Options{OnError: dataset.SkipOnError})
	require.NoError(t, err)
	p, err := pipeline.New(b, pipeline.Options{Workers: 1}, nil)
	require.NoError(t, err)
	r := client.NewPedanticRegistry()
	require.NoError(t, r.Register(New(p, "train")))
	families := func() map[string]map[string]float64 {
		l, err := r.Gather()
		require.NoError(t, err)
		m := map[string]map[string]float64{}
		for _, f := range l {
			m[f.GetName()] = map[string]float64{}
			for _, x := range f.GetMetric() {
				stage := ""
				for _, l := range x.GetLabel() {
					if l.GetName() == "stage" {
						stage = l.GetValue()
					} else {
						require.Equal(t, "train", l.GetValue())
					}
				}
				m[f.GetName()][stage] = x.GetGauge().GetValue() + x.GetCounter().GetValue()
			}
		}
		return m
	}
	require.Len(t, families(), 1, "no stage was started")
	for err == nil {
		_, err = p.Next(t.Context())
	}
	require.Equal(t, io.EOF, err)
	got := families()
	require.Len(t, got, 13)
	source := p.Stats()[0].Path
	require.Equal(t, map[string]float64{source: 5, "sending": 4}, got["infer_prep_pipeline_out_samples_total"])
	require.Equal(t, map[string]float64{source: 1, "sending": 0}, got["infer_prep_pipeline_errors_total"])
	require.Equal(t, map[string]float64{"": 1}, got["infer_prep_pipeline_bad_samples_total"])
	require.Equal(t, map[string]float64{source: 1, "sending": 1}, got["infer_prep_pipeline_workers"])
	require.Positive(t, got["infer_prep_pipeline_busy_seconds_total"][source])
	problems, err := testutil.GatherAndLint(r)
	require.NoError(t, err)
	require.Empty(t, problems)
	require.NoError(t, p.Close())
	require.Zero(t, families()["infer_prep_pipeline_workers"][source])
	require.NoError(t, b.Close())
}
