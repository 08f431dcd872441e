package jpeg

import "github.com/infer-prep/infer-prep/codec"

// huffSpec is a Huffman table as stored in the file.
type huffSpec struct {
	set  bool
	bits [17]uint8 // number of codes of each length
	vals [256]uint8
}

// lookBits is the length of the codes that one lookup finds: libjpeg's
// HUFF_LOOKAHEAD. It affects which truncated files are accepted.
const lookBits = 8

// huffTable is a Huffman table in the form for decoding.
type huffTable struct {
	// look maps the next 8 bits to length<<8 | symbol of the code that they
	// start with. The length is 9 for codes longer than 8 bits.
	look [1 << lookBits]uint16
	// maxCode is the largest code of each length, -1 if no code has it.
	maxCode [18]int32
	// valOffset is the index in vals of the first symbol of a length, minus its
	// code.
	valOffset [18]int32
	vals      [256]uint8
}

// build fills t from s. maxSym bounds the symbols.
func (t *huffTable) build(s *huffSpec, maxSym int) error {
	bad := func(why string) error {
		return codec.Errorf(format, -1, codec.ErrFormat, "Huffman table: %s", why)
	}
	var codes [256]uint16
	code, p := int32(0), 0
	for l := 1; l <= 16; l++ {
		n := int(s.bits[l])
		if p+n > 256 {
			return bad("more than 256 codes")
		}
		if n == 0 {
			t.maxCode[l] = -1
			code <<= 1
			continue
		}
		t.valOffset[l] = int32(p) - code
		for range n {
			codes[p] = uint16(code)
			code++
			p++
		}
		// No code may consist of ones only.
		if code >= 1<<l {
			return bad("codes do not fit their lengths")
		}
		t.maxCode[l] = code - 1
		code <<= 1
	}
	t.maxCode[17], t.valOffset[17] = 0xFFFFF, 0 // ends every search
	for i := range t.look {
		t.look[i] = (lookBits + 1) << 8
	}
	q := 0
	for l := 1; l <= lookBits; l++ {
		for range s.bits[l] {
			first := int(codes[q]) << (lookBits - l)
			for i := range 1 << (lookBits - l) {
				t.look[first+i] = uint16(l)<<8 | uint16(s.vals[q])
			}
			q++
		}
	}
	for i := range p {
		if int(s.vals[i]) > maxSym {
			return bad("a symbol out of range")
		}
	}
	t.vals = s.vals
	return nil
}

// The default tables of T.81 section K.3, for files without tables, such as
// Motion JPEG frames. Each table is the number of codes of each length, then
// the symbols.
var (
	stdDCLuma   = stdSpec("\x00\x01\x05\x01\x01\x01\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00", "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b")
	stdDCChroma = stdSpec("\x00\x03\x01\x01\x01\x01\x01\x01\x01\x01\x01\x00\x00\x00\x00\x00", "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b")
	stdACLuma   = stdSpec("\x00\x02\x01\x03\x03\x02\x04\x03\x05\x05\x04\x04\x00\x00\x01\x7d",
		"\x01\x02\x03\x00\x04\x11\x05\x12\x21\x31\x41\x06\x13\x51\x61\x07\x22\x71\x14\x32\x81\x91\xa1\x08\x23\x42\xb1\xc1\x15\x52\xd1\xf0"+
			"\x24\x33\x62\x72\x82\x09\x0a\x16\x17\x18\x19\x1a\x25\x26\x27\x28\x29\x2a\x34\x35\x36\x37\x38\x39\x3a\x43\x44\x45\x46\x47\x48\x49"+
			"\x4a\x53\x54\x55\x56\x57\x58\x59\x5a\x63\x64\x65\x66\x67\x68\x69\x6a\x73\x74\x75\x76\x77\x78\x79\x7a\x83\x84\x85\x86\x87\x88\x89"+
			"\x8a\x92\x93\x94\x95\x96\x97\x98\x99\x9a\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xb2\xb3\xb4\xb5\xb6\xb7\xb8\xb9\xba\xc2\xc3\xc4\xc5"+
			"\xc6\xc7\xc8\xc9\xca\xd2\xd3\xd4\xd5\xd6\xd7\xd8\xd9\xda\xe1\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9\xfa")
	stdACChroma = stdSpec("\x00\x02\x01\x02\x04\x04\x03\x04\x07\x05\x04\x04\x00\x01\x02\x77",
		"\x00\x01\x02\x03\x11\x04\x05\x21\x31\x06\x12\x41\x51\x07\x61\x71\x13\x22\x32\x81\x08\x14\x42\x91\xa1\xb1\xc1\x09\x23\x33\x52\xf0"+
			"\x15\x62\x72\xd1\x0a\x16\x24\x34\xe1\x25\xf1\x17\x18\x19\x1a\x26\x27\x28\x29\x2a\x35\x36\x37\x38\x39\x3a\x43\x44\x45\x46\x47\x48"+
			"\x49\x4a\x53\x54\x55\x56\x57\x58\x59\x5a\x63\x64\x65\x66\x67\x68\x69\x6a\x73\x74\x75\x76\x77\x78\x79\x7a\x82\x83\x84\x85\x86\x87"+
			"\x88\x89\x8a\x92\x93\x94\x95\x96\x97\x98\x99\x9a\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xb2\xb3\xb4\xb5\xb6\xb7\xb8\xb9\xba\xc2\xc3"+
			"\xc4\xc5\xc6\xc7\xc8\xc9\xca\xd2\xd3\xd4\xd5\xd6\xd7\xd8\xd9\xda\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9\xfa")
)

func stdSpec(bits, vals string) huffSpec {
	s := huffSpec{set: true}
	copy(s.bits[1:], bits)
	copy(s.vals[:], vals)
	return s
}

// defaultTables sets the standard tables that the file does not define.
func (h *header) defaultTables() {
	for i, s := range [2][2]*huffSpec{{&stdDCLuma, &stdACLuma}, {&stdDCChroma, &stdACChroma}} {
		if !h.dcSpec[i].set {
			h.dcSpec[i] = *s[0]
		}
		if !h.acSpec[i].set {
			h.acSpec[i] = *s[1]
		}
	}
}
