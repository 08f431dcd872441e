package mindrecord

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/records"
)

// dump returns the schema and the rows of an index. Package sqlitetest has the
// same from SQLite.
func dump(t testing.TB, name string) (l [][]any) {
	b, err := os.ReadFile(indexName(name))
	require.NoError(t, err)
	open := func() *database { return &database{ctx: t.Context(), r: bytes.NewReader(b), size: int64(len(b))} }
	f := open()
	tables, err := f.schema()
	require.NoError(t, err)
	f2 := open()
	f2.page, f2.usable, f2.seen = f.page, f.usable, make([]uint64, len(f.seen))
	require.NoError(t, f2.walk(1, 0, func(r *row) error {
		if sql, err := r.text(4, maxSchema); err == nil {
			l = append(l, []any{sql})
		}
		return nil
	}))
	for _, table := range []string{"SHARD_NAME", "INDEXES"} {
		require.NoError(t, f.walk(tables[table], 0, func(r *row) error {
			l = append(l, valuesOf(t, r))
			return nil
		}))
	}
	return l
}

// valuesOf returns all values of a row.
func valuesOf(t testing.TB, r *row) (l []any) {
	b, err := r.first(r.size)
	require.NoError(t, err)
	for end, pos := varint(b); int64(pos) < end; {
		_, n := varint(b[pos:])
		pos += n
		kind, at, size, err := r.column(len(l))
		require.NoError(t, err)
		var v any
		switch {
		case kind == 0:
		case kind == 7:
			v = math.Float64frombits(binary.BigEndian.Uint64(b[at:]))
		case kind >= 12:
			v, err = r.text(len(l), int(size))
		default:
			v, err = r.integer(len(l))
		}
		require.NoError(t, err)
		l = append(l, v)
	}
	return l
}

// sqliteFiles returns the databases that SQLite wrote (package sqlitetest).
func sqliteFiles(t testing.TB) map[string][]byte {
	files := map[string][]byte{}
	dir := unpackArchive(t, "sqlite.tar.gz")
	in, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range in {
		files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
	}
	return files
}

// attacks are indexes that SQLite would run, by name.
func attacks(t testing.TB) map[string][]byte {
	files := sqliteFiles(t)
	for name := range files {
		if strings.HasPrefix(name, "pages of ") {
			delete(files, name)
		}
	}
	require.Len(t, files, 22)
	return files
}

// TestIndexAttacks tests that an index with anything but two plain tables is an
// error, at once and in little memory.
func TestIndexAttacks(t *testing.T) {
	name := filepath.Join(goldens(t), "scalars")
	const plain, two = "want plain columns", "want the tables INDEXES and SHARD_NAME alone"
	wants := map[string]string{
		"generated column": plain, "generated name": plain, "check": plain, "default": plain, "virtual table": plain, "no row ids": plain, "row ids": "is its key",
		"view": two, "another view": two, "trigger": two, "index of an expression": two, "statistics": two,
		"UTF-16": "text encoding 2", "no table of the name": "is missing", "no rows": "0 rows, the pages have 30", "no name": "it names no data file",
		"two names": "it is the index of", "a long text": "it is the index of", "text where a number is": "column 0 is no integer",
		"shared rows": "column 0 is no text", "cyclic pages": "has two uses", "another order of fields": "want ROW_ID",
	}
	for kind, b := range attacks(t) {
		t.Run(kind, func(t *testing.T) {
			require.Less(t, len(b), 1<<20)
			require.NoError(t, os.WriteFile(indexName(name), b, 0o600))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Open([]string{name})
			runtime.ReadMemStats(&after)
			require.ErrorIs(t, err, records.ErrCorrupt)
			require.NotEmpty(t, wants[kind])
			require.ErrorContains(t, err, wants[kind])
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
			t.Logf("%d bytes took %d bytes of memory: %v", len(b), after.TotalAlloc-before.TotalAlloc, err)
		})
	}
}

// TestDatabase reads tables that SQLite wrote, of all sizes of pages and with
// long rows, and compares all rows.
func TestDatabase(t *testing.T) {
	files := sqliteFiles(t)
	numbers := []int64{0, 1, -1, 127, -128, 128, 1 << 15, -1 << 15, 1<<23 - 1, -1 << 23, 1 << 31, 1<<47 - 1, -1 << 47, 1 << 47, math.MaxInt64, math.MinInt64}
	var want [][8]int64
	for i := range 1000 {
		var v [8]int64
		for k := range v {
			v[k] = numbers[(i*7+k*3)%len(numbers)]
		}
		want = append(want, v)
	}
	for _, page := range []int{512, 1024, 4096, 65536} {
		b := files[fmt.Sprintf("pages of %d", page)]
		f := &database{ctx: t.Context(), r: bytes.NewReader(b), size: int64(len(b))}
		tables, err := f.schema()
		require.NoError(t, err)
		require.Equal(t, page, f.page)
		var got [][8]int64
		require.NoError(t, f.walk(tables["INDEXES"], 0, func(r *row) error {
			v, err := r.integers()
			got = append(got, v)
			return err
		}))
		require.Equal(t, want, got, "pages of %d bytes", page)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		f = &database{ctx: ctx, r: bytes.NewReader(b), size: int64(len(b))}
		_, err = f.schema()
		require.ErrorIs(t, err, context.Canceled)
	}
}

// FuzzIndex tests that an arbitrary index is an error, or gives the positions
// that the data file has.
func FuzzIndex(f *testing.F) {
	name := filepath.Join(goldens(f), "scalars")
	b, err := os.ReadFile(indexName(name))
	require.NoError(f, err)
	f.Add(b)
	d, err := openData(disk, name)
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, d.Close()) })
	for _, b := range attacks(f) {
		f.Add(b)
	}
	require.NoError(f, d.walk())
	f.Fuzz(func(t *testing.T, b []byte) {
		got := &data{name: d.name, h: d.h, groups: d.groups}
		if got.readTables(&database{ctx: t.Context(), r: bytes.NewReader(b), size: int64(len(b))}) == nil {
			require.Equal(t, d.blobEnds[len(d.blobEnds)-1], got.blobEnds[len(d.blobEnds)-1])
			require.Len(t, got.rawEnds, len(d.rawEnds))
		}
	})
}
