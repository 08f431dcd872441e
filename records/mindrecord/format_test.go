package mindrecord

import (
	"io"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestFormatKeys tests that keys are stored in a field of their own, unless
// they are the records' numbers.
func TestFormatKeys(t *testing.T) {
	for _, c := range []struct {
		keys   []string
		ask    bool
		stored bool
		bad    int // the refused record, -1 for none
	}{
		{[]string{"0", "1", "2"}, false, false, -1},
		{[]string{"0", "1", "2"}, true, true, -1},
		{[]string{"b", "a", "ü"}, false, true, -1},
		{[]string{"5", "0", "5"}, false, true, -1},
		{[]string{"0", "7"}, false, false, 1},
		{[]string{"0", "7"}, true, true, -1},
	} {
		f, err := records.Lookup("mindrecord")
		require.NoError(t, err)
		name := filepath.Join(t.TempDir(), "x.mindrecord")
		w, err := f.Create(t.Context(), store.Local, name, records.WriteOptions{Keys: c.ask})
		require.NoError(t, err)
		for i, k := range c.keys {
			r := &records.Record{Key: k, File: "in", Offset: 3, Fields: []records.Field{{Name: "x", Value: *tensor.FromBytes([]byte{byte(i)})}}}
			if err = w.Write(r); i == c.bad {
				require.ErrorIs(t, err, records.ErrField)
				require.ErrorContains(t, err, `in: at byte 3: record "7"`)
				break
			}
			require.NoError(t, err)
		}
		if c.bad >= 0 {
			require.NoError(t, w.Abort())
			require.NoFileExists(t, name)
			continue
		}
		require.NoError(t, w.Close())

		s, err := Open([]string{name})
		require.NoError(t, err)
		require.Len(t, s.Columns(), map[bool]int{false: 1, true: 2}[c.stored])
		require.NoError(t, s.Close())
		r, err := f.Open(t.Context(), store.Local, []string{name}, records.ReadOptions{})
		require.NoError(t, err)
		for i, k := range c.keys {
			var got records.Record
			require.NoError(t, r.Next(&got))
			if !c.stored {
				k = strconv.Itoa(i)
			}
			require.Equal(t, k, got.Key)
			require.Len(t, got.Fields, 1)
			require.Equal(t, []byte{byte(i)}, got.Fields[0].Value.Data)
		}
		require.Equal(t, io.EOF, r.Next(&records.Record{}))
		require.NoError(t, r.Close())
	}
}

func TestFormatName(t *testing.T) {
	f, err := records.DetectByName("a/b.mindrecord")
	require.NoError(t, err)
	require.Equal(t, "mindrecord", f.Name)
}
