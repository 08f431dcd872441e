package sound

import (
	"math"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/registry"
)

// Format describes one sound file format. Format packages register theirs when
// they are imported.
type Format struct {
	Name string // lower case: "wav"
	// Magic lists patterns of a file's first bytes, at most 64 each. A '?'
	// matches any byte. Data that matches one of them is of this format.
	Magic []string
	// New returns a decoder, which may keep buffers between sounds.
	New func() FormatDecoder
}

// FormatDecoder decodes the sounds of one format. One goroutine at a time uses
// it.
type FormatDecoder interface {
	// Open reads the header, whose first byte is the first of in. It allocates
	// nothing that grows with the sound. It may keep in until the next Open.
	// l has no zero fields. If in is Whole, the header's Samples must be what
	// Read will return. Otherwise it may be -1, or a number that the data does
	// not reach.
	Open(in *Input, l codec.Limits) (Header, error)
	// Read decodes the next samples into dst, one slice of equal length for
	// each channel, and returns the number of samples of each channel. It
	// returns fewer than asked for only together with an error, which is io.EOF
	// at the end of the sound.
	Read(dst [][]float32) (int, error)
}

// Header holds what a file says about its sound.
type Header struct {
	Format   string // "wav", …
	Variant  string // the format's own kind, for people: "16-bit PCM", …
	Rate     int    // sampling rate in Hz
	Channels int    // 1 to MaxChannels
	Samples  int64  // of each channel; in a Reader -1 if unknown
}

// MaxChannels is the largest number of channels, libsndfile's.
const MaxChannels = 1024

// Bytes returns the number of bytes of all samples as float32.
func (h *Header) Bytes() int64 { return 4 * h.Samples * int64(h.Channels) }

// check returns an error if a number of the header is out of range.
func (h *Header) check() error {
	switch {
	case h.Rate < 1:
		return codec.Errorf(h.Format, -1, codec.ErrFormat, "a sampling rate of %d Hz: want at least 1", h.Rate)
	case h.Channels < 1 || h.Channels > MaxChannels:
		return codec.Errorf(h.Format, -1, codec.ErrFormat, "%d channels: want 1 to %d", h.Channels, MaxChannels)
	}
	return nil
}

// checkBytes returns an error if the samples of a sound, whose number is known,
// take more than the limit.
func (h *Header) checkBytes(l codec.Limits) error {
	const most = 1 << 50 // times 4 and MaxChannels it fits an int64
	if n := h.Samples; n > most || h.Bytes() > math.MaxInt || l.Bytes > 0 && h.Bytes() > l.Bytes {
		return codec.Errorf(h.Format, -1, codec.ErrBytes, "%d samples of %d channels need 4 bytes each, the limit is %d bytes", n, h.Channels, l.Bytes)
	}
	return nil
}

var formats = registry.New[*Format]("sound format")

// Register adds a format. Format packages call it from init. It panics if the
// name is empty or taken, or if a field is missing.
func Register(f Format) {
	if f.New == nil || len(f.Magic) == 0 {
		formats.Refuse(f.Name, "want Magic and New")
	}
	formats.Add(f.Name, &f)
}

// Formats returns the names of the linked formats, sorted.
func Formats() []string { return slices.Clone(formats.Names()) }

// Sniff returns the name of the linked format whose magic bytes data starts
// with, "" if none matches. It looks at no more than 64 bytes.
func Sniff(data []byte) string {
	if f := sniff(data); f != nil {
		return f.Name
	}
	return ""
}

// sniffBytes is the number of bytes that Sniff looks at.
const sniffBytes = 64

func sniff(data []byte) *Format {
	for _, f := range formats.All() {
		for _, m := range f.Magic {
			if hasMagic(data, m) {
				return f
			}
		}
	}
	return nil
}

// hasMagic reports whether data starts with pattern, in which ? is any byte.
func hasMagic(data []byte, pattern string) bool {
	if len(data) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		if pattern[i] != '?' && pattern[i] != data[i] {
			return false
		}
	}
	return true
}

// known lists the magic bytes of formats that may not be linked or are not
// supported, for error messages.
var known = [...]struct{ pattern, name, folder string }{
	{"RIFF????WAVE", "WAV", "wav"},
	{"RIFX????WAVE", "WAV", "wav"},
	{"RF64????WAVE", "WAV (RF64)", "wav"},
	{"BW64????WAVE", "WAV (BW64)", "wav"},
	{"fLaC", "FLAC", "flac"},
	{"ID3", "MP3, or a file with an ID3 tag in front", "mp3"},
	{"\xff\xfb", "MP3", "mp3"},
	{"\xff\xfa", "MP3", "mp3"},
	{"\xff\xf3", "MP3", "mp3"},
	{"\xff\xf2", "MP3", "mp3"},
	{"\xff\xe3", "MP3", "mp3"},
	{"\xff\xe2", "MP3", "mp3"},
	{"\xff\xfd", "MPEG audio layer II", ""},
	{"\xff\xfc", "MPEG audio layer II", ""},
	{"\xff\xf5", "MPEG audio layer II", ""},
	{"\xff\xf4", "MPEG audio layer II", ""},
	{"\xff\xff", "MPEG audio layer I", ""},
	{"\xff\xf1", "AAC (ADTS)", ""},
	{"\xff\xf9", "AAC (ADTS)", ""},
	{"OggS????????????????????????\x01vorbis", "Ogg Vorbis", ""},
	{"OggS????????????????????????OpusHead", "Opus", ""},
	{"OggS????????????????????????\x7fFLAC", "FLAC in Ogg", ""},
	{"OggS", "Ogg", ""},
	{"FORM????AIFF", "AIFF", "aiff"},
	{"FORM????AIFC", "AIFF-C", "aiff"},
	{".snd", "AU", "au"},
	{"dns.", "AU", "au"},
	{"caff", "CAF", ""},
	{"riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb", "Wave64", ""},
	{"wvpk", "WavPack", ""},
	{"MAC ", "Monkey's Audio", ""},
	{"#!AMR", "AMR", ""},
	{"NIST_1A", "NIST SPHERE", ""},
	{"????ftyp", "MP4 or M4A", ""},
	{"\x1a\x45\xdf\xa3", "Matroska or WebM", ""},
	{"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "WMA", ""},
	{"\x1f\x8b", "gzip data", ""},
	{"PK\x03\x04", "a ZIP archive", ""},
	{"\x93NUMPY", "an NPY array", ""},
	{"version https://git-lfs.github.com/", "a pointer of Git LFS, not the file itself; git lfs pull fetches it", ""},
}

// unknown returns the error for data that no linked format matches.
func unknown(data []byte) error {
	if len(data) == 0 {
		return codec.Errorf("sound", -1, codec.ErrFormat, "empty input: want a sound file")
	}
	for _, k := range known {
		switch {
		case !hasMagic(data, k.pattern):
		case k.folder != "":
			return codec.Errorf("sound", -1, codec.ErrUnsupported,
				"%s is not linked: import github.com/infer-prep/infer-prep/sound/%s; the linked formats are: %s", k.name, k.folder, linked())
		default:
			return codec.Errorf("sound", -1, codec.ErrUnsupported, "%s: want one of the linked formats: %s", k.name, linked())
		}
	}
	return codec.Errorf("sound", 0, codec.ErrFormat, "unknown format, first bytes %q: want one of the linked formats: %s", data[:min(len(data), 12)], linked())
}

// linked lists the linked formats for error messages.
func linked() string {
	if names := formats.Names(); len(names) > 0 {
		return strings.Join(names, ", ")
	}
	return "none (import sound/all)"
}
