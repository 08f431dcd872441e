package tokens

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/importer"
)

// TestSupports: each class of transformers is exact, has no tokens of images,
// or is refused with a reason. Parse says the same.
func TestSupports(t *testing.T) {
	l := Supports()
	require.Len(t, l, len(processors))
	known := Classes()
	var exact, without, not int
	for _, s := range l {
		p, err := Parse(Files{Preprocessor: []byte(`{"processor_class": "` + s.Class + `"}`)})
		require.Nil(t, p, s.Class)
		require.ErrorIs(t, err, importer.ErrUnsupported, s.Class)
		if s.Exact {
			exact++
			require.Contains(t, known, s.Class)
			require.Empty(t, s.Reason, s.Class)
			require.ErrorContains(t, err, "has rules for") // the image processor, which the file lacks
			continue
		}
		require.NotContains(t, known, s.Class)
		require.NotEmpty(t, s.Reason, s.Class)
		require.ErrorContains(t, err, s.Reason, s.Class)
		if s.NoTokens {
			without++
		} else {
			not++
			require.Contains(t, refused, s.Class)
		}
	}
	require.Len(t, refused, not, "only classes without rules are refused")
	for _, name := range known {
		require.Contains(t, []origin{replaced, written}, processors[name], name)
		require.True(t, slices.ContainsFunc(l, func(s Support) bool { return s.Class == name }))
	}
	t.Log(exact, "exact,", without, "without tokens of images,", not, "refused")
}
