package jpeg

import "github.com/infer-prep/infer-prep/codec"

// losslessState is one component's state in a lossless scan.
type losslessState struct {
	diff  [maxSamp][]int32 // the differences of a row of MCUs
	undif [maxSamp][]int32 // the samples made of them
	first bool             // the next row is the first of a segment
	whole []byte           // all samples, of files of several scans
}

var _ = codec.ErrFormat

func (c *component) losslessBytes(bool) int64 { return 0 }
func (d *Decoder) startLossless() error       { return nil }
func (d *Decoder) decodeLossless() error {
	return d.errorf(codec.ErrUnsupported, "lossless")
}
