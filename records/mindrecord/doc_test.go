package mindrecord

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/hexdoc"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestFormat writes the example of docs/format/mindrecord.md and reads it.
func TestFormat(t *testing.T) {
	b := hexdoc.Read(t, filepath.Join("..", ".."), "mindrecord")
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	require.NoError(t, os.WriteFile(name, b, 0o600))
	d, err := openData(disk, name)
	require.NoError(t, err)
	require.NoError(t, d.walk())
	require.EqualValues(t, 2, d.rows())
	require.Equal(t, []uint32{39, 73}, d.blobEnds)
	require.Equal(t, []uint32{18, 37}, d.rawEnds)
	ids := []tensor.Tensor{scalar[int32](t, tensor.Int32, 5, -200, 70000), scalar[int32](t, tensor.Int32, 1, 2)}
	var rows [][]tensor.Tensor
	for k, text := range []string{"one", "é"} {
		rows = append(rows, []tensor.Tensor{ids[k], *tensor.FromBytes([]byte{0xff, 0xd8, byte(k)}), scalar(t, tensor.Int32, int32(7-200*k)), *tensor.FromBytes([]byte(text))})
	}
	var buf []byte
	for k, want := range rows {
		g, blob, raw := d.places(int64(k))
		values := make([]tensor.Tensor, 4)
		r, err := d.record(d.groups[g].raw, raw, &buf)
		require.NoError(t, err)
		require.NoError(t, d.h.schema.decodeRaw([]*tensor.Tensor{nil, nil, &values[2], &values[3]}, r, make([]bool, 4)))
		text := string(values[3].Data)
		r, err = d.record(d.groups[g].blob, blob, &buf)
		require.NoError(t, err)
		require.NoError(t, d.h.schema.decodeBlobs([]*tensor.Tensor{&values[0], &values[1], nil, nil}, r))
		require.Equal(t, want[0], values[0])
		require.Equal(t, want[1].Data, values[1].Data)
		require.Equal(t, want[2], values[2])
		require.Equal(t, string(want[3].Data), text)
	}
	schema := d.h.schema
	require.NoError(t, d.Close())
	w, err := Create(name, schema, small)
	require.NoError(t, err)
	for _, r := range rows {
		require.NoError(t, w.Write(r))
	}
	require.NoError(t, w.Close())
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, len(b), len(got))
	for at := 0; at < len(b); at += 16 {
		end := min(at+16, len(b))
		require.Equal(t, hex.EncodeToString(b[at:end]), hex.EncodeToString(got[at:end]), "at %#x", at)
	}
	require.Equal(t, [][]any{
		{"CREATE TABLE INDEXES(  ROW_ID               INT  NOT NULL, PAGE_ID_RAW          INT  NOT NULL, PAGE_OFFSET_RAW      INT  NOT NULL, PAGE_OFFSET_RAW_END  INT  NOT NULL, " +
			"ROW_GROUP_ID         INT  NOT NULL, PAGE_ID_BLOB         INT  NOT NULL, PAGE_OFFSET_BLOB     INT  NOT NULL, PAGE_OFFSET_BLOB_END INT  NOT NULL," +
			"INC_0 INT, k_0 INTEGER,INC_1 INT, t_0 TEXT, PRIMARY KEY(ROW_ID,INC_0,INC_1))"},
		{"CREATE TABLE SHARD_NAME(NAME TEXT NOT NULL)"},
		{"x"},
		{int64(0), int64(1), int64(0), int64(18), int64(0), int64(0), int64(0), int64(39), int64(0), int64(7), int64(0), "one"},
		{int64(1), int64(1), int64(18), int64(37), int64(0), int64(0), int64(39), int64(73), int64(0), int64(-193), int64(0), "é"},
	}, dump(t, name))
}
