package pack

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/records/webdataset"
)

// maxField is the most bytes of a field: what webdataset.Options.Limit allows a sample.
const maxField = 1 << 30

// labelField has a class's number, labelsField has labels that are none.
const (
	labelField  = "cls"
	labelsField = "json"
)

// sourceFile is one below a folder.
type sourceFile struct {
	name string // from the folder, with slashes
	size int64
	time int64 // when it was modified, in nanoseconds
}

// walkFiles lists the files below a folder, folder by folder, each sorted by name; what begins
// with a dot is left out, and so is the folder out, which is written to. Links are followed, but for one to a folder
// above it, which is an error.
func walkFiles(ctx context.Context, root, out string) ([]sourceFile, error) {
	var l []sourceFile
	written, err := os.Stat(out)
	if err != nil {
		written = nil
	}
	var in func(folder string, above []fs.FileInfo) error
	in = func(folder string, above []fs.FileInfo) error {
		real := filepath.Join(root, filepath.FromSlash(folder))
		here, err := os.Stat(real)
		if err != nil {
			return err
		}
		if written != nil && os.SameFile(here, written) {
			if folder == "" {
				return fmt.Errorf("%s: the folder that is packed is the one that is written to", root)
			}
			return nil
		}
		for _, a := range above {
			if os.SameFile(a, here) {
				return fmt.Errorf("%s leads back to a folder above it", real)
			}
		}
		above = append(above[:len(above):len(above)], here)
		entries, err := os.ReadDir(real)
		if err != nil {
			return err
		}
		var folders []string
		for _, e := range entries {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if strings.HasPrefix(e.Name(), ".") {
				continue
			}
			name := path.Join(folder, e.Name())
			i, err := os.Stat(filepath.Join(real, e.Name()))
			switch {
			case errors.Is(err, fs.ErrNotExist): // a link to nowhere: what cannot be read is told of later
				l = append(l, sourceFile{name, -1, 0})
			case err != nil:
				return err
			case i.IsDir():
				folders = append(folders, name)
			case i.Mode().IsRegular():
				l = append(l, sourceFile{name, i.Size(), i.ModTime().UnixNano()})
			}
		}
		for _, f := range folders {
			if err := in(f, above); err != nil {
				return err
			}
		}
		return nil
	}
	if err := in("", nil); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return l, nil
}

// note adds a file to what tells samples from others.
func (f sourceFile) note(h hash.Hash) { fmt.Fprintf(h, "%q %d %d\n", f.name, f.size, f.time) }

// fieldFile reads a field's file.
func fieldFile(name string) ([]byte, error) {
	b, err := readFile(nil, name, maxField)
	if err != nil {
		return nil, fileError(name, err)
	}
	return b, nil
}

// fileError names the file, once.
func fileError(name string, err error) error {
	return fmt.Errorf("pack: %s: %w", name, reason(err))
}

// FolderSamples are the samples of a folder as webdataset has them in a tar file: files, at any depth,
// with the same path up to the first dot of their names are the fields of one
// sample. They are sorted by key. Hidden files are passed over, as is the folder out, which the shards are
// written to, if it is in this one; files without a dot in their names are left out.
func FolderSamples(ctx context.Context, dir, out string) (*Samples, error) {
	files, err := walkFiles(ctx, dir, out)
	if err != nil {
		return nil, err
	}
	type field struct{ ext, name string }
	s := &Samples{}
	fields := map[string][]field{}
	h := sha256.New()
	fmt.Fprintf(h, "folder %q\n", dir)
	for _, f := range files {
		key, ext, ok := webdataset.KeyExt(f.name)
		if !ok {
			s.LeftOut = append(s.LeftOut, filepath.Join(dir, filepath.FromSlash(f.name)))
			continue
		}
		if fields[key] == nil {
			s.keys = append(s.keys, key)
		}
		if i := slices.IndexFunc(fields[key], func(o field) bool { return o.ext == ext }); i >= 0 {
			s.Bad = append(s.Bad, fmt.Errorf("pack: %w: %s and %s in %s are both field %q of sample %q", ErrSample, fields[key][i].name, f.name, dir, ext, key))
			continue
		}
		fields[key] = append(fields[key], field{ext, f.name})
		f.note(h)
	}
	slices.Sort(s.keys)
	s.about = h.Sum(nil)
	s.read = func(_ context.Context, i int) (*webdataset.Sample, error) {
		x := &webdataset.Sample{Key: s.keys[i]}
		for _, f := range fields[s.keys[i]] {
			b, err := fieldFile(filepath.Join(dir, filepath.FromSlash(f.name)))
			if err != nil {
				return nil, err
			}
			x.Fields = append(x.Fields, webdataset.Field{Ext: f.ext, Data: b})
		}
		return x, nil
	}
	return s, nil
}

// imageEndings are those that torchvision's ImageFolder takes.
var imageEndings = []string{".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp"}

// ClassSamples are the images of a folder with a subfolder for each class, in the order of torchvision's
// ImageFolder (dataset/imagefolder). Sample cat/001 has the file's bytes as the field of its ending,
// and the class's number, in the order of their names, as cls. Dots in a file's name but the
// last are underscores in the key. Files with other endings are left out, hidden ones passed over; a
// class without images is an error. With an encoding the images are packed as that, and their field is jpg or
// png; PassThrough keeps the files. The folder out is passed over, as by FolderSamples.
func ClassSamples(ctx context.Context, dir, out string, image ImageOptions) (*Samples, error) {
	files, err := walkFiles(ctx, dir, out)
	if err != nil {
		return nil, err
	}
	class := func(f sourceFile) string {
		c, _, ok := strings.Cut(f.name, "/")
		if !ok {
			return ""
		}
		return c
	}
	slices.SortStableFunc(files, func(a, b sourceFile) int { // of a folder they are sorted by name
		if c := strings.Compare(class(a), class(b)); c != 0 {
			return c
		}
		return strings.Compare(path.Dir(a.name), path.Dir(b.name))
	})
	s := &Samples{ClassNames: []string{}}
	var items []imagerecord.Item
	h := sha256.New()
	fmt.Fprintf(h, "classes %q\n", dir)
	for _, f := range files {
		c := class(f)
		if c == "" || !slices.Contains(imageEndings, strings.ToLower(path.Ext(f.name))) {
			s.LeftOut = append(s.LeftOut, filepath.Join(dir, filepath.FromSlash(f.name)))
			continue
		}
		if n := len(s.ClassNames); n == 0 || s.ClassNames[n-1] != c {
			if strings.ContainsAny(c, "\r\n") {
				return nil, fmt.Errorf("pack: %s: class %q has a line's end in its name", dir, c)
			}
			s.ClassNames = append(s.ClassNames, c)
		}
		items = append(items, imagerecord.Item{Labels: []float32{float32(len(s.ClassNames) - 1)}, Path: f.name})
		f.note(h)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	for _, e := range entries {
		i, err := os.Stat(filepath.Join(dir, e.Name()))
		if err == nil && i.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(s.ClassNames, e.Name()) {
			return nil, fmt.Errorf("pack: class %q of %s has no image with an ending of %s", e.Name(), dir, strings.Join(imageEndings, " "))
		}
	}
	return s, s.items(h, dir, items, image)
}

// ListSamples are the images of a .lst file, whose paths are relative to the folder root, in its order. The
// key is the path without its ending, a single label that is a whole number the field cls, and other labels a
// list of numbers in the field json. What becomes of the images is as with ClassSamples.
func ListSamples(ctx context.Context, name, root string, image ImageOptions) (*Samples, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	items, err := imagerecord.ReadList(name, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	s := &Samples{}
	h := sha256.New()
	fmt.Fprintf(h, "list %q\n", root)
	for _, i := range items {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		x := sourceFile{name: i.Path}
		if info, err := os.Stat(below(root, i.Path)); err == nil {
			x.size, x.time = info.Size(), info.ModTime().UnixNano()
		}
		x.note(h)
		fmt.Fprintln(h, i.Labels)
	}
	return s, s.items(h, root, items, image)
}

// items makes samples of images with labels. What cannot be one is bad. h has what the files are like.
func (s *Samples) items(h hash.Hash, root string, items []imagerecord.Item, image ImageOptions) error {
	if err := image.check(); err != nil {
		return err
	}
	fmt.Fprintf(h, "%+v\n", image)
	s.about = h.Sum(nil)
	seen := map[string]string{}
	var good []imagerecord.Item
	var exts []string
	for _, i := range items {
		p := path.Clean("/" + i.Path)[1:]
		end := path.Ext(p)
		folder, base := path.Split(p[:len(p)-len(end)])
		key, ext, ok := webdataset.KeyExt(folder + strings.ReplaceAll(base, ".", "_") + end)
		switch image.Encoding {
		case JPEG:
			ext = "jpg"
		case PNG:
			ext = "png"
		}
		switch other, twice := seen[key]; {
		case slices.ContainsFunc(i.Labels, func(v float32) bool { return math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) }):
			s.Bad = append(s.Bad, fmt.Errorf("pack: %w: %s in %s has labels %v, want numbers", ErrSample, i.Path, root, i.Labels))
		case !ok || ext == labelField || ext == labelsField:
			s.Bad = append(s.Bad, fmt.Errorf("pack: %w: %s in %s, want a name with an image's ending", ErrSample, i.Path, root))
		case twice:
			s.Bad = append(s.Bad, fmt.Errorf("pack: %w: %s and %s in %s would both be sample %q", ErrSample, other, i.Path, root, key))
		default:
			seen[key] = i.Path
			s.keys = append(s.keys, key)
			exts = append(exts, ext)
			good = append(good, i)
		}
	}
	makers := sync.Pool{New: func() any { return &images{o: &image} }}
	s.read = func(_ context.Context, i int) (*webdataset.Sample, error) {
		name := below(root, good[i].Path)
		var b []byte
		var err error
		if image.Encoding == PassThrough {
			if b, err = fieldFile(name); err != nil {
				return nil, err
			}
		} else {
			m := makers.Get().(*images)
			defer makers.Put(m)
			if b, err = m.image(nil, name); err != nil {
				return nil, fileError(name, err)
			}
		}
		x := &webdataset.Sample{Key: s.keys[i], Fields: []webdataset.Field{{Ext: exts[i], Data: b}}}
		if len(good[i].Labels) > 0 {
			x.Fields = append(x.Fields, labelsOf(good[i].Labels))
		}
		return x, nil
	}
	return nil
}

func labelsOf(l []float32) webdataset.Field {
	const exact = 1 << 24 // whole numbers up to it are float32
	if len(l) == 1 && l[0] == float32(int32(min(max(l[0], -exact), exact))) {
		return webdataset.Field{Ext: labelField, Data: strconv.AppendInt(nil, int64(l[0]), 10)}
	}
	b := []byte("[")
	for i, v := range l {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendFloat(b, float64(v), 'g', -1, 32)
	}
	return webdataset.Field{Ext: labelsField, Data: append(b, ']')}
}
