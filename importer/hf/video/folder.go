package video

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer"
)

// MetadataName is the file of a video's folder that ParseMetadata reads.
const MetadataName = "metadata.json"

// ParseMetadata reads the fields of transformers' VideoMetadata from a JSON
// object. Fields that are absent or null are 0, unknown. height, width,
// video_backend and frames_indices have no influence. Errors wrap those of
// package importer.
func ParseMetadata(data []byte) (Metadata, error) {
	o, err := importer.Parse(data)
	if err != nil {
		return Metadata{}, err
	}
	o.Inert("height", "width", "video_backend", "frames_indices")
	m := Metadata{whole(o, "total_num_frames", 0), rate(o, "fps", 0), rate(o, "duration", 0)}
	return m, o.Err("hf/video")
}

// Folder is a video as a folder of frames, in the order of their names.
// Numbers in names compare by their values, so that 9.png comes before 10.png.
// It is immutable, and as safe for concurrent use as its file system.
type Folder struct {
	// Metadata is that of metadata.json, with the number of frames.
	Metadata Metadata

	fsys  fs.FS
	names []string
	most  int64
}

// OpenFolder lists the frames of a folder, which are all of its files but
// metadata.json and those whose names begin with a dot. A file that is not an
// image is an error when it is read, and a folder at once. A file of more than
// most bytes is an error. Errors wrap ErrFrames or ErrMetadata, or those of
// package importer.
func OpenFolder(fsys fs.FS, most int64) (*Folder, error) {
	l, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	f := &Folder{fsys: fsys, most: most}
	for _, e := range l {
		switch name := e.Name(); {
		case name == MetadataName:
			data, err := f.read(name)
			if err == nil {
				f.Metadata, err = ParseMetadata(data)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		case strings.HasPrefix(name, "."):
		case e.IsDir():
			return nil, fmt.Errorf("video: %w: %s is a folder: want the frames of one video", ErrFrames, name)
		default:
			f.names = append(f.names, name)
		}
	}
	switch n, total := len(f.names), f.Metadata.Frames; {
	case n == 0 || n > MaxFrames:
		return nil, fmt.Errorf("video: %w: %d files, want 1 to %d frames", ErrFrames, n, MaxFrames)
	case total != 0 && total != n:
		return nil, fmt.Errorf("video: %w: total_num_frames is %d, and the folder has %d frames", ErrMetadata, total, n)
	}
	f.Metadata.Frames = len(f.names)
	slices.SortFunc(f.names, natural)
	return f, nil
}

// Frame returns the bytes of frame i.
func (f *Folder) Frame(i int) ([]byte, error) {
	data, err := f.read(f.names[i])
	if err == nil && codec.Sniff(data) == "" {
		err = fmt.Errorf("%w: not an image", ErrFrames)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.names[i], err)
	}
	return data, nil
}

// read reads a file of at most f.most bytes.
func (f *Folder) read(name string) ([]byte, error) {
	file, err := f.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, f.most+1))
	if err = errors.Join(err, file.Close()); err == nil && int64(len(data)) > f.most {
		err = fmt.Errorf("%w: more than %d bytes", codec.ErrLimit, f.most)
	}
	return data, err
}

// natural compares names; digits compare as numbers.
func natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m, n := digits(x), digits(y)
		if m == 0 || n == 0 {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		p, q := strings.TrimLeft(x[:m], "0"), strings.TrimLeft(y[:n], "0")
		if c := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q)); c != 0 {
			return c
		}
		x, y = x[m:], y[n:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b)) // the names may differ in zeros
}

// digits returns the number of digits at the start of s.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
