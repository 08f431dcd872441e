// Package npz reads and writes NumPy's archives of arrays, NAME.npz.
package npz

import (
	"archive/zip"
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
)

// The parts of a zip archive that WriteNPZ writes, with the values of Python's
// zipfile. APPNOTE.TXT 4.3 and 4.4 define the fields.
const (
	zipLocal   = 0x04034b50
	zipCentral = 0x02014b50
	zipEnd     = 0x06054b50
	zip64End   = 0x06064b50
	zip64Loc   = 0x07064b50

	zipVersion  = 45       // for zip64
	zipUnix     = 3 << 8   // made by: Unix
	zipUTF8     = 1 << 11  // the name is UTF-8
	zipDate     = 1<<5 | 1 // 1980-01-01, the zero of the format
	zipMode     = 0o600 << 16
	zip64Marker = 0xffffffff
)

// Write writes a zip archive of stored NAME.npy members, dated 1980-01-01. The
// file equals numpy.savez's byte for byte. Write reads the data twice, first
// for the checksums. The dtypes BFloat16 and Bytes, and names that are empty,
// too long or duplicate are tensor.ErrUnsupported; Write then writes nothing.
func Write(w io.Writer, ts []tensor.Named) error { return write(w, ts, 1<<31-1) }

// array is what an archive says about a member.
type array struct {
	crc  uint32
	size uint64
}

// Write counts bytes.
func (a *array) Write(b []byte) (int, error) {
	a.crc = crc32.Update(a.crc, crc32.IEEETable, b)
	a.size += uint64(len(b))
	return len(b), nil
}

// write is Write. zip32 is the largest size and offset without zip64 fields:
// zipfile's ZIP64_LIMIT, or less in a test.
func write(w io.Writer, ts []tensor.Named, zip32 uint64) error {
	arrays := make([]array, len(ts))
	seen := make(map[string]bool, len(ts))
	for i, n := range ts {
		if err := tensor.WriteNPY(&arrays[i], n.T); err != nil {
			return named(err, n.Name)
		}
		if n.Name == "" || len(n.Name) > 0xffff-len(".npy") || seen[n.Name] || strings.Contains(n.Name, "\x00") || !utf8.ValidString(n.Name) {
			return fail(tensor.ErrUnsupported, n.Name, -1, n.T.Desc.String()+" has an invalid name, want a unique one of 1 to 65531 bytes, in UTF-8 without NUL")
		}
		seen[n.Name] = true
	}
	var dir []byte
	off := uint64(0)
	for i, n := range ts {
		name, crc, size := n.Name+".npy", arrays[i].crc, arrays[i].size

		// numpy.savez forces a zip64 field in every local header.
		local := binary.LittleEndian.AppendUint32(nil, zipLocal)
		local = zipFields(local, name, crc, zip64Marker, zip64Marker, 20)
		local = append(local, name...)
		local = zipExtra(local, size, size)
		if _, err := w.Write(local); err != nil {
			return err
		}
		if err := tensor.WriteNPY(w, n.T); err != nil {
			return err
		}

		var extra []byte
		size32, off32 := uint32(size), uint32(off)
		var big []uint64
		if size > zip32 {
			big, size32 = append(big, size, size), zip64Marker
		}
		if off > zip32 {
			big, off32 = append(big, off), zip64Marker
		}
		if len(big) > 0 {
			extra = zipExtra(nil, big...)
		}
		dir = binary.LittleEndian.AppendUint32(dir, zipCentral)
		dir = binary.LittleEndian.AppendUint16(dir, zipUnix|zipVersion)
		dir = zipFields(dir, name, crc, size32, size32, len(extra))
		dir = append(dir, make([]byte, 6)...) // no comment, disk 0, no internal attributes
		dir = binary.LittleEndian.AppendUint32(dir, zipMode)
		dir = binary.LittleEndian.AppendUint32(dir, off32)
		dir = append(append(dir, name...), extra...)
		off += uint64(len(local)) + size
	}
	size := uint64(len(dir))
	count16, size32, off32 := uint16(min(len(ts), 0xffff)), uint32(min(size, zip64Marker)), uint32(min(off, zip64Marker))
	if len(ts) > 0xffff || off > zip32 || size > zip32 {
		dir = binary.LittleEndian.AppendUint32(dir, zip64End)
		dir = binary.LittleEndian.AppendUint64(dir, 44) // size of the rest of this record
		dir = binary.LittleEndian.AppendUint16(dir, zipVersion)
		dir = binary.LittleEndian.AppendUint16(dir, zipVersion)
		dir = append(dir, make([]byte, 8)...) // disk 0
		for _, v := range [...]uint64{uint64(len(ts)), uint64(len(ts)), size, off} {
			dir = binary.LittleEndian.AppendUint64(dir, v)
		}
		dir = binary.LittleEndian.AppendUint32(dir, zip64Loc)
		dir = binary.LittleEndian.AppendUint32(dir, 0)
		dir = binary.LittleEndian.AppendUint64(dir, off+size)
		dir = binary.LittleEndian.AppendUint32(dir, 1)
	}
	dir = binary.LittleEndian.AppendUint32(dir, zipEnd)
	dir = append(dir, make([]byte, 4)...)
	dir = binary.LittleEndian.AppendUint16(dir, count16)
	dir = binary.LittleEndian.AppendUint16(dir, count16)
	dir = binary.LittleEndian.AppendUint32(dir, size32)
	dir = binary.LittleEndian.AppendUint32(dir, off32)
	dir = binary.LittleEndian.AppendUint16(dir, 0)
	_, err := w.Write(dir)
	return err
}

// zipFields appends the fields that local and central headers share.
func zipFields(b []byte, name string, crc, packed, size uint32, extra int) []byte {
	flags := uint16(0)
	for _, c := range []byte(name) {
		if c >= 0x80 {
			flags = zipUTF8
		}
	}
	for _, v := range [...]uint16{zipVersion, flags, 0, 0, zipDate} { // stored, midnight
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	for _, v := range [...]uint32{crc, packed, size} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	b = binary.LittleEndian.AppendUint16(b, uint16(len(name)))
	return binary.LittleEndian.AppendUint16(b, uint16(extra))
}

// zipExtra appends a zip64 field (type 1).
func zipExtra(b []byte, v ...uint64) []byte {
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint16(b, uint16(8*len(v)))
	for _, n := range v {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// Read reads an archive of size bytes, as numpy.savez and
// numpy.savez_compressed write it. Every member must be an array in NumPy's
// format. The tensor's name is the member's without .npy. Read verifies the
// checksums and returns the tensors in the archive's order. limit is the
// largest number of bytes of all elements. Its errors are those of
// [tensor.ReadNPY].
func Read(r io.ReaderAt, size, limit int64) ([]tensor.Named, error) {
	// A section returns io.EOF for offsets outside the archive.
	z, err := zip.NewReader(io.NewSectionReader(r, 0, max(size, 0)), size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, zipError(err, "")
	}
	var ts []tensor.Named
	seen := make(map[string]bool)
	for _, f := range z.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		if seen[name] {
			return nil, fail(tensor.ErrFormat, name, -1, "two arrays of this name")
		}
		seen[name] = true
		t, err := readMember(f, name, size, limit)
		if err != nil {
			return nil, err
		}
		limit -= t.Desc.Size()
		ts = append(ts, tensor.Named{Name: name, T: t})
	}
	return ts, nil
}

// member reads a file of an archive.
type member struct {
	r    io.Reader
	off  int64 // bytes read so far
	have int64 // bytes known to follow
}

func (m *member) Read(b []byte) (int, error) {
	n, err := m.r.Read(b)
	m.off += int64(n)
	m.have = max(0, m.have-int64(n))
	return n, err
}

// Len lets tensor.ReadNPY allocate the data at once.
func (m *member) Len() int { return int(m.have) }

func readMember(f *zip.File, name string, size, limit int64) (*tensor.Tensor, error) {
	if f.Flags&1 != 0 {
		return nil, fail(tensor.ErrUnsupported, name, -1, "encrypted member")
	}
	r, err := f.Open()
	if err != nil {
		return nil, zipError(err, name)
	}
	defer r.Close()
	m := member{r: r}
	if f.Method == zip.Store {
		m.have = int64(min(f.UncompressedSize64, uint64(size)))
	}
	t, err := tensor.ReadNPY(&m, limit)
	if err != nil {
		return nil, zipError(err, name)
	}
	// The end verifies the checksum.
	switch n, err := io.ReadFull(m.r, make([]byte, 1)); {
	case n > 0:
		return nil, fail(tensor.ErrFormat, name, m.off, "data after the end")
	case err != io.EOF:
		return nil, zipError(err, name)
	}
	return t, nil
}

func fail(kind error, name string, off int64, detail string) error {
	return &tensor.Error{Format: "npz", Kind: kind, Name: name, Offset: off, Detail: detail}
}

// named gives an error of package tensor the name of a member.
func named(err error, name string) error {
	if e, ok := errors.AsType[*tensor.Error](err); ok {
		e.Format, e.Name = "npz", name
	}
	return err
}

// zipError converts an error of package zip, and names those of package tensor.
func zipError(err error, name string) error {
	var e *tensor.Error
	var corrupt flate.CorruptInputError
	var kind error
	switch {
	case errors.As(err, &e):
		return named(err, name)
	case errors.Is(err, zip.ErrFormat), errors.Is(err, zip.ErrChecksum), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, io.EOF), errors.As(err, &corrupt):
		kind = tensor.ErrFormat
	case errors.Is(err, zip.ErrAlgorithm):
		kind = tensor.ErrUnsupported
	default:
		return errfmt.Errorf("tensor: npz: %w", err)
	}
	return &tensor.Error{Format: "npz", Kind: kind, Name: name, Offset: -1, Detail: "archive", Err: err}
}
