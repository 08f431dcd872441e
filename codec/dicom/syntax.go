package dicom

// coding is the way in which a transfer syntax stores pixels.
type coding uint8

const (
	refused coding = iota
	native         // uncompressed
	rle
	jpegLossy
	jpegLossless
	jpeg2000
)

// syntax is a transfer syntax.
type syntax struct {
	uid, name string
	coding    coding
	implicit  bool // elements have no VR
	big       bool // big-endian
	deflated  bool // the elements after group 0002
}

// syntaxes lists the transfer syntaxes of PS3.6 table A-1 that files of images
// have. Names of refused ones are for errors.
var syntaxes = [...]syntax{
	{uid: "1.2.840.10008.1.2", name: "Implicit VR Little Endian", coding: native, implicit: true},
	{uid: "1.2.840.10008.1.2.1", name: "Explicit VR Little Endian", coding: native},
	{uid: "1.2.840.10008.1.2.1.99", name: "Deflated Explicit VR Little Endian", coding: native, deflated: true},
	{uid: "1.2.840.10008.1.2.2", name: "Explicit VR Big Endian", coding: native, big: true},
	{uid: "1.2.840.10008.1.2.5", name: "RLE Lossless", coding: rle},
	{uid: "1.2.840.10008.1.2.4.50", name: "JPEG Baseline", coding: jpegLossy},
	{uid: "1.2.840.10008.1.2.4.51", name: "JPEG Extended", coding: jpegLossy},
	{uid: "1.2.840.10008.1.2.4.57", name: "JPEG Lossless", coding: jpegLossless},
	{uid: "1.2.840.10008.1.2.4.70", name: "JPEG Lossless, first-order prediction", coding: jpegLossless},
	{uid: "1.2.840.10008.1.2.1.98", name: "Encapsulated Uncompressed Explicit VR Little Endian"},
	{uid: "1.2.840.10008.1.2.4.80", name: "JPEG-LS Lossless"},
	{uid: "1.2.840.10008.1.2.4.81", name: "JPEG-LS Near-Lossless"},
	{uid: "1.2.840.10008.1.2.4.90", name: "JPEG 2000 Lossless", coding: jpeg2000},
	{uid: "1.2.840.10008.1.2.4.91", name: "JPEG 2000", coding: jpeg2000},
	{uid: "1.2.840.10008.1.2.4.92", name: "JPEG 2000 Part 2 Lossless"},
	{uid: "1.2.840.10008.1.2.4.93", name: "JPEG 2000 Part 2"},
	{uid: "1.2.840.10008.1.2.4.94", name: "JPIP Referenced"},
	{uid: "1.2.840.10008.1.2.4.95", name: "JPIP Referenced Deflate"},
	{uid: "1.2.840.10008.1.2.4.100", name: "MPEG2 video"},
	{uid: "1.2.840.10008.1.2.4.101", name: "MPEG2 video"},
	{uid: "1.2.840.10008.1.2.4.102", name: "H.264 video"},
	{uid: "1.2.840.10008.1.2.4.103", name: "H.264 video"},
	{uid: "1.2.840.10008.1.2.4.104", name: "H.264 video"},
	{uid: "1.2.840.10008.1.2.4.105", name: "H.264 video"},
	{uid: "1.2.840.10008.1.2.4.106", name: "H.264 video"},
	{uid: "1.2.840.10008.1.2.4.107", name: "HEVC video"},
	{uid: "1.2.840.10008.1.2.4.108", name: "HEVC video"},
	{uid: "1.2.840.10008.1.2.4.110", name: "JPEG XL Lossless"},
	{uid: "1.2.840.10008.1.2.4.111", name: "JPEG XL JPEG Recompression"},
	{uid: "1.2.840.10008.1.2.4.112", name: "JPEG XL"},
	{uid: "1.2.840.10008.1.2.4.201", name: "HTJ2K Lossless"},
	{uid: "1.2.840.10008.1.2.4.202", name: "HTJ2K Lossless RPCL"},
	{uid: "1.2.840.10008.1.2.4.203", name: "HTJ2K"},
	{uid: "1.2.840.10008.1.2.8.1", name: "Deflated Image Frame"},
}

// findSyntax returns the transfer syntax of a UID. A UID that it does not know
// is a refused one.
func findSyntax(uid []byte) *syntax {
	for i := range syntaxes {
		if syntaxes[i].uid == string(uid) {
			return &syntaxes[i]
		}
	}
	return &syntax{uid: string(uid), name: "an unknown transfer syntax"}
}
