package mxnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// images writes a file of three image records and its index, with the format's
// writer.
func images(t testing.TB) (name string) {
	name = filepath.Join(t.TempDir(), "a.rec")
	f, err := records.Lookup(Image)
	require.NoError(t, err)
	w, err := f.Create(t.Context(), store.Local, name, records.WriteOptions{Index: true})
	require.NoError(t, err)
	for i, key := range []string{"10", "20", "5"} {
		var r records.Record
		r.Reset(key, "", 0)
		r.AddInt("label", int64(i))
		r.AddBytes("jpg", []byte("\xff\xd8\xff image "+key))
		require.NoError(t, w.Write(&r))
	}
	require.NoError(t, w.Close())
	return name
}

func read(ctx context.Context, format string, files []string, o records.ReadOptions) (l []string, err error) {
	f, err := records.Lookup(format)
	if err != nil {
		return nil, err
	}
	r, err := f.Open(ctx, store.Local, files, o)
	if err != nil {
		return nil, err
	}
	var x records.Record
	for {
		if err := r.Next(&x); err != nil {
			if err == io.EOF {
				err = nil
			}
			return l, errors.Join(err, r.Close())
		}
		l = append(l, fmt.Sprintf("%s@%d %d", x.Key, x.Offset, len(x.Fields)))
	}
}

func TestKeys(t *testing.T) {
	name := images(t)
	b, err := os.ReadFile(IndexName(name))
	require.NoError(t, err)
	require.Equal(t, "10\t0\n20\t44\n5\t88\n", string(b))
	l, err := read(t.Context(), Image, []string{name}, records.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"10@0 2", "20@44 2", "5@88 2"}, l)
	l, err = read(t.Context(), Raw, []string{name}, records.ReadOptions{}) // with the keys of the index
	require.NoError(t, err)
	require.Equal(t, []string{"10@0 1", "20@44 1", "5@88 1"}, l)
	require.NoError(t, os.Remove(IndexName(name)))
	l, err = read(t.Context(), Raw, []string{name, name}, records.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"0@0 1", "1@44 1", "2@88 1", "3@0 1", "4@44 1", "5@88 1"}, l)
	_, err = read(t.Context(), Raw, nil, records.ReadOptions{})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestIndex(t *testing.T) {
	name := images(t)
	f, err := records.Lookup(Image)
	require.NoError(t, err)
	want, err := os.ReadFile(IndexName(name))
	require.NoError(t, err)
	require.NoError(t, os.Remove(IndexName(name)))
	l, err := f.Index(t.Context(), store.Local, []string{name}, records.IndexOptions{Sums: true})
	require.NoError(t, err)
	require.Equal(t, []string{IndexName(name), SumsName(name)}, l)
	got, err := os.ReadFile(IndexName(name))
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
	f, err = records.Lookup(Raw)
	require.NoError(t, err)
	_, err = f.Index(t.Context(), store.Local, []string{name}, records.IndexOptions{})
	require.NoError(t, err)
	got, err = os.ReadFile(IndexName(name))
	require.NoError(t, err)
	require.Equal(t, "0\t0\n1\t44\n2\t88\n", string(got))

	require.NoError(t, os.WriteFile(name, nil, 0o666))
	_, err = f.Index(t.Context(), store.Local, []string{name}, records.IndexOptions{})
	require.ErrorContains(t, err, "no records")
}

// TestVerify changes every byte of a file with checksums and truncates it
// everywhere. Verify detects all damage except in padding that no reader
// checks. It also detects every wrong index.
func TestVerify(t *testing.T) {
	name := images(t)
	f, err := records.Lookup(Image)
	require.NoError(t, err)
	index, err := os.ReadFile(IndexName(name))
	require.NoError(t, err)
	_, err = f.Index(t.Context(), store.Local, []string{name}, records.IndexOptions{Sums: true})
	require.NoError(t, err)
	verify := func() (bad []error) {
		beside, err := f.Verify(t.Context(), store.Local, []string{name}, records.ReadOptions{}, func(err error) { bad = append(bad, err) })
		if err != nil {
			return append(bad, err)
		}
		require.Contains(t, beside, SumsName(name))
		return bad
	}
	require.Empty(t, verify())
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	pads := 0
	for i := range b {
		c := bytes.Clone(b)
		c[i] ^= 1 << (i * 5 % 8)
		require.NoError(t, os.WriteFile(name, c, 0o666))
		_, err := read(t.Context(), Image, []string{name}, records.ReadOptions{})
		if bad := verify(); len(bad) == 0 && err == nil {
			pads++
		} else {
			for _, err := range bad {
				require.ErrorIs(t, err, records.ErrCorrupt)
			}
		}
	}
	require.Equal(t, 1, pads) // after the third record's 35 bytes
	for n := range b {
		require.NoError(t, os.WriteFile(name, b[:n], 0o666))
		require.NotEmpty(t, verify(), "%d bytes", n)
	}
	require.NoError(t, os.WriteFile(name, b, 0o666))
	for bad, want := range map[string]string{
		"10\t0\n20\t44\n":                 "at byte 88: a record that is not in the index",
		"10\t0\n20\t48\n5\t88\n":          "at byte 44: a record that is not in the index",
		"10\t0\n20\t44\n5\t88\n6\t132\n":  "at byte 132: no record, the index has one with the key 6",
		"10\t0\n20\t44\n20\t44\n5\t88\n":  "at byte 44: no record, the index has one with the key 20",
		"10\t0\n20\t44\n20\t44\n5\t88.\n": "want a key and an offset",
	} {
		require.NoError(t, os.WriteFile(IndexName(name), []byte(bad), 0o666))
		l := verify()
		require.NotEmpty(t, l, bad)
		require.ErrorContains(t, errors.Join(l...), want)
		// The raw format takes the keys from the index, so reading must fail.
		_, err := read(t.Context(), Raw, []string{name}, records.ReadOptions{})
		require.ErrorIs(t, err, records.ErrCorrupt)
		_, err = read(t.Context(), Image, []string{name}, records.ReadOptions{})
		require.NoError(t, err)
	}
	require.NoError(t, os.WriteFile(IndexName(name), index, 0o666))
	require.NoError(t, os.WriteFile(SumsName(name), []byte("x"), 0o666))
	l := []error{}
	_, err = f.Verify(t.Context(), store.Local, []string{name}, records.ReadOptions{}, func(err error) { l = append(l, err) })
	require.NoError(t, err)
	require.Len(t, l, 1)
}

// A lenient reader reports the parts that it skips and returns all other
// records.
func TestLenient(t *testing.T) {
	var b bytes.Buffer
	w, err := recordio.NewWriter(&b, 0)
	require.NoError(t, err)
	good := (&imagerecord.Record{ID: 1, Labels: []float32{1}, Content: []byte("\xff\xd8\xff")}).Append(nil)
	for _, r := range [][]byte{good, []byte("short"), good, append([]byte{200}, good[1:]...), good} {
		require.NoError(t, w.Write(r))
	}
	file := b.Bytes()
	file[52] ^= 1 // the third record's magic word
	name := filepath.Join(t.TempDir(), "a.rec")
	require.NoError(t, os.WriteFile(name, file, 0o666))
	_, err = read(t.Context(), Image, []string{name}, records.ReadOptions{})
	require.ErrorIs(t, err, records.ErrCorrupt)
	require.ErrorContains(t, err, "at byte 36: invalid image record: 5 bytes")
	var skipped []string
	l, err := read(t.Context(), Image, []string{name}, records.ReadOptions{Lenient: true, OnSkip: func(err error) { skipped = append(skipped, err.Error()) }})
	require.NoError(t, err)
	require.Equal(t, []string{"1@0 2", "1@124 2"}, l)
	require.Len(t, skipped, 3, skipped)
}
