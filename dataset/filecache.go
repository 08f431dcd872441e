package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/infer-prep/infer-prep/tensor"
)

// FileCache is a Cache in a file, which later runs of the program find again, and
// which several processes may use at the same time: what one of them made, all of
// them have. Docs/format/cache.md describes the file.
//
// A file that was made of something else, or is damaged, is never used: it is
// replaced where its beginning shows it, and single samples of it are made again
// where theirs shows it. "Something else" is another definition below the cache,
// another length of a source, or another Stamp; of the data below it nothing is
// known: images that change under the same names and functions that change under
// theirs want another Stamp. What is below must have a written form, so that it
// can be told from others; functions need names.
//
// On Linux, macOS, FreeBSD, NetBSD and DragonFly the file is mapped into memory,
// its samples are views of the mapping, valid until the Built is closed, and
// writers lock the file (flock, which network file systems may not have). On other
// systems only one process may use a file at a time, and samples are copied. No
// program may shorten the file while it is in use.
//
// A file that cannot grow, since the disk is full, say, is as one without room.
type FileCache struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"` // of the file, at most
	Stamp string `json:"stamp"` // names what else the samples depend on; may be empty
}

func init() {
	Register(Info{Name: "file_cache", Version: 1, New: func() Node { return &FileCache{Bytes: 16 << 30} }, Doc: "samples kept in a file"})
}

// FileCache keeps samples in a file of up to so many bytes.
func (d *Dataset) FileCache(file string, bytes int64) *Dataset {
	return d.then(&FileCache{File: file, Bytes: bytes})
}

// Validate wants a file and a size.
func (n *FileCache) Validate() error {
	if n.File == "" || n.Bytes < 0 {
		return paramErr("file %q of %d bytes, want a name and 0 or more", n.File, n.Bytes)
	}
	return nil
}

func (n *FileCache) build(b *Built, s *step) error {
	in, err := s.passes()
	if err != nil {
		return err
	}
	if err := in.finite("a cache"); err != nil {
		return err
	}
	if x := in.changing(); x != nil {
		return defErr("%s below a cache is not the same in every epoch; put it above", x.path)
	}
	print, err := b.print(in, n.Stamp)
	if err != nil {
		return err
	}
	if need := cacheTable + in.size*8; in.size > (1<<60) || need > n.Bytes {
		return defErr("the table of %d rows alone has %d bytes, the limit is %d", in.size, need, n.Bytes)
	}
	c, err := openFileStore(n.File, in.columns, in.size, n.Bytes, print)
	if err != nil {
		return fmt.Errorf("cache %s: %w", n.File, err)
	}
	b.open = append(b.open, c)
	s.state = c
	return nil
}

// print is the fingerprint of the samples of s.
func (b *Built) print(s *step, stamp string) (sum [32]byte, err error) {
	text, err := s.definition().MarshalJSON()
	if err != nil {
		return sum, err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%q\n", text, stamp)
	var walk func(s *step)
	walk = func(s *step) {
		if s.data != nil {
			fmt.Fprintf(h, "%d rows\n", s.size)
		}
		if _, ok := s.node.(*Func); ok { // may draw numbers
			fmt.Fprintf(h, "seed %d %s\n", b.options.Seed, s.path)
		}
		for _, in := range s.in {
			walk(in)
		}
	}
	walk(s)
	return [32]byte(h.Sum(nil)), nil
}

// definition is what s was built from.
func (s *step) definition() *Dataset {
	d := &Dataset{Node: s.node}
	for _, in := range s.in {
		d.In = append(d.In, in.definition())
	}
	return d
}

// The file, see docs/format/cache.md. Numbers are little-endian.
const (
	cacheMagic   = "IPcache\n"
	cacheVersion = 1
	cacheOrder   = 0x0102030405060708 // in the machine's order, which elements have
	cacheEnd     = 64                 // where the end of the samples stands, which changes
	cacheTable   = 128                // the header's size
	cacheAlign   = 64                 // of samples and of their values
	sampleHead   = 32
	sampleValue  = 24 + 8*tensor.MaxRank
	mostKey      = 1 << 16
	mostValues   = 1 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func aligned(n int64) int64 { return (n + cacheAlign - 1) &^ (cacheAlign - 1) }

// firstSample is where samples begin in a file of so many rows.
func firstSample(rows int64) int64 { return aligned(cacheTable + 8*rows) }

// cacheHeader is the header of a file without samples.
func cacheHeader(rows int64, print [32]byte) []byte {
	b := make([]byte, cacheTable)
	copy(b, cacheMagic)
	binary.LittleEndian.PutUint32(b[8:], cacheVersion)
	binary.LittleEndian.PutUint64(b[16:], uint64(rows))
	copy(b[24:], print[:])
	binary.NativeEndian.PutUint64(b[56:], cacheOrder)
	binary.LittleEndian.PutUint32(b[12:], headerSum(b))
	putEnd(b[cacheEnd:], firstSample(rows))
	return b
}

// headerSum is the checksum of what never changes in a header.
func headerSum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:12], castagnoli), castagnoli, b[16:cacheEnd])
}

// putEnd writes the end of the samples, twice.
func putEnd(b []byte, end int64) {
	binary.LittleEndian.PutUint64(b, uint64(end))
	binary.LittleEndian.PutUint64(b[8:], ^uint64(end))
}

// parseEnd is the end of the samples of a file of so many rows; not ok if it cannot be.
func parseEnd(b []byte, rows int64) (end int64, ok bool) {
	u := binary.LittleEndian.Uint64(b)
	end = int64(u)
	return end, u == ^binary.LittleEndian.Uint64(b[8:]) && end >= firstSample(rows) && end%cacheAlign == 0
}

// parseHeader reads a header of a file of these rows and this fingerprint, which
// has size bytes. Not ok if it is of another file, or damaged.
func parseHeader(b []byte, rows int64, print [32]byte, size int64) (end int64, ok bool) {
	if len(b) < cacheTable {
		return 0, false
	}
	want := cacheHeader(rows, print)
	if string(b[:cacheEnd]) != string(want[:cacheEnd]) {
		return 0, false
	}
	end, ok = parseEnd(b[cacheEnd:], rows)
	return end, ok && end <= size
}

// cached is a sample of a file.
type cached struct {
	b   []byte
	key []byte
	n   int // values
}

// appendSampleHead appends a sample's head, without its checksum, and key. The
// values follow, each after zeros; the length of all is n. Not ok if it is too large.
func appendSampleHead(b []byte, row int64, s *Sample) (head []byte, n int64, ok bool) {
	if len(s.Key) > mostKey || len(s.Values) > mostValues {
		return b, 0, false
	}
	at := aligned(int64(sampleHead + sampleValue*len(s.Values) + len(s.Key)))
	b = append(b, make([]byte, sampleHead)...)
	binary.LittleEndian.PutUint64(b[16:], uint64(row))
	binary.LittleEndian.PutUint32(b[24:], uint32(len(s.Values)))
	binary.LittleEndian.PutUint32(b[28:], uint32(len(s.Key)))
	for i := range s.Values {
		v := &s.Values[i]
		size := v.dense()
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
	b = append(b, s.Key...)
	if len(s.Values) == 0 {
		n = int64(len(b))
	}
	binary.LittleEndian.PutUint64(b[8:], uint64(n))
	return b, n, true
}

// sampleLength is the length of a sample that begins with b; not ok if it cannot be.
func sampleLength(b []byte, most int64) (n int64, ok bool) {
	if len(b) < sampleHead {
		return 0, false
	}
	n = int64(binary.LittleEndian.Uint64(b[8:]))
	return n, n >= sampleHead && n <= most
}

// intact reports whether the checksum of a sample, which is all of b, is right.
func intact(b []byte) bool {
	return binary.LittleEndian.Uint32(b) == crc32.Checksum(b[4:], castagnoli)
}

// parseSample finds the parts of a sample, which is all of b. It allocates nothing.
func parseSample(b []byte, row int64) (c cached, ok bool) {
	if n, ok := sampleLength(b, int64(len(b))); !ok || n != int64(len(b)) || binary.LittleEndian.Uint64(b[16:]) != uint64(row) {
		return c, false
	}
	n, key := binary.LittleEndian.Uint32(b[24:]), binary.LittleEndian.Uint32(b[28:])
	if n > mostValues || key > mostKey || int64(sampleHead)+sampleValue*int64(n)+int64(key) > int64(len(b)) {
		return c, false
	}
	at := sampleHead + sampleValue*int(n)
	return cached{b, b[at : at+int(key)], int(n)}, true
}

// value is value i, a view of the sample. Not ok if there is none that fits want.
func (c *cached) value(i int, want tensor.Desc) (t tensor.Tensor, ok bool) {
	b := c.b[sampleHead+sampleValue*i:]
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
	if d.Check() != nil || !want.Matches(d) || at%cacheAlign != 0 || at > uint64(len(c.b)) || size > uint64(len(c.b))-at {
		return t, false
	}
	data := c.b[at : at+size : at+size]
	if d.DType == tensor.Bytes {
		return tensor.Tensor{Desc: d, Data: data}, true
	}
	if uint64(d.Size()) != size {
		return t, false
	}
	t.Data = data
	return t, t.Reset(d) == nil
}
