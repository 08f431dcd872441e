package mxnet

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// NDArrayOptions are the options of NewNDArrayIter. DefaultNDArrayOptions
// returns the defaults.
type NDArrayOptions struct {
	BatchSize int // 1 to 1048576 (MXNet: batch_size)
	// Shuffle puts the rows in another order in each epoch, a function of Seed
	// and the epoch. (MXNet: shuffle.)
	Shuffle bool
	Seed    uint64
	// LastBatch handles the last rows if they don't fill a batch. "pad", the
	// default, completes the batch with rows from the beginning of the epoch,
	// repeatedly if necessary. "discard" drops them. "roll_over" puts them
	// before the next epoch. (MXNet: last_batch_handle.)
	LastBatch string
	// DataName and LabelName are the names of inputs without one. A single
	// input has the name itself, several have "_0_data", "_1_data", … (MXNet:
	// data_name, label_name.)
	DataName, LabelName string
	// Layout has the letter N at the position of the axis of rows, for all
	// inputs. (MXNet: layout.)
	Layout string
}

// DefaultNDArrayOptions returns MXNet's defaults: batches of one row, not
// shuffled, "pad", "data", "softmax_label", "NCHW".
func DefaultNDArrayOptions() NDArrayOptions {
	return NDArrayOptions{BatchSize: 1, LastBatch: "pad", DataName: "data", LabelName: "softmax_label", Layout: "NCHW"}
}

var lastBatches = map[string]last{"pad": lastPad, "discard": lastDiscard, "roll_over": lastRoll}

// NDArrayIter iterates over batches of arrays in memory. It reads within Next,
// without goroutines. The package comment lists the differences from
// mx.io.NDArrayIter.
type NDArrayIter struct{ *rowIter }

// NewNDArrayIter returns an iterator over arrays. It shares them: they must not
// be modified while it is in use. All must have the same number of rows, at
// least one. Inputs are sorted by name, as in MXNet, whatever their order in
// data and label. label may be empty. Errors are a *ParamError.
func NewNDArrayIter(data, label []tensor.Named, o NDArrayOptions) (*NDArrayIter, error) {
	fail := func(name, value, want string) (*NDArrayIter, error) {
		return nil, &ParamError{Iter: "NDArrayIter", Name: name, Value: value, Want: want}
	}
	how, ok := lastBatches[o.LastBatch]
	axis := batchAxis(o.Layout)
	switch {
	case o.BatchSize < 1 || o.BatchSize > maxBatch:
		return fail("batch_size", strconv.Itoa(o.BatchSize), fmt.Sprintf("1 to %d", maxBatch))
	case !ok:
		return fail("last_batch_handle", strconv.Quote(o.LastBatch), "pad, discard or roll_over")
	case axis < 0:
		return fail("layout", strconv.Quote(o.Layout), "an N at the position of the batch's axis")
	case len(data) == 0:
		return fail("data", "", "at least one array")
	}
	d, l := named(data, o.DataName), named(label, o.LabelName)
	all := slices.Concat(d, l)
	a := &arrays{axis: axis}
	descs := make([]DataDesc, 0, len(all))
	for i, x := range all {
		what := func(format string, args ...any) (*NDArrayIter, error) {
			return fail(map[bool]string{true: "data", false: "label"}[i < len(d)], strconv.Quote(x.Name), fmt.Sprintf(format, args...))
		}
		twice := slices.ContainsFunc(all[:i], func(o tensor.Named) bool { return o.Name == x.Name })
		switch {
		case x.Name == "" || strings.Contains(x.Name, "\x00") || twice:
			return what("a distinct name for each input")
		case x.T == nil || x.T.DType == tensor.Bytes || x.T.Shape.Rank() <= axis:
			return what("an array with an axis %d for the rows (layout %s)", axis, o.Layout)
		}
		n := int64(x.T.Shape.At(axis))
		if i == 0 {
			a.n = n
		}
		if n != a.n || n == 0 {
			return what("at least one row and as many as the first input, %d; it has %d", a.n, n)
		}
		a.t = append(a.t, x.T)
		descs = append(descs, DataDesc{Name: x.Name, Shape: x.T.Shape.With(axis, o.BatchSize), DType: x.T.DType, Layout: o.Layout})
	}
	a.columns = columns(descs[:len(d)], descs[len(d):])
	it, err := newRowIter(context.Background(), a, descs[:len(d)], descs[len(d):], rowOptions{
		size: o.BatchSize, last: how, seed: o.Seed, shuffle: o.Shuffle,
		engine: func(b *dataset.Built) (Runner, error) { return pullpipe.New(b, nil) },
	})
	if err != nil {
		return nil, err
	}
	return &NDArrayIter{it}, nil
}

// maxBatch bounds the rows of a batch.
const maxBatch = 1 << 20

// named names and sorts the inputs.
func named(l []tensor.Named, name string) []tensor.Named {
	l = slices.Clone(l)
	for i := range l {
		switch {
		case l[i].Name != "":
		case len(l) == 1:
			l[i].Name = name
		default:
			l[i].Name = fmt.Sprintf("_%d_%s", i, name)
		}
	}
	slices.SortStableFunc(l, func(a, b tensor.Named) int { return strings.Compare(a.Name, b.Name) })
	return l
}

// HardReset is like Reset, but drops the rows that were carried over.
func (it *NDArrayIter) HardReset() error {
	it.carried = 0
	return it.Reset()
}

// arrays is the rows of arrays.
type arrays struct {
	t       []*tensor.Tensor
	axis    int
	n       int64
	columns []dataset.Column
}

func (a *arrays) Columns() []dataset.Column { return a.columns }

func (a *arrays) Len() int64 { return a.n }

func (a *arrays) Close() error { return nil }

func (a *arrays) Read(_ context.Context, i int64, s *dataset.Sample) error {
	if i < 0 || i >= a.n {
		return fmt.Errorf("mxnet: NDArrayIter: %w: row %d of %d", dataset.ErrParam, i, a.n)
	}
	s.Key = "row " + strconv.FormatInt(i, 10)
	for j, t := range a.t {
		v := row(t, a.axis, int(i))
		s.Values[j].Share(&v)
	}
	return setRow(&s.Values[len(a.t)], i)
}

// row returns a view of t at index i of an axis, without that axis.
func row(t *tensor.Tensor, axis, i int) (v tensor.Tensor) {
	v.Desc = tensor.Desc{DType: t.DType, Shape: without(t.Shape, axis)}
	copy(v.Strides[:axis], t.Strides[:axis])
	copy(v.Strides[axis:], t.Strides[axis+1:])
	if v.Len() == 0 {
		return v
	}
	n := 1 // elements from the first to the last
	for a := range v.Shape.Rank() {
		n += (v.Shape.At(a) - 1) * v.Strides[a]
	}
	from := i * t.Strides[axis] * t.DType.Size()
	to := from + n*t.DType.Size()
	v.Data = t.Data[from:to:to]
	return v
}
