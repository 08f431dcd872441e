package job

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/sound"
)

// otherImageExts are extensions of images, besides imageExts.
var otherImageExts = []string{
	".apng", ".arw", ".avif", ".cr2", ".cr3", ".dib", ".dng", ".exr", ".hdr", ".heic", ".heif", ".ico", ".jfif",
	".jpe", ".jxr", ".nef", ".orf", ".pbm", ".pcx", ".pfm", ".pgm", ".pnm", ".ppm", ".psd", ".qoi", ".raf",
	".rw2", ".svg", ".tga", ".xcf",
}

// otherFiles end the names that codec has for files that nobody takes for
// images, and package sound for those that nobody takes for sounds.
var otherFiles = []string{" data", " archive", " array", " page", " image", " sound", "PDF", "PostScript"}

// headBytes is the number of bytes that codec reads to name a format.
const headBytes = 4096

// imageName reports whether a name ends as that of an image.
func imageName(name string) bool {
	ext := strings.ToLower(filepath.Ext(strings.TrimRight(name, "/")))
	return slices.Contains(imageExts, ext) || slices.Contains(otherImageExts, ext)
}

// soundExts are extensions of sounds.
var soundExts = []string{".aac", ".aif", ".aiff", ".flac", ".m4a", ".mp3", ".ogg", ".opus", ".sph", ".wav", ".wma"}

// leftOut returns why a file that starts with head is not taken for an image or
// sound. named reports that a user could expect it to be one: by its extension,
// or because it is of a known format.
func (in *File) leftOut(head []byte) (why string, named bool) {
	named = imageName(in.Path)
	if in.sniff != nil {
		named = slices.Contains(soundExts, strings.ToLower(filepath.Ext(in.Path)))
	}
	if len(head) == 0 {
		return "the file is empty", named
	}
	var err error
	if in.sniff != nil {
		_, err = new(sound.Decoder).Open(head, codec.Limits{})
		why = "not a sound"
	} else {
		_, err = codec.DecodeConfig(head, nil)
		why = "not an image"
	}
	if errors.Is(err, codec.ErrUnsupported) {
		_, why, _ = strings.Cut(err.Error(), ": ")
		why, _, _ = strings.Cut(why, ": want ")
		why, _, _ = strings.Cut(why, " is not linked: ")
		other := slices.ContainsFunc(otherFiles, func(end string) bool { return strings.HasSuffix(why, end) })
		return why, named || !other
	}
	return why, named
}
