package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/ordered"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/store"
)

// Input is what a Job reads.
type Input struct {
	// Path is a path or a URI. It names a file, a folder with everything below
	// it, or a glob with *, ?, [ ] and { }, but not **; or it is "-", standard
	// input. An existing path is not read as a glob. A file can be a container:
	// a tar or record file with images in it.
	Path string
	// Name is the name of the outputs, below the output folder and without
	// their extension. Default: the last element of the path; for files of
	// folders the part below the folder; in a Stream the whole path.
	Name string
	// Data is an encoded image, in a Stream. Name is then required and Path is
	// for messages. The run only reads it.
	Data []byte
	// Err, in a Stream, makes the input fail.
	Err error
}

// File is a file, or a part of one, that may be an image.
type File struct {
	// Path is the file's path or URI, for messages and results. The parts of a
	// URI that grant access are removed.
	Path string
	// Name is that of its outputs, below the output folder.
	Name string
	// Explicit reports that the user named this file. It then must be an image.
	Explicit bool
	// Err says why the file cannot be read, for example because it is missing.
	Err error

	uri      string // to open; "" for a path
	files    store.Opener
	folder   store.Opener // that holds the file, of a folder that the user named; else nil
	skip     string       // why the file is left out without reading it
	in       string       // the path of the container that holds it
	reported bool         // a report has its line, or those of its images
	// named reports that a message names the file that is left out.
	named bool

	// held reports that data has the bytes and no file is opened. If the bytes
	// are not an image's, data needs to have only the first codec.SniffSize.
	held    bool
	data    []byte
	release func() // called when data is not needed any more; may be nil

	pipe      bool            // a stream: standard input or a named pipe
	container *records.Format // of a file with images in it, else nil
	numbered  bool            // imageFiles.number has seen it
	// sniff reports whether data begins a file that the run decodes; nil means
	// an image.
	sniff func(head []byte) bool
}

// free releases the memory of an input that holds its bytes.
func (in *File) free() {
	if in.data = nil; in.release != nil {
		in.release()
		in.release = nil
	}
}

// Remote reports whether the file is in a store.
func (in *File) Remote() bool { return in.uri != "" }

// Open opens the file. A name that leads out of the folder of the argument is
// an error, unless it is that of a link. ctx bounds the use of the file, too.
func (in *File) Open(ctx context.Context) (store.File, error) {
	if in.pipe {
		return nil, errors.New("a pipe is not read here: want a file")
	}
	files := in.folder
	if files == nil {
		files = in.files
	}
	return files.Open(ctx, in.storeName())
}

// base returns the last element of the file's path.
func (in *File) base() string {
	if in.uri != "" {
		return paths.Base(in.uri)
	}
	return filepath.Base(in.Path)
}

// storeName returns the name by which a store takes the file. A clean path has
// no //, so that the store does not take it for a URI.
func (in *File) storeName() string {
	if in.uri != "" {
		return in.uri
	}
	return filepath.Clean(in.Path)
}

// One returns the file that a path or URI names, without looking for it.
func One(files store.Opener, path string) *File {
	path = paths.TrimFile(path)
	if paths.IsURI(path) {
		return &File{Path: paths.Shown(path), uri: path, Name: paths.Base(path), Explicit: true, files: files}
	}
	return &File{Path: path, Name: filepath.Base(path), Explicit: true, pipe: pipe.Is(path), files: files}
}

// Listing holds the files that inputs name.
type Listing struct {
	// Files are in the order of the inputs, those of a folder sorted.
	Files []File

	ctx     context.Context // ends the walk
	files   store.Opener
	folders []store.Folder // that the inputs name
	// keepPath reports that outputs are named by the whole path of an argument.
	keepPath bool
	requests chan struct{} // holds a value for each request to a store
	walkers  chan struct{} // holds a value for each goroutine that walks a folder of a store
}

// Close closes the folders. Files cannot be opened after it.
func (l *Listing) Close() {
	for _, f := range l.folders {
		f.Close()
	}
}

// Find lists the files that inputs name. Folders are walked recursively in
// lexical order. Symbolic links to regular files are followed; links to folders
// are not, since they can form cycles. The folder out is skipped unless an
// input names it. Find reads no file. The caller closes the listing, and ctx
// bounds its use.
func Find(ctx context.Context, files store.Opener, inputs []Input, out string) *Listing {
	return find(ctx, files, inputs, out, false)
}

// find is Find. With keepPath, names of outputs begin with the path of the
// input.
func find(ctx context.Context, files store.Opener, args []Input, out string, keepPath bool) *Listing {
	l := &Listing{ctx: ctx, files: files, keepPath: keepPath, requests: make(chan struct{}, remoteRequests), walkers: make(chan struct{}, remoteRequests)}
	// URIs are looked up ahead, since each takes a request or several.
	_ = ordered.Run(ctx, ordered.Options{To: len(args), Workers: max(1, min(remoteRequests, len(args)))},
		func(ctx context.Context, _, i int) (f found, _ error) {
			if a := args[i]; paths.IsURI(a.Path) && paths.TrimFile(a.Path) == a.Path {
				f = l.find(ctx, a, out)
			}
			return f, nil
		},
		func(i int, f found, _ error) error {
			a := args[i]
			a.Path = paths.TrimFile(a.Path)
			if paths.IsURI(a.Path) {
				l.Files, l.folders = append(l.Files, f.inputs...), append(l.folders, f.folders...)
			} else {
				l.path(a, out)
			}
			return nil
		})
	for i := range l.Files {
		l.Files[i].files = files
	}
	return l
}

// path adds what a path names. Braces of a path that does not exist are
// expanded as shells and webdataset do.
func (l *Listing) path(a Input, out string) {
	if a.Path == pipe.Stdin {
		l.Files = append(l.Files, File{Path: a.Path, Name: pipe.StdinName, Explicit: true, pipe: true})
		return
	}
	names := []string{a.Path}
	if strings.Contains(a.Path, "{") {
		if _, err := os.Lstat(a.Path); errors.Is(err, fs.ErrNotExist) {
			if all, err := webdataset.Expand(a.Path, nil); err == nil {
				names = all
			}
		}
	}
	for _, name := range names {
		l.literal(Input{Path: name, Name: a.Name}, out)
	}
}

// literal adds what a path without braces names.
func (l *Listing) literal(a Input, out string) {
	arg := a.Path
	_, err := os.Stat(arg)
	if err == nil {
		l.add(arg, a.Name, true, out)
		return
	}
	if _, lerr := os.Lstat(arg); lerr == nil || !errors.Is(err, fs.ErrNotExist) && !hasGlob(arg) {
		l.fail(arg, paths.Error(arg, err)) // a dangling link, a folder without permission
		return
	}
	l.glob(arg, out)
}

func hasGlob(s string) bool { return strings.ContainsAny(s, "*?[") }

func (l *Listing) glob(pattern, out string) {
	switch {
	case pattern == "":
		l.fail(pattern, errors.New("empty file name"))
		return
	case !hasGlob(pattern):
		l.fail(pattern, paths.Missing(pattern+": no such file or folder"))
		return
	case strings.Contains(pattern, "**"): // Glob reads ** as *, and would miss files
		l.fail(pattern, fmt.Errorf("%s: no such file, and globs have no **: name the folder to walk it", pattern))
		return
	}
	found, err := filepath.Glob(pattern)
	switch {
	case err != nil:
		l.fail(pattern, fmt.Errorf("%s: no such file, and not a valid glob: %w", pattern, err))
	case len(found) == 0:
		l.fail(pattern, paths.Missing(pattern+": no file matches"))
	}
	slices.Sort(found)
	for _, f := range found {
		if newfile.IsTemp(f) {
			l.leave(f, "a temporary file", false)
		} else if !paths.Same(f, out) {
			l.add(f, "", false, out)
		}
	}
}

//go:noinline
func (l *Listing) fail(path string, err error) {
	l.Files = append(l.Files, File{Path: path, Err: err})
}

// leave adds a file that is left out.
//
//go:noinline
func (l *Listing) leave(path, why string, named bool) {
	l.Files = append(l.Files, File{Path: path, skip: why, named: named})
}

// add adds a file, or a folder with everything below it. name is that of the
// outputs; "" means the default.
func (l *Listing) add(path, name string, explicit bool, out string) {
	info, err := os.Stat(path)
	below := ""
	if l.keepPath {
		below = keptPath(path)
	}
	if name == "" {
		if name = below; name == "" {
			name = filepath.Base(path)
		}
	}
	switch {
	case err != nil:
		l.fail(path, paths.Error(path, err))
	case info.IsDir():
		f, err := store.OpenFolder(l.ctx, l.files, filepath.Clean(path))
		if err != nil {
			l.fail(path, paths.Error(path, err))
			return
		}
		l.folders = append(l.folders, f)
		l.folder(f, path, below, out, true)
	case info.Mode().IsRegular():
		l.Files = append(l.Files, File{Path: path, Name: name, Explicit: explicit})
	case explicit && pipe.IsMode(info.Mode()):
		l.Files = append(l.Files, File{Path: path, Name: name, Explicit: true, pipe: true})
	case explicit:
		l.fail(path, fmt.Errorf("%s: not a regular file", path))
	default:
		l.leave(path, "not a regular file", false)
	}
}

// folder adds the files below a folder. rel is the name of its outputs, and in
// the folder that the user named; top reports that it is this folder.
func (l *Listing) folder(in store.Folder, path, rel, out string, top bool) {
	if l.ctx.Err() != nil || !top && paths.Same(path, out) {
		return
	}
	entries, err := os.ReadDir(path) // sorted
	if err != nil {
		l.fail(path, paths.Error(path, err))
	}
	l.Files = slices.Grow(l.Files, len(entries))
	for _, e := range entries {
		p, r := filepath.Join(path, e.Name()), filepath.Join(rel, e.Name())
		switch {
		case newfile.IsTemp(p):
			l.leave(p, "a temporary file", false)
		case e.IsDir():
			if imageName(p) {
				l.leave(p, "a folder", true)
			}
			l.folder(in, p, r, out, false)
		case e.Type().IsRegular():
			l.Files = append(l.Files, File{Path: p, Name: r, folder: in})
		case e.Type()&fs.ModeSymlink != 0:
			l.link(in, p, r)
		default:
			l.leave(p, "not a regular file", false) // a pipe or a device
		}
	}
}

// LinkToFolder is why a link to a folder is skipped.
const LinkToFolder = "a link to a folder, which is not followed"

// link adds a link in a folder.
func (l *Listing) link(in store.Folder, path, rel string) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		l.fail(path, paths.Error(path, err))
	case info.IsDir():
		l.leave(path, LinkToFolder, true)
	case !info.Mode().IsRegular():
		l.leave(path, "not a regular file", false)
	default:
		// Anything but an image is left out after its first bytes.
		l.Files = append(l.Files, File{Path: path, Name: rel, folder: store.FollowLinks(l.files, in)})
	}
}

// IsImage reports whether the file starts like an image of a known format, or
// after Listing.For like a file that the graph decodes. It reports true for a
// file that it cannot read: reading it again will return the error.
func (in *File) IsImage(ctx context.Context) bool {
	if in.skip != "" {
		return false
	}
	if in.held {
		return in.starts(in.data)
	}
	f, err := in.Open(ctx)
	if err != nil {
		return true
	}
	defer f.Close()
	head := make([]byte, codec.SniffSize)
	n, err := f.ReadAt(head, 0)
	return err != nil && err != io.EOF || in.starts(head[:n])
}

// starts reports whether head begins a file that the run decodes.
func (in *File) starts(head []byte) bool {
	if in.sniff != nil {
		return in.sniff(head)
	}
	return codec.Sniff(head) != ""
}

// claim assigns output files to the inputs, in order. An input fails if one of
// its output files belongs to an earlier input or is an input itself. Files
// that are not images claim nothing.
func (l *Listing) claim(s *imageFiles) {
	key := func(path string) string {
		if s.fold {
			return strings.ToLower(path)
		}
		return path
	}
	l.claimFolders(s, key)
	owners := map[string]int{} // number of inputs for each output file
	outputs := map[string]*File{}
	for i := range l.Files {
		in := &l.Files[i]
		if in.Err != nil || in.skip != "" || in.container != nil {
			continue
		}
		for _, f := range s.files(in.Name) {
			owners[key(f)]++
		}
		if strings.HasSuffix(in.Path, s.format.Ext) { // its name may be that of an output
			outputs[key(in.place())] = in
		}
	}
	taken := map[string]*File{}
	for i := range l.Files {
		in := &l.Files[i]
		if in.Err != nil || in.skip != "" || in.container != nil {
			continue
		}
		files := s.files(in.Name)
		shared := slices.ContainsFunc(files, func(f string) bool { return owners[key(f)] > 1 })
		if shared && !in.Explicit && !in.IsImage(l.ctx) {
			continue // run will skip it
		}
		for _, f := range files {
			if first := taken[key(f)]; first != nil {
				in.Err = l.taken("%s: its output %s is already the output of %s", in.Path, f, first.Path)
			} else if len(outputs) > 0 {
				if o := outputs[key(paths.Abs(f))]; o != nil && (o.Explicit || o.IsImage(l.ctx)) {
					in.Err = fmt.Errorf("%s: its output %s is an input", in.Path, f)
				}
			}
		}
		if in.Err == nil && shared {
			for _, f := range files {
				taken[key(f)] = in
			}
		}
	}
}

// taken returns the error of an input whose output is that of another.
func (l *Listing) taken(format string, args ...any) error {
	if l.keepPath {
		return fmt.Errorf(format, args...)
	}
	return advice(format+"; %s keeps them apart by their folders", append(args, Field("KeepPath"))...)
}

// claimFolders assigns the folders of containers' outputs, which belong to one
// container alone.
func (l *Listing) claimFolders(s *imageFiles, key func(string) string) {
	folders := map[string]*File{}
	for i := range l.Files {
		in := &l.Files[i]
		if in.Err != nil || in.skip != "" || in.container == nil && !in.pipe {
			continue
		}
		folder := paths.Join(s.dir, in.Name)
		switch first := folders[key(in.Name)]; {
		case first != nil:
			in.Err = l.taken("%s: its output folder %s is already that of %s", in.Path, folder, first.Path)
		case in.container != nil && paths.Same(folder, in.place()):
			in.Err = fmt.Errorf("%s: its output folder %s is an input", in.Path, folder)
		default:
			folders[key(in.Name)] = in
		}
	}
	if len(folders) == 0 {
		return
	}
	for i := range l.Files {
		in := &l.Files[i]
		if in.Err != nil || in.skip != "" || in.container != nil || in.pipe {
			continue
		}
		for i := range in.Name {
			if i == 0 || !os.IsPathSeparator(in.Name[i]) {
				continue
			}
			if o := folders[key(in.Name[:i])]; o != nil && (in.Explicit || in.IsImage(l.ctx)) {
				in.Err = fmt.Errorf("%s: its output is in the output folder %s of %s", in.Path, paths.Join(s.dir, o.Name), o.Path)
				break
			}
		}
	}
}

// place returns what identifies a file: its URI or absolute path.
func (in *File) place() string {
	if in.uri != "" {
		return in.uri
	}
	return paths.Abs(in.Path)
}
