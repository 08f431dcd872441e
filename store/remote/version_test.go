package remote

import (
	"testing"
	"time"

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

// TestVersionLost: an answer that does not tell the version or the time that
// the first answer told is an error, since the object may be another.
func TestVersionLost(t *testing.T) {
	for _, plain := range []bool{false, true} {
		s := newService()
		s.plain = plain
		s.put("mem://d/a", content(3*small))
		s.get = func(n int, _ request, o *Object) error {
			if n > 1 {
				o.Version, o.Modified = "", time.Time{}
			}
			return nil
		}
		r := open(t, s, 0, Options{})
		f, err := r.Open(t.Context(), "mem://d/a")
		require.NoError(t, err)
		_, err = f.ReadAt(make([]byte, 10), 2*small)
		require.ErrorIs(t, err, ErrChanged)
		require.ErrorContains(t, err, "now tells no")
		require.NoError(t, f.Close())
	}
}
