package heif

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/infer-prep/infer-prep/codec/internal/yuv"
	"github.com/infer-prep/infer-prep/internal/clib"
)

// Environment names the environment variable that holds the path of libheif or
// of its folder.
const Environment = "INFER_PREP_HEIF"

// where describes where libheif may be.
func where() *clib.Decoder {
	l := &clib.Decoder{Name: "libheif", Format: "HEIC", Install: "pip install pillow-heif==1.8.1 in the Python environment in use, or libheif 1.23 or later"}
	l.Library = clib.Library{
		Environment: Environment, Packages: []string{"pillow_heif.libs", "pillow_heif/.dylibs"}, Conda: true,
		Files: []string{"libheif-*.so.*", "libheif.so.1*"}, System: "libheif.so.1",
	}
	switch runtime.GOOS {
	case "windows":
		l.Files, l.System = []string{"heif.dll", "libheif.dll", "libheif-*.dll"}, ""
	case "darwin":
		l.Files, l.System = []string{"libheif.1*.dylib", "libheif.dylib"}, "libheif.1.dylib"
	}
	return l
}

// library is a loaded libheif.
type library struct {
	path, version string

	contextAlloc, contextFree, read, limits, threads, images, primary uintptr

	handleRelease, handleWidth, handleHeight, handleStoredWidth, handleStoredHeight, handleAlpha, handlePremultiplied, handleBits, handleColorspace uintptr

	optionsAlloc, optionsFree, decode uintptr

	imageRelease, imageColorspace, imageChroma, imageWidth, imageHeight, imageBits, imagePlane, imageNCLX, nclxFree uintptr
}

// optionsVersion is the version of heif_decoding_options that has the field
// output_image_nclx_profile_passthrough, which libheif 1.23 added. Without it
// libheif converts planes to another matrix and range.
const optionsVersion = 10

// The offsets of fields, on 64-bit machines, as the headers of libheif 1.23
// state them. Structures of later versions have more fields at their ends.
const (
	optionsVersionAt = 0
	optionsThreads   = 108
	optionsPass      = 113

	limitsPixels = 8
	limitsBlock  = 40
	limitsTotal  = 64 // of version 2 and later

	nclxMatrix = 12
	nclxFull   = 16
)

// load loads and checks the library at its first use. The result never changes.
var load = clib.Once(where, open, (*library).prove)

// open loads the library at path, "" if none was found.
func open(path string) (*library, error) {
	l, at := &library{path: path}, where()
	version, err := at.Address(path, "heif_get_version")
	if err != nil {
		return nil, err
	}
	l.version = clib.String(clib.Call(version))
	old := fmt.Errorf("libheif: %s: version %q, want 1.23 or later, such as that of pip install pillow-heif==1.8.1; the environment variable %s names it or its folder", path, l.version, Environment)
	if !strings.HasPrefix(l.version, "1.") {
		return nil, old
	}
	if err := at.Addresses(path, map[string]*uintptr{
		"heif_context_alloc":                                  &l.contextAlloc,
		"heif_context_free":                                   &l.contextFree,
		"heif_context_read_from_memory_without_copy":          &l.read,
		"heif_context_get_security_limits":                    &l.limits,
		"heif_context_set_max_decoding_threads":               &l.threads,
		"heif_context_get_number_of_top_level_images":         &l.images,
		"heif_context_get_primary_image_handle":               &l.primary,
		"heif_image_handle_release":                           &l.handleRelease,
		"heif_image_handle_get_width":                         &l.handleWidth,
		"heif_image_handle_get_height":                        &l.handleHeight,
		"heif_image_handle_get_ispe_width":                    &l.handleStoredWidth,
		"heif_image_handle_get_ispe_height":                   &l.handleStoredHeight,
		"heif_image_handle_has_alpha_channel":                 &l.handleAlpha,
		"heif_image_handle_is_premultiplied_alpha":            &l.handlePremultiplied,
		"heif_image_handle_get_luma_bits_per_pixel":           &l.handleBits,
		"heif_image_handle_get_preferred_decoding_colorspace": &l.handleColorspace,
		"heif_decoding_options_alloc":                         &l.optionsAlloc,
		"heif_decoding_options_free":                          &l.optionsFree,
		"heif_decode_image":                                   &l.decode,
		"heif_image_release":                                  &l.imageRelease,
		"heif_image_get_colorspace":                           &l.imageColorspace,
		"heif_image_get_chroma_format":                        &l.imageChroma,
		"heif_image_get_width":                                &l.imageWidth,
		"heif_image_get_height":                               &l.imageHeight,
		"heif_image_get_bits_per_pixel_range":                 &l.imageBits,
		"heif_image_get_plane_readonly":                       &l.imagePlane,
		"heif_image_get_nclx_color_profile":                   &l.imageNCLX,
		"heif_nclx_color_profile_free":                        &l.nclxFree,
	}); err != nil {
		return nil, fmt.Errorf("%w (%w)", old, err)
	}

	o := clib.Call(l.optionsAlloc)
	if o == 0 {
		return nil, errors.New("libheif: out of memory")
	}
	defer clib.Call(l.optionsFree, o)
	if *clib.Field[uint8](o, optionsVersionAt) < optionsVersion {
		return nil, old
	}
	return l, nil
}

// A heifError is a heif_error that is not heif_error_Ok.
type heifError struct {
	code int32
	text string
}

func (e *heifError) Error() string { return e.text }

// The codes that do not mean a damaged file.
const (
	codeFiletype = 3
	codeFeature  = 4
	codeMemory   = 6
	codePlugin   = 11
)

// call calls a function that returns a heif_error.
//
//go:uintptrescapes
func (l *library) call(fn uintptr, args ...uintptr) error {
	codes, text := clib.CallPair(fn, args...)
	if code := int32(codes); code != 0 {
		return &heifError{code, strings.TrimSpace(clib.String(text))}
	}
	return nil
}

// file is an open HEIF file and its primary image. Close frees both, and the
// planes.
type file struct {
	l                      *library
	context, handle, image uintptr
	out                    *[1]uintptr // memory that C writes to
	pinned                 runtime.Pinner
}

// open parses the container. pixels and bytes limit what libheif may decode and
// allocate, 0 for libheif's own limits. The file keeps data, which must not be
// empty, until close.
func (l *library) open(data []byte, pixels, bytes int64) (*file, error) {
	f := &file{l: l, context: clib.Call(l.contextAlloc), out: new([1]uintptr)}
	if f.context == 0 {
		return nil, &heifError{codeMemory, "out of memory"}
	}
	f.pinned.Pin(&data[0])
	f.pinned.Pin(f.out)
	clib.Call(l.threads, f.context, 0) // tiles are decoded in the calling thread
	if limits := clib.Call(l.limits, f.context); limits != 0 {
		lower(limits+limitsPixels, pixels)
		lower(limits+limitsBlock, bytes)
		if *clib.Field[uint8](limits, 0) >= 2 {
			lower(limits+limitsTotal, bytes)
		}
	}
	err := l.call(l.read, f.context, uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)), 0)
	if err == nil {
		if err = l.call(l.primary, f.context, uintptr(unsafe.Pointer(f.out))); err == nil {
			f.handle = f.out[0]
		}
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// lower sets the limit at p to v, if it is not lower already. 0 means none.
func lower(p uintptr, v int64) {
	limit := clib.Field[uint64](p, 0)
	if v > 0 && (*limit == 0 || uint64(v) < *limit) {
		*limit = uint64(v)
	}
}

func (f *file) close() {
	if f.image != 0 {
		clib.Call(f.l.imageRelease, f.image)
	}
	if f.handle != 0 {
		clib.Call(f.l.handleRelease, f.handle)
	}
	clib.Call(f.l.contextFree, f.context)
	f.pinned.Unpin()
}

// header describes the primary image as it is after crop, rotation and mirror.
type header struct {
	width, height, depth int
	storedW, storedH     int // before crop and rotation
	colorspace, chroma   int // of the stored planes
	alpha, premultiplied bool
	frames               int
}

func (f *file) header() (header, error) {
	l := f.l
	number := func(fn uintptr) int { return int(int32(clib.Call(fn, f.handle))) }
	h := header{
		width: number(l.handleWidth), height: number(l.handleHeight), depth: number(l.handleBits),
		storedW: number(l.handleStoredWidth), storedH: number(l.handleStoredHeight),
		alpha: number(l.handleAlpha) != 0, premultiplied: number(l.handlePremultiplied) != 0,
		frames: int(int32(clib.Call(l.images, f.context))),
	}
	f.out[0] = 0
	p := uintptr(unsafe.Pointer(f.out))
	if err := l.call(l.handleColorspace, f.handle, p, p+4); err != nil {
		return h, err
	}
	h.colorspace, h.chroma = int(*clib.Field[uint32](p, 0)), int(*clib.Field[uint32](p, 4))
	return h, nil
}

// decode decodes the planes. Those that it returns are valid until close.
func (f *file) decodePlanes() (*picture, error) {
	l := f.l
	o := clib.Call(l.optionsAlloc)
	if o == 0 {
		return nil, &heifError{codeMemory, "out of memory"}
	}
	defer clib.Call(l.optionsFree, o)
	*clib.Field[uint8](o, optionsPass) = 1
	*clib.Field[int32](o, optionsThreads) = 1
	f.out[0] = 0
	if err := l.call(l.decode, f.handle, uintptr(unsafe.Pointer(f.out)), undefined, undefined, o); err != nil {
		return nil, err
	}
	f.image = f.out[0]
	p := &picture{
		colorspace: int(int32(clib.Call(l.imageColorspace, f.image))), chroma: int(int32(clib.Call(l.imageChroma, f.image))),
		matrix: -1, full: true,
	}
	for i, channel := range [4]uintptr{0, 1, 2, 6} { // Y, Cb, Cr, alpha
		f.out[0] = 0
		at := clib.Call(l.imagePlane, f.image, channel, uintptr(unsafe.Pointer(f.out)))
		if at == 0 {
			continue
		}
		stride := int(int32(f.out[0]))
		w, h := int(int32(clib.Call(l.imageWidth, f.image, channel))), int(int32(clib.Call(l.imageHeight, f.image, channel)))
		p.bits[i] = int(int32(clib.Call(l.imageBits, f.image, channel)))
		p.planes[i] = yuv.At(at, stride, w, h, p.bits[i])
	}
	f.out[0] = 0
	if err := l.call(l.imageNCLX, f.image, uintptr(unsafe.Pointer(f.out))); err == nil {
		n := f.out[0]
		p.matrix, p.full = int(*clib.Field[uint32](n, nclxMatrix)), *clib.Field[uint8](n, nclxFull) != 0
		clib.Call(l.nclxFree, n)
	}
	return p, nil
}
