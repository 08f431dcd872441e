package pullpipe_test

import (
	"context"
	"io"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	_ "github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	t "github.com/infer-prep/infer-prep/transforms"
)

// memory is a source of JPEG files in memory.
type memory struct{ files [][]byte }

func (m *memory) Validate() error                                          { return nil }
func (m *memory) Open(context.Context, store.Opener) (dataset.Data, error) { return m, nil }
func (m *memory) Close() error                                             { return nil }
func (m *memory) Len() int64                                               { return int64(len(m.files)) }

func (m *memory) Columns() []dataset.Column {
	return []dataset.Column{{Name: "image", Desc: tensor.Encoded()}, {Name: "label", Desc: tensor.Desc{DType: tensor.Int32}}}
}

func (m *memory) Read(_ context.Context, i int64, s *dataset.Sample) error {
	s.Key = "in memory"
	s.Column("image").ShareBytes(m.files[i])
	return s.Column("label").SetInt32(int32(i))
}

func images(tb testing.TB) *memory {
	m := &memory{}
	for _, n := range []string{"jpeg_large.jpg", "jpeg_base_420.jpg", "jpeg_exif_mm_3.jpg", "jpeg_large.jpg"} {
		b, err := os.ReadFile("../testdata/images/" + n)
		require.NoError(tb, err)
		m.files = append(m.files, b)
	}
	return m
}

func trainGraph() *datagraph.Graph {
	return datagraph.New(t.NewDecode(), t.NewResize(64, 64), t.NewRandomHorizontalFlip(), t.NewToTensor(),
		t.NewNormalize([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}))
}

func build(tb testing.TB, d *dataset.Dataset) *dataset.Built {
	b, err := dataset.Build(tb.Context(), d, dataset.Options{Seed: 1})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, b.Close()) })
	return b
}

// TestNothingRunsAndNothingIsAllocated checks that a run starts no goroutines
// and, in steady state, allocates nothing.
func TestNothingRunsAndNothingIsAllocated(test *testing.T) {
	b := build(test, dataset.From(images(test)).Shuffle().Repeat(0).Map(trainGraph()).Batch(4))
	before, js := goleak.IgnoreCurrent(), goleak.IgnoreAnyFunction("runtime.handleEvent") // the runtime's own on js
	p, err := pullpipe.New(b, nil)
	require.NoError(test, err)
	defer p.Close()
	require.NoError(test, goleak.Find(before, js))
	ctx := context.Background()
	next := func() {
		_, err := p.Next(ctx)
		require.NoError(test, err)
		require.NoError(test, goleak.Find(before, js))
	}
	for range short.Rounds(test, 100, 20) {
		next()
	}
	// A run that allocates does so in every measurement. The runtime allocates
	// in some of them: it grows its caches of type assertions at random times.
	least := uint64(1 << 60)
	for round := 0; round < 50 && least > 0; round++ {
		var m0, m1 runtime.MemStats
		runtime.ReadMemStats(&m0)
		for range 50 {
			_, err = p.Next(ctx)
		}
		runtime.ReadMemStats(&m1)
		require.NoError(test, err)
		least = min(least, m1.TotalAlloc-m0.TotalAlloc)
	}
	require.Zero(test, least, "bytes for 50 batches of 4")
}

// TestFirstSample checks that the first sample costs little more than the graph
// alone.
func TestFirstSample(test *testing.T) {
	m := images(test)
	b := build(test, dataset.From(m).Shuffle().Map(trainGraph()))
	took := func(f func()) time.Duration {
		begin := time.Now()
		f()
		return time.Since(begin)
	}
	// The same file, in new runs.
	p, err := pullpipe.New(b, nil)
	require.NoError(test, err)
	s, err := p.Next(context.Background())
	require.NoError(test, err)
	label := tensor.View[int32](&s.Column("label").Tensor)[0]
	file := tensor.FromBytes(m.files[label])
	compiled := func() {
		plan, err := datagraph.Compile(trainGraph(), datagraph.CompileOptions{})
		require.NoError(test, err)
		_, err = plan.NewRunner().Run(file)
		require.NoError(test, err)
	}
	pulled := func() {
		p, err := pullpipe.New(b, nil)
		require.NoError(test, err)
		_, err = p.Next(context.Background())
		require.NoError(test, err)
	}
	// Measure both in turn and take the best, so that a busy machine slows
	// both. The goal is 1.2; the margin and the further rounds are for a busy
	// machine.
	alone, first := time.Hour, time.Hour
	for round := 0; round < 20 || first >= alone*3/2 && round < 600; round++ {
		alone, first = min(alone, took(compiled)), min(first, took(pulled))
	}
	test.Logf("first sample %v, the graph alone %v", first, alone)
	require.Less(test, first, alone*3/2)
}

func TestAll(test *testing.T) {
	b := build(test, dataset.From(images(test)).Map(trainGraph()))
	p, err := pullpipe.New(b, nil)
	require.NoError(test, err)
	n := 0
	for s, err := range p.All(context.Background()) {
		require.NoError(test, err)
		require.Equal(test, int32(n), tensor.View[int32](&s.Column("label").Tensor)[0])
		n++
	}
	require.Equal(test, 4, n)
	_, err = p.Next(context.Background())
	require.Equal(test, io.EOF, err)
	require.NoError(test, p.Close())
	_, err = p.Next(context.Background())
	require.Equal(test, io.EOF, err)
}
