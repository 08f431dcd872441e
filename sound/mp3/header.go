package mp3

// frameHeader is the header of a frame.
type frameHeader struct {
	version  int // 0 is MPEG-1, 1 MPEG-2, 2 MPEG-2.5
	layer    int // 1 to 3
	bitrate  int // bits a second; 0 is free
	rate     int // Hz
	bands    int // row of the tables of scale factor bands
	channels int
	ms       bool // the channels are middle and side
	is       bool // intensity stereo
	crc      bool
	size     int // of the frame with its header, in bytes; 0 for a free bit rate
}

// headerBytes is the size of a header.
const headerBytes = 4

var rates = [3]int{44100, 48000, 32000}

// bitrates has the bit rates of layer III in kbit/s: of MPEG-1, and of 2 and
// 2.5.
var bitrates = [2][15]int{
	{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
	{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
}

// parse reads a header at the start of b. It reports false if there is none.
// Only layer and version are set if the layer is not III.
func (h *frameHeader) parse(b []byte) bool {
	if len(b) < headerBytes || b[0] != 0xff || b[1]&0xe0 != 0xe0 {
		return false
	}
	version, layer, bitrate, rate := b[1]>>3&3, b[1]>>1&3, b[2]>>4, b[2]>>2&3
	if version == 1 || layer == 0 || bitrate == 15 || rate == 3 {
		return false
	}
	*h = frameHeader{version: [4]int{2, 0, 1, 0}[version], layer: 4 - int(layer)}
	if h.layer != 3 {
		return true
	}
	low := min(h.version, 1)
	h.rate = rates[rate] >> h.version
	h.bitrate = 1000 * bitrates[low][bitrate]
	switch h.version {
	case 0:
		h.bands = 5 + int(rate)
	case 1:
		h.bands = 2 + int(rate)
	default:
		h.bands = int(rate) / 2
	}
	h.crc = b[1]&1 == 0
	h.channels = 2
	switch mode := b[3] >> 6; mode {
	case 1:
		h.ms, h.is = b[3]&0x20 != 0, b[3]&0x10 != 0
	case 3:
		h.channels = 1
	}
	if h.bitrate > 0 {
		h.size = h.samples()/8*h.bitrate/h.rate + int(b[2]>>1&1)
	}
	return true
}

// samples returns the number of samples of each channel.
func (h *frameHeader) samples() int { return h.granules() * granule }

// granules returns the number of granules.
func (h *frameHeader) granules() int {
	if h.version == 0 {
		return 2
	}
	return 1
}

// sideBytes returns the size of the side information.
func (h *frameHeader) sideBytes() int {
	switch {
	case h.version == 0 && h.channels == 2:
		return 32
	case h.version == 0 || h.channels == 2:
		return 17
	}
	return 9
}

// body returns the position of the side information in the frame.
func (h *frameHeader) body() int {
	if h.crc {
		return headerBytes + 2
	}
	return headerBytes
}

// usable reports whether the frame can be decoded: a frame of layer III that
// has room for its side information.
func (h *frameHeader) usable() bool {
	return h.layer == 3 && h.size >= h.body()+h.sideBytes()
}

// follows reports whether a frame of this header can follow one of header o in
// a stream.
func (h *frameHeader) follows(o *frameHeader) bool {
	return h.version == o.version && h.layer == o.layer && h.rate == o.rate && h.channels == o.channels
}

// variant names the kind of MPEG audio.
func (h *frameHeader) variant() string {
	return [3]string{"MPEG-1", "MPEG-2", "MPEG-2.5"}[h.version] + " layer " + [3]string{"I", "II", "III"}[h.layer-1]
}
