package cli

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

// input is one file, or part of one, that may be an image.
type input struct {
	path string // for messages and results, and to open unless uri is set
	uri  string // to open; "" for a path
	name string // of its outputs, below the output folder
	// explicit reports that the user named this file. It then must be an image.
	explicit bool
	folder   store.Opener // of the argument; nil if the argument names the file
	err      error        // why the file cannot be read, for example because it is missing
	skip     string       // why the file is left out without reading it
	in       string       // the path of the container that holds it
	reported bool         // a report has its line, or those of its images
	// named reports that a message names the file that is left out.
	named bool

	// held reports that data has the bytes, so that there is no file to open.
	// They need to be the first sniffBytes only if these are not an image's.
	held    bool
	data    []byte
	release func() // called when data is not needed any more; may be nil

	pipe      bool            // a stream: standard input or a named pipe
	container *records.Format // of a file with images in it, else nil
	numbered  bool            // imageFiles.number has seen it
	asked     asked           // by a line
}

// free gives back the memory of an input that holds its bytes.
func (in *input) free() {
	if in.data = nil; in.release != nil {
		in.release()
		in.release = nil
	}
}

// open opens the file. A name that leads out of the folder of the argument is
// an error, unless it is that of a link. ctx bounds the use of the file, too.
func (in *input) open(ctx context.Context) (store.File, error) {
	if in.pipe {
		return nil, errors.New("a pipe is not read here: want a file")
	}
	files := in.folder
	if files == nil {
		files = store.URI
	}
	return files.Open(ctx, in.storeName())
}

// base returns the last element of the file's path.
func (in *input) base() string {
	if in.uri != "" {
		return paths.Base(in.uri)
	}
	return filepath.Base(in.path)
}

// storeName returns the name by which a store takes the file. A clean path has
// no //, so that the store does not take it for a URI.
func (in *input) storeName() string {
	if in.uri != "" {
		return in.uri
	}
	return filepath.Clean(in.path)
}

// namedInput returns an input of one file that the user named.
func namedInput(path string) *input {
	path = paths.TrimFile(path)
	if paths.IsURI(path) {
		return &input{path: paths.Shown(path), uri: path, name: paths.Base(path), explicit: true}
	}
	return &input{path: path, name: filepath.Base(path), explicit: true, pipe: pipe.Is(path)}
}

// listing holds the inputs that the arguments of run name.
type listing struct {
	ctx     context.Context // ends the walk
	files   store.Opener
	folders []store.Folder // of the arguments
	inputs  []input        // in the order of the arguments, folders sorted
	// keepPath reports that outputs are named by the whole path of an argument.
	keepPath bool
	requests chan struct{} // holds a value for each request to a store
	walkers  chan struct{} // holds a value for each goroutine that walks a folder of a store
}

// close closes the folders. Inputs cannot be opened after it.
func (l *listing) close() {
	for _, f := range l.folders {
		f.Close()
	}
}

// expandAll turns arguments, each a file, a folder or a glob, as a path or a
// URI, into inputs. What exists is never a glob. Folders are walked recursively
// in lexical order. Symbolic links to regular files are followed; links to
// folders are not, since they can form cycles. The output folder out is skipped
// unless an argument names it. The caller closes the listing. With keepPath,
// names of outputs begin with the path of the argument.
func expandAll(ctx context.Context, files store.Opener, args []argument, out string, keepPath bool) *listing {
	l := &listing{ctx: ctx, files: files, keepPath: keepPath, requests: make(chan struct{}, remoteRequests), walkers: make(chan struct{}, remoteRequests)}
	// URIs are looked up ahead, since each takes a request or several.
	_ = ordered.Run(ctx, ordered.Options{To: len(args), Workers: max(1, min(remoteRequests, len(args)))},
		func(ctx context.Context, _, i int) (f found, _ error) {
			if a := args[i]; paths.IsURI(a.path) && paths.TrimFile(a.path) == a.path {
				f = l.find(ctx, a, out)
			}
			return f, nil
		},
		func(i int, f found, _ error) error {
			a := args[i]
			a.path = paths.TrimFile(a.path)
			if paths.IsURI(a.path) {
				l.inputs, l.folders = append(l.inputs, f.inputs...), append(l.folders, f.folders...)
			} else {
				l.path(a, out)
			}
			return nil
		})
	return l
}

// path adds what a path names. Braces of a path that does not exist are
// expanded as shells and webdataset do.
func (l *listing) path(a argument, out string) {
	if a.path == pipe.Stdin {
		l.inputs = append(l.inputs, input{path: a.path, name: pipe.StdinName, explicit: true, pipe: true})
		return
	}
	names := []string{a.path}
	if strings.Contains(a.path, "{") {
		if _, err := os.Lstat(a.path); errors.Is(err, fs.ErrNotExist) {
			if all, err := webdataset.Expand(a.path, nil); err == nil {
				names = all
			}
		}
	}
	for _, name := range names {
		l.literal(argument{name, a.name}, out)
	}
}

// literal adds what a path without braces names.
func (l *listing) literal(a argument, out string) {
	arg := a.path
	_, err := os.Stat(arg)
	if err == nil {
		l.add(arg, a.name, true, out)
		return
	}
	if _, lerr := os.Lstat(arg); lerr == nil || !errors.Is(err, fs.ErrNotExist) && !hasGlob(arg) {
		l.fail(arg, paths.Error(arg, err)) // a dangling link, a folder without permission
		return
	}
	l.glob(arg, out)
}

// expand is expandAll for plain arguments.
func expand(ctx context.Context, files store.Opener, args []string, out string) *listing {
	return expandAll(ctx, files, arguments(args), out, false)
}

func hasGlob(s string) bool { return strings.ContainsAny(s, "*?[") }

func (l *listing) glob(pattern, out string) {
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

func (l *listing) fail(path string, err error) {
	l.inputs = append(l.inputs, input{path: path, err: err})
}

// leave adds a file that is left out.
func (l *listing) leave(path, why string, named bool) {
	l.inputs = append(l.inputs, input{path: path, skip: why, named: named})
}

// add adds a file, or a folder with everything below it. name is that of the
// outputs; "" means the default.
func (l *listing) add(path, name string, explicit bool, out string) {
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
		l.inputs = append(l.inputs, input{path: path, name: name, explicit: explicit})
	case explicit && pipe.IsMode(info.Mode()):
		l.inputs = append(l.inputs, input{path: path, name: name, explicit: true, pipe: true})
	case explicit:
		l.fail(path, fmt.Errorf("%s: not a regular file", path))
	default:
		l.leave(path, "not a regular file", false)
	}
}

// folder adds the files below a folder. rel is the name of its outputs, and in
// the folder that the user named; top reports that it is this folder.
func (l *listing) folder(in store.Folder, path, rel, out string, top bool) {
	if l.ctx.Err() != nil || !top && paths.Same(path, out) {
		return
	}
	entries, err := os.ReadDir(path) // sorted
	if err != nil {
		l.fail(path, paths.Error(path, err))
	}
	l.inputs = slices.Grow(l.inputs, len(entries))
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
			l.inputs = append(l.inputs, input{path: p, name: r, folder: in})
		case e.Type()&fs.ModeSymlink != 0:
			l.link(in, p, r)
		default:
			l.leave(p, "not a regular file", false) // a pipe or a device
		}
	}
}

// linkToFolder is why a link to a folder is left out.
const linkToFolder = "a link to a folder, which is not followed"

// link adds a link in a folder.
func (l *listing) link(in store.Folder, path, rel string) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		l.fail(path, paths.Error(path, err))
	case info.IsDir():
		l.leave(path, linkToFolder, true)
	case !info.Mode().IsRegular():
		l.leave(path, "not a regular file", false)
	default:
		// Anything but an image is left out after its first bytes.
		l.inputs = append(l.inputs, input{path: path, name: rel, folder: store.FollowLinks(l.files, in)})
	}
}

// sniffBytes is the number of bytes that codec.Sniff reads.
const sniffBytes = 64

// isImage reports whether the file starts like an image of a known format. It
// reports true for a file that it cannot read: reading it again will return the
// error.
func (in *input) isImage(ctx context.Context) bool {
	if in.skip != "" {
		return false
	}
	if in.held {
		return codec.Sniff(in.data) != ""
	}
	f, err := in.open(ctx)
	if err != nil {
		return true
	}
	defer f.Close()
	head := make([]byte, sniffBytes)
	n, err := f.ReadAt(head, 0)
	return err != nil && err != io.EOF || codec.Sniff(head[:n]) != ""
}

// claim assigns output files to the inputs, in order. An input fails if one of
// its output files belongs to an earlier input or is an input itself. Files
// that are not images claim nothing.
func (l *listing) claim(s *imageFiles) {
	key := func(path string) string {
		if s.fold {
			return strings.ToLower(path)
		}
		return path
	}
	l.claimFolders(s, key)
	owners := map[string]int{} // number of inputs for each output file
	outputs := map[string]*input{}
	for i := range l.inputs {
		in := &l.inputs[i]
		if in.err != nil || in.skip != "" || in.container != nil {
			continue
		}
		for _, f := range s.files(in.name) {
			owners[key(f)]++
		}
		if strings.HasSuffix(in.path, s.format.ext) { // its name may be that of an output
			outputs[key(in.place())] = in
		}
	}
	taken := map[string]*input{}
	for i := range l.inputs {
		in := &l.inputs[i]
		if in.err != nil || in.skip != "" || in.container != nil {
			continue
		}
		files := s.files(in.name)
		shared := slices.ContainsFunc(files, func(f string) bool { return owners[key(f)] > 1 })
		if shared && !in.explicit && !in.isImage(l.ctx) {
			continue // run will skip it
		}
		for _, f := range files {
			if first := taken[key(f)]; first != nil {
				in.err = fmt.Errorf("%s: its output %s is already the output of %s%s", in.path, f, first.path, l.keepHint())
			} else if len(outputs) > 0 {
				if o := outputs[key(paths.Abs(f))]; o != nil && (o.explicit || o.isImage(l.ctx)) {
					in.err = fmt.Errorf("%s: its output %s is an input", in.path, f)
				}
			}
		}
		if in.err == nil && shared {
			for _, f := range files {
				taken[key(f)] = in
			}
		}
	}
}

// keepHint advises --keep-path for inputs with equal outputs.
func (l *listing) keepHint() string {
	if l.keepPath {
		return ""
	}
	return "; --keep-path keeps them apart by their folders"
}

// claimFolders assigns the folders of containers' outputs, which belong to one
// container alone.
func (l *listing) claimFolders(s *imageFiles, key func(string) string) {
	folders := map[string]*input{}
	for i := range l.inputs {
		in := &l.inputs[i]
		if in.err != nil || in.skip != "" || in.container == nil && !in.pipe {
			continue
		}
		folder := paths.Join(s.dir, in.name)
		switch first := folders[key(in.name)]; {
		case first != nil:
			in.err = fmt.Errorf("%s: its output folder %s is already that of %s%s", in.path, folder, first.path, l.keepHint())
		case in.container != nil && paths.Same(folder, in.place()):
			in.err = fmt.Errorf("%s: its output folder %s is an input", in.path, folder)
		default:
			folders[key(in.name)] = in
		}
	}
	if len(folders) == 0 {
		return
	}
	for i := range l.inputs {
		in := &l.inputs[i]
		if in.err != nil || in.skip != "" || in.container != nil || in.pipe {
			continue
		}
		for i := range in.name {
			if i == 0 || !os.IsPathSeparator(in.name[i]) {
				continue
			}
			if o := folders[key(in.name[:i])]; o != nil && (in.explicit || in.isImage(l.ctx)) {
				in.err = fmt.Errorf("%s: its output is in the output folder %s of %s", in.path, paths.Join(s.dir, o.name), o.path)
				break
			}
		}
	}
}

// place returns what identifies a file: its URI or absolute path.
func (in *input) place() string {
	if in.uri != "" {
		return in.uri
	}
	return paths.Abs(in.path)
}
