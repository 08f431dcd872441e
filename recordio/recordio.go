// Package recordio reads and writes RecordIO, MXNet's and dmlc-core's format of
// record files, and divides files among readers as they do. It knows bytes alone:
// what is in the records is the business of others.
//
// A record is one or more parts, each at an offset that is a multiple of 4:
//
//	magic 0a 23 d7 ce | kind (3 bits) and length (29 bits) | data | zeros to a multiple of 4
//
// Where the data has the magic word at a multiple of 4 it is left out and the
// record goes on in another part, so that every such word of a file begins a part.
// docs/format/recordio.md has the details and an example.
//
// Reading is strict unless asked otherwise: what dmlc-core accepts or loses in
// silence (a file that ends within a record, parts without a beginning, kinds that
// nobody writes, missing padding) is a [records.CorruptionError].
//
// Reference: dmlc-core as of 2026-03, and MXNet 1.9.1.
package recordio

import "encoding/binary"

// formatName is the Format of this package's errors.
const formatName = "recordio"

// Magic begins every part.
const Magic = 0xced7230a

// MaxRecord is the largest record: 2^29 - 1 bytes.
const MaxRecord = 1<<29 - 1

// The kinds of part.
const (
	whole  = 0
	first  = 1
	middle = 2
	last   = 3
)

const (
	align  = 4
	header = 8
)

// padded is n bytes with the zeros that follow them.
func padded(n int) int { return (n + align - 1) &^ (align - 1) }

func word(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

// split takes a part's second word apart.
func split(w uint32) (kind, length int) { return int(w >> 29), int(w & (1<<29 - 1)) }

// isHead reports whether b begins with the head of a record's first part.
func isHead(b []byte) bool {
	if len(b) < header || word(b) != Magic {
		return false
	}
	kind, _ := split(word(b[align:]))
	return kind == whole || kind == first
}
