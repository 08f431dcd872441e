// Package imagerecord encodes and decodes MXNet's image records: a head with
// labels, followed by an encoded image. It also reads and writes lists of
// images (.lst). Package recordio reads and writes the files that hold such
// records.
//
// Reference: MXNet 1.9.1's mxnet.recordio.pack and unpack, and im2rec.
package imagerecord

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// HeadSize is the size of a head without labels, in bytes.
const HeadSize = 24

// Record is an image with its labels. Its encoding is flag (uint32), label
// (float32), id and id2 (uint64), all little-endian, then flag labels
// (float32), then the content.
type Record struct {
	// Labels has one or more labels. A single label is stored in the head, with
	// flag 0, unless Listed is true.
	Labels []float32
	// Listed stores a single label after the head.
	Listed bool
	ID     uint64 // identifies the image in lists of labels
	ID2    uint64 // usually 0
	// Content is the encoded image.
	Content []byte
}

// ErrRecord reports an invalid image record.
var ErrRecord = errors.New("invalid image record")

// Parse decodes a record. Content is a view of b; Labels reuses r's memory.
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

// Append appends the encoded record to b. Without labels it writes the label 0,
// as mxnet.recordio.pack does for an empty array.
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
