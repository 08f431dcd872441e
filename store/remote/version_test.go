package remote

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store"
)

// TestVersion tests that an open file has the version of the object, also if
// its bytes were read before.
func TestVersion(t *testing.T) {
	s := newService()
	for _, size := range []int{0, 100, small + 1} {
		s.put("mem://d/a", make([]byte, size))
		r := open(t, s, 0, Options{})
		for range 2 {
			f, err := r.Open(t.Context(), "mem://d/a")
			require.NoError(t, err)
			want, err := s.Get(t.Context(), "mem://d/a", 0, 1, "")
			require.NoError(t, err)
			require.NotEmpty(t, want.Version)
			require.Equal(t, want.Version, f.(store.Described).Version())
			_, err = store.ReadAll(f, nil)
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}
	}
}
