package kernel

// Inflate holds the state of a loop that decodes symbols of DEFLATE (RFC 1951).
type Inflate struct {
	Bits uint64 // the next bits, the first one lowest
	N    uint   // their number

	in, last  *byte // the next byte, and the last one that begins 8 bytes
	out, full *byte // where the next byte goes, and where it must not
	base      *byte // the first byte of the output
	lit       *InflateLit
	dist      *InflateDist
}

// InflateLit is the table of literals and lengths, InflateDist that of
// distances. The entries of the former are indexed by 11 bits, those of the
// latter by 8.
//
// The lowest 6 bits of an entry are the number of bits that it stands for. Of a
// literal bits 8 to 23 are one or two bytes of output, whose number are bits 24
// and 25; bit 31 is set. Of a length or a distance bits 16 to 30 are its base,
// the number of bits includes the extra ones, and bits 8 to 11 are those of the
// code alone. A length, whose base has 9 bits, may have a literal before it:
// bit 30 is set, bits 8 to 11 are those of both codes, and the literal is in
// Literals at the same index. So a branch on whether a literal comes before a
// match, which processors predict badly, is rare. Bit 15 marks other entries.
// Without the bits 13 and 14 they lead to a second table, which begins at bits
// 16 to 30 and is indexed by as many further bits as bits 8 to 11 say.
type (
	InflateLit struct {
		Entries  [4096]uint32
		Literals [2048]uint8
	}
	InflateDist [512]uint32
)

// InflateSlack is the number of bytes after the output that Run may overwrite:
// three pairs of literals, a literal, and a match in pieces of 16 bytes.
const InflateSlack = 6 + 1 + (258+15)/16*16
