package recordio

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// TestSums tests that checksums detect every changed bit of two files, in the
// right record.
func TestSums(t *testing.T) {
	for _, o := range []store.Opener{store.Local, unmapped{store.Local}} {
		dir := t.TempDir()
		a, b := write(t, "first", m+"x"), write(t, "", "the last")
		stream := func(a, b []byte) *Stream {
			put(t, dir, "a", a)
			put(t, dir, "b", b)
			l, err := store.Files(t.Context(), o, []string{dir}, false)
			require.NoError(t, err)
			s, err := NewStream(t.Context(), o, l, 4)
			require.NoError(t, err)
			return s
		}
		s := stream(a, b)
		want, err := s.Sums(Options{})
		require.NoError(t, err)
		require.NoError(t, s.Close())
		require.Len(t, want, 4)
		var text []byte
		for _, x := range want {
			text, _ = x.AppendText(text)
		}
		sums, err := ReadSums("x", strings.NewReader(string(text)))
		require.NoError(t, err)
		require.Equal(t, want, sums)

		verify := func(a, b []byte) (l []*records.CorruptionError) {
			s := stream(a, b)
			require.NoError(t, s.Verify(sums, Options{}, func(e *records.CorruptionError) { l = append(l, e) }))
			require.NoError(t, s.Close())
			return l
		}
		require.Empty(t, verify(a, b))
		pads := 0
		for at := range a {
			for bit := range short.Rounds(t, 8, 1) {
				x := append([]byte{}, a...)
				x[at] ^= 1 << bit
				l := verify(x, b)
				if at >= 13 && at < 16 || at >= 33 && at < 36 { // a sum excludes the padding
					require.Empty(t, l)
					pads++
					continue
				}
				require.NotEmpty(t, l, "byte %d bit %d", at, bit)
				require.True(t, strings.HasSuffix(l[0].File, "a"))
				require.LessOrEqual(t, l[0].Offset, int64(at))
			}
		}
		require.NotZero(t, pads)
		require.Len(t, verify(a[:16], b), 4, "a record is missing, others stand elsewhere")
	}
	for _, bad := range []string{"0\t1\n", "0\t1\t0000000g\n", "0\t1\t0\n", "-4\t1\t00000000\n", "0\t-1\t00000000\n", "4\t1\t00000000\n4\t1\t00000000\n"} {
		_, err := ReadSums("x.sums", strings.NewReader(bad))
		require.ErrorIs(t, err, records.ErrCorrupt, "%q", bad)
	}
}
