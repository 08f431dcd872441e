// Package pack packs images and other files into record files: RecordIO files
// as MXNet's im2rec writes them, and tar shards as webdataset reads them.
//
// Packing is parallel and deterministic: the bytes of the output depend on the
// input and the options alone, not on the number of workers. A pack that was
// killed resumes when it is run again, and its output is that of an undisturbed
// run.
//
// [Lists] finds the images of a folder and divides them among lists. [RecordIO]
// packs lists into record files with their indexes:
//
//	lists, _, _, err := pack.Lists(ctx, store.Local, "photos", pack.ListOptions{Recursive: true, Seed: 100, TrainRatio: 1})
//	…
//	p := &pack.RecordIO{Root: "photos", Image: pack.ImageOptions{Resize: 256}, OnError: pack.SkipOnError}
//	for _, l := range lists {
//		p.Outputs = append(p.Outputs, pack.RecordIOOutput{Name: "data/photos" + l.Suffix, Items: l.Items})
//	}
//	report, err := p.Run(ctx)
//
// [Shards] packs [Samples] into tar files. Samples are the files of a folder,
// images with labels, or Kaldi's features and waves with labels, in groups of
// similar length:
//
//	s, err := pack.KaldiSamples(ctx, pack.KaldiOptions{
//		Scripts: []pack.KaldiFile{{Field: "mat.npy", File: "feats.scp"}},
//		Labels:  []pack.KaldiFile{{Field: "label.txt", File: "text"}},
//	})
//	…
//	p := &pack.Shards{Samples: s, Dir: "data", Groups: []pack.Group{{From: 10, To: 500}, {From: 500, To: 800}}}
//	report, err := p.Run(ctx)
//
// Unfinished files have temporary names, and a checksummed journal records how
// much of them is complete. The program links the image formats it needs:
// import codec/all, or single formats.
package pack

import "errors"

// ErrorPolicy says what happens to an image or sample that cannot be packed.
type ErrorPolicy uint8

const (
	// FailOnError ends the pack with the error. This is the default.
	FailOnError ErrorPolicy = iota
	// SkipOnError leaves the image or sample out and counts it.
	SkipOnError
)

var (
	// ErrExists reports that an output file exists and Force is not set.
	ErrExists = errors.New("exists already")
	// ErrOther reports an unfinished pack of other options or input at the same
	// place.
	ErrOther = errors.New("an unfinished pack with other parameters or items")
	// ErrChanged reports that the files of an unfinished pack, or images that
	// it has packed, were changed.
	ErrChanged = errors.New("changed since it was packed")
	// ErrEmpty reports a pack in which no item could be packed. It writes
	// nothing.
	ErrEmpty = errors.New("nothing could be packed")
	// ErrSample reports an invalid sample.
	ErrSample = errors.New("invalid sample")
)
