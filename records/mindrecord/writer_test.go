package mindrecord

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestNothingHalf tests that no file appears under its name before Close or
// after Abort. If a program is killed within Close, reading is an error, and
// Index repairs the set.
func TestNothingHalf(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	seen := func() (l []string) {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries {
			l = append(l, e.Name())
		}
		return l
	}
	s, rows := example(t)
	w, err := Create(name, s, WriterOptions{HeaderSize: minHeader, PageSize: minPage, Rows: 3})
	require.NoError(t, err)
	for _, r := range rows {
		require.NoError(t, w.Write(r))
	}
	for _, n := range seen() {
		require.True(t, strings.HasPrefix(n, ".x.tmp"), n)
	}
	require.NoError(t, w.Abort())
	require.NoError(t, w.Abort())
	require.NoError(t, w.Close())
	require.Empty(t, seen())

	data, index := writeExample(t, name)
	require.Equal(t, []string{"x", "x.db"}, seen())
	w, err = Append(name)
	require.NoError(t, err)
	require.NoError(t, w.Write(rows[0]))
	require.NoError(t, w.Abort())
	require.Equal(t, []string{"x", "x.db"}, seen())
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	require.True(t, bytes.Equal(data, got))

	// Simulate a kill after the new data file and before its index.
	w, err = Append(name)
	require.NoError(t, err)
	require.NoError(t, w.Write(rows[0]))
	require.NoError(t, w.Close())
	want := rowsOf(t, name)
	require.Len(t, want, 5)
	whole, err := os.ReadFile(indexName(name))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(indexName(name), index, 0o600))
	_, err = Open([]string{name})
	require.ErrorIs(t, err, records.ErrCorrupt)
	require.NoError(t, Index(name))
	require.Equal(t, want, rowsOf(t, name))
	got, err = os.ReadFile(indexName(name))
	require.NoError(t, err)
	require.True(t, bytes.Equal(whole, got))
	require.Equal(t, []string{"x", "x.db"}, seen())

	// A folder has the final name.
	other := filepath.Join(dir, "y")
	w, err = Create(other, s, small)
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(other, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(other, "z"), nil, 0o600))
	require.NoError(t, w.Write(rows[0]))
	require.Error(t, w.Close())
	_, err = Create(other, s, small)
	require.ErrorContains(t, err, "is a folder: want a regular file")
	require.Equal(t, []string{"x", "x.db", "y"}, seen())
}

// TestRenamed reads a set under another name.
func TestRenamed(t *testing.T) {
	dir := t.TempDir()
	s, rows := example(t)
	w, err := Create(filepath.Join(dir, "x"), s, WriterOptions{HeaderSize: minHeader, PageSize: minPage, Rows: 1})
	require.NoError(t, err)
	for i := range 11 {
		require.NoError(t, w.Write(rows[i%4]))
	}
	require.NoError(t, w.Close())
	want := rowsOf(t, filepath.Join(dir, "x"))
	require.Len(t, want, 11)
	for i := range 11 {
		for _, end := range []string{"", ".db"} {
			require.NoError(t, os.Rename(filepath.Join(dir, fmt.Sprintf("x%02d%s", i, end)), filepath.Join(dir, fmt.Sprintf("other 1%02d%s", i, end))))
		}
	}
	require.Equal(t, want, rowsOf(t, filepath.Join(dir, "other 1")))
	require.Equal(t, want, rowsOf(t, filepath.Join(dir, "other 107")))
	require.Equal(t, want[3:5], rowsOf(t, filepath.Join(dir, "other 103"), filepath.Join(dir, "other 104")))
	require.NoError(t, os.Rename(filepath.Join(dir, "other 105"), filepath.Join(dir, "lost")))
	_, err = Open([]string{filepath.Join(dir, "other 1")})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Open([]string{filepath.Join(dir, "lost")})
	require.ErrorContains(t, err, "x05")
}

func TestRefusals(t *testing.T) {
	number := tensor.Desc{DType: tensor.Int32}
	array := func(d ...int) tensor.Desc { return tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(d...)} }
	for what, s := range map[string]Schema{
		"no fields":    {},
		"name":         {Fields: []Field{{Name: "a-b", Desc: number}}},
		"empty name":   {Fields: []Field{{Name: "", Desc: number}}},
		"twice":        {Fields: []Field{{Name: "a", Desc: number}, {Name: "a", Desc: number}}},
		"uint8":        {Fields: []Field{{Name: "a", Desc: tensor.Desc{DType: tensor.Uint8}}}},
		"no type":      {Fields: []Field{{Name: "a"}}},
		"text of ints": {Fields: []Field{{Name: "a", Desc: number, Text: true}}},
		"bytes axes":   {Fields: []Field{{Name: "a", Desc: tensor.Desc{DType: tensor.Bytes, Shape: tensor.Dims(2)}}}},
		"two unknown":  {Fields: []Field{{Name: "a", Desc: array(-1, -1)}}},
		"size 0":       {Fields: []Field{{Name: "a", Desc: array(0)}}},
		"digit":        {Fields: []Field{{Name: "0a", Desc: number}}},
		"case":         {Fields: []Field{{Name: "a", Desc: number}, {Name: "A", Desc: number}}},
		"inc":          {Fields: []Field{{Name: "a", Desc: number}, {Name: "inc", Desc: number}}, Index: []string{"inc"}},
		"index":        {Fields: []Field{{Name: "a", Desc: array(1)}}, Index: []string{"a"}},
		"index none":   {Fields: []Field{{Name: "a", Desc: array(1)}}, Index: []string{"b"}},
	} {
		require.ErrorIs(t, s.Validate(), ErrField, what)
		_, err := Create(filepath.Join(t.TempDir(), "x"), s, small)
		require.ErrorIs(t, err, ErrField, what)
	}
	s := Schema{Fields: []Field{{Name: "0a", Desc: number}, {Name: "b", Desc: number}}, Index: []string{"b"}}
	require.NoError(t, s.Validate())
	name := filepath.Join(t.TempDir(), "x")
	for _, o := range []WriterOptions{{HeaderSize: 1}, {HeaderSize: maxHeader + 1}, {PageSize: minPage - 4}, {PageSize: minPage + 1}, {PageSize: maxPage + 4}, {Rows: -1}} {
		_, err := Create(name, s, o)
		require.Error(t, err)
	}
	_, err := Create("s3://x/y", s, small)
	require.ErrorContains(t, err, "s3://")
	_, err = Open([]string{"s3://x/y"})
	require.ErrorContains(t, err, "s3://")
	_, err = Open(nil)
	require.Error(t, err)

	s = Schema{Fields: []Field{{Name: "b", Desc: tensor.Encoded()}, {Name: "t", Desc: tensor.Encoded(), Text: true}}}
	w, err := Create(name, s, small)
	require.NoError(t, err)
	b := func(n int) tensor.Tensor { return *tensor.FromBytes(make([]byte, n)) }
	require.ErrorIs(t, w.Write([]tensor.Tensor{b(1)}), ErrField)
	require.ErrorIs(t, w.Write([]tensor.Tensor{b(1), *tensor.FromBytes([]byte("\xff"))}), ErrField)
	require.ErrorIs(t, w.Write([]tensor.Tensor{b(1), scalar[int32](t, tensor.Int32, 1)}), ErrField)
	require.ErrorIs(t, w.Write([]tensor.Tensor{b(minPage - 7), b(1)}), records.ErrTooLarge)
	require.ErrorIs(t, w.Write([]tensor.Tensor{b(1), b(minPage)}), records.ErrTooLarge)
	require.NoError(t, w.Write([]tensor.Tensor{b(minPage - 8), b(1)}))
	// Each row takes a page, until the header is full.
	for err == nil {
		err = w.Write([]tensor.Tensor{b(minPage - 8), b(1)})
	}
	require.ErrorIs(t, err, records.ErrTooLarge)
	require.ErrorContains(t, err, "header")
	require.ErrorIs(t, w.Write([]tensor.Tensor{b(1), b(1)}), records.ErrTooLarge)
	require.ErrorIs(t, w.Close(), records.ErrTooLarge)
	left, err := os.ReadDir(filepath.Dir(name))
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestFormatRecords tests the package as a format of package records.
func TestFormatRecords(t *testing.T) {
	f, err := records.Lookup("mindrecord")
	require.NoError(t, err)
	ctx := context.Background()
	dir := goldens(t)
	for _, name := range []string{"scalars", "empty", "many03"} {
		head, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.True(t, f.Match(name, head[:min(512, len(head))]))
		require.False(t, f.Match(name, head[:20]))
	}
	remote := struct{ store.Opener }{store.Local}
	r, err := f.Open(ctx, remote, []string{filepath.Join(dir, "scalars")}, records.ReadOptions{})
	require.NoError(t, err)
	var x records.Record
	require.NoError(t, r.Next(&x))
	require.Equal(t, "0", x.Key)
	require.NoError(t, r.Close())
	_, err = f.Create(ctx, store.Local, filepath.Join(dir, "new"), records.WriteOptions{Size: 1})
	require.Error(t, err)
	r, err = f.Open(ctx, store.Local, []string{filepath.Join(dir, "bytes")}, records.ReadOptions{})
	require.NoError(t, err)
	w, err := f.Create(ctx, store.Local, filepath.Join(dir, "new"), records.WriteOptions{Count: 25})
	require.NoError(t, err)
	var record records.Record
	n := 0
	for ; ; n++ {
		err := r.Next(&record)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(n), record.Key)
		require.Len(t, record.Fields, 3)
		require.NoError(t, w.Write(&record))
	}
	require.Equal(t, io.EOF, r.Next(&record))
	require.NoError(t, r.Close())
	require.ErrorIs(t, w.Write(&records.Record{Fields: record.Fields[1:]}), ErrField)
	require.ErrorIs(t, w.Write(&records.Record{Fields: append(record.Fields[1:], records.Field{Name: "other"})}), ErrField)
	require.NoError(t, w.Close())
	require.NoError(t, w.Abort())
	require.Error(t, w.Write(&record))
	require.Equal(t, expected(t)["bytes"], rowsOf(t, filepath.Join(dir, "new")))
	require.FileExists(t, filepath.Join(dir, "new2.db"))

	w, err = f.Create(ctx, store.Local, filepath.Join(dir, "none"), records.WriteOptions{})
	require.NoError(t, err)
	require.ErrorIs(t, w.Write(&records.Record{Fields: []records.Field{{Name: "a.b", Value: *tensor.FromBytes(nil)}}}), ErrField)
	require.ErrorIs(t, w.Close(), ErrField)

	// A damaged row ends reading, or is skipped by a lenient reader.
	name := filepath.Join(dir, "scalars")
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	s, err := Open([]string{name})
	require.NoError(t, err)
	_, _, at := s.Place(2)
	require.NoError(t, s.Close())
	b[at] ^= 1
	require.NoError(t, os.WriteFile(name, b, 0o600))
	var skipped []error
	for _, lenient := range []bool{false, true} {
		r, err := f.Open(ctx, store.Local, []string{name}, records.ReadOptions{Lenient: lenient, OnSkip: func(err error) { skipped = append(skipped, err) }})
		require.NoError(t, err)
		n := 0
		for err = r.Next(&record); err == nil; err = r.Next(&record) {
			n++
		}
		if lenient {
			require.Equal(t, io.EOF, err)
			require.Equal(t, 29, n)
			require.Len(t, skipped, 1)
		} else {
			var c *records.CorruptionError
			require.ErrorAs(t, err, &c)
			require.Equal(t, at, c.Offset)
			require.Equal(t, 2, n)
		}
		require.NoError(t, r.Close())
	}
	r, err = f.Open(ctx, store.Local, []string{filepath.Join(dir, "shards1"), filepath.Join(dir, "shards0")}, records.ReadOptions{Limit: 5})
	require.NoError(t, err)
	require.ErrorIs(t, r.Next(&record), records.ErrTooLarge)
	require.NoError(t, r.Close())
}

// TestNoPatterns creates a set under a name with a place for a number.
func TestNoPatterns(t *testing.T) {
	f, err := records.Lookup("mindrecord")
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "x-%04d.mindrecord")
	_, err = f.Create(t.Context(), store.Local, name, records.WriteOptions{})
	require.ErrorIs(t, err, records.ErrOption)
	require.NoFileExists(t, name)
}
