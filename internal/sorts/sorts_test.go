package sorts

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

type pair struct{ key, number int }

func byKey(a, b pair) int { return a.key - b.key }

// TestLikeSlices compares with package slices, equal elements included.
func TestLikeSlices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		for _, keys := range []int{1, 3, 20, 1000} {
			l := make([]pair, n)
			for i := range l {
				l[i] = pair{r.IntN(keys), i}
			}
			if n%3 == 1 { // sorted but for one element
				slices.SortFunc(l, byKey)
				l[n/2].key = 0
			}
			for name, f := range map[string][2]func([]pair, func(a, b pair) int){
				"Func":   {slices.SortFunc[[]pair], Func[pair]},
				"Stable": {slices.SortStableFunc[[]pair], Stable[pair]},
			} {
				want, got := slices.Clone(l), slices.Clone(l)
				f[0](want, byKey)
				f[1](got, byKey)
				require.Equal(t, want, got, "%s of %d elements, %d keys", name, n, keys)
			}
		}
	}
}

func BenchmarkFunc(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		l := make([]pair, n)
		for i := range l {
			l[i] = pair{i * 7919 % n, i}
		}
		for name, f := range map[string]func([]pair, func(a, b pair) int){"slices": slices.SortFunc[[]pair], "sorts": Func[pair]} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					f(slices.Clone(l), byKey)
				}
			})
		}
	}
}
