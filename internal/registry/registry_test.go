package registry

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLookup(t *testing.T) {
	r := New[int]("op")
	_, err := r.Lookup("resize")
	require.EqualError(t, err, `unknown op "resize"; none is registered`)
	r.Add("resize", 1)
	r.Add("crop", 2)
	r.Add("normalize", 3)
	require.Equal(t, []string{"crop", "normalize", "resize"}, r.Names())
	require.Equal(t, []int{2, 3, 1}, r.All())
	v, err := r.Lookup("resize")
	require.NoError(t, err)
	require.Equal(t, 1, v)

	_, err = r.Lookup("reszie")
	require.EqualError(t, err, `unknown op "reszie"; did you mean "resize"?`)
	_, err = r.Lookup("blur")
	require.EqualError(t, err, `unknown op "blur"; known: crop, normalize, resize`)
	require.ErrorIs(t, err, ErrUnknown)
	require.ErrorIs(t, err, r.ErrUnknown())
	require.NotErrorIs(t, err, New[int]("op").ErrUnknown(), "another registry's")
	require.NotErrorIs(t, err, errors.ErrUnsupported)
	_, ok := r.Get("blur")
	require.False(t, ok)
	v, ok = r.Get("crop")
	require.True(t, ok)
	require.Equal(t, 2, v)

	for i := range maxListed {
		r.Add(fmt.Sprint("op", i), i)
	}
	_, err = r.Lookup("blur")
	require.EqualError(t, err, `unknown op "blur"`, "too many names to list")
}

func TestRefused(t *testing.T) {
	r := New[int]("op")
	r.Add("crop", 1)
	require.PanicsWithValue(t, `register op "": the name is empty`, func() { r.Add("", 1) })
	require.PanicsWithValue(t, `register op "crop": the name is taken`, func() { r.Add("crop", 1) })
	r.AddType("bytes", "", 2)
	require.PanicsWithValue(t, `register op "text": the type string is taken`, func() { r.AddType("text", "", 3) })
	require.PanicsWithValue(t, `register op "none": no function`, func() { r.Refuse("none", "no function") })
	require.Equal(t, []string{"bytes", "crop"}, r.Names(), "refused values leave no trace")
	v, ok := r.ByType("any string")
	require.True(t, ok)
	require.Equal(t, 2, v)
	_, ok = r.ByType(1)
	require.False(t, ok)
	r.Add("text", 3) // the lock is free after a panic
}

func TestSuggest(t *testing.T) {
	known := []string{"resize", "center_crop", "random_crop", "crop", "cpu", "mp3", "mp4"}
	for name, want := range map[string]string{
		"reszie":                        "resize",
		"Resize":                        "resize",
		"center-crop":                   "center_crop",
		"centercrop":                    "center_crop",
		"rnd_crop":                      "random_crop",
		"corp":                          "crop",
		"gpu":                           "cpu",
		"mp5":                           "mp3", // equally close: the first
		"":                              "",
		"x":                             "",
		"blur":                          "",
		"rotate":                        "",
		strings.Repeat("resize", 1<<20): "",
	} {
		require.Equal(t, want, Suggest(name, known), "%.40s", name)
	}
	require.Equal(t, "", Suggest("crop", nil))
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"ab", "ba", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}, {"crop", "crop", 0}} {
		require.Equal(t, c.want, distance(c.a, c.b), "%s %s", c.a, c.b)
		require.Equal(t, c.want, distance(c.b, c.a), "%s %s", c.b, c.a)
	}
}

func TestConcurrent(t *testing.T) {
	r := New[int]("op")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				name := fmt.Sprint(i, ".", j)
				r.Add(name, j)
				v, err := r.Lookup(name)
				if err != nil || v != j {
					t.Errorf("%s: %d, %v", name, v, err)
				}
				if !slices.IsSorted(r.Names()) {
					t.Error("the names are not sorted")
				}
			}
		})
	}
	wg.Wait()
	require.Len(t, r.All(), 400)
}

func TestNoAllocation(t *testing.T) {
	r := New[int]("op")
	r.AddType("crop", &struct{}{}, 1)
	sample := &struct{}{}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, _ = r.Lookup("crop")
		_, _ = r.ByType(sample)
		_, _ = r.Names(), r.All()
	}))
}
