// Package mxnet provides MXNet's data iterators with MXNet's names and
// parameters. They build on package dataset and the engines: [NDArrayIter],
// [CSVIter], [LibSVMIter], [MNISTIter], [ImageIter], [ImageDetIter],
// [ImageRecordIter] and [ImageDetRecordIter]. [ResizeIter] changes the length
// of an iterator's epochs. [FromDataset] converts a dataset to a [DataIter],
// and [ToDataset] converts any DataIter to a dataset's source.
//
// A [DataIter] returns batches until io.EOF, and the next epoch after Reset.
// The reference is MXNet 1.9.1. Its batches are in the folder testdata, and the
// tests compare all of them. These differences are intended:
//
//   - Pad is exact on every batch: the number of rows at its end that only fill
//     it. After a roll_over, MXNet's NDArrayIter, ImageIter and ImageDetIter
//     also count the rows carried over on an epoch's first batch, although no
//     other batch has them; here that Pad is 0. Full batches of MXNet's record
//     iterators repeat an earlier batch's pad.
//   - An epoch is always the whole data. With round_batch, MXNet's CSVIter,
//     LibSVMIter, ImageRecordIter and ImageDetRecordIter start the next epoch
//     after the rows that filled the last batch. Without round_batch, the last
//     batch of images is filled with zeros and has a Pad; MXNet's has stale
//     memory, and ImageRecordIter's a pad of 0.
//   - Rows carried over wait until a batch has them. MXNet loses them if Next
//     is called again at the end of the epoch, or Reset is called twice. It
//     fails if they are fewer than half a batch.
//   - Every batch has an Index. MXNet's NDArrayIter, ImageIter and ImageDetIter
//     have none, and that of MNISTIter and ImageRecordIter is 0.
//   - Shuffles are a function of a seed and the epoch. MXNet's NDArrayIter uses
//     NumPy's global generator, and its ImageIter and ImageDetIter Python's.
//     Its ImageRecordIter without an index and ImageDetRecordIter leave records
//     near their positions. Its MNISTIter shuffles only once.
//   - The random numbers of the iterators of images are a function of the
//     seeds, the epoch, the part and the image's position in the epoch. Their
//     distributions are MXNet's, the numbers are not. Those of MXNet's
//     iterators of records depend on the thread that gets the image, or, with
//     seed_aug, are the same in every epoch.
//   - A window of ImageDetRecordIter's crops that has no pixel is not used;
//     MXNet fails. An object whose box has no area after a move is dropped;
//     MXNet keeps it if only rounding made it so.
//   - Data smaller than a batch fill it repeatedly; MXNet's ImageRecordIter and
//     ImageDetRecordIter fail, LibSVMIter often does, and ImageIter and
//     ImageDetIter fill a batch once and then with zeros.
//   - The labels of LibSVMIter's parts are those of the parts' rows. MXNet
//     divides the file of labels by its own bytes.
//   - A LibSVM line with only a comment is no row, and a feature without a
//     value or beyond data_shape is an error. MXNet reads a row of label 0, or
//     memory of others.
//   - Files of a folder are sorted by name, so that all hosts have the same
//     parts.
//   - Unknown parameters are errors; the error suggests the closest known name.
//   - Dtypes are kept; MXNet converts NumPy's arrays to float32.
//
// NDArrayIter takes no sparse (CSR) or HDF5 arrays. The pixels of the iterators
// of images equal those of MXNet's wheel (OpenCV 3.4.2), with these exceptions:
//
//   - CMYK is decoded with Pillow's formula.
//   - JPEG whose chroma has only half the height, and progressive JPEG that is
//     incomplete: libjpeg-turbo has changed since.
//   - 16-bit colour PNG decoded to gray.
//   - Orientations in XMP, or in PNG's EXIF, are applied here too.
//
// # Concurrency, lifetime and errors
//
// Only one goroutine at a time may use a DataIter. Its batch, with all tensors,
// is valid until the next call of Next, Reset or Close. Before the first Next
// it reads no rows and starts no goroutine; Close ends all of its goroutines.
// If ctx is cancelled, Next returns its error. An iterator without goroutines
// continues at the next call of Next; any other repeats the error until Reset.
package mxnet

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/tensor"
)

// DataDesc describes one input of a model: a tensor of every batch. (MXNet:
// mx.io.DataDesc.)
type DataDesc struct {
	Name string
	// Shape is the shape of a batch, including the batch's axis. Sizes that
	// differ between batches are tensor.Unknown.
	Shape tensor.Shape
	DType tensor.DType
	// Layout names the axes; N is the batch's. Only N has an effect here.
	Layout string
}

// BatchAxis returns the index of the batch's axis: the position of N in the
// layout, 0 for an empty layout, and -1 without an N.
func (d DataDesc) BatchAxis() int { return batchAxis(d.Layout) }

func batchAxis(layout string) int {
	if layout == "" {
		return 0
	}
	return strings.IndexByte(layout, 'N')
}

// String returns MXNet's form, "DataDesc[data,(32, 3, 224, 224),float32,NCHW]".
func (d DataDesc) String() string {
	return fmt.Sprintf("DataDesc[%s,%v,%v,%s]", d.Name, d.Shape, d.DType, d.Layout)
}

// desc returns the tensor's description.
func (d DataDesc) desc() tensor.Desc { return tensor.Desc{DType: d.DType, Shape: d.Shape} }

// DataBatch is one batch. (MXNet: mx.io.DataBatch.)
type DataBatch struct {
	Data, Label []*tensor.Tensor // in the order of ProvideData and ProvideLabel
	// Pad is the number of rows at the end that only fill the batch. Leave them
	// out of results.
	Pad int
	// Index has the number of each row in the data, also for rows that only
	// fill the batch; it is -1 for rows of zeros. It is nil if the numbers are
	// unknown.
	Index []int64
	// BucketKey identifies the shape for iterators with batches of several
	// shapes. It is nil otherwise.
	BucketKey any
	// ProvideData and ProvideLabel describe this batch if it differs from the
	// iterator's descriptions; otherwise they are nil.
	ProvideData, ProvideLabel []DataDesc
}

// DataIter iterates over the batches of an epoch, and after Reset of the next
// epoch. (MXNet: mx.io.DataIter.)
type DataIter interface {
	// ProvideData and ProvideLabel describe the batches. The results must not
	// be modified.
	ProvideData() []DataDesc
	ProvideLabel() []DataDesc
	// Next returns the next batch. At the end of the epoch it returns io.EOF
	// itself until Reset.
	Next(ctx context.Context) (*DataBatch, error)
	// Reset starts the next epoch, whether or not the current one has ended.
	Reset() error
	// Close ends the iterator.
	Close() error
}

// ErrParam reports an invalid parameter, for errors.Is.
var ErrParam = errors.New("invalid parameter")

// ParamError reports an invalid or unknown parameter. It wraps ErrParam.
type ParamError struct {
	Iter  string // "CSVIter"
	Name  string // of the parameter
	Value string // as given; empty if it is missing
	Want  string // what was expected; empty for an unknown name
	// Suggestion is the known name closest to an unknown one; empty if none is
	// close.
	Suggestion string
}

func (e *ParamError) Error() string {
	switch {
	case e.Want == "":
		if e.Suggestion == "" {
			return fmt.Sprintf("mxnet: %s: unknown parameter %q", e.Iter, e.Name)
		}
		return fmt.Sprintf("mxnet: %s: unknown parameter %q; did you mean %q?", e.Iter, e.Name, e.Suggestion)
	case e.Value == "":
		return fmt.Sprintf("mxnet: %s: %s is missing, want %s", e.Iter, e.Name, e.Want)
	}
	return fmt.Sprintf("mxnet: %s: %s = %s, want %s", e.Iter, e.Name, e.Value, e.Want)
}

// Unwrap returns ErrParam.
func (e *ParamError) Unwrap() error { return ErrParam }

// DescError reports a batch that does not match its description.
type DescError struct {
	Batch int64  // in the epoch, from 0
	Name  string // of the input
	Got   tensor.Desc
	Want  tensor.Desc
}

func (e *DescError) Error() string {
	return fmt.Sprintf("mxnet: batch %d: %q is %v, want %v", e.Batch, e.Name, e.Got, e.Want)
}
