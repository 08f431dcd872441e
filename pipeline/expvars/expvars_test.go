package expvars

import (
	"context"
	"encoding/json"
	"expvar"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// numbers is a source of five numbers.
type numbers struct{}

func (numbers) Validate() error                                            { return nil }
func (n numbers) Open(context.Context, store.Opener) (dataset.Data, error) { return n, nil }
func (numbers) Columns() []dataset.Column {
	return []dataset.Column{{Name: "x", Desc: tensor.Desc{DType: tensor.Int32}}}
}
func (numbers) Len() int64 { return 5 }
func (numbers) Read(_ context.Context, i int64, s *dataset.Sample) error {
	return s.Column("x").SetInt32(int32(i))
}
func (numbers) Close() error { return nil }

func TestPublish(t *testing.T) {
	b, err := dataset.Build(t.Context(), dataset.Of(numbers{}), dataset.Options{})
	require.NoError(t, err)
	value := func() (l []pipeline.StageStats) {
		require.NoError(t, json.Unmarshal([]byte(expvar.Get("training").String()), &l))
		return l
	}
	for range 2 { // publish the name again
		p, err := pipeline.New(b, pipeline.Options{Workers: 1}, nil)
		require.NoError(t, err)
		require.NoError(t, Publish("training", p))
		require.Empty(t, value(), "nothing is started")
		for err == nil {
			_, err = p.Next(t.Context())
		}
		require.Equal(t, io.EOF, err)
		l := value()
		require.Len(t, l, 2)
		require.EqualValues(t, 5, l[0].Out)
		require.EqualValues(t, 5, l[1].Out)
		require.NoError(t, p.Close())
		require.Len(t, value(), 2)
	}
	require.NoError(t, Publish("training", nil))
	require.Equal(t, "null", expvar.Get("training").String())

	if expvar.Get("taken") == nil { // the variable outlives the test, for -count=2
		expvar.NewInt("taken")
	}
	require.ErrorContains(t, Publish("taken", nil), `"taken" is published already`)
	require.NoError(t, b.Close())
}
