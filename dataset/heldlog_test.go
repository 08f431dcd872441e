package dataset

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/engine"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// count10 is a stream of ten numbers.
type count10 struct{ i int32 }

func (*count10) Validate() error                                   { return nil }
func (*count10) Open(context.Context, store.Opener) (Data, error)  { return &count10{}, nil }
func (*count10) Close() error                                      { return nil }
func (*count10) Start(_ context.Context, _ uint64) (Reader, error) { return &count10{}, nil }

func (*count10) Columns() []Column {
	return []Column{{Name: "x", Desc: tensor.Desc{DType: tensor.Int32}}}
}

func (c *count10) Next(_ context.Context, s *Sample) error {
	if c.i == 10 {
		return io.EOF
	}
	c.i++
	return s.Column("x").SetInt32(c.i)
}

// TestHeldLogsAreCut checks that the logs of buffers do not grow during a run.
func TestHeldLogsAreCut(t *testing.T) {
	b, err := Build(t.Context(), Of(&count10{}).ShuffleBuffer(5).Repeat(0).ShuffleBuffer(7), Options{})
	require.NoError(t, err)
	r, err := NewRun(b, nil, engine.Config[*Sample]{Stage: inline})
	require.NoError(t, err)
	for i := range 5000 {
		_, err := r.Next(context.Background())
		require.NoError(t, err)
		changes := 0
		for _, h := range r.logs.logs {
			changes += len(h.changes)
		}
		require.LessOrEqual(t, changes, 4*trimSteps, i)
		require.LessOrEqual(t, len(r.logs.logs), 2+2*trimSteps/10+1, i)
		require.Len(t, r.logs.path, len(r.logs.logs))
	}
	require.NoError(t, r.Close())
	require.NoError(t, b.Close())
}
