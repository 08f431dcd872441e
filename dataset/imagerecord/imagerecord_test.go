package imagerecord

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// writeFiles writes two files of four records each with the given number of
// labels, and an index of both in descending order.
func writeFiles(t *testing.T, labels int) (dir, index string) {
	dir = t.TempDir()
	var idx []recordio.Entry
	place := int64(0)
	for f := range 2 {
		var b bytes.Buffer
		w, err := recordio.NewWriter(&b, place)
		require.NoError(t, err)
		for i := range 4 {
			r := imagerecord.Record{ID: uint64(10*f + i), Listed: labels > 1, Content: fmt.Appendf(nil, "%d\n\x23\xd7\xceimage", i)}
			if i == 2 {
				r.Content = []byte("abcd\n\x23\xd7\xceefgh") // with the magic word at an aligned position
			}
			for l := range labels {
				r.Labels = append(r.Labels, float32(f)+float32(i)/4+float32(100*l))
			}
			idx = append(idx, recordio.Entry{Key: int64(r.ID), Offset: w.Offset()})
			require.NoError(t, w.Write(r.Append(nil)))
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.rec", f)), b.Bytes(), 0o600))
		place = w.Offset()
	}
	var text []byte
	for i := range idx {
		text, _ = idx[len(idx)-1-i].AppendText(text)
	}
	index = filepath.Join(t.TempDir(), "x.idx")
	require.NoError(t, os.WriteFile(index, text, 0o600))
	return dir, index
}

func TestImageRecord(t *testing.T) {
	for _, labels := range []int{1, 3} {
		dir, index := writeFiles(t, labels)
		for _, index := range []string{"", index} {
			o := New(dir)
			o.Index, o.LabelWidth = index, labels
			sourcetest.Spec(t, o)
			sourcetest.Run(t, o)
			all := sourcetest.Samples(t, o)
			require.Len(t, all, 8)
			for k, s := range all { // in the order of the files, even with an index
				f, i := k/4, k%4
				require.Equal(t, int64(10*f+i), tensor.View[int64](&s.Column("id").Tensor)[0])
				require.Equal(t, float32(f)+float32(i)/4, tensor.View[float32](&s.Column("label").Tensor)[0])
				want := fmt.Sprintf("%d\n\x23\xd7\xceimage", i)
				if i == 2 {
					want = "abcd\n\x23\xd7\xceefgh"
				}
				require.Equal(t, want, string(s.Column("image").Data))
				require.Contains(t, s.Key, fmt.Sprintf("%d.rec@", f))
			}
		}
	}
}

func TestErrors(t *testing.T) {
	dir, index := writeFiles(t, 1)
	require.ErrorIs(t, New().Validate(), dataset.ErrParam)
	require.ErrorIs(t, (&ImageRecord{Files: []string{"a"}, Parts: 1}).Validate(), dataset.ErrParam)
	_, err := New(filepath.Join(dir, "none")).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrData)

	o := New(dir)
	o.LabelWidth = 2
	d, err := o.Open(t.Context(), store.Local)
	require.NoError(t, err)
	defer d.Close()
	err = d.(dataset.Rows).Read(t.Context(), 1, dataset.NewSample(d.Columns()))
	require.ErrorIs(t, err, dataset.ErrData)
	require.ErrorContains(t, err, "1 labels, want 2")

	// A damaged record: with an index it affects that record alone, without one
	// all.
	name := filepath.Join(dir, "0.rec")
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	b[0] ^= 1
	require.NoError(t, os.WriteFile(name, b, 0o600))
	_, err = New(dir).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, records.ErrCorrupt)
	o = New(dir)
	o.Index = index
	d2, err := o.Open(t.Context(), store.Local)
	require.NoError(t, err)
	defer d2.Close()
	s := dataset.NewSample(d2.Columns())
	require.NoError(t, d2.(dataset.Rows).Read(t.Context(), 1, s))
	err = d2.(dataset.Rows).Read(t.Context(), 0, s)
	require.ErrorIs(t, err, records.ErrCorrupt)
	require.ErrorContains(t, err, "0.rec: at byte 0")
}

// TestParts checks that the parts together are all records, in order, by both
// rules.
func TestParts(t *testing.T) {
	dir, index := writeFiles(t, 1)
	for _, index := range []string{"", index} {
		for parts := 1; parts <= 12; parts++ {
			var all []int64
			var sizes []int
			for part := range parts {
				o := New(dir)
				o.Index, o.Part, o.Parts = index, part, parts
				if parts == 3 {
					sourcetest.Spec(t, o)
					sourcetest.Run(t, o)
				}
				n := 0
				for _, s := range sourcetest.Samples(t, o) {
					all = append(all, tensor.View[int64](&s.Column("id").Tensor)[0])
					n++
				}
				sizes = append(sizes, n)
			}
			require.Equal(t, []int64{0, 1, 2, 3, 10, 11, 12, 13}, all, "%d parts", parts)
			if index != "" {
				step := (8 + parts - 1) / parts
				for part, n := range sizes {
					require.Equal(t, min(step, max(8-part*step, 0)), n, "part %d of %d", part, parts)
				}
			}
		}
	}
	for _, o := range []*ImageRecord{{Files: []string{dir}, LabelWidth: 1}, {Files: []string{dir}, LabelWidth: 1, Part: 2, Parts: 2}, {Files: []string{dir}, LabelWidth: 1, Part: -1, Parts: 2}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam)
	}
	// An entry beyond the end of the files.
	far := filepath.Join(t.TempDir(), "far.idx")
	require.NoError(t, os.WriteFile(far, []byte("0\t0\n1\t4000000\n"), 0o600))
	o := New(dir)
	o.Index = far
	_, err := o.Open(t.Context(), store.Local)
	require.ErrorIs(t, err, records.ErrCorrupt)
	require.ErrorContains(t, err, "far.idx")
}

// TestList reads labels from a list, by id.
func TestList(t *testing.T) {
	dir, _ := writeFiles(t, 2)
	list := filepath.Join(t.TempDir(), "x.lst")
	var text []byte
	for _, id := range []uint64{13, 12, 11, 10, 3, 2, 1, 0, 99} {
		text = (&imagerecord.Item{Index: id, Labels: []float32{float32(id) + 0.5, -1, 7}, Path: "a"}).Append(text)
	}
	require.NoError(t, os.WriteFile(list, text, 0o600))
	for width := 1; width <= 3; width++ {
		o := New(dir)
		o.List, o.LabelWidth = list, width
		sourcetest.Spec(t, o)
		sourcetest.Run(t, o)
		for _, s := range sourcetest.Samples(t, o) {
			id := tensor.View[int64](&s.Column("id").Tensor)[0]
			require.Equal(t, []float32{float32(id) + 0.5, -1, 7}[:width], tensor.View[float32](&s.Column("label").Tensor))
		}
	}
	o := New(dir)
	o.List, o.LabelWidth = list, 4
	_, err := o.Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrData)
	require.ErrorContains(t, err, "has 3 labels, want 4")
	o.List = filepath.Join(dir, "none.lst")
	_, err = o.Open(t.Context(), store.Local)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestStore(t *testing.T) {
	dir, index := writeFiles(t, 1)
	b, err := os.ReadFile(index)
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "below"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "below", "x.idx"), b, 0o600))
	sourcetest.Store(t, dir, func(dir string) dataset.Source { return New(dir) })
	sourcetest.Store(t, dir, func(dir string) dataset.Source {
		o := New(dir + `/.*\.rec`)
		o.Index = dir + "/below/x.idx"
		return o
	})
}
