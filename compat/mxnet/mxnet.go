// Package mxnet has MXNet's data iterators, with its names and parameters, as thin
// shells over package dataset and the engines: [NDArrayIter], [CSVIter] and [ImageRecordIter]; a
// dataset as a [DataIter] ([FromDataset]); and any DataIter, a program's own ones
// too, as a dataset's source ([ToDataset]).
//
// A [DataIter] gives batches until io.EOF, and again after Reset. The reference is
// MXNet 1.9.1: testdata/iters.json and images.json have its batches, and the tests compare all of
// them. What differs, on purpose:
//
//   - Pad is exact on every batch: how many rows at its end are there to fill it.
//     MXNet's NDArrayIter also gives, on the first batch of an epoch after a
//     roll_over, the number of rows that were carried over, which are data that no
//     other batch has; here it is 0. Its record iterators give full batches an
//     earlier batch's pad.
//   - An epoch is always the whole data. MXNet's CSVIter and ImageRecordIter with round_batch begin the
//     next epoch behind the rows that filled the last batch. Without round_batch, ImageRecordIter's last
//     batch has zeros and a Pad; MXNet's has what was in memory, and a pad of 0.
//   - Rows carried over wait until a batch has them. MXNet loses them if Next is
//     called again at the end of the epoch, or Reset twice, and fails if the rows are
//     fewer than half a batch.
//   - Every batch has an Index. MXNet's NDArrayIter has none, and ImageRecordIter's is 0.
//   - Shuffles are a function of a seed and the epoch; MXNet's NDArrayIter's is of NumPy's global
//     generator, and its ImageRecordIter's without an index leaves records near where they were.
//   - What ImageRecordIter draws for an image is a function of the seeds, the epoch, the part and the image's place in the
//     epoch, of the same distributions as MXNet's but other numbers. There, it depends on which thread
//     gets which image, or, with seed_aug, is the same in every epoch.
//   - Data smaller than a batch fill it again and again; MXNet's ImageRecordIter fails.
//   - Files of a folder are in the order of their names, so that all hosts have the same parts.
//   - Parameters that there are not are errors, which name the nearest one that there is.
//   - Dtypes stay what they are; MXNet makes float32 of NumPy's arrays.
//
// Sparse (CSR) and HDF5 arrays are not supported. ImageRecordIter's pixels are those of MXNet's wheel (OpenCV 3.4.2), but
// for the decoding of CMYK, whose formula is Pillow's here, of JPEG with chroma of half the height alone and of progressive JPEG that is
// not complete, where libjpeg-turbo has changed since, and of 16-bit colour PNG to gray; and orientations that stand in
// XMP, or in PNG's EXIF, are applied here, too.
//
// # Concurrency, lifetime and errors
//
// A DataIter is used by one goroutine at a time. Its batch, with all its tensors, is
// valid until the next call of Next, Reset or Close. Nothing is read and no
// goroutine is started before the first Next; Close ends all of them. If ctx is
// cancelled, Next returns its error; Next may be called again if the iterator has no
// goroutines, and goes on where it stood; else the epoch is over, with that error,
// until Reset.
package mxnet

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/tensor"
)

// DataDesc describes one input of a model: a tensor of every batch. (MXNet: mx.io.DataDesc.)
type DataDesc struct {
	Name string
	// Shape is that of a batch, with the batch's axis. Axes may be tensor.Unknown
	// where batches differ.
	Shape tensor.Shape
	DType tensor.DType
	// Layout names the axes: the batch's is N. Only N has a meaning here.
	Layout string
}

// BatchAxis is the axis of the batch, the place of N in the layout; 0 for an empty layout,
// -1 if there is no N.
func (d DataDesc) BatchAxis() int { return batchAxis(d.Layout) }

func batchAxis(layout string) int {
	if layout == "" {
		return 0
	}
	return strings.IndexByte(layout, 'N')
}

// String is MXNet's form, "DataDesc[data,(32, 3, 224, 224),float32,NCHW]".
func (d DataDesc) String() string {
	return fmt.Sprintf("DataDesc[%s,%v,%v,%s]", d.Name, d.Shape, d.DType, d.Layout)
}

// desc is the tensor's.
func (d DataDesc) desc() tensor.Desc { return tensor.Desc{DType: d.DType, Shape: d.Shape} }

// DataBatch is one batch. (MXNet: mx.io.DataBatch.)
type DataBatch struct {
	Data, Label []*tensor.Tensor // in the order of ProvideData and ProvideLabel
	// Pad is how many rows, the last ones, only fill the batch and are to be left
	// out of results.
	Pad int
	// Index are the numbers of the batch's rows in the data, those of filling ones
	// too (-1 for rows of zeros); nil if they are not known.
	Index []int64
	// BucketKey is for iterators whose batches are of several shapes; nil for none.
	BucketKey any
	// ProvideData and ProvideLabel describe this batch if it is not what the
	// iterator's methods say; else they are nil.
	ProvideData, ProvideLabel []DataDesc
}

// DataIter gives the batches of an epoch, and of the next one after Reset. (MXNet: mx.io.DataIter.)
type DataIter interface {
	// ProvideData and ProvideLabel describe the batches. They must not be changed.
	ProvideData() []DataDesc
	ProvideLabel() []DataDesc
	// Next gives the next batch, or io.EOF, itself, at the end of the epoch, again
	// and again until Reset.
	Next(ctx context.Context) (*DataBatch, error)
	// Reset begins the next epoch, wherever this one stands.
	Reset() error
	// Close ends it.
	Close() error
}

// ErrParam is the error of a parameter that cannot be, for errors.Is.
var ErrParam = errors.New("invalid parameter")

// ParamError is the error of a parameter. It wraps ErrParam.
type ParamError struct {
	Iter  string // "CSVIter"
	Name  string // of the parameter
	Value string // as it was given; empty if it is missing
	Want  string // what can be; empty for a name that there is not
	// Nearest is the parameter's name that is most like one that there is not.
	Nearest string
}

func (e *ParamError) Error() string {
	switch {
	case e.Want == "":
		return fmt.Sprintf("mxnet: %s: no parameter %q; the nearest is %q", e.Iter, e.Name, e.Nearest)
	case e.Value == "":
		return fmt.Sprintf("mxnet: %s: %s is missing, want %s", e.Iter, e.Name, e.Want)
	}
	return fmt.Sprintf("mxnet: %s: %s = %s, want %s", e.Iter, e.Name, e.Value, e.Want)
}

// Unwrap gives ErrParam.
func (e *ParamError) Unwrap() error { return ErrParam }

// DescError is the error of a batch that is not what was said of it.
type DescError struct {
	Batch int64  // of the epoch, from 0
	Name  string // of the input
	Got   tensor.Desc
	Want  tensor.Desc
}

func (e *DescError) Error() string {
	return fmt.Sprintf("mxnet: batch %d: %q is %v, want %v", e.Batch, e.Name, e.Got, e.Want)
}
