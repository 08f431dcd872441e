package filecache

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/infer-prep/infer-prep/tensor"
)

// The layout of the file; docs/format/cache.md specifies it. Numbers are
// little-endian.
const (
	magic       = "IPcache\n"
	version     = 2
	byteOrder   = 0x0102030405060708 // in the machine's byte order, like the elements
	endOffset   = 64                 // of the end of the samples, the part of the header that changes
	headerSize  = 128                // the table of rows follows
	alignment   = 64                 // of samples and of their values
	sampleHead  = 64                 // bytes before a sample's values
	stampOffset = 32                 // of the stamp in a sample
	sampleValue = 24 + 8*tensor.MaxRank
	maxKey      = 1 << 16
	maxValues   = 1 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func aligned(n int64) int64 { return (n + alignment - 1) &^ (alignment - 1) }

// MinSize returns the size of a file without samples: its header and the table
// of the rows.
func MinSize(rows int64) int64 { return headerSize + rows*8 }

// firstSample returns the offset of the first sample in a file of rows rows.
func firstSample(rows int64) int64 { return aligned(MinSize(rows)) }

// newHeader returns the header of a file without samples.
func newHeader(rows int64, fingerprint [32]byte) []byte {
	b := make([]byte, headerSize)
	copy(b, magic)
	binary.LittleEndian.PutUint32(b[8:], version)
	binary.LittleEndian.PutUint64(b[16:], uint64(rows))
	copy(b[24:], fingerprint[:])
	binary.NativeEndian.PutUint64(b[56:], byteOrder)
	binary.LittleEndian.PutUint32(b[12:], headerSum(b))
	putEnd(b[endOffset:], firstSample(rows))
	return b
}

// headerSum returns the checksum of the constant part of a header.
func headerSum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:12], castagnoli), castagnoli, b[16:endOffset])
}

// putEnd writes the end of the samples, and then its complement as a check.
func putEnd(b []byte, end int64) {
	binary.LittleEndian.PutUint64(b, uint64(end))
	binary.LittleEndian.PutUint64(b[8:], ^uint64(end))
}

// parseEnd reads what putEnd wrote. ok is false if it is invalid.
func parseEnd(b []byte, rows int64) (end int64, ok bool) {
	u := binary.LittleEndian.Uint64(b)
	end = int64(u)
	return end, u == ^binary.LittleEndian.Uint64(b[8:]) && end >= firstSample(rows) && end%alignment == 0
}

// parseHeader reads the header of a file of size bytes. ok is false if the
// header is damaged, or has other rows or another fingerprint.
func parseHeader(b []byte, rows int64, fingerprint [32]byte, size int64) (end int64, ok bool) {
	if len(b) < headerSize {
		return 0, false
	}
	want := newHeader(rows, fingerprint)
	if string(b[:endOffset]) != string(want[:endOffset]) {
		return 0, false
	}
	end, ok = parseEnd(b[endOffset:], rows)
	return end, ok && end <= size
}

// stored is a sample in the file.
type stored struct {
	b     []byte // all of it
	stamp [32]byte
	key   []byte
	n     int // values
}

// appendHead appends the head of a sample, without its checksum, and the key.
// The values follow it, each at an aligned offset; n is the length of the whole
// sample. ok is false if the key or the number of values exceeds the format.
func appendHead(b []byte, row int64, stamp [32]byte, s Sample) (head []byte, n int64, ok bool) {
	key, values := s.Key(), s.Len()
	if len(key) > maxKey || values > maxValues {
		return b, 0, false
	}
	at := aligned(int64(sampleHead + sampleValue*values + len(key)))
	b = append(b, make([]byte, sampleHead)...)
	binary.LittleEndian.PutUint64(b[16:], uint64(row))
	binary.LittleEndian.PutUint32(b[24:], uint32(values))
	binary.LittleEndian.PutUint32(b[28:], uint32(len(key)))
	copy(b[stampOffset:], stamp[:])
	for i := range values {
		v := s.Value(i)
		size := dense(v)
		n = at + size
		b = append(b, byte(v.DType), byte(v.Layout), byte(v.Shape.Rank()), 0, 0, 0, 0, 0)
		b = binary.LittleEndian.AppendUint64(b, uint64(at))
		b = binary.LittleEndian.AppendUint64(b, uint64(size))
		for a := range tensor.MaxRank {
			d := 0
			if a < v.Shape.Rank() {
				d = v.Shape.At(a)
			}
			b = binary.LittleEndian.AppendUint64(b, uint64(d))
		}
		at = aligned(n)
	}
	b = append(b, key...)
	if values == 0 {
		n = int64(len(b))
	}
	binary.LittleEndian.PutUint64(b[8:], uint64(n))
	return b, n, true
}

// dense returns the size of a dense copy of t.
func dense(t *tensor.Tensor) int64 {
	if t.DType == tensor.Bytes {
		return int64(len(t.Data))
	}
	return t.Size()
}

// sampleLength returns the length of the sample that b starts with. ok is false
// if it is invalid or exceeds limit.
func sampleLength(b []byte, limit int64) (n int64, ok bool) {
	if len(b) < sampleHead {
		return 0, false
	}
	n = int64(binary.LittleEndian.Uint64(b[8:]))
	return n, n >= sampleHead && n <= limit
}

// intact reports whether the checksum of the sample b is correct.
func intact(b []byte) bool {
	return binary.LittleEndian.Uint32(b) == crc32.Checksum(b[4:], castagnoli)
}

// parse finds the parts of the sample b. ok is false if they do not fit b or
// the row. It allocates nothing.
func parse(b []byte, row int64) (x stored, ok bool) {
	if n, ok := sampleLength(b, int64(len(b))); !ok || n != int64(len(b)) || binary.LittleEndian.Uint64(b[16:]) != uint64(row) {
		return x, false
	}
	n, key := binary.LittleEndian.Uint32(b[24:]), binary.LittleEndian.Uint32(b[28:])
	if n > maxValues || key > maxKey || int64(sampleHead)+sampleValue*int64(n)+int64(key) > int64(len(b)) {
		return x, false
	}
	at := sampleHead + sampleValue*int(n)
	return stored{b, [32]byte(b[stampOffset:]), b[at : at+int(key)], int(n)}, true
}

// value returns value i, a view of the sample. ok is false if it is invalid or
// does not match want.
func (x *stored) value(i int, want tensor.Desc) (t tensor.Tensor, ok bool) {
	b := x.b[sampleHead+sampleValue*i:]
	d := tensor.Desc{DType: tensor.DType(b[0]), Layout: tensor.Layout(b[1])}
	rank := int(b[2])
	if rank > tensor.MaxRank {
		return t, false
	}
	for a := range rank {
		n := binary.LittleEndian.Uint64(b[24+8*a:])
		if n > 1<<48 || uint64(int(n)) != n {
			return t, false
		}
		d.Shape = d.Shape.Append(int(n))
	}
	at, size := binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	if d.Validate() != nil || !want.Matches(d) || at%alignment != 0 || at > uint64(len(x.b)) || size > uint64(len(x.b))-at {
		return t, false
	}
	data := x.b[at : at+size : at+size]
	if d.DType == tensor.Bytes {
		return tensor.Tensor{Desc: d, Data: data}, true
	}
	if uint64(d.Size()) != size {
		return t, false
	}
	t.Data = data
	return t, t.Reset(d) == nil
}
