package pack

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/store"
)

// maxField is the largest size of a field in bytes, the default of
// webdataset.Options.Limit for a sample.
const maxField = 1 << 30

// labelField holds the number of a class, labelsField other labels.
const (
	labelField  = "cls"
	labelsField = "json"
)

// sourceFile is a file below a folder.
type sourceFile struct {
	name string // path from the folder, with slashes
	size int64
	time int64 // modification time in nanoseconds
}

// walkFiles lists the files below a folder, folder by folder, each sorted by
// name. It skips names that begin with a dot, and the output folder out, a path
// of the local disk. It follows links; a link to a folder above it is an error,
// and so is one out of root that files does not follow.
func walkFiles(ctx context.Context, o store.Opener, files store.Folder, root, out string) ([]sourceFile, error) {
	var l []sourceFile
	var in func(folder string, above []string) error
	in = func(folder string, above []string) error {
		dir := store.Join(root, folder)
		if same, err := store.SameFile(ctx, o, dir, out); same && err == nil {
			if folder == "" {
				return fmt.Errorf("%s: input and output are the same folder", root)
			}
			return nil
		}
		above = append(slices.Clip(above), dir)
		entries, err := files.ListNames(ctx, dir)
		if err != nil {
			return err
		}
		var folders []string
		for _, e := range entries {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if strings.HasPrefix(e.Base, ".") {
				continue
			}
			name := path.Join(folder, e.Base)
			switch {
			case e.Folder:
				up, err := linksToAncestor(ctx, files, e, above)
				if up {
					err = fmt.Errorf("%s: link to a folder above it", e.Name)
				}
				if err != nil {
					return err
				}
				folders = append(folders, name)
			case e.Link && e.Irregular: // a dangling link: reading it reports the error
				l = append(l, sourceFile{name, -1, 0})
			case !e.Irregular:
				i, err := files.Stat(ctx, e.Name)
				if err != nil {
					return err
				}
				l = append(l, sourceFile{name, i.Size, i.Modified.UnixNano()})
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

// inFolder returns samples of files in a folder. fill adds them. Links that
// lead out of the folder are followed if image decodes them.
func inFolder(ctx context.Context, files store.Opener, dir string, image ImageOptions, fill func(s *Samples) error) (*Samples, error) {
	folder, err := store.OpenFolder(ctx, files, dir)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	if image.Encoding != PassThrough {
		folder = store.FollowLinks(files, folder)
	}
	s := &Samples{folder: folder, close: folder.Close}
	if err := fill(s); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// note adds a file to the digest of the samples.
func (f sourceFile) note(h hash.Hash) { fmt.Fprintf(h, "%q %d %d\n", f.name, f.size, f.time) }

// fieldFile reads the file of a field.
func fieldFile(ctx context.Context, files store.Opener, name string) ([]byte, error) {
	b, err := readFile(ctx, files, nil, name, maxField)
	if err != nil {
		return nil, fileError(name, err)
	}
	return b, nil
}

// fileError names the file once.
func fileError(name string, err error) error {
	return fmt.Errorf("pack: %s: %w", name, reason(err))
}

// FolderSamples returns the samples of a folder as webdataset groups the
// members of a tar file. Files at any depth whose paths are equal up to the
// first dot of their names are the fields of one sample. Samples are sorted by
// key. Files without a dot in their names are left out. Hidden files and the
// output folder out are ignored. Links out of dir are an error that wraps
// store.ErrOutside, unless files is store.AllowOutside.
func FolderSamples(ctx context.Context, files store.Opener, dir, out string) (*Samples, error) {
	return inFolder(ctx, files, dir, ImageOptions{Encoding: PassThrough}, func(s *Samples) error { return s.fields(ctx, files, dir, out) })
}

// fields adds the samples of FolderSamples.
func (s *Samples) fields(ctx context.Context, files store.Opener, dir, out string) error {
	found, err := walkFiles(ctx, files, s.folder, dir, out)
	if err != nil {
		return err
	}
	type field struct{ ext, name string }
	fields := map[string][]field{}
	h := sha256.New()
	fmt.Fprintf(h, "folder %q\n", dir)
	for _, f := range found {
		key, ext, ok := webdataset.KeyExt(f.name)
		if !ok {
			s.LeftOut = append(s.LeftOut, filepath.Join(dir, filepath.FromSlash(f.name)))
			continue
		}
		if fields[key] == nil {
			s.keys = append(s.keys, key)
		}
		if i := slices.IndexFunc(fields[key], func(o field) bool { return o.ext == ext }); i >= 0 {
			s.Invalid = append(s.Invalid, fmt.Errorf("pack: %w: %s and %s in %s: both are field %q of sample %q", ErrSample, fields[key][i].name, f.name, dir, ext, key))
			continue
		}
		fields[key] = append(fields[key], field{ext, f.name})
		f.note(h)
	}
	slices.Sort(s.keys)
	s.digest = h.Sum(nil)
	s.read = func(ctx context.Context, i int) (*webdataset.Sample, error) {
		x := &webdataset.Sample{Key: s.keys[i]}
		for _, f := range fields[s.keys[i]] {
			b, err := fieldFile(ctx, s.folder, store.Join(dir, f.name))
			if err != nil {
				return nil, err
			}
			x.Fields = append(x.Fields, webdataset.Field{Ext: f.ext, Data: b})
		}
		return x, nil
	}
	return nil
}

// imageExtensions are the extensions that torchvision's ImageFolder takes.
var imageExtensions = []string{".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp"}

// ClassSamples returns the images of a folder with one subfolder per class, in
// the order of torchvision's ImageFolder (dataset/imagefolder). Field cls is
// the number of the class in the order of their names. With PassThrough the
// other field holds the file's bytes and is named after its extension;
// otherwise it is jpg or png and holds the processed image. The key is the path
// without the extension; further dots of the name become underscores. Files
// with other extensions are left out. Hidden files and the output folder out
// are ignored. A class without images is an error. Links out of dir are treated
// as by FolderSamples; without PassThrough, those to files are followed.
func ClassSamples(ctx context.Context, files store.Opener, dir, out string, image ImageOptions) (*Samples, error) {
	return inFolder(ctx, files, dir, image, func(s *Samples) error { return s.classes(ctx, files, dir, out, image) })
}

// classes adds the samples of ClassSamples.
func (s *Samples) classes(ctx context.Context, files store.Opener, dir, out string, image ImageOptions) error {
	s.ClassNames = []string{}
	found, err := walkFiles(ctx, files, s.folder, dir, out)
	if err != nil {
		return err
	}
	class := func(f sourceFile) string {
		c, _, ok := strings.Cut(f.name, "/")
		if !ok {
			return ""
		}
		return c
	}
	slices.SortStableFunc(found, func(a, b sourceFile) int { // files of one folder are sorted by name already
		if c := strings.Compare(class(a), class(b)); c != 0 {
			return c
		}
		return strings.Compare(path.Dir(a.name), path.Dir(b.name))
	})
	var items []imagerecord.Item
	h := sha256.New()
	fmt.Fprintf(h, "classes %q\n", dir)
	for _, f := range found {
		c := class(f)
		if c == "" || !slices.Contains(imageExtensions, strings.ToLower(path.Ext(f.name))) {
			s.LeftOut = append(s.LeftOut, filepath.Join(dir, filepath.FromSlash(f.name)))
			continue
		}
		if n := len(s.ClassNames); n == 0 || s.ClassNames[n-1] != c {
			if strings.ContainsAny(c, "\r\n") {
				return fmt.Errorf("pack: %s: class %q: line end in the name", dir, c)
			}
			s.ClassNames = append(s.ClassNames, c)
		}
		items = append(items, imagerecord.Item{Labels: []float32{float32(len(s.ClassNames) - 1)}, Path: f.name})
		f.note(h)
	}
	entries, err := s.folder.ListNames(ctx, dir)
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	for _, e := range entries {
		if e.Folder && !strings.HasPrefix(e.Base, ".") && !slices.Contains(s.ClassNames, e.Base) {
			return fmt.Errorf("pack: %[2]s: class %[1]q has no image: want one with extension %[3]s", e.Base, dir, strings.Join(imageExtensions, " "))
		}
	}
	return s.items(h, dir, items, image)
}

// ListSamples returns the images of a .lst file in its order. The paths of the
// list are relative to root. A path that leads out of root is an error of the
// sample that wraps store.ErrOutside, unless files is store.AllowOutside;
// without PassThrough, links to files are followed. The
// key is the path without its extension. A single integral label is field cls;
// other labels are a list of numbers in field json. Images are processed as by
// ClassSamples.
func ListSamples(ctx context.Context, files store.Opener, name, root string, image ImageOptions) (*Samples, error) {
	f, err := files.Open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	items, err := imagerecord.ReadList(store.Redact(name), io.NewSectionReader(f, 0, f.Size()))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return inFolder(ctx, files, root, image, func(s *Samples) error { return s.listed(ctx, root, items, image) })
}

// listed adds the samples of ListSamples.
func (s *Samples) listed(ctx context.Context, root string, items []imagerecord.Item, image ImageOptions) error {
	h := sha256.New()
	fmt.Fprintf(h, "list %q\n", root)
	for _, i := range items {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		x := sourceFile{name: i.Path}
		if info, err := s.folder.Stat(ctx, below(root, i.Path)); err == nil {
			x.size, x.time = info.Size, info.Modified.UnixNano()
		}
		x.note(h)
		fmt.Fprintln(h, i.Labels)
	}
	return s.items(h, root, items, image)
}

// items turns images with labels into samples. Invalid ones go to s.Invalid. h
// is the digest of the files so far.
func (s *Samples) items(h hash.Hash, root string, items []imagerecord.Item, image ImageOptions) error {
	if err := image.fill(); err != nil {
		return err
	}
	fmt.Fprintf(h, "%+v %s\n", image, image.version())
	s.digest = h.Sum(nil)
	seen := map[string]string{}
	var good []imagerecord.Item
	var exts []string
	for _, i := range items {
		key, ext, err := imageKey(path.Clean("/" + i.Path)[1:], i.Labels, image.Encoding)
		switch other, twice := seen[key]; {
		case err != nil:
			s.Invalid = append(s.Invalid, fmt.Errorf("pack: %w: %s in %s: %w", ErrSample, i.Path, root, err))
		case twice:
			s.Invalid = append(s.Invalid, fmt.Errorf("pack: %w: %s and %s in %s: both would be sample %q", ErrSample, other, i.Path, root, key))
		default:
			seen[key] = i.Path
			s.keys = append(s.keys, key)
			exts = append(exts, ext)
			good = append(good, i)
		}
	}
	makers := sync.Pool{New: func() any { return &images{o: &image} }}
	s.read = func(ctx context.Context, i int) (*webdataset.Sample, error) {
		name := below(root, good[i].Path)
		m := makers.Get().(*images)
		defer makers.Put(m)
		b, err := m.image(ctx, s.folder, nil, name)
		if err != nil {
			return nil, fileError(name, err)
		}
		x := &webdataset.Sample{Key: s.keys[i], Fields: []webdataset.Field{{Ext: exts[i], Data: b}}}
		if len(good[i].Labels) > 0 {
			x.Fields = append(x.Fields, labelsOf(good[i].Labels))
		}
		return x, nil
	}
	return nil
}

// imageKey returns the key of an image with labels, and the name of its field.
// name is a clean path with slashes.
func imageKey(name string, labels []float32, encoding Encoding) (key, ext string, err error) {
	end := path.Ext(name)
	folder, base := path.Split(name[:len(name)-len(end)])
	key, ext, ok := webdataset.KeyExt(folder + strings.ReplaceAll(base, ".", "_") + end)
	switch encoding {
	case JPEG:
		ext = "jpg"
	case PNG:
		ext = "png"
	}
	switch {
	case slices.ContainsFunc(labels, func(v float32) bool { return math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) }):
		return "", "", fmt.Errorf("labels %v: want finite numbers", labels)
	case !ok || ext == labelField || ext == labelsField:
		return "", "", errors.New("want a name with an image's extension")
	}
	return key, ext, nil
}

func labelsOf(l []float32) webdataset.Field {
	const exact = 1 << 24 // float32 represents all integers up to it
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
