package jxl

// frame is a FrameHeader, what of it makes a file lossy.
type frame struct {
	modular, ycbcr, filters, upsampled bool
	flags                              uint64

	last          bool
	passes        uint64
	width, height uint64
	group         uint64 // side of a group
}

// Flags of a FrameHeader.
const (
	flagPatches = 2
	flagDCFrame = 32
	flagSmooth  = 128 // no smoothing of VarDCT's DC
)

// Types of frames.
const (
	regular       = 0
	referenceOnly = 2 // the source of patches
)

// morePixels is by how much the sources of patches may be larger than the
// image.
const morePixels = 1 << 16

// frames reads the headers of the frames in a codestream, from the first one's:
// that of the image, of its size, behind sources of patches. Other files are
// ErrUnsupported. lossy is why the samples depend on libjxl's version, "" if
// they do not.
func frames(data []byte, i *info) (lossy string, patches bool, err error) {
	b := &bits{data: data}
	for left := uint64(i.width)*uint64(i.height) + morePixels; ; {
		var f frame
		if err := f.parse(b, i); err != nil {
			return "", false, err
		}
		if lossy == "" {
			lossy = f.lossy(i)
		}
		if f.last {
			return lossy, patches, nil
		}
		if patches = true; f.width*f.height > left {
			return "", false, unsupported("sources of patches with more pixels than the image of %dx%d", i.width, i.height)
		}
		left -= f.width * f.height
		if err := f.skip(b); err != nil {
			return "", false, err
		}
	}
}

// parse reads a frame's header, for the last one only up to where filters are.
func (f *frame) parse(b *bits, i *info) error {
	*f = frame{width: uint64(i.width), height: uint64(i.height), group: 256, passes: 1}
	if b.bool() { // all default: VarDCT with filters
		f.filters, f.last = true, true
		return f.end(b)
	}
	kind := b.u(2)
	if kind != regular && kind != referenceOnly {
		return unsupported("several frames")
	}
	f.modular, f.flags = b.bool(), b.u64()
	if i.original {
		f.ycbcr = b.bool()
	}
	if f.ycbcr && f.flags&flagDCFrame == 0 {
		b.u(6) // subsampling
	}
	channels := 1
	if i.alpha {
		channels = 2
	}
	if f.flags&flagDCFrame == 0 {
		for range channels {
			f.upsampled = b.u(2) != 0 || f.upsampled
		}
	}
	if f.modular {
		f.group = 128 << b.u(2)
	} else if !i.original {
		b.u(6) // quantization
	}
	if kind == regular {
		f.passes = passes(b)
	}
	if b.bool() {
		if kind == regular {
			return unsupported("a frame of another size than the image")
		}
		side := func() uint64 { return b.u32([4]int{8, 11, 14, 30}, [4]uint64{0, 256, 2304, 18688}) }
		f.width, f.height = side(), side()
	}
	if kind == regular {
		for range channels {
			if b.u(2) != 0 {
				return unsupported("a frame that is blended")
			}
		}
		if f.last = b.bool(); !f.last {
			return unsupported("several frames")
		}
	} else {
		b.u(2) // its number
		b.bool()
	}
	for range b.u32([4]int{0, 4, 5, 10}, [4]uint64{0, 0, 16, 48}) { // the name
		b.u(8)
	}
	if f.filters = b.bool(); !f.filters { // all default: with filters
		gaborish := b.bool()
		if gaborish && b.bool() {
			for range 6 {
				b.u(16)
			}
		}
		edges := b.u(2) != 0
		f.filters = edges || gaborish
		if !f.last && (edges || b.u64() != 0) {
			return unsupported("a source of patches with a filter")
		}
	}
	return f.end(b)
}

func (f *frame) end(b *bits) error {
	if b.over {
		return invalid(-1, "the file ends in the header of its frame")
	}
	return nil
}

// skip goes to the next frame: over the header's extensions, which must be
// none, the table of contents and the data.
func (f *frame) skip(b *bits) error {
	if b.u64() != 0 || b.bool() || f.upsampled {
		return unsupported("a source of patches with extensions, groups in another order, or upsampling")
	}
	up := func(n, by uint64) uint64 { return (n + by - 1) / by }
	entries := up(f.width, f.group) * up(f.height, f.group) * f.passes
	if entries > 1 {
		entries += 2 + up(f.width, 8*f.group)*up(f.height, 8*f.group)
	}
	b.align()
	total := uint64(0)
	for range entries {
		total += b.u32([4]int{10, 14, 22, 30}, [4]uint64{0, 1024, 17408, 4211712})
		if b.over {
			return f.end(b)
		}
	}
	b.align()
	if total > uint64(len(b.data)-b.at/8) {
		return invalid(-1, "the file ends in a frame")
	}
	b.at += 8 * int(total)
	return nil
}

// lossy returns why the samples depend on libjxl's version, "" if they do not.
// Patches add integers, which floats hold.
func (f *frame) lossy(i *info) string {
	switch {
	case !i.original:
		return "XYB"
	case !f.modular:
		return "VarDCT"
	case f.ycbcr:
		return "YCbCr"
	case f.filters:
		return "filters"
	case f.upsampled || i.alphaShift != 0:
		return "upsampling"
	case f.flags&^(flagSmooth|flagPatches) != 0:
		return "noise or splines"
	case f.flags&flagPatches != 0 && i.alpha:
		return "patches with alpha"
	case i.bits != 8 && i.bits != 16:
		return "other than 8 and 16 bits"
	case i.alpha && i.alphaBits != i.bits:
		return "alpha of another depth"
	}
	return ""
}

// passes skips Passes and returns their number.
func passes(b *bits) uint64 {
	n := b.u32([4]int{0, 0, 0, 3}, [4]uint64{1, 2, 3, 4})
	if n == 1 {
		return n
	}
	down := b.u32([4]int{0, 0, 0, 1}, [4]uint64{0, 1, 2, 3})
	for range n - 1 {
		b.u(2)
	}
	for range down {
		b.u(2)
	}
	for range down {
		b.u32([4]int{0, 0, 0, 3}, [4]uint64{0, 1, 2, 0})
	}
	return n
}
