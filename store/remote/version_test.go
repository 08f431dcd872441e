package remote

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store"
)

// TestVersion tests that Open tells the version of the object, also if its
// bytes were read before.
func TestVersion(t *testing.T) {
	s := newService()
	for _, size := range []int{0, 100, small + 1} {
		s.put("mem://d/a", make([]byte, size))
		r := open(t, s, 0, Options{})
		for range 2 {
			var v store.Version
			f, err := r.Open(store.WithVersion(t.Context(), &v), "mem://d/a")
			require.NoError(t, err)
			want, err := s.Get(t.Context(), "mem://d/a", 0, 1, "")
			require.NoError(t, err)
			require.NotEmpty(t, v.String())
			require.Equal(t, want.Version, v.String())
			_, err = store.ReadAll(f, nil)
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}
	}
	var v store.Version
	_, err := open(t, s, 0, Options{}).Open(store.WithVersion(t.Context(), &v), "mem://d/none")
	require.Error(t, err)
	require.Empty(t, v.String())
}
