package pack

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/hexdoc"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/store"
)

// TestPlanFormat reads the example of docs/format/plan.md and writes the same
// plan.
func TestPlanFormat(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "format", "plan.md"))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(page), "```json\n")
	text, _, _ := strings.Cut(rest, "```\n")

	// The same folder gives the same digest.
	dir := t.TempDir()
	sources := []string{"cat/a.jpg", "cat/b.jpg", "dog/c.jpg"}
	for i, f := range sources {
		name := filepath.Join(dir, f)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		require.NoError(t, os.WriteFile(name, make([]byte, 100*(i+1)), 0o666))
		require.NoError(t, os.Chtimes(name, time.Time{}, time.Unix(1_700_000_000+int64(i), 0)))
	}
	folder := t.TempDir()
	name := filepath.Join(folder, "plan.json")
	p := &Plan{Output: PlanShards, Shards: 2, Seed: new(uint64(7)), Image: ImageOptions{Encoding: PassThrough}}
	_, err = WritePlan(t.Context(), store.Local, name, p, PlanInput{Kind: InputClasses, Name: dir}, PlanWrite{})
	require.NoError(t, err)
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	root := strconv.Quote(dir)
	require.Equal(t, text, strings.Replace(string(got), root, `"/data/photos"`, 1))

	// The page's listing is that of this plan.
	require.NoError(t, os.WriteFile(filepath.Join(folder, "plan.list"), hexdoc.Read(t, "..", "plan"), 0o666))
	q := readPlan(t, name)
	var entries []Entry
	for s := range q.Shards {
		for e, err := range q.Entries(t.Context(), s) {
			require.NoError(t, err)
			entries = append(entries, e)
		}
	}
	const second = 1_000_000_000
	require.Equal(t, []Entry{
		{0, 0, 1, []float32{0}, []EntryFile{{"cat/b.jpg", 200, 1_700_000_001 * second, 0}}},
		{1, 1, 0, []float32{0}, []EntryFile{{"cat/a.jpg", 100, 1_700_000_000 * second, 0}}},
		{1, 2, 2, []float32{1}, []EntryFile{{"dog/c.jpg", 300, 1_700_000_002 * second, 0}}},
	}, entries)

	for count, want := range map[uint64]string{10: "1 9 3 8 7 5 0 2 4 6", 100_000_000: "2370706 40400041 83573017 80949500"} {
		require.Contains(t, string(page), "| "+strconv.FormatUint(count, 10)+" | "+want)
		perm := rng.NewPermutation(count, rng.NewKey(7, 0, planOrder))
		for i, v := range strings.Fields(want) {
			require.Equal(t, v, strconv.FormatUint(perm.At(uint64(i)), 10))
		}
	}
}
