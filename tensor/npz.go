package tensor

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

// WriteNPZ writes a zip archive of stored NAME.npy members, dated 1980-01-01.
// The file equals numpy.savez's byte for byte. WriteNPZ reads the data twice,
// first for the checksum. BFloat16, Bytes, and names that are empty, too long
// or duplicate are ErrUnsupported; WriteNPZ then writes nothing.
func WriteNPZ(w io.Writer, ts []Named) error { return writeNPZ(w, ts, 1<<31-1) }

// writeNPZ is WriteNPZ. zip32 is the largest size and offset without zip64
// fields: zipfile's ZIP64_LIMIT, or less in a test.
func writeNPZ(w io.Writer, ts []Named, zip32 uint64) error {
	heads := make([][]byte, len(ts))
	seen := make(map[string]bool, len(ts))
	for i, n := range ts {
		var err error
		if heads[i], err = npyHeader("npz", n.Name, n.T); err != nil {
			return err
		}
		if n.Name == "" || len(n.Name) > 0xffff-len(".npy") || seen[n.Name] || strings.Contains(n.Name, "\x00") || !utf8.ValidString(n.Name) {
			return refuse("npz", n.Name, n.T, "has an invalid name, want a unique one of 1 to 65531 bytes, in UTF-8 without NUL")
		}
		seen[n.Name] = true
	}
	var dir []byte
	off := uint64(0)
	for i, n := range ts {
		name := n.Name + ".npy"
		crc := crc32.NewIEEE()
		crc.Write(heads[i])
		if err := writeElems(crc, n.T); err != nil {
			return err
		}
		size := uint64(len(heads[i])) + uint64(n.T.Size())

		// numpy.savez forces a zip64 field in every local header.
		local := binary.LittleEndian.AppendUint32(nil, zipLocal)
		local = zipFields(local, name, crc.Sum32(), zip64Marker, zip64Marker, 20)
		local = append(local, name...)
		local = zipExtra(local, size, size)
		for _, b := range [][]byte{local, heads[i]} {
			if _, err := w.Write(b); err != nil {
				return err
			}
		}
		if err := writeElems(w, n.T); err != nil {
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
		dir = zipFields(dir, name, crc.Sum32(), size32, size32, len(extra))
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

// ReadNPZ reads an archive of size bytes, as numpy.savez and
// numpy.savez_compressed write it. Every member must be an array in NumPy's
// format. The tensor's name is the member's without .npy. ReadNPZ verifies the
// checksums and returns the tensors in the archive's order. Its errors are
// those of [ReadNPY].
func ReadNPZ(r io.ReaderAt, size, limit int64) ([]Named, error) {
	d := decoder{format: "npz", limit: limit}
	// A section returns io.EOF for offsets outside the archive.
	z, err := zip.NewReader(io.NewSectionReader(r, 0, max(size, 0)), size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, d.zipError(err)
	}
	var ts []Named
	seen := make(map[string]bool)
	for _, f := range z.File {
		d.name = strings.TrimSuffix(f.Name, ".npy")
		d.off = 0
		if seen[d.name] {
			return nil, d.fail(ErrFormat, -1, "two arrays of this name")
		}
		seen[d.name] = true
		t, err := d.member(f, size)
		if err != nil {
			return nil, err
		}
		ts = append(ts, Named{d.name, t})
	}
	return ts, nil
}

func (d *decoder) member(f *zip.File, size int64) (*Tensor, error) {
	if f.Flags&1 != 0 {
		return nil, d.fail(ErrUnsupported, -1, "encrypted member")
	}
	m, err := f.Open()
	if err != nil {
		return nil, d.zipError(err)
	}
	defer m.Close()
	d.r, d.have = m, 0
	if f.Method == zip.Store {
		d.have = int64(min(f.UncompressedSize64, uint64(size)))
	}
	t, err := d.npy()
	if err == nil {
		err = d.end() // verifies the checksum
	}
	var e *Error
	if err != nil && !errors.As(err, &e) {
		return nil, d.zipError(err)
	}
	return t, err
}

// zipError converts an error of package zip.
func (d *decoder) zipError(err error) error {
	var kind error
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, zip.ErrFormat), errors.Is(err, zip.ErrChecksum), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, io.EOF), errors.As(err, &corrupt):
		kind = ErrFormat
	case errors.Is(err, zip.ErrAlgorithm):
		kind = ErrUnsupported
	default:
		return errfmt.Errorf("tensor: npz: %w", err)
	}
	return &Error{Format: d.format, Kind: kind, Name: d.name, Offset: -1, Detail: "archive", Err: err}
}
