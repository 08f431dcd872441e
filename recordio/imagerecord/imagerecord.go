// Package imagerecord is what MXNet puts into the records of image files: a head
// with labels, and the encoded image. Lists of images (.lst) are here too.
//
// Reference: MXNet 1.9.1's mxnet.recordio.pack and unpack, and im2rec.
package imagerecord

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// HeadSize is the bytes of a head without labels.
const HeadSize = 24

// Record is an image with its labels, as one record has it: flag (uint32), label (float32), id and
// id2 (uint64), all little-endian, then flag labels (float32) and the content.
type Record struct {
	// Labels are one or more. One label stands in the head, where flag is 0, unless Listed.
	Labels []float32
	// Listed says that the labels are listed behind the head although there is but one.
	Listed bool
	ID     uint64 // names the image in lists of labels
	ID2    uint64 // 0 in practice
	// Content is the encoded image, as it is in the file.
	Content []byte
}

// ErrRecord is the error of a record that is none of an image.
var ErrRecord = errors.New("invalid image record")

// Parse reads a record. Content is a view of b; labels are in r's own memory, which
// is used again.
func (r *Record) Parse(b []byte) error {
	if len(b) < HeadSize {
		return fmt.Errorf("imagerecord: %w: %d bytes, want a head of %d at least", ErrRecord, len(b), HeadSize)
	}
	flag := binary.LittleEndian.Uint32(b)
	label := math.Float32frombits(binary.LittleEndian.Uint32(b[4:]))
	r.ID, r.ID2 = binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	b = b[HeadSize:]
	r.Labels = r.Labels[:0]
	if r.Listed = flag > 0; !r.Listed {
		r.Labels = append(r.Labels, label)
		r.Content = b
		return nil
	}
	if uint64(flag)*4 > uint64(len(b)) {
		return fmt.Errorf("imagerecord: %w: %d labels in %d bytes", ErrRecord, flag, len(b))
	}
	for i := range int(flag) {
		r.Labels = append(r.Labels, math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	}
	r.Content = b[4*flag:]
	return nil
}

// Append appends the record. Without labels it has the label 0, as an empty array
// gives in Python.
func (r *Record) Append(b []byte) []byte {
	flag, label := uint32(0), float32(0)
	switch {
	case len(r.Labels) == 1 && !r.Listed:
		label = r.Labels[0]
	case len(r.Labels) > 0:
		flag = uint32(len(r.Labels))
	}
	b = binary.LittleEndian.AppendUint32(b, flag)
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(label))
	b = binary.LittleEndian.AppendUint64(b, r.ID)
	b = binary.LittleEndian.AppendUint64(b, r.ID2)
	for _, l := range r.Labels[:flag] {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(l))
	}
	return append(b, r.Content...)
}
