package dataset_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
)

// TestLocatorsAreForOneGoroutine checks that sources below a Concat or Zip
// follow a shuffle above them through many epochs. Each of them has its own
// stage.
func TestLocatorsAreForOneGoroutine(t *testing.T) {
	two := func() (a, b *dataset.Dataset) {
		return dataset.From(&numbers{N: 5}), dataset.From(&numbers{From: 100, N: 5})
	}
	a, b := two()
	c, d := two()
	for _, d := range []*dataset.Dataset{
		a.Concat(b).Shuffle().Repeat(200),
		dataset.NewZip(c, d.Rename([]string{"x"}, []string{"y"})).Shuffle().Repeat(200),
	} {
		built, err := dataset.Build(t.Context(), d, dataset.Options{})
		require.NoError(t, err)
		want := rest(t, pull(t, built, nil), 2000)
		for range 5 {
			p := parallel(t, built, 2, nil)
			require.Equal(t, want, rest(t, p, 2000))
			require.NoError(t, p.Close())
		}
		require.NoError(t, built.Close())
	}
}
