// Package recordio reads and writes RecordIO, the record format of MXNet and
// dmlc-core. It also divides sets of files among readers, exactly as dmlc-core
// does. Records are plain bytes. Package imagerecord reads MXNet's image
// records in them, and package records reads RecordIO like any other record
// format.
//
// [Reader] and [Writer] work on one file. [Stream] reads several files as one,
// by an index or in parts. [Split] reads one worker's part of a set of files
// epoch by epoch, and [Cached] keeps it in a local file.
//
// A record is one or more parts, each at an offset that is a multiple of 4:
//
//	magic 0a 23 d7 ce | kind (3 bits) and length (29 bits) | data | zeros to a multiple of 4
//
// If the data contains the magic word at a multiple of 4, the writer omits the
// word and starts a new part. Every magic word at a multiple of 4 in a file
// therefore begins a part. docs/format/recordio.md has the details and an
// example.
//
// Reading is strict by default. A [records.CorruptionError] reports a file that
// ends within a record, a part without a beginning, an unknown kind, and
// missing padding. dmlc-core accepts such files or silently loses records from
// them.
//
// Reference: dmlc-core as of 2026-03, and MXNet 1.9.1.
package recordio

import "encoding/binary"

// formatName is the Format of this package's errors.
const formatName = "recordio"

// Magic is the word at the start of every part.
const Magic = 0xced7230a

// MaxRecord is the size of the largest record, 2^29 - 1 bytes.
const MaxRecord = 1<<29 - 1

// The kinds of parts.
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

// padded returns the length of n bytes with their padding.
func padded(n int) int { return (n + align - 1) &^ (align - 1) }

func word(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

// split returns the two fields of a part's second word.
func split(w uint32) (kind, length int) { return int(w >> 29), int(w & (1<<29 - 1)) }

// isHead reports whether b begins with the head of a record's first part.
func isHead(b []byte) bool {
	if len(b) < header || word(b) != Magic {
		return false
	}
	kind, _ := split(word(b[align:]))
	return kind == whole || kind == first
}
