package jxl

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/clib"
)

// Environment names the environment variable that holds the path of libjxl or
// of its folder.
const Environment = "INFER_PREP_JXL"

// where describes where libjxl may be.
func where() *clib.Decoder {
	l := &clib.Decoder{Name: "libjxl", Format: "JPEG XL", Install: "Debian: libjxl0.7 or libjxl0.11; pip install imagecodecs==2026.3.6 in the Python environment in use"}
	l.Library = clib.Library{
		Environment: Environment, Packages: []string{"imagecodecs.libs", "imagecodecs/.dylibs"}, Conda: true,
		Files: []string{"libjxl-*.so.*", "libjxl.so.0*"}, System: "libjxl.so.0.11",
	}
	switch runtime.GOOS {
	case "windows":
		l.Files, l.System = []string{"jxl.dll", "libjxl.dll"}, ""
	case "darwin":
		l.Files, l.System = []string{"libjxl.0*.dylib", "libjxl.dylib"}, "libjxl.0.11.dylib"
	}
	return l
}

// library is a loaded libjxl.
type library struct {
	path, version string

	create, destroy, subscribe, setInput, closeInput, releaseInput, process, basicInfo, extraInfo uintptr

	setOut, setJPEG, releaseJPEG uintptr
}

// The offsets of fields of JxlBasicInfo and JxlExtraChannelInfo, as the headers
// of versions 0.7 to 0.12 state them.
const (
	infoWidth        = 4
	infoHeight       = 8
	infoBits         = 12
	infoExponent     = 16
	infoOriginal     = 36
	infoPreview      = 40
	infoAnimation    = 44
	infoColors       = 52
	infoExtra        = 56
	infoAlphaBits    = 60
	infoAlphaExp     = 64
	infoBytes        = 204
	extraType        = 0
	extraShift       = 12
	extraBytes       = 52
	oldest, newest   = 7, 12 // minor versions of 0
	minorsOfAVersion = 1000
)

// The values of JxlDecoderStatus, some of which are events.
const (
	statusSuccess  = 0
	statusError    = 1
	statusMore     = 2
	statusOut      = 5
	statusJPEGOut  = 6
	eventInfo      = 0x40
	eventColor     = 0x100
	eventFullImage = 0x1000
	eventJPEG      = 0x2000
)

// load loads and checks the library at its first use. The result never changes.
var load = clib.Once(where, open, (*library).prove)

// companions are the libraries that a wheel's libjxl needs and does not look
// for beside itself, and a symbol of each. They have to be loaded before it.
var companions = []struct{ file, symbol string }{
	{"libbrotlicommon-*.so*", "BrotliGetDictionary"},
	{"libbrotlidec-*.so*", "BrotliDecoderVersion"},
	{"libbrotlienc-*.so*", "BrotliEncoderVersion"},
	{"liblcms2-*.so*", "cmsCreateContext"},
	{"libjxl_cms-*.so*", "JxlGetDefaultCms"},
}

// open loads the library at path, "" if none was found.
func open(path string) (*library, error) {
	l, at := &library{path: path}, where()
	for _, c := range companions {
		// libjxl's own error matters more.
		if found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), c.file)); len(found) == 1 && strings.HasPrefix(filepath.Base(path), "libjxl-") {
			_, _ = clib.Load(found[0], c.symbol)
		}
	}
	version, err := at.Address(path, "JxlDecoderVersion")
	if err != nil {
		return nil, err
	}
	v := int(uint32(clib.Call(version)))
	l.version = fmt.Sprintf("%d.%d.%d", v/1000000, v/minorsOfAVersion%1000, v%1000)
	if minor := v / minorsOfAVersion; minor < oldest || minor > newest {
		return nil, fmt.Errorf("libjxl: %s: version %s, want 0.%d to 0.%d, such as that of pip install imagecodecs==2026.3.6; the environment variable %s names it or its folder", path, l.version, oldest, newest, Environment)
	}
	return l, at.Addresses(path, map[string]*uintptr{
		"JxlDecoderCreate":              &l.create,
		"JxlDecoderDestroy":             &l.destroy,
		"JxlDecoderSubscribeEvents":     &l.subscribe,
		"JxlDecoderSetInput":            &l.setInput,
		"JxlDecoderCloseInput":          &l.closeInput,
		"JxlDecoderReleaseInput":        &l.releaseInput,
		"JxlDecoderProcessInput":        &l.process,
		"JxlDecoderGetBasicInfo":        &l.basicInfo,
		"JxlDecoderGetExtraChannelInfo": &l.extraInfo,
		"JxlDecoderSetImageOutBuffer":   &l.setOut,
		"JxlDecoderSetJPEGBuffer":       &l.setJPEG,
		"JxlDecoderReleaseJPEGBuffer":   &l.releaseJPEG,
	})
}

// file is data at work. Close frees it.
type file struct {
	l       *library
	decoder uintptr
	pinned  runtime.Pinner
}

// open gives libjxl data, which must not be empty and which it keeps until
// close.
func (l *library) open(data []byte, events uintptr) (*file, error) {
	f := &file{l: l, decoder: clib.Call(l.create, 0)}
	if f.decoder == 0 {
		return nil, codec.Errorf(name, -1, codec.ErrLimit, "libjxl: out of memory")
	}
	f.pinned.Pin(&data[0])
	if f.status(l.subscribe, events) != statusSuccess || f.status(l.setInput, uintptr(unsafe.Pointer(&data[0])), uintptr(len(data))) != statusSuccess {
		f.close()
		return nil, codec.Errorf(name, -1, codec.ErrInternal, "libjxl: no input")
	}
	clib.Call(l.closeInput, f.decoder)
	return f, nil
}

func (f *file) close() {
	clib.Call(f.l.destroy, f.decoder)
	f.pinned.Unpin()
}

// status calls a function of the decoder.
//
//go:uintptrescapes
func (f *file) status(fn uintptr, args ...uintptr) int {
	return int(int32(clib.Call(fn, append([]uintptr{f.decoder}, args...)...)))
}

// wants runs libjxl to its next event, which must be want.
func (f *file) wants(want int) error {
	switch got := f.status(f.l.process); got {
	case want:
		return nil
	case statusError:
		return codec.Errorf(name, -1, codec.ErrFormat, "libjxl: damaged data")
	case statusMore:
		return codec.Errorf(name, -1, codec.ErrFormat, "libjxl: the file ends early")
	default:
		return codec.Errorf(name, -1, codec.ErrFormat, "libjxl: status %#x, want %#x", got, want)
	}
}

// info is what libjxl reads of a header.
type info struct {
	width, height         int // after orientation
	bits, exponent        int
	original              bool // not XYB
	preview, animation    bool
	colors, extra         int
	alpha                 bool
	alphaBits, alphaShift int
	alphaKind             int
	frame                 int // where the first frame starts
}

func (i *info) channels() int {
	if i.alpha {
		return i.colors + 1
	}
	return i.colors
}

// mode returns the plugin's mode.
func (i *info) mode() codec.Mode {
	switch {
	case i.colors == 1 && i.alpha:
		return codec.LA
	case i.colors == 1 && i.bits > 8:
		return codec.I16
	case i.colors == 1:
		return codec.L
	case i.alpha:
		return codec.RGBA
	}
	return codec.RGB
}

// check refuses what this package does not decode.
func (i *info) check() error {
	switch {
	case i.animation:
		return unsupported("an animation")
	case i.preview:
		return unsupported("a preview")
	case i.exponent != 0 || i.bits < 1 || i.bits > 16:
		return unsupported("%d bits with %d of an exponent, want integers of 1 to 16 bits", i.bits, i.exponent)
	case i.colors != 1 && i.colors != 3:
		return unsupported("%d colour channels, want 1 or 3", i.colors)
	case i.alpha && i.alphaKind != 0 || i.extra > 1 || i.extra == 1 && !i.alpha:
		return unsupported("%d extra channels, want one of alpha at most", i.extra)
	case i.colors == 1 && i.alpha && i.bits > 8:
		return unsupported("gray of %d bits with alpha", i.bits)
	}
	return nil
}

// info reads the header of a codestream.
func (l *library) info(data []byte) (i info, err error) {
	f, err := l.open(data, eventInfo|eventColor)
	if err != nil {
		return i, err
	}
	defer f.close()
	if err := f.wants(eventInfo); err != nil {
		return i, err
	}
	b := new([infoBytes]byte)
	p := uintptr(unsafe.Pointer(b))
	if f.status(l.basicInfo, uintptr(unsafe.Pointer(b))) != statusSuccess {
		return i, codec.Errorf(name, -1, codec.ErrFormat, "libjxl: no basic info")
	}
	word := func(at uintptr) int { return int(*clib.Field[uint32](p, at)) }
	i = info{
		width: word(infoWidth), height: word(infoHeight), bits: word(infoBits), exponent: word(infoExponent), original: word(infoOriginal) != 0,
		preview: word(infoPreview) != 0, animation: word(infoAnimation) != 0, colors: word(infoColors), extra: word(infoExtra),
		alpha: word(infoAlphaBits) != 0, alphaBits: word(infoAlphaBits) + word(infoAlphaExp)<<8,
	}
	runtime.KeepAlive(b)
	if i.extra == 1 {
		b := new([extraBytes]byte)
		p := uintptr(unsafe.Pointer(b))
		if f.status(l.extraInfo, 0, uintptr(unsafe.Pointer(b))) != statusSuccess {
			return i, codec.Errorf(name, -1, codec.ErrFormat, "libjxl: no info of an extra channel")
		}
		i.alphaKind, i.alphaShift = int(*clib.Field[uint32](p, extraType)), int(*clib.Field[uint32](p, extraShift))
		runtime.KeepAlive(b)
	}
	if err := i.check(); err != nil {
		return i, err
	}
	if err := f.wants(eventColor); err != nil {
		return i, err
	}
	// All is read up to the frame.
	left := int(clib.Call(l.releaseInput, f.decoder))
	if left < 1 || left >= len(data) {
		return i, codec.Errorf(name, -1, codec.ErrFormat, "libjxl: the file ends early")
	}
	i.frame = len(data) - left
	return i, nil
}

// decode decodes samples into dst: of 8 bits, or of 16 in the machine's order.
func (l *library) decode(data []byte, i *info, dst []byte) error {
	f, err := l.open(data, eventFullImage)
	if err != nil {
		return err
	}
	defer f.close()
	if err := f.wants(statusOut); err != nil {
		return err
	}
	format := &struct {
		channels, kind, endian, _ uint32
		align                     uint64
	}{channels: uint32(i.channels()), kind: 2} // JXL_TYPE_UINT8
	size := i.width * i.height * i.channels()
	if i.bits > 8 {
		format.kind = 3 // JXL_TYPE_UINT16
		size *= 2
	}
	if len(dst) != size {
		return codec.Errorf(name, -1, codec.ErrInternal, "%d bytes for %d", len(dst), size)
	}
	f.pinned.Pin(&dst[0])
	if f.status(l.setOut, uintptr(unsafe.Pointer(format)), uintptr(unsafe.Pointer(&dst[0])), uintptr(size)) != statusSuccess {
		return codec.Errorf(name, -1, codec.ErrFormat, "libjxl: another size than the header's")
	}
	if err := f.wants(eventFullImage); err != nil {
		return err
	}
	return f.wants(statusSuccess)
}

// firstJPEG is the size of the buffer that restore starts with: that of the
// plugin.
const firstJPEG = 512 << 10

// restore returns the JPEG that a file was made of, of at most limit bytes.
func (l *library) restore(data []byte, limit int64) ([]byte, error) {
	f, err := l.open(data, eventJPEG|eventFullImage)
	if err != nil {
		return nil, err
	}
	defer f.close()
	if err := f.wants(eventJPEG); err != nil {
		return nil, err
	}
	out, used := make([]byte, firstJPEG), 0
	for {
		f.pinned.Pin(&out[0])
		if f.status(l.setJPEG, uintptr(unsafe.Pointer(&out[used])), uintptr(len(out)-used)) != statusSuccess {
			return nil, codec.Errorf(name, -1, codec.ErrInternal, "libjxl: no buffer")
		}
		status := f.status(l.process)
		used = len(out) - int(clib.Call(l.releaseJPEG, f.decoder))
		switch status {
		case eventFullImage:
			return out[:used], nil
		case statusJPEGOut:
			if limit > 0 && int64(len(out)) > limit/2 {
				return nil, codec.Errorf(name, -1, codec.ErrBytes, "a JPEG of more than %d bytes, the limit is %d", len(out), limit)
			}
			more := make([]byte, 2*len(out))
			copy(more, out[:used])
			out = more
		default:
			return nil, codec.Errorf(name, -1, codec.ErrFormat, "libjxl: the JPEG cannot be restored")
		}
	}
}
