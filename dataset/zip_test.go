package dataset_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestZipOfWhatIsLeft checks that samples dropped by a filter have no partner
// in a Zip.
func TestZipOfWhatIsLeft(t *testing.T) {
	d := dataset.NewZip(
		dataset.Of(&dataset.Filter{Name: "test/some", In: []string{"x"}}, dataset.From(&numbers{N: 10})),
		dataset.From(&numbers{From: 100, N: 10}).Rename([]string{"x"}, []string{"y"}),
	)
	b, err := dataset.Build(t.Context(), d, dataset.Options{})
	require.NoError(t, err)
	for _, p := range []runner{pull(t, b, nil), parallel(t, b, 2, nil)} {
		var got []string
		for range 8 {
			s, err := p.Next(t.Context())
			require.NoError(t, err)
			got = append(got, fmt.Sprint(tensor.View[int64](&s.Values[0].Tensor)[0], tensor.View[int64](&s.Values[1].Tensor)[0]))
		}
		require.Equal(t, []string{"0 100", "1 101", "2 102", "3 103", "4 104", "7 105", "8 106", "9 107"}, got)
		require.NoError(t, p.Close())
	}
	require.NoError(t, b.Close())
}
