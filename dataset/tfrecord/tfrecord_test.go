package tfrecord

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/records/tfrecord"
	"github.com/infer-prep/infer-prep/store"
)

// writeFiles writes two files of three records each.
func writeFiles(t *testing.T) (dir string) {
	dir = t.TempDir()
	for f := range 2 {
		var b bytes.Buffer
		w := tfrecord.NewWriter(&b, 0)
		for i := range 3 {
			require.NoError(t, w.Write(bytes.Repeat(fmt.Appendf(nil, "record %d %d ", f, i), i)))
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.tfrecord", f)), b.Bytes(), 0o600))
	}
	return dir
}

func TestTFRecord(t *testing.T) {
	o := New(writeFiles(t))
	sourcetest.Spec(t, o)
	sourcetest.Run(t, o)
	all := sourcetest.Samples(t, o)
	require.Len(t, all, 6)
	for k, s := range all {
		require.Equal(t, string(bytes.Repeat(fmt.Appendf(nil, "record %d %d ", k/3, k%3), k%3)), string(s.Column("data").Data))
		require.Equal(t, filepath.Join(o.Files[0], fmt.Sprintf("%d.tfrecord@%d", k/3, []int{0, 16, 32 + len("record 0 0 ")}[k%3])), s.Key)
	}
}

func TestErrors(t *testing.T) {
	require.ErrorIs(t, New().Validate(), dataset.ErrParam)
	dir := writeFiles(t)
	_, err := New(filepath.Join(dir, "none")).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrData)

	// A changed byte of data damages its record alone. A changed header or a
	// truncated end damages the whole file.
	name := filepath.Join(dir, "1.tfrecord")
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	change := func(at int) (dataset.Data, error) {
		c := bytes.Clone(b)
		c[at] ^= 1
		require.NoError(t, os.WriteFile(name, c, 0o600))
		return New(dir).Open(t.Context(), store.Local)
	}
	d, err := change(16 + 13)
	require.NoError(t, err)
	s := dataset.NewSample(d.Columns())
	for i := range d.(dataset.Rows).Len() {
		err := d.(dataset.Rows).Read(t.Context(), i, s)
		if i == 4 {
			require.ErrorIs(t, err, dataset.ErrData)
			require.ErrorIs(t, err, records.ErrCorrupt)
			require.ErrorContains(t, err, "1.tfrecord: at byte 16")
			continue
		}
		require.NoError(t, err)
	}
	require.NoError(t, d.Close())
	_, err = change(16 + 9)
	require.ErrorIs(t, err, records.ErrCorrupt)
	require.NoError(t, os.WriteFile(name, b[:len(b)-1], 0o600))
	_, err = New(dir).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, records.ErrCorrupt)
}

func TestStore(t *testing.T) {
	sourcetest.Store(t, writeFiles(t), func(dir string) dataset.Source { return New(dir+"/1.tfrecord", dir) })
}
