package dicom

import "encoding/binary"

// rleHeader is the number of bytes before the segments of a frame: their number
// and 15 offsets.
const rleHeader = 64

// decodeRLE decompresses a frame of n pixels into out: planes of samples of
// size bytes, little-endian. A segment holds one byte of all pixels, that of
// the highest order first (PS3.5, annex G).
func decodeRLE(out, frame []byte, n, samples, size int) error {
	if len(frame) < rleHeader {
		return bad(-1, "an RLE frame of %d bytes: want at least %d", len(frame), rleHeader)
	}
	segments := samples * size
	if segments > 15 {
		return unsupported("RLE frames of %d segments: there are at most 15", segments)
	}
	if k := binary.LittleEndian.Uint32(frame); k != uint32(segments) {
		return bad(-1, "an RLE frame of %d segments: want %d", k, segments)
	}
	for s := range segments {
		from, to := uint64(binary.LittleEndian.Uint32(frame[4+4*s:])), uint64(len(frame))
		if s+1 < segments {
			to = min(to, uint64(binary.LittleEndian.Uint32(frame[8+4*s:])))
		}
		if from > to {
			from = to
		}
		plane, place := s/size, size-1-s%size
		if k := unpackRLE(out[plane*n*size+place:], frame[from:to], n, size); k < n {
			return bad(-1, "RLE segment %d has %d bytes: want %d", s, k, n)
		}
	}
	return nil
}

// unpackRLE decompresses up to n bytes of a segment to each step'th byte of
// out, and returns their number.
func unpackRLE(out, in []byte, n, step int) int {
	k := 0
	for len(in) > 0 && k < n {
		c := int(in[0])
		in = in[1:]
		switch {
		case c < 128: // c+1 bytes follow
			part := in[:min(c+1, len(in))]
			in = in[len(part):]
			for _, v := range part[:min(len(part), n-k)] {
				out[k*step] = v
				k++
			}
		case c > 128 && len(in) > 0: // the next byte, 257-c times
			for range min(257-c, n-k) {
				out[k*step] = in[0]
				k++
			}
			in = in[1:]
		}
	}
	return k
}
