package webdataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// block is the unit of a tar file.
const block = 512

// maxName is the size of the largest header with a long name: longer than any
// system's paths, and small enough for memory.
const maxName = 1 << 20

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	zeros      [block]byte
)

// tarReader iterates over the members of a tar file. Unlike archive/tar it is
// strict: the end must be complete, with nothing after it.
type tarReader struct {
	name  string
	mem   []byte // the whole input, or nil
	r     io.Reader
	src   *source // if the file is compressed
	at    int64   // of the next byte
	bare  bool    // the memory has only members, without the archive's end
	left  int64   // of the member's data
	pad   int64   // after it
	small [block]byte
	long  []byte
	waste []byte
	all   bool // next returns the members that are no regular files, too
	// ignored counts the other members that next passed over.
	ignored Ignored

	sum        bool // keep the checksums
	crc, chain uint32
	inChain    bool
}

// paxKeys are the keys of POSIX.1-2008. All other keys contain a dot after
// their vendor's name, so a changed byte of a key is detected.
var paxKeys = []string{"atime", "charset", "comment", "ctime", "gid", "gname", "hdrcharset", "linkpath", "mtime", "path", "size", "uid", "uname"}

// member is a member of a tar file.
type member struct {
	name       string
	size       int64
	start, end int64 // with all of its headers, and the padding
	kind       Kind
	link       string // of a link: what it leads to
}

// Kind is the kind of a member of a tar file.
type Kind byte

// The kinds of members. A member of an unknown type is a Regular one of
// Members, as in Python's tarfile.
const (
	Regular Kind = iota
	HardLink
	Symlink
	Folder
	Device // or a named pipe
	unknownKind
)

// String returns the kind as messages have it, such as "a hard link".
func (k Kind) String() string {
	return [...]string{"a regular file", "a hard link", "a symbolic link", "a folder", "a device or named pipe", "of an unknown type"}[k]
}

// kindOf returns the kind of a type flag.
func kindOf(flag byte) Kind {
	switch flag {
	case 0, '0', '7':
		return Regular
	case '1':
		return HardLink
	case '2':
		return Symlink
	case '3', '4', '6':
		return Device
	case '5':
		return Folder
	}
	return unknownKind
}

// Ignored describes the members of a tar file that belong to no sample: links
// and devices, which webdataset skips, and files whose names have no key.
// Folders do not count.
type Ignored struct {
	Members int64
	First   string // the first of them, and why: "b.png (a hard link)"
}

func (i *Ignored) add(name, why string) {
	if i.Members++; i.Members == 1 {
		i.First = fmt.Sprintf("%s (%s)", name, why)
	}
}

func (t *tarReader) corrupt(at int64, format string, args ...any) error {
	return records.Corruptf(formatName, t.name, at, format, args...)
}

func (t *tarReader) unsupported(at int64, format string, args ...any) error {
	return fmt.Errorf("webdataset: %s: at byte %d: %w: "+format, append([]any{store.Redact(t.name), at, records.ErrUnsupported}, args...)...)
}

// errSparse reports the extended header of a sparse file.
var errSparse = errors.New("a sparse file")

// fail classifies a failed read: an unexpected end of the file, damage that
// decompression found, or another error.
func (t *tarReader) fail(at int64, what string, err error) error {
	var c *records.CorruptionError
	switch {
	case errors.As(err, &c):
		return err
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return t.corrupt(at, "the file ends within %s", what)
	case t.src != nil && t.src.err == nil:
		return t.corrupt(t.at, "the compressed file is damaged: %v", err)
	}
	return fmt.Errorf("webdataset: %s: at byte %d: %w", store.Redact(t.name), t.at, err)
}

func (t *tarReader) count(b []byte) {
	t.at += int64(len(b))
	if t.sum {
		t.crc = crc32.Update(t.crc, castagnoli, b)
		if t.inChain {
			t.chain = crc32.Update(t.chain, castagnoli, b)
		}
	}
}

// full fills b, or reads up to the end.
func (t *tarReader) full(b []byte) (n int, err error) {
	if t.mem != nil {
		n = copy(b, t.mem)
		t.mem = t.mem[n:]
		if n < len(b) {
			err = io.ErrUnexpectedEOF
		}
	} else {
		n, err = io.ReadFull(t.r, b)
	}
	t.count(b[:n])
	return n, err
}

// header returns the next block, a view of the memory or of small. With an
// error it returns the available part.
func (t *tarReader) header() (h []byte, err error) {
	if len(t.mem) >= block {
		h, t.mem = t.mem[:block:block], t.mem[block:]
		t.count(h)
		return h, nil
	}
	n, err := t.full(t.small[:])
	return t.small[:n], err
}

// skip skips n bytes.
func (t *tarReader) skip(n int64) error {
	if t.mem != nil {
		m := min(n, int64(len(t.mem)))
		t.count(t.mem[:m])
		t.mem = t.mem[m:]
		if m < n {
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	if t.waste == nil && n > 0 {
		t.waste = make([]byte, 16<<10)
	}
	for n > 0 {
		m, err := t.full(t.waste[:min(n, int64(len(t.waste)))])
		if n -= int64(m); err != nil {
			return err
		}
	}
	return nil
}

// data returns the data of the member: a view of the memory, or in buf if that
// is large enough, else in new memory.
func (t *tarReader) data(buf []byte) ([]byte, error) {
	n := t.left
	if t.mem != nil {
		if int64(len(t.mem)) < n {
			return nil, t.fail(t.at, fmt.Sprintf("the data of a member, after %d of %d bytes", len(t.mem), n), io.ErrUnexpectedEOF)
		}
		data := t.mem[:n:n]
		t.mem = t.mem[n:]
		t.count(data)
		t.left = 0
		return data, nil
	}
	// Memory grows with the input, not with the stated length: to at most 64
	// times the bytes that were read, in steps of the length's 4096th, its 64th
	// and the length. A large member is thus held once.
	const first, factor = 1 << 20, 64
	for buf = buf[:0]; t.left > 0; {
		at := len(buf)
		if at == cap(buf) {
			size := n
			for size > max(first, factor*int64(at)) {
				size = (size + factor - 1) / factor
			}
			b := make([]byte, at, size)
			copy(b, buf)
			buf = b
		}
		m, err := t.full(buf[at : at+int(min(t.left, int64(cap(buf)-at)))])
		t.left -= int64(m)
		if buf = buf[:at+m]; err != nil {
			return nil, t.fail(t.at, fmt.Sprintf("the data of a member, after %d of %d bytes", n-t.left, n), err)
		}
	}
	return buf[:n:n], nil
}

// padding reads the padding after the data and finishes the member.
func (t *tarReader) padding() error {
	at := t.at
	if err := t.skip(t.left); err != nil {
		return t.fail(at, "the data of a member", err)
	}
	t.left, at = 0, t.at
	if err := t.skip(t.pad); err != nil {
		return t.fail(at, "the padding of a member", err)
	}
	t.pad = 0
	return nil
}

// cString returns the bytes before the first zero.
func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// number parses an octal number, or a binary one with the first bit set (GNU).
func number(b []byte) (int64, bool) {
	if b[0]&0x80 != 0 {
		if b[0] != 0x80 {
			return 0, false // negative
		}
		var x uint64
		for _, c := range b[1:] {
			if x>>55 != 0 {
				return 0, false
			}
			x = x<<8 | uint64(c)
		}
		return int64(x), x < 1<<62
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	var x int64 // of at most 12 digits
	for _, c := range bytes.Trim(b, " ") {
		if c < '0' || c > '7' {
			return 0, false
		}
		x = x<<3 | int64(c-'0')
	}
	return x, true
}

// checksum verifies the header's sum, over bytes taken as unsigned or, as in
// some old programs, as signed.
func checksum(h []byte) bool {
	want, ok := number(h[148:156])
	if !ok {
		return false
	}
	// Its own eight bytes count as blanks. The others are summed four at a time
	// in each half, 16 bits for each sum: at most 2*64*255.
	const even = 0x00ff00ff00ff00ff
	var lanes uint64
	for i := 0; i+8 <= block; i += 8 {
		x := binary.LittleEndian.Uint64(h[i:])
		lanes += x&even + x>>8&even
	}
	sum := int64(lanes&0xffff+lanes>>16&0xffff+lanes>>32&0xffff+lanes>>48) + 8*' '
	for _, c := range h[148:156] {
		sum -= int64(c)
	}
	if want == sum {
		return true
	}
	for i, c := range h[:block] {
		if c >= 0x80 && (i < 148 || i >= 156) {
			sum -= 0x100
		}
	}
	return want == sum
}

// next returns the next regular file or, with all, the next member, and io.EOF
// at the end of a valid archive. It skips the rest of the current member.
func (t *tarReader) next() (m member, err error) {
	if err := t.padding(); err != nil {
		return m, err
	}
	var longName, paxName, longLink string
	var paxSize int64
	var haveLong, havePath, haveSize, haveLink bool
	m.start = t.at
	t.chain, t.inChain = 0, true
	defer func() { t.inChain = false }()
	for {
		at := t.at
		if t.bare && len(t.mem) == 0 && !haveLong && !havePath && !haveSize && !haveLink {
			return m, io.EOF
		}
		h, err := t.header()
		if len(h) == 0 && (err == io.EOF || err == io.ErrUnexpectedEOF && t.mem != nil) {
			return m, t.corrupt(at, "the file ends without the two blocks of zeros that end an archive")
		}
		if err != nil {
			return m, t.fail(at, "a header", err)
		}
		if h[0] == 0 && bytes.Equal(h, zeros[:]) {
			if haveLong || havePath || haveSize || haveLink {
				return m, t.corrupt(at, "the archive ends between the headers of a member")
			}
			return m, t.end(at)
		}
		if !checksum(h) {
			if at == 0 {
				return m, t.corrupt(at, "not a tar file: the checksum of the first header is wrong")
			}
			return m, t.corrupt(at, "the checksum of a header is wrong")
		}
		size, ok := number(h[124:136])
		if !ok {
			return m, t.corrupt(at, "the size %q of a member is no number", h[124:136])
		}
		kind := h[156]
		switch kind {
		case 'L', 'K', 'x', 'X', 'g':
			if size > maxName {
				return m, fmt.Errorf("webdataset: %s: at byte %d: %w: a header of kind %c with %d bytes, want at most %d", store.Redact(t.name), at, records.ErrTooLarge, kind, size, maxName)
			}
			t.left, t.pad = size, -size&(block-1)
			var b []byte
			if b, err = t.data(t.long); err == nil {
				err = t.padding()
			}
			if err != nil {
				return m, err
			}
			if t.mem == nil {
				t.long = b
			}
			switch kind {
			case 'L':
				longName, haveLong = cString(b), true
			case 'K':
				longLink, haveLink = cString(b), true
			case 'x', 'X', 'g':
				err := pax(b, func(key, value string) error {
					switch {
					case strings.HasPrefix(key, "GNU.sparse."):
						return errSparse
					case kind == 'g' && (key == "path" || key == "size"):
						return fmt.Errorf("%s for all members, which no writer gives", key)
					case key == "path":
						if strings.IndexByte(value, 0) >= 0 {
							return errors.New("a zero in a name")
						}
						paxName, havePath = strings.TrimRight(value, "/"), true
					case key == "linkpath" && kind != 'g':
						longLink, haveLink = value, true
					case key == "size":
						if paxSize, err = strconv.ParseInt(value, 10, 62); err != nil || paxSize < 0 {
							return fmt.Errorf("the size %q is no number", value)
						}
						haveSize = true
					case !strings.Contains(key, ".") && !slices.Contains(paxKeys, key):
						return fmt.Errorf("a record %q, which the standard does not have", key)
					}
					return nil
				})
				if err == errSparse {
					return m, t.unsupported(at, "%v", err)
				}
				if err != nil {
					return m, t.corrupt(at, "an extended header: %v", err)
				}
			}
			continue
		}
		if haveSize {
			size = paxSize
		}
		name := cString(h[:100])
		if string(h[257:263]) == "ustar\x00" {
			if prefix := cString(h[345:500]); prefix != "" {
				name = prefix + "/" + name
			}
		}
		folder := kind == 0 && strings.HasSuffix(name, "/")
		if haveLong {
			name = longName
		}
		if havePath {
			name = paxName
		}
		m.name, m.kind, m.link = name, kindOf(kind), cString(h[157:257])
		if folder {
			m.kind = Folder
		}
		if haveLink {
			m.link = longLink
		}
		haveLong, havePath, haveSize, haveLink = false, false, false, false
		switch {
		case kind == 'S':
			return m, t.unsupported(at, "%q is a sparse file", name)
		case kind >= '1' && kind <= '6': // links, devices, folders: without data
			size = 0
		}
		t.left, t.pad = size, -size&(block-1)
		m.size, m.end = size, t.at+size+t.pad
		if t.all && m.kind == unknownKind {
			m.kind = Regular
		}
		if t.all || m.kind == Regular {
			return m, nil
		}
		if m.kind != Folder {
			t.ignored.add(name, m.kind.String())
		}
		if err := t.padding(); err != nil {
			return m, err
		}
	}
}

// end reads the blocks after the first block of zeros: another one, and only
// zeros after that. It returns io.EOF if they are valid.
func (t *tarReader) end(at int64) error {
	for k := 0; ; k++ {
		b := t.small[:]
		n, err := t.full(b)
		if !bytes.Equal(b[:n], zeros[:n]) {
			return t.corrupt(t.at-int64(n), "something stands behind the block of zeros at %d that ends the archive", at)
		}
		switch {
		case err == nil:
		case err != io.EOF && err != io.ErrUnexpectedEOF:
			return t.fail(at, "the archive's end", err)
		case k == 0:
			return t.corrupt(at, "the file ends within the two blocks of zeros that end an archive")
		default:
			return io.EOF
		}
	}
}

// pax parses the records of an extended header, "LENGTH KEY=VALUE\n" each.
func pax(b []byte, record func(key, value string) error) error {
	for len(b) > 0 {
		if len(bytes.Trim(b, "\x00")) == 0 {
			return nil // some writers fill the block's end
		}
		space := bytes.IndexByte(b, ' ')
		if space < 1 || space > 10 {
			return errors.New("a record without a length")
		}
		n, err := strconv.ParseUint(string(b[:space]), 10, 31)
		if err != nil || n <= uint64(space)+1 || n > uint64(len(b)) || b[n-1] != '\n' {
			return fmt.Errorf("the length %q of a record is wrong", b[:space])
		}
		key, value, ok := strings.Cut(string(b[space+1:n-1]), "=")
		if !ok || key == "" {
			return errors.New("a record without a key")
		}
		if err := record(key, value); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
