package dataset_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/tensor"
)

// badWhere returns a definition whose samples fail where bad is true.
func badWhere(n int64, stream bool, bad func(i int64) error) *dataset.Dataset {
	return dataset.Of(&numbers{N: n, Stream: stream}).MapFunc(func(_ *dataset.Call, dst []*dataset.Value, src []*tensor.Tensor) error {
		if err := bad(x(src[0])); err != nil {
			return err
		}
		return dst[0].Reset(src[0].Desc)
	}, []string{"x"}, int64Column...)
}

// TestSkipsHaveABound checks Options.MaxSkips and MaxSkipShare in both engines,
// above an index and above a stream, below a batch and without one.
func TestSkipsHaveABound(t *testing.T) {
	every := func(k int64) func(int64) error {
		return func(i int64) error {
			if i%k != 0 {
				return errTrouble
			}
			return nil
		}
	}
	after := func(k int64) func(int64) error {
		return func(i int64) error {
			if i >= k {
				return errTrouble
			}
			return nil
		}
	}
	for _, k := range []struct {
		name string
		n    int64
		bad  func(int64) error
		o    dataset.Options
		good int
		want string // empty: the run reaches its end
	}{
		{"1,000 in succession", 5000, after(3000), dataset.Options{}, 3000, "1000 bad samples in succession, want fewer than 1000"},
		{"999 in succession", 3999, after(3000), dataset.Options{}, 3000, ""},
		{"7 in succession", 50, after(10), dataset.Options{MaxSkips: 7}, 10, "7 bad samples in succession, want fewer than 7"},
		{"two of three", 5000, every(3), dataset.Options{}, 334, "667 of 1001 samples are bad, want a share of at most 0.5"},
		{"two of three are allowed", 3000, every(3), dataset.Options{MaxSkipShare: 0.7}, 1000, ""},
		{"few samples have no share", 900, every(3), dataset.Options{}, 300, ""},
		{"all of a few", 9, after(0), dataset.Options{}, 0, "all 9 samples of the epoch are bad"},
		{"no bound", 5000, after(2), dataset.Options{MaxSkips: -1}, 2, ""},
	} {
		for _, stream := range []bool{false, true} {
			for _, batch := range []int{0, 10} {
				d := badWhere(k.n, stream, k.bad)
				if batch > 0 {
					d = d.Batch(batch).Unbatch()
				}
				k.o.OnError = dataset.SkipOnError
				b, err := dataset.Build(t.Context(), d, k.o)
				require.NoError(t, err)
				what := fmt.Sprintf("%s, stream %v, batches of %d", k.name, stream, batch)
				for name, p := range map[string]runner{"pull": pull(t, b, nil), "parallel": parallel(t, b, 2, nil)} {
					l, err := upTo(t, p, 10000)
					if batch == 0 || k.want == "" {
						require.Len(t, l, k.good, "%s: %s", what, name)
					}
					if k.want == "" {
						require.NoError(t, err, "%s: %s", what, name)
					} else {
						require.ErrorIs(t, err, dataset.ErrData, "%s: %s", what, name)
						require.ErrorIs(t, err, errTrouble, "%s: %s", what, name)
						require.ErrorContains(t, err, k.want, "%s: %s", what, name)
						require.ErrorContains(t, err, `sample "number`, "%s: %s", what, name)
					}
					require.NoError(t, p.Close())
				}
				require.NoError(t, b.Close())
			}
		}
	}
	for _, o := range []dataset.Options{{MaxSkips: -2}, {MaxSkipShare: 1.1}, {MaxSkipShare: -1}} {
		_, err := dataset.Build(t.Context(), dataset.Of(&numbers{N: 1}), o)
		require.ErrorIs(t, err, dataset.ErrParam)
	}
}

// TestFilterIsNoSkip checks that samples that a predicate drops are not bad.
func TestFilterIsNoSkip(t *testing.T) {
	d := dataset.Of(&numbers{N: 5000}).Filter(func(_ *dataset.Call, src []*tensor.Tensor) (bool, error) {
		switch i := x(src[0]); {
		case i%50 == 1:
			return false, errTrouble
		default:
			return i == 4999, nil
		}
	}, "x")
	b, err := dataset.Build(t.Context(), d, dataset.Options{OnError: dataset.SkipOnError})
	require.NoError(t, err)
	p := pull(t, b, nil)
	require.Equal(t, []string{"[4999]"}, rest(t, p, most))
	require.NoError(t, p.Close())
	require.NoError(t, b.Close())
}

// TestVanishedFolder checks that a run over a folder that vanished after Build
// ends with an error, not with empty epochs.
func TestVanishedFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "images")
	for i := range 20 {
		name := filepath.Join(dir, "a", fmt.Sprintf("%02d.jpg", i))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte{1}, 0o644))
	}
	b, err := dataset.Build(t.Context(), dataset.From(imagefolder.New(dir)).Shuffle(), dataset.Options{OnError: dataset.SkipOnError})
	require.NoError(t, err)
	defer b.Close()
	require.NoError(t, os.RemoveAll(dir))
	for name, p := range map[string]runner{"pull": pull(t, b, nil), "parallel": parallel(t, b, 2, nil)} {
		_, err := p.Next(t.Context())
		require.ErrorIs(t, err, os.ErrNotExist, name)
		require.ErrorContains(t, err, "all 20 samples of the epoch are bad", name)
		require.NoError(t, p.Close())
	}
}

// TestQuarantineDoesNotGrow checks that later epochs add no known sample, and
// that panics are counted apart.
func TestQuarantineDoesNotGrow(t *testing.T) {
	d := badWhere(40, false, func(i int64) error {
		switch i % 10 {
		case 3:
			return errTrouble
		case 7:
			panic("seven")
		}
		return nil
	}).Shuffle()
	b, err := dataset.Build(t.Context(), d, dataset.Options{OnError: dataset.QuarantineOnError})
	require.NoError(t, err)
	defer b.Close()
	p := pull(t, b, nil).(interface {
		runner
		Skipped() int64
		Panics() int64
		Quarantined() []*dataset.SampleError
	})
	for epoch := range int64(5) {
		require.Len(t, rest(t, p, most), 32)
		require.EqualValues(t, 8*(epoch+1), p.Skipped())
		require.EqualValues(t, 4*(epoch+1), p.Panics())
		require.Len(t, p.Quarantined(), 8)
		require.NoError(t, p.NextEpoch())
	}
	require.NoError(t, p.Close())
}
