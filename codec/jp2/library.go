package jp2

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/clib"
)

// Environment names the environment variable that holds the path of OpenJPEG or
// of its folder.
const Environment = "INFER_PREP_JP2"

// where describes where OpenJPEG may be.
func where() *clib.Decoder {
	l := &clib.Decoder{Name: "OpenJPEG", Format: "JPEG 2000", Install: "Debian: libopenjp2-7; pip install pillow==13.0.0 in the Python environment in use"}
	l.Library = clib.Library{
		Environment: Environment, Packages: []string{"pillow.libs", "PIL/.dylibs"}, Conda: true,
		Files: []string{"libopenjp2-*.so.*", "libopenjp2.so.2*", "libopenjp2.so.7*"}, System: "libopenjp2.so.7",
	}
	switch runtime.GOOS {
	case "windows":
		l.Files, l.System = []string{"openjp2.dll", "libopenjp2.dll", "libopenjp2-7.dll"}, ""
	case "darwin":
		l.Files, l.System = []string{"libopenjp2.2*.dylib", "libopenjp2.7*.dylib", "libopenjp2.dylib"}, "libopenjp2.7.dylib"
	}
	return l
}

// library is a loaded OpenJPEG.
type library struct {
	path, version string

	streamCreate, streamDestroy, streamRead, streamSkip, streamUser, streamLength uintptr

	create, destroy, defaults, setup, errors, imageDestroy, readHeader, area, tileHeader, tileData, end uintptr
}

// The offsets of fields of opj_image_t and opj_image_comp_t on 64-bit machines,
// as the headers of versions 2.3 to 2.5 state them.
const (
	imageX0     = 0 // and y0, x1, y1
	imageCount  = 16
	imageSpace  = 20
	imageComps  = 24
	compDX      = 0 // and dy
	compPrec    = 24
	compSigned  = 32
	compSize    = 64
	paramsBytes = 8252 // of opj_dparameters_t
)

// load loads and checks the library at its first use. The result never changes.
var load = clib.Once(where, open, (*library).prove)

// open loads the library at path, "" if none was found.
func open(path string) (*library, error) {
	l, at := &library{path: path}, where()
	version, err := at.Address(path, "opj_version")
	if err != nil {
		return nil, err
	}
	l.version = clib.String(clib.Call(version))
	if !strings.HasPrefix(l.version, "2.5.") {
		return nil, fmt.Errorf("OpenJPEG: %s: version %q, want 2.5, such as that of pip install pillow==13.0.0; the environment variable %s names it or its folder", path, l.version, Environment)
	}
	return l, at.Addresses(path, map[string]*uintptr{
		"opj_stream_create":                  &l.streamCreate,
		"opj_stream_destroy":                 &l.streamDestroy,
		"opj_stream_set_read_function":       &l.streamRead,
		"opj_stream_set_skip_function":       &l.streamSkip,
		"opj_stream_set_user_data":           &l.streamUser,
		"opj_stream_set_user_data_length":    &l.streamLength,
		"opj_create_decompress":              &l.create,
		"opj_destroy_codec":                  &l.destroy,
		"opj_set_default_decoder_parameters": &l.defaults,
		"opj_setup_decoder":                  &l.setup,
		"opj_set_error_handler":              &l.errors,
		"opj_image_destroy":                  &l.imageDestroy,
		"opj_read_header":                    &l.readHeader,
		"opj_set_decode_area":                &l.area,
		"opj_read_tile_header":               &l.tileHeader,
		"opj_decode_tile_data":               &l.tileData,
		"opj_end_decompress":                 &l.end,
	})
}

// input is the data of a stream. OpenJPEG has its number in inputs.
type input struct {
	data    []byte
	at      int
	message string // the first error
}

var inputs clib.Handles[*input]

// The functions that OpenJPEG calls, one of each for all streams.
var callbacks = sync.OnceValue(func() (c struct{ read, skip, message uintptr }) {
	const end = ^uintptr(0)
	c.read = clib.Callback(func(to, n, handle uintptr) uintptr {
		in := inputs.Get(handle)
		if in == nil || in.at == len(in.data) || n == 0 {
			return end
		}
		got := copy(unsafe.Slice((*byte)(clib.At(to)), int(min(n, math.MaxInt))), in.data[in.at:])
		in.at += got
		return uintptr(got)
	})
	c.skip = clib.Callback(func(n, handle uintptr) uintptr {
		in := inputs.Get(handle)
		if in == nil || n > uintptr(len(in.data)-in.at) {
			return end
		}
		in.at += int(n)
		return n
	})
	c.message = clib.Callback(func(text, handle uintptr) uintptr {
		if in := inputs.Get(handle); in != nil && in.message == "" {
			in.message = strings.TrimSpace(clib.String(text))
		}
		return 0
	})
	return c
})

// file is an open codestream or JP2 file. Close frees it.
type file struct {
	l                    *library
	stream, codec, image uintptr
	in                   *input
	handle               uintptr
	out                  *outputs // memory that C writes to
}

type outputs struct {
	image          uintptr
	index, bytes   uint32
	x0, y0, x1, y1 int32
	count, more    uint32
	params         [2 * paramsBytes]byte
}

// open reads the header, as Pillow does: it has no function that skips in the
// file, so that a box of more than 1 MB which OpenJPEG skips is an error. With
// skips there is one.
func (l *library) open(data []byte, boxed, skips bool) (*file, error) {
	f := &file{l: l, in: &input{data: data}, out: new(outputs)}
	f.handle = inputs.Add(f.in)
	// Pillow's buffer.
	if f.stream = clib.Call(l.streamCreate, 1<<20, 1); f.stream == 0 {
		f.close()
		return nil, codec.Errorf(name, -1, codec.ErrLimit, "OpenJPEG: out of memory")
	}
	c := callbacks()
	clib.Call(l.streamRead, f.stream, c.read)
	if skips {
		clib.Call(l.streamSkip, f.stream, c.skip)
	}
	clib.Call(l.streamUser, f.stream, f.handle, 0)
	clib.Call(l.streamLength, f.stream, uintptr(len(data)))
	format := uintptr(0) // OPJ_CODEC_J2K
	if boxed {
		format = 2 // OPJ_CODEC_JP2
	}
	if f.codec = clib.Call(l.create, format); f.codec == 0 {
		f.close()
		return nil, codec.Errorf(name, -1, codec.ErrLimit, "OpenJPEG: out of memory")
	}
	clib.Call(l.errors, f.codec, c.message, f.handle)
	params := uintptr(unsafe.Pointer(&f.out.params))
	clib.Call(l.defaults, params)
	ok := clib.Call(l.setup, f.codec, params)
	if int32(ok) != 0 {
		ok = clib.Call(l.readHeader, f.stream, f.codec, uintptr(unsafe.Pointer(&f.out.image)))
		f.image = f.out.image
	}
	if int32(ok) == 0 || f.image == 0 {
		err := f.err()
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *file) close() {
	l := f.l
	if f.codec != 0 {
		clib.Call(l.destroy, f.codec)
	}
	if f.image != 0 {
		clib.Call(l.imageDestroy, f.image)
	}
	if f.stream != 0 {
		clib.Call(l.streamDestroy, f.stream)
	}
	inputs.Remove(f.handle)
	runtime.KeepAlive(f.out)
}

// err returns the error of a call that failed.
func (f *file) err() error {
	message := f.in.message
	if message == "" {
		message = "it gives no reason"
	}
	return codec.Errorf(name, -1, codec.ErrFormat, "OpenJPEG: %s", message)
}

// colorSpace returns OpenJPEG's OPJ_COLOR_SPACE.
func (f *file) colorSpace() int { return int(*clib.Field[int32](f.image, imageSpace)) }

// check compares what OpenJPEG read with this package's own reading, on which
// the limits rest.
func (f *file) check(s *size) error {
	word := func(p, at uintptr) uint32 { return *clib.Field[uint32](p, at) }
	same := word(f.image, imageX0) == s.x0 && word(f.image, imageX0+4) == s.y0 && word(f.image, imageX0+8) == s.x1 && word(f.image, imageX0+12) == s.y1 &&
		int(word(f.image, imageCount)) == len(s.comps)
	if same {
		p := clib.Word(f.image+imageComps, 0)
		same = !slices.ContainsFunc(s.comps, func(c component) bool {
			q := component{prec: int(word(p, compPrec)), signed: word(p, compSigned) != 0, dx: int(word(p, compDX)), dy: int(word(p, compDX+4))}
			p += compSize
			return q != c
		})
	}
	if !same {
		return codec.Errorf(name, -1, codec.ErrFormat, "OpenJPEG reads another header than SIZ")
	}
	return nil
}

// setArea makes OpenJPEG skip the tiles outside of a rectangle of the reference
// grid.
func (f *file) setArea(x0, y0, x1, y1 uint32) error {
	if int32(clib.Call(f.l.area, f.codec, f.image, uintptr(x0), uintptr(y0), uintptr(x1), uintptr(y1))) == 0 {
		return f.err()
	}
	return nil
}

// tile is where a tile is in the image, and the number of its samples' bytes.
type tile struct{ x, y, w, h int }

// next decodes a tile into *buffer, which it grows: the samples of each
// component one after the other. It returns nil after the last one. The image
// has width x height pixels. The checks are Pillow's.
func (f *file) next(s *size, width, height int, buffer *[]byte) (*tile, error) {
	o := f.out
	ok := clib.Call(f.l.tileHeader, f.codec, f.stream, uintptr(unsafe.Pointer(&o.index)), uintptr(unsafe.Pointer(&o.bytes)),
		uintptr(unsafe.Pointer(&o.x0)), uintptr(unsafe.Pointer(&o.y0)), uintptr(unsafe.Pointer(&o.x1)), uintptr(unsafe.Pointer(&o.y1)),
		uintptr(unsafe.Pointer(&o.count)), uintptr(unsafe.Pointer(&o.more)))
	switch {
	case int32(ok) == 0:
		return nil, f.err()
	case o.more == 0:
		return nil, nil
	}
	t := &tile{int(o.x0) - int(s.x0), int(o.y0) - int(s.y0), int(o.x1) - int(o.x0), int(o.y1) - int(o.y0)}
	if t.w < 1 || t.h < 1 || t.x < 0 || t.y < 0 || t.x+t.w > width || t.y+t.h > height {
		return nil, codec.Errorf(name, -1, codec.ErrFormat, "a tile of %dx%d at (%d, %d) in %dx%d pixels", t.w, t.h, t.x, t.y, width, height)
	}
	if int(o.count) != len(s.comps) {
		return nil, codec.Errorf(name, -1, codec.ErrFormat, "a tile of %d components, want %d", o.count, len(s.comps))
	}
	pixel := 0
	for i := range s.comps {
		pixel += s.comps[i].bytes()
	}
	size := max(int64(t.w)*int64(t.h)*int64(pixel), int64(o.bytes))
	if size > min(math.MaxUint32, math.MaxInt) {
		return nil, codec.Errorf(name, -1, codec.ErrLimit, "a tile of %d bytes, want at most 4 GiB", size)
	}
	n := int(size)
	if cap(*buffer) < n {
		*buffer = make([]byte, n)
	}
	*buffer = (*buffer)[:n]
	clear(*buffer) // OpenJPEG does not fill it where components are subsampled
	if int32(clib.Call(f.l.tileData, f.codec, uintptr(o.index), uintptr(unsafe.Pointer(&(*buffer)[0])), uintptr(n), f.stream)) == 0 {
		return nil, f.err()
	}
	return t, nil
}

// end reads what follows the last tile.
func (f *file) end() error {
	if int32(clib.Call(f.l.end, f.codec, f.stream)) == 0 {
		return f.err()
	}
	return nil
}
