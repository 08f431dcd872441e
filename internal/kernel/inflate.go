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
// distances. The former is indexed by 11 bits, the latter by 8.
//
// The lowest 6 bits of an entry are the number of bits that it stands for. Of a
// literal bits 8 to 23 are one or two bytes of output, whose number are bits 24
// and 25; bit 31 is set. Of a length or a distance bits 16 to 30 are its base,
// the number of bits includes the extra ones, and bits 8 to 11 are those of the
// code alone. Bit 15 marks other entries. Without the bits 13 and 14 they lead
// to a second table, which begins at bits 16 to 30 and is indexed by as many
// further bits as bits 8 to 11 say.
type (
	InflateLit  [4096]uint32
	InflateDist [512]uint32
)

// InflateSlack is the number of bytes after the output that Run may overwrite.
const InflateSlack = 258 + 16
