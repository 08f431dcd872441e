package webdataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/store"
)

// pack compresses a file in place.
func pack(t *testing.T, name string, to func(io.Writer) io.WriteCloser) {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	var z bytes.Buffer
	w := to(&z)
	_, err = w.Write(b)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(name, z.Bytes(), 0o600))
}

func gz(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }

func zst(w io.Writer) io.WriteCloser {
	z, err := zstd.NewWriter(w)
	if err != nil {
		panic(err)
	}
	return z
}

// TestPacked: a compressed shard has the samples that it had before.
func TestPacked(t *testing.T) {
	dir := shards(t)
	o := all(filepath.ToSlash(dir) + "/{000,001}.tar")
	want := sourcetest.Samples(t, o)
	pack(t, filepath.Join(dir, "000.tar"), gz)
	pack(t, filepath.Join(dir, "001.tar"), zst)
	sourcetest.Run(t, o)
	got := sourcetest.Samples(t, o)
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].Key, got[i].Key)
		for k := range want[i].Values {
			require.Equal(t, want[i].Values[k].Data, got[i].Values[k].Data, "row %d, column %d", i, k)
		}
	}
}

// numbered writes packed shards of samples of 1000 bytes each, whose keys are
// their numbers.
func numbered(t *testing.T, lens ...int) (dir string, total int) {
	dir = t.TempDir()
	for shard, n := range lens {
		var l []*webdataset.Sample
		for range n {
			l = append(l, &webdataset.Sample{Key: fmt.Sprintf("%06d", total), Fields: []webdataset.Field{{Ext: "jpg", Data: bytes.Repeat([]byte{byte(total)}, 1000)}}})
			total++
		}
		name := filepath.Join(dir, fmt.Sprintf("%03d.tar.gz", shard))
		write(t, name, l...)
		pack(t, name, gz)
	}
	return dir, total
}

func images(dir string) *WebDataset {
	o := New(filepath.ToSlash(dir) + "/{000..002}.tar.gz")
	o.ColumnNames, o.Fields, o.ColumnTypes = []string{"image"}, [][]string{{"jpg"}}, []string{"bytes"}
	return o
}

// TestPackedOrder reads rows in any order, and from several goroutines, with
// memory for all, some and none of the samples that are skipped.
func TestPackedOrder(t *testing.T) {
	dir, total := numbered(t, 50, 1, 70)
	for _, limit := range []int{maxHeld, 10_000, 0} {
		d, err := images(dir).Open(t.Context(), store.Local)
		require.NoError(t, err)
		r := d.(*rows)
		require.True(t, r.Ordered())
		require.Equal(t, []int64{0, 50, 51}, r.Shards())
		r.held.limit = limit
		for seed := range uint64(3) {
			order := rand.New(rand.NewPCG(seed, 0)).Perm(total)
			var all sync.WaitGroup
			for part := range slices.Chunk(order, 40) {
				all.Go(func() {
					s := dataset.NewSample(d.Columns())
					for _, i := range part {
						if err := r.Read(context.Background(), int64(i), s); err != nil {
							t.Error(err)
							return
						}
						if b := s.Values[0].Data; len(b) != 1000 || b[0] != byte(i) || b[999] != byte(i) {
							t.Errorf("row %d has other bytes", i)
						}
					}
				})
			}
			all.Wait()
			require.LessOrEqual(t, r.held.bytes, limit)
		}
		require.NoError(t, d.Close())
	}
}

// TestPackedChanged: a shard that was changed after Open is an error.
func TestPackedChanged(t *testing.T) {
	dir, _ := numbered(t, 5, 5, 5)
	for _, to := range []string{"001.tar.gz", "short"} {
		d, err := images(dir).Open(t.Context(), store.Local)
		require.NoError(t, err)
		if to == "short" {
			write(t, filepath.Join(dir, to), &webdataset.Sample{Key: "000000", Fields: []webdataset.Field{{Ext: "jpg", Data: []byte{1}}}})
			pack(t, filepath.Join(dir, to), gz)
		}
		b, err := os.ReadFile(filepath.Join(dir, to))
		require.NoError(t, err)
		was, err := os.ReadFile(filepath.Join(dir, "000.tar.gz"))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "000.tar.gz"), b, 0o600))
		err = d.(*rows).Read(t.Context(), 3, dataset.NewSample(d.Columns()))
		require.ErrorIs(t, err, dataset.ErrData)
		require.ErrorContains(t, err, "it was changed")
		require.NoError(t, os.WriteFile(filepath.Join(dir, "000.tar.gz"), was, 0o600))
		require.NoError(t, d.(*rows).Read(t.Context(), 3, dataset.NewSample(d.Columns())))
		require.NoError(t, d.Close())
	}
	require.NoError(t, os.Truncate(filepath.Join(dir, "002.tar.gz"), 100))
	_, err := images(dir).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, records.ErrCorrupt)
}

// counting counts how often files are opened.
type counting struct {
	store.Opener
	mu     sync.Mutex
	opened int
}

func (c *counting) Open(ctx context.Context, name string) (store.File, error) {
	c.mu.Lock()
	c.opened++
	c.mu.Unlock()
	return c.Opener.Open(ctx, name)
}

// TestPackedShuffle: a shuffle of shards decompresses a shard once an epoch.
func TestPackedShuffle(t *testing.T) {
	dir, total := numbered(t, 60, 40, 80)
	files := &counting{Opener: store.Local}
	d := dataset.From(images(dir))
	_, err := dataset.Build(t.Context(), d.Shuffle(), dataset.Options{})
	require.ErrorIs(t, err, dataset.ErrDefinition)
	b, err := dataset.Build(t.Context(), d.ShuffleShards(50, 1), dataset.Options{Store: files, Seed: 3})
	require.NoError(t, err)
	defer b.Close()
	files.opened = 0
	p, err := pipeline.New(b, pipeline.Options{Workers: 2}, nil)
	require.NoError(t, err)
	defer p.Close()
	for epoch := range 2 {
		seen := map[string]bool{}
		for s, err := range p.All(t.Context()) {
			require.NoError(t, err)
			seen[s.Key] = true
		}
		require.Len(t, seen, total, "epoch %d", epoch)
		require.NoError(t, p.NextEpoch())
	}
	// A window at the border of two shards may read on in one that it finished.
	require.LessOrEqual(t, files.opened, 2*3+2)
}
