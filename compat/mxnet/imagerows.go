package mxnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// imageRows serves the images of record files or of a list, with their labels.
type imageRows struct {
	iter   string // for errors
	stream *recordio.Stream
	index  *recordio.Indexed // nil for a list
	folder store.Folder      // of a list
	root   string
	// items are the images of a list, or the labels of the index's records. It
	// is nil if the records have their labels themselves.
	items  []imagerecord.Item
	rows   []int32              // into the index, or the items
	keyed  bool                 // the index has keys; otherwise the records' ids are the numbers
	byID   map[uint64][]float32 // labels in place of the records', by their ids; nil for none
	list   string               // with them
	memory sync.Pool
}

// imageMemory is the memory for reading a record.
type imageMemory struct {
	buf    recordio.Buffer
	record imagerecord.Record
}

// openRecords opens part k of n of record files, divided by bytes. With an
// index, which has no parts, the images have its order.
func (r *imageRows) openRecords(ctx context.Context, o store.Opener, files []string, index string, k, n int) error {
	list, err := store.Files(ctx, o, files, false)
	if err != nil {
		return err
	}
	if r.stream, err = recordio.NewStream(ctx, o, list, 4); err != nil {
		return err
	}
	var entries []recordio.Entry
	options, end := recordio.Options{Name: index}, r.stream.Size()
	if r.keyed = index != ""; r.keyed {
		entries, err = readLines(ctx, o, index, recordio.ReadIndex)
	} else {
		entries, end, err = r.stream.IndexPart(k, n, options)
	}
	if err != nil {
		return err
	}
	if r.index, err = r.stream.IndexedTo(end, entries, options); err != nil {
		return err
	}
	r.number(r.index.Len())
	return nil
}

// number makes all of n images rows.
func (r *imageRows) number(n int) {
	r.rows = make([]int32, n)
	for i := range r.rows {
		r.rows[i] = int32(i)
	}
}

// relabel replaces the records' labels by those of a list, by the keys of the
// index.
func (r *imageRows) relabel(name string, list []imagerecord.Item) error {
	byKey := make(map[uint64]imagerecord.Item, len(list))
	for _, i := range list {
		byKey[i.Index] = i
	}
	r.items = make([]imagerecord.Item, r.index.Len())
	for i := range r.items {
		item, ok := byKey[uint64(r.index.Key(i))]
		if !ok {
			return fmt.Errorf("%w: key %d of the index is not in %s", dataset.ErrData, r.index.Key(i), name)
		}
		r.items[i] = item
	}
	return nil
}

// openList opens the folder of the images of a list.
func (r *imageRows) openList(ctx context.Context, o store.Opener, root string, list []imagerecord.Item) (err error) {
	r.root, r.items = root, list
	r.number(len(list))
	r.folder, err = store.OpenFolder(ctx, o, root)
	return err
}

// readLines reads a file of lines.
func readLines[T any](ctx context.Context, o store.Opener, name string, parse func(string, io.Reader) ([]T, error)) ([]T, error) {
	f, err := o.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	l, err := parse(name, io.NewSectionReader(f, 0, f.Size()))
	return l, errors.Join(err, f.Close())
}

// readList reads a list of images. Its indices must be distinct.
func readList(ctx context.Context, o store.Opener, name string) ([]imagerecord.Item, error) {
	l, err := readLines(ctx, o, name, imagerecord.ReadList)
	seen := make(map[uint64]bool, len(l))
	for _, i := range l {
		if seen[i.Index] {
			return nil, fmt.Errorf("%w: %s: index %d appears twice, want distinct ones", dataset.ErrData, name, i.Index)
		}
		seen[i.Index] = true
	}
	return l, err
}

// part keeps the images of part k of n: MXNet's rule, by which all parts have
// the same number of images and the last ones may be in none.
func (r *imageRows) part(k, n int) {
	size := len(r.rows) / n
	r.rows = slices.Clone(r.rows[k*size:][:size])
}

func (r *imageRows) Len() int64 { return int64(len(r.rows)) }

func (r *imageRows) Close() error {
	var err error
	if r.stream != nil {
		err = r.stream.Close()
	}
	if r.folder != nil {
		err = errors.Join(err, r.folder.Close())
	}
	return err
}

// key returns the key of row i.
func (r *imageRows) key(i int64) string {
	k := int(r.rows[i])
	if r.index == nil {
		return r.items[k].Path
	}
	file, at := r.index.Place(k)
	return file + "@" + strconv.FormatInt(at, 10)
}

// Keys implements dataset.Keyed.
func (r *imageRows) Keys(yield func(string) bool) {
	for i := range r.Len() {
		if !yield(r.key(i)) {
			return
		}
	}
}

// read reads row i: its image into a value unless that is nil. It calls use
// with its labels, which are valid during the call, and returns its number: the
// index of a list or an .idx file, or the id of the record.
func (r *imageRows) read(ctx context.Context, i int64, image *dataset.Value, use func(labels []float32) error) (number int64, err error) {
	if i < 0 || i >= r.Len() {
		return 0, fmt.Errorf("mxnet: %s: %w: image %d of %d", r.iter, dataset.ErrParam, i, r.Len())
	}
	k := int(r.rows[i])
	fail := func(err error) (int64, error) {
		return 0, fmt.Errorf("mxnet: %s: %w: %s: %w", r.iter, dataset.ErrData, r.key(i), err)
	}
	if r.index == nil {
		if image != nil {
			if err := r.readFile(ctx, image, r.items[k].Path); err != nil {
				return fail(err)
			}
		}
		if err := use(r.items[k].Labels); err != nil {
			return fail(err)
		}
		return int64(r.items[k].Index), nil
	}
	m, _ := r.memory.Get().(*imageMemory)
	if m == nil {
		m = &imageMemory{}
	}
	defer r.memory.Put(m)
	b, shared, err := r.index.Record(k, &m.buf)
	if err == nil {
		err = m.record.Parse(b)
	}
	if err != nil {
		return fail(err)
	}
	labels := m.record.Labels
	if r.items != nil {
		labels = r.items[k].Labels
	} else if r.byID != nil {
		l, ok := r.byID[m.record.ID]
		if !ok {
			return fail(fmt.Errorf("id %d is not in %s", m.record.ID, r.list))
		}
		labels = l
	}
	if err := use(labels); err != nil {
		return fail(err)
	}
	switch {
	case image == nil:
	case shared:
		image.ShareBytes(m.record.Content)
	default:
		copy(image.Bytes(len(m.record.Content)), m.record.Content)
	}
	if r.keyed {
		return r.index.Key(k), nil
	}
	return int64(m.record.ID), nil
}

// eachLabels calls use with the number and the labels of each row. The labels
// are valid during the call.
func (r *imageRows) eachLabels(ctx context.Context, use func(i int64, labels []float32) error) error {
	for i := range r.Len() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := r.read(ctx, i, nil, func(labels []float32) error { return use(i, labels) }); err != nil {
			return err
		}
	}
	return nil
}

// sample reads row i into the image, the label and the number of s. label
// writes the row's labels into the second; they are valid during the call.
func (r *imageRows) sample(ctx context.Context, i int64, s *dataset.Sample, desc tensor.Desc, label func(to, labels []float32) error) error {
	if i >= 0 && i < r.Len() {
		s.Key = r.key(i)
	}
	n, err := r.read(ctx, i, &s.Values[0], func(labels []float32) error {
		if err := s.Values[1].Reset(desc); err != nil {
			return err
		}
		return label(tensor.View[float32](&s.Values[1].Tensor), labels)
	})
	if err != nil {
		return err
	}
	return setRow(&s.Values[2], n)
}

// maxImageFile bounds the size of a file with an image.
const maxImageFile = 1 << 30

// readFile reads a file of the folder.
func (r *imageRows) readFile(ctx context.Context, v *dataset.Value, name string) (err error) {
	f, err := r.folder.Open(ctx, store.Join(r.root, name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if f.Size() > maxImageFile {
		return fmt.Errorf("%d bytes, want at most %d", f.Size(), maxImageFile)
	}
	_, err = store.ReadAll(f, v.Bytes(int(f.Size())))
	return err
}

// labelled is imageRows with labels of a fixed number.
type labelled struct {
	*imageRows
	columns []dataset.Column
	dtype   tensor.DType // of a list's labels
}

func (r *labelled) Columns() []dataset.Column { return r.columns }

func (r *labelled) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	return r.sample(ctx, i, s, r.columns[1].Desc, func(to, labels []float32) error {
		if len(labels) != len(to) && len(labels) != 1 {
			return fmt.Errorf("%d labels, want label_width = %d", len(labels), len(to))
		}
		for k := range to {
			v := labels[k%len(labels)]
			if r.items != nil && r.dtype != tensor.Float32 && r.dtype != tensor.Float64 {
				v = float32(int64(v))
			}
			to[k] = v
		}
		return nil
	})
}
