//go:build !small

package tiff

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

// Numbers of the .xz file format, version 1.2.1.
const (
	xzMagic       = "\xfd7zXZ\x00"
	xzStreamHead  = 12
	xzFilterDelta = 0x03
	xzFilterLZMA2 = 0x21
	xzFilterCount = 0x03 // bits of a block's flags: the number of filters less 1
	xzHasPacked   = 0x40 // bits of a block's flags: sizes follow
	xzHasUnpacked = 0x80
)

// unlzma decompresses the .xz stream of one block that libtiff and GDAL write:
// the filters delta and LZMA2, or LZMA2 alone. Like libtiff it reads no further
// than out needs, and so takes no notice of the check behind the data. Those of
// the headers must be right.
func unlzma(out, in []byte) error {
	if len(in) < xzStreamHead+2 || string(in[:len(xzMagic)]) != xzMagic {
		return io.ErrUnexpectedEOF
	}
	checked := func(b []byte, sum []byte) bool { return crc32.ChecksumIEEE(b) == binary.LittleEndian.Uint32(sum) }
	if !checked(in[6:8], in[8:]) {
		return errors.New("the checksum of the stream's header differs")
	}
	head := in[xzStreamHead:]
	n := 4 * (int(head[0]) + 1) // bytes of the block's header
	if head[0] == 0 || n > len(head) {
		return io.ErrUnexpectedEOF
	}
	if !checked(head[:n-4], head[n-4:]) {
		return errors.New("the checksum of the block's header differs")
	}
	data, head := head[n:], head[:n-4]
	flags, head := head[1], head[2:]
	for _, sized := range []bool{flags&xzHasPacked != 0, flags&xzHasUnpacked != 0} {
		for sized && len(head) > 0 { // a number of 7 bits a byte, which is not needed
			sized = head[0]&0x80 != 0
			head = head[1:]
		}
	}
	distance := 0
	if flags&xzFilterCount == 1 {
		if len(head) < 3 || head[0] != xzFilterDelta || head[1] != 1 {
			return unsupported("LZMA with another filter than delta")
		}
		distance, head = int(head[2])+1, head[3:]
	}
	if flags&xzFilterCount > 1 || len(head) < 3 || head[0] != xzFilterLZMA2 || head[1] != 1 {
		return unsupported("LZMA with other filters than delta and LZMA2")
	}
	// No match is further back than what is decoded.
	c := lzma.Reader2Config{DictCap: max(len(out), lzma.MinDictCap)}
	r, err := c.NewReader2(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(r, out); err != nil {
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		return err
	}
	for i := distance; distance > 0 && i < len(out); i++ {
		out[i] += out[i-distance]
	}
	return nil
}
