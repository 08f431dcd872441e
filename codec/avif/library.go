package avif

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/infer-prep/infer-prep/codec/internal/yuv"
	"github.com/infer-prep/infer-prep/internal/clib"
)

// Environment names the environment variable that holds the path of libavif or
// of its folder.
const Environment = "INFER_PREP_AVIF"

// where describes where libavif may be.
func where() *clib.Decoder {
	l := &clib.Decoder{Name: "libavif", Format: "AVIF", Install: "Debian: libavif15 or libavif16; pip install pillow==13.0.0 in the Python environment in use"}
	l.Library = clib.Library{
		Environment: Environment, Packages: []string{"pillow.libs", "PIL/.dylibs"}, Conda: true,
		Files: []string{"libavif-*.so.*", "libavif.so.16*", "libavif.so.15*"}, System: "libavif.so.16",
	}
	switch runtime.GOOS {
	case "windows":
		l.Files, l.System = []string{"avif.dll", "libavif.dll", "libavif-16.dll"}, ""
	case "darwin":
		l.Files, l.System = []string{"libavif.16*.dylib", "libavif.dylib"}, "libavif.16.dylib"
	}
	return l
}

// library is a loaded libavif.
type library struct {
	layout
	path, version                                 string
	create, destroy, setMemory, parse, next, text uintptr
	nthTiming                                     uintptr
}

// layout holds the offsets of fields that versions of libavif have at different
// places. The headers of the versions state them, for 64-bit machines.
type layout struct {
	alphaPresent uintptr // in avifDecoder
	transform    uintptr // in avifImage: transformFlags
	irot         uintptr // in avifImage: irot, and imir one byte later
	exif         uintptr // in avifImage: exif, and xmp 16 bytes later
}

// The fields that all supported versions have at the same places.
const (
	decoderThreads    = 4
	decoderPixelLimit = 28
	decoderCountLimit = 36
	decoderStrict     = 40
	decoderImage      = 48
	decoderCount      = 60

	imageWidth         = 0
	imageHeight        = 4
	imageDepth         = 8
	imageFormat        = 12
	imageRange         = 16
	imagePlanes        = 24
	imageRowBytes      = 48
	imageAlpha         = 64
	imageAlphaRow      = 72
	imagePremultiplied = 80
	imageMatrix        = 108
)

// newest is the last minor version of libavif 1 whose header was read.
const newest = 4

// layoutOf returns the layout of a version.
func layoutOf(version string) (layout, bool) {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d.", &major, &minor); err != nil {
		return layout{}, false
	}
	switch {
	case major == 1 && minor <= newest:
		return layout{alphaPresent: 140, transform: 116, irot: 160, exif: 168}, true
	case major == 0 && minor == 11: // Debian 12's
		return layout{alphaPresent: 136, transform: 112, irot: 156, exif: 160}, true
	}
	return layout{}, false
}

// load loads and checks the library at its first use. The result never changes.
var load = clib.Once(where, open, (*library).prove)

// open loads the library at path, "" if none was found.
func open(path string) (*library, error) {
	l, at := &library{path: path}, where()
	version, err := at.Address(path, "avifVersion")
	if err != nil {
		return nil, err
	}
	l.version = clib.String(clib.Call(version))
	known := false
	if l.layout, known = layoutOf(l.version); !known {
		return nil, fmt.Errorf("libavif: %s: version %q, want 0.11 or 1.0 to 1.%d", path, l.version, newest)
	}
	if err := at.Addresses(path, map[string]*uintptr{
		"avifDecoderCreate":         &l.create,
		"avifDecoderDestroy":        &l.destroy,
		"avifDecoderSetIOMemory":    &l.setMemory,
		"avifDecoderParse":          &l.parse,
		"avifDecoderNextImage":      &l.next,
		"avifDecoderNthImageTiming": &l.nthTiming,
		"avifResultToString":        &l.text,
	}); err != nil {
		return nil, err
	}

	return l, nil
}

// A resultError is an avifResult that is not AVIF_RESULT_OK.
type resultError struct {
	code int32
	text string
}

func (e *resultError) Error() string { return e.text }

// The results that do not mean a damaged file.
const (
	resultDepth          = 6
	resultNoCodec        = 15
	resultNotImplemented = 25
	resultMemory         = 26
)

// result converts an avifResult.
func (l *library) result(r uintptr) error {
	code := int32(r)
	if code == 0 {
		return nil
	}
	return &resultError{code, strings.ToLower(clib.String(clib.Call(l.text, uintptr(code))))}
}

// file is an open AVIF file. Close frees it and its planes.
type file struct {
	l       *library
	decoder uintptr
	pinned  runtime.Pinner
}

// open parses the container. pixels limits the size of the image and of what
// the AV1 decoder makes, 0 for libavif's own limit. The file keeps data, which
// must not be empty, until close.
func (l *library) open(data []byte, pixels int64) (*file, error) {
	f := &file{l: l, decoder: clib.Call(l.create)}
	if f.decoder == 0 {
		return nil, &resultError{resultMemory, "out of memory"}
	}
	f.pinned.Pin(&data[0])
	// Settings as in Pillow 13.0.0: without the checks of clap and of a missing
	// pixi.
	const clap, pixi = 1 << 1, 1 << 0
	*clib.Field[uint32](f.decoder, decoderStrict) = *clib.Field[uint32](f.decoder, decoderStrict) &^ (clap | pixi)
	*clib.Field[uint32](f.decoder, decoderThreads) = 1
	if limit := int64(*clib.Field[uint32](f.decoder, decoderPixelLimit)); pixels > 0 && pixels < limit {
		*clib.Field[uint32](f.decoder, decoderPixelLimit) = uint32(pixels)
	}
	err := l.result(clib.Call(l.setMemory, f.decoder, uintptr(unsafe.Pointer(&data[0])), uintptr(len(data))))
	if err == nil {
		err = l.result(clib.Call(l.parse, f.decoder))
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *file) close() {
	clib.Call(f.l.destroy, f.decoder)
	f.pinned.Unpin()
}

// decode decodes the next frame, whose planes image then has.
func (f *file) decode() error { return f.l.result(clib.Call(f.l.next, f.decoder)) }

// image describes the image. Its planes are valid until close.
func (f *file) image() *picture {
	i := clib.Word(f.decoder+decoderImage, 0)
	p := &picture{
		width: int(*clib.Field[uint32](i, imageWidth)), height: int(*clib.Field[uint32](i, imageHeight)), depth: int(*clib.Field[uint32](i, imageDepth)),
		format: *clib.Field[uint32](i, imageFormat), full: *clib.Field[uint32](i, imageRange) == 1, matrix: int(*clib.Field[uint16](i, imageMatrix)),
		alpha: *clib.Field[uint32](f.decoder, f.l.alphaPresent) != 0, premultiplied: *clib.Field[uint32](i, imagePremultiplied) != 0,
		frames: int(*clib.Field[int32](f.decoder, decoderCount)), orientation: 1,
	}
	const irot, imir = 1 << 2, 1 << 3
	flags := *clib.Field[uint32](i, f.l.transform)
	angle, axis := 0, 0
	if flags&irot != 0 {
		angle = int(*clib.Field[uint8](i, f.l.irot) & 3)
	}
	if flags&imir != 0 {
		axis = 1 + int(*clib.Field[uint8](i, f.l.irot+1)&1)
	}
	p.orientation = orientations[angle][axis]
	p.exif, p.xmp = memory(clib.Word(i+f.l.exif, 0), clib.Word(i+f.l.exif, 1)), memory(clib.Word(i+f.l.exif, 2), clib.Word(i+f.l.exif, 3))
	for c := range p.planes {
		w, h := p.width, p.height
		if c > 0 {
			w, h = p.chroma()
		}
		p.planes[c] = yuv.At(clib.Word(i+imagePlanes, c), int(*clib.Field[uint32](i, imageRowBytes+4*uintptr(c))), w, h, p.depth)
	}
	p.alphaPlane = yuv.At(clib.Word(i+imageAlpha, 0), int(*clib.Field[uint32](i, imageAlphaRow)), p.width, p.height, p.depth)
	return p
}

// orientations has EXIF's orientation for irot's angle, in quarter turns to the
// left, and imir: none, axis 0 (top and bottom change places) or axis 1 (left
// and right). Source: Pillow's irot_imir_to_exif_orientation.
var orientations = [4][3]int{{1, 4, 2}, {8, 5, 7}, {3, 2, 4}, {6, 7, 5}}

// memory returns n bytes at p.
func memory(p, n uintptr) []byte {
	if p == 0 || n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(clib.At(p)), n)
}
