package mds

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

const golden = "../../testdata/mds/"

// convert reads a folder and writes its records to another.
func convert(t *testing.T, from, to string, o records.WriteOptions) {
	t.Helper()
	f, err := records.Lookup("mds")
	require.NoError(t, err)
	r, err := f.Open(t.Context(), store.Local, []string{from}, records.ReadOptions{})
	require.NoError(t, err)
	w, err := f.Create(t.Context(), store.Local, filepath.Join(to, Index), o)
	require.NoError(t, err)
	var m records.Record
	for {
		if err := r.Next(&m); err == io.EOF {
			break
		}
		require.NoError(t, w.Write(&m))
	}
	require.NoError(t, r.Close())
	require.NoError(t, w.Close())
}

// TestWriter requires the bytes of MDSWriter, in the shards and in the index.
func TestWriter(t *testing.T) {
	dir := t.TempDir()
	convert(t, golden+"written", dir, records.WriteOptions{Size: 4000})
	want, err := os.ReadDir(golden + "written")
	require.NoError(t, err)
	got, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, got, len(want))
	for _, e := range want {
		a, err := os.ReadFile(golden + "written/" + e.Name())
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		require.Equal(t, string(a), string(b), e.Name())
	}
}

func TestConvert(t *testing.T) {
	dir, again := t.TempDir(), t.TempDir()
	convert(t, golden+"zstd", dir, records.WriteOptions{Count: 3, Keys: true})
	f, err := records.Detect(t.Context(), store.Local, filepath.Join(dir, Index))
	require.NoError(t, err)
	require.Equal(t, "mds", f.Name)
	s, err := Open(t.Context(), store.Local, dir)
	require.NoError(t, err)
	defer s.Close()
	require.Equal(t, []int64{0, 3, 6}, s.Shards())
	require.Equal(t, []Column{
		{records.KeyField, tensor.Encoded(), true}, {"bytes", tensor.Encoded(), false},
		{"int", tensor.Desc{DType: tensor.Int64}, false}, {"str", tensor.Encoded(), true},
	}, s.Columns())
	convert(t, golden+"zstd", again, records.WriteOptions{})
	one, err := Open(t.Context(), store.Local, again)
	require.NoError(t, err)
	defer one.Close()
	require.Equal(t, []int64{0}, one.Shards())

	w, err := f.Create(t.Context(), store.Local, filepath.Join(t.TempDir(), Index), records.WriteOptions{})
	require.NoError(t, err)
	require.ErrorIs(t, w.Write(&records.Record{Key: "0"}), records.ErrField)
	r := &records.Record{Key: "0"}
	r.AddBytes("x", nil)
	require.NoError(t, w.Write(r))
	r.Key = "key"
	require.ErrorIs(t, w.Write(r), records.ErrField)
	r.Key = "1"
	r.AddInt("y", 1)
	require.ErrorIs(t, w.Write(r), records.ErrField)
	require.NoError(t, w.Abort())
	_, err = f.Create(t.Context(), store.Local, "x.mds", records.WriteOptions{})
	require.ErrorIs(t, err, records.ErrOption)
}

// copyFolder returns a copy of a golden folder.
func copyFolder(t testing.TB, name string) string {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(golden+name)))
	return dir
}

// readAll reads all samples of a folder.
func readAll(t testing.TB, dir string) error {
	s, err := Open(t.Context(), store.Local, dir)
	if err != nil {
		return err
	}
	defer s.Close()
	var r Row
	for i := range min(s.Len(), 1000) {
		if err := s.Read(i, &r); err != nil {
			return err
		}
	}
	return nil
}

func TestDamage(t *testing.T) {
	for _, name := range []string{"all", "zstd"} {
		dir := copyFolder(t, name)
		require.NoError(t, readAll(t, dir))
		l, err := filepath.Glob(filepath.Join(dir, "shard.00000.*"))
		require.NoError(t, err)
		b, err := os.ReadFile(l[0])
		require.NoError(t, err)
		for n := range 20 {
			require.NoError(t, os.WriteFile(l[0], b[:n*len(b)/20], 0o600))
			require.ErrorIs(t, readAll(t, dir), records.ErrCorrupt, "%s: cut to %d bytes", name, n)
		}
		require.NoError(t, os.Remove(l[0]))
		require.ErrorIs(t, readAll(t, dir), os.ErrNotExist)
	}
	dir := copyFolder(t, "all")
	name := filepath.Join(dir, "shard.00001.mds")
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	for _, at := range []int{0, 4, 8, len(b) - 400} { // samples, offsets, sizes
		c := append([]byte{}, b...)
		c[at] ^= 0xff
		require.NoError(t, os.WriteFile(name, c, 0o600))
		if err := readAll(t, dir); at < 10 {
			require.ErrorIs(t, err, records.ErrCorrupt, "byte %d", at)
			require.ErrorContains(t, err, "shard.00001.mds: at byte")
		}
	}
	_, err = Open(t.Context(), store.Local, golden+"odd")
	require.ErrorIs(t, err, records.ErrUnsupported)
	require.ErrorContains(t, err, `column "list" with encoding "list[png]": choose other columns`)
	s, err := Open(t.Context(), store.Local, golden+"odd", "int")
	require.NoError(t, err)
	require.NoError(t, s.Close())
	_, err = Open(t.Context(), store.Local, golden+"odd", "none")
	require.ErrorIs(t, err, records.ErrField)

	dir = copyFolder(t, "gz")
	index := filepath.Join(dir, Index)
	b, err = os.ReadFile(index)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(index, bytes.ReplaceAll(b, []byte(`"compression": "gz"`), []byte(`"compression": "br:11"`)), 0o600))
	_, err = Open(t.Context(), store.Local, dir)
	require.ErrorIs(t, err, records.ErrUnsupported)
	require.ErrorContains(t, err, `compression "br", want zstd, gz, bz2 or snappy`)
}

func TestIndex(t *testing.T) {
	for _, text := range []string{
		``, `[]`, `{"version": 1, "shards": [{}]}`, `{"version": 2, "shards": []}`, `{"version": 2, "shards": [{}]}`,
		`{"version": 2, "shards": [{"version": 2, "format": "mds", "column_names": ["a"], "column_encodings": ["int"], "column_sizes": [4]}]}`,
		`{"version": 2, "shards": [{"version": 2, "format": "mds", "column_names": ["a"], "column_encodings": ["ndarray:int8:0"], "column_sizes": [0]}]}`,
		`{"version": 2, "shards": [{"version": 2, "format": "mds", "column_names": ["a"], "column_encodings": ["int"], "column_sizes": [8], "samples": 1, "raw_data": {"basename": "../x", "bytes": 100}}]}`,
		`{"version": 2, "shards": [{"version": 2, "format": "mds", "column_names": ["a"], "column_encodings": ["int"], "column_sizes": [8], "samples": 100, "raw_data": {"basename": "x", "bytes": 100}}]}`,
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, Index), []byte(text), 0o600))
		require.ErrorIs(t, readAll(t, dir), records.ErrCorrupt, text)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"all", "written", "zstd", "gz", "bz2", "snappy", "odd"} {
		l, err := filepath.Glob(golden + name + "/shard.00000.*")
		require.NoError(f, err)
		b, err := os.ReadFile(l[0])
		require.NoError(f, err)
		index, err := os.ReadFile(golden + name + "/" + Index)
		require.NoError(f, err)
		f.Add(index, filepath.Base(l[0]), b)
	}
	f.Fuzz(func(t *testing.T, index []byte, name string, shard []byte) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, Index), index, 0o600))
		if filepath.Base(name) == name && filepath.IsLocal(name) && name != Index && name != "." {
			_ = os.WriteFile(filepath.Join(dir, name), shard, 0o600) // some names are none
		}
		_ = readAll(t, dir)
	})
}
