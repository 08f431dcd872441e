package recordio

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/store"
)

func mxnetFile(name string) string { return filepath.Join("..", "testdata", "recordio", name) }

// label returns the label of a record of these files, which is also its number.
func label(t *testing.T, record []byte) int {
	var r imagerecord.Record
	require.NoError(t, r.Parse(record))
	require.Equal(t, []float32{float32(r.ID)}, r.Labels)
	return int(r.ID)
}

// TestMXNetFiles writes the records again with their index and compares them
// with MXNet's files, byte for byte.
func TestMXNetFiles(t *testing.T) {
	number, several := 0, 0
	for _, name := range []string{"a", "b", "c"} {
		want, err := os.ReadFile(mxnetFile(name + ".rec"))
		require.NoError(t, err)
		index, err := os.ReadFile(mxnetFile(name + ".idx"))
		require.NoError(t, err)
		var got, gotIndex bytes.Buffer
		w, err := NewIndexedWriter(&got, &gotIndex, 0)
		require.NoError(t, err)
		r := NewBytes(want, Options{})
		for {
			b, err := r.Next()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			require.Equal(t, number, label(t, b))
			if findMagic(b) >= 0 {
				several++
			}
			require.NoError(t, w.WriteKey(int64(3*number), b))
			number++
		}
		require.Equal(t, want, got.Bytes())
		require.Equal(t, string(index), gotIndex.String())
	}
	require.Equal(t, 71, number)
	require.GreaterOrEqual(t, several, 10, "records of several parts")
}

// TestMXNetParts compares every part of 1 to 400 with MXNet's: the same records
// in the same order.
func TestMXNetParts(t *testing.T) {
	b, err := os.ReadFile(mxnetFile("parts.json"))
	require.NoError(t, err)
	var cases []struct {
		Files []string
		Parts [][]int
	}
	require.NoError(t, json.Unmarshal(b, &cases))
	require.Len(t, cases, 30)
	for _, c := range cases {
		for i, f := range c.Files {
			c.Files[i] = mxnetFile(f + ".rec")
		}
		for k, want := range c.Parts {
			s, err := OpenSplit(t.Context(), store.Local, c.Files, SplitOptions{Part: k, Parts: len(c.Parts)})
			require.NoError(t, err)
			got := []int{}
			for _, r := range next(t, s) {
				got = append(got, label(t, []byte(r)))
			}
			require.NoError(t, s.Close())
			require.Equal(t, want, got, "part %d of %d of %v", k, len(c.Parts), c.Files)
		}
	}
}
