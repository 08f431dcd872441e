package vp8

import (
	"io"

	"github.com/infer-prep/infer-prep/internal/kernel"
)

// positionBands are the bands of the positions in a block (section 13.3).
var positionBands = [17]uint8{0, 1, 2, 3, 6, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7, 0}

// header reads the header of a frame, whose first partition has size bytes.
func (d *Decoder) header(data []byte, size int) error {
	r := &d.first
	r.Init(data[:size])
	r.Bit(128) // the colour space
	r.Bit(128) // whether values need no clamp
	var quants, strengths [segments]int
	absolute := true
	d.segmented, d.mapped = r.Bit(128) != 0, false
	if d.segmented {
		d.mapped = r.Bit(128) != 0
		if r.Bit(128) != 0 {
			absolute = r.Bit(128) != 0
			for i := range quants {
				quants[i] = optional(r, 7)
			}
			for i := range strengths {
				strengths[i] = optional(r, 6)
			}
		}
		if d.mapped {
			for i := range d.segmentProbs {
				d.segmentProbs[i] = 255
				if r.Bit(128) != 0 {
					d.segmentProbs[i] = uint8(r.Uint(8))
				}
			}
		}
	}
	d.readFilter(r, &strengths, absolute)
	if r.Ended {
		return io.ErrUnexpectedEOF
	}
	if err := d.partitions(data[size:], 1<<r.Uint(2)); err != nil {
		return err
	}
	d.readQuants(r, &quants, absolute)
	r.Bit(128) // whether the probabilities stay for the next frame
	d.readProbs(r)
	if d.skips = r.Bit(128) != 0; d.skips {
		d.skipProb = uint8(r.Uint(8))
	}
	return nil
}

// optional reads a number that is 0 if it is missing.
func optional(r *kernel.VP8Reader, n int) int {
	if r.Bit(128) == 0 {
		return 0
	}
	return r.Int(n)
}

// readFilter reads the parameters of the loop filter (section 9.6) and computes
// those of each segment.
func (d *Decoder) readFilter(r *kernel.VP8Reader, strengths *[segments]int, absolute bool) {
	d.simple = r.Bit(128) != 0
	level := r.Uint(6)
	sharpness := r.Uint(3)
	var frame, mode int // differences of key frames and of blocks of 4x4 samples
	adjusted := r.Bit(128) != 0
	if adjusted && r.Bit(128) != 0 { // and the differences are in the frame
		for i := range 8 {
			if r.Bit(128) == 0 {
				continue
			}
			switch v := r.Int(6); i {
			case 0:
				frame = v
			case 4:
				mode = v
			}
		}
	}
	d.filtered = level > 0
	for s := range d.filters {
		base := level
		if d.segmented {
			if base = strengths[s]; !absolute {
				base += level
			}
		}
		for i := range d.filters[s] {
			l := max(0, min(base+frame+i*mode, 63))
			interior := l
			if sharpness > 0 {
				interior = min(l>>((sharpness+3)/4), 9-sharpness)
			}
			interior = max(interior, 1)
			f := kernel.VP8Filter{Limit: uint8(2*l + interior), Interior: uint8(interior), Inner: i == 1}
			switch {
			case l == 0:
				f.Limit = 0
			case l >= 40:
				f.Variance = 2
			case l >= 15:
				f.Variance = 1
			}
			d.filters[s][i] = f
		}
	}
}

// partitions starts the readers of n partitions of tokens. As in libwebp, one
// that is larger than the data is cut.
func (d *Decoder) partitions(data []byte, n int) error {
	sizes := data
	if len(data) < 3*(n-1) {
		return io.ErrUnexpectedEOF
	}
	data = data[3*(n-1):]
	for i := range n {
		size := len(data)
		if i < n-1 {
			size = min(size, int(sizes[3*i])|int(sizes[3*i+1])<<8|int(sizes[3*i+2])<<16)
		} else if size == 0 {
			return io.ErrUnexpectedEOF
		}
		d.tokens[i].Init(data[:size])
		data = data[size:]
	}
	d.count = n
	return nil
}

// readQuants reads the steps of the coefficients (section 9.6).
func (d *Decoder) readQuants(r *kernel.VP8Reader, quants *[segments]int, absolute bool) {
	base := r.Uint(7)
	luma, means0, means := optional(r, 4), optional(r, 4), optional(r, 4)
	chroma0, chroma := optional(r, 4), optional(r, 4)
	limited := func(q, most int) int { return max(0, min(q, most)) }
	for s := range d.quants {
		q := base
		if d.segmented {
			if q = quants[s]; !absolute {
				q += base
			}
		}
		ac := func(delta int) int32 { return int32(acSteps[limited(q+delta, 127)]) }
		dc := func(delta, most int) int32 { return int32(dcSteps[limited(q+delta, most)]) }
		d.quants[s] = [3][2]int32{
			{2 * dc(means0, 127), max(ac(means)*155/100, 8)},
			{dc(luma, 127), ac(0)},
			{dc(chroma0, 117), ac(chroma)},
		}
	}
}

// readProbs reads the probabilities of the tokens (section 13.4).
func (d *Decoder) readProbs(r *kernel.VP8Reader) {
	for t := range d.probs {
		var bands [8][3][11]uint8
		for b := range bands {
			for c := range bands[b] {
				for i := range bands[b][c] {
					p := tokenProbs[t][b][c][i]
					if r.Bit(updateProbs[t][b][c][i]) != 0 {
						p = uint8(r.Uint(8))
					}
					bands[b][c][i] = p
				}
			}
		}
		for n, b := range positionBands {
			for c := range bands[b] {
				for i, p := range bands[b][c] {
					d.probs[t].Set(n, c, i, p)
				}
			}
		}
	}
}
