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
)

// input is one file that may be an image.
type input struct {
	path string // as it is opened and named in messages
	name string // what its outputs are called below the output folder
	// explicit says that the user named this file, so that one which is no image is an error.
	explicit bool
	err      error // why it cannot be read at all, such as that it is missing
}

// listing is what the arguments of run come to.
type listing struct {
	ctx     context.Context // its end ends the walk
	inputs  []input         // in the order of the arguments, folders sorted
	skipped int             // what is no regular file below folders and globs
}

// expand turns arguments, each a file, a folder or a glob, into inputs. A path
// that exists is taken as it is, whatever characters are in it. Folders are
// walked recursively in lexical order; symbolic links to files are followed,
// those to folders are not (there would be cycles). out, the folder that is
// written to, is left out unless it is named itself.
func expand(ctx context.Context, args []string, out string) *listing {
	l := &listing{ctx: ctx}
	for _, arg := range args {
		_, err := os.Stat(arg)
		if err == nil {
			l.add(arg, filepath.Base(arg), true, out)
			continue
		}
		if _, lerr := os.Lstat(arg); lerr == nil || !errors.Is(err, fs.ErrNotExist) && !hasGlob(arg) {
			l.fail(arg, plain(arg, err)) // a link to nowhere, a folder that may not be entered
			continue
		}
		l.glob(arg, out)
	}
	return l
}

func hasGlob(s string) bool { return strings.ContainsAny(s, "*?[") }

// isURI reports whether s is written as a URI and is no path that exists.
func isURI(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	if !ok || scheme == "" || strings.ContainsAny(scheme, "*?[/") {
		return false
	}
	_, err := os.Lstat(s)
	return err != nil
}

func (l *listing) glob(pattern, out string) {
	switch {
	case isURI(pattern):
		l.fail(pattern, fmt.Errorf("%s: URIs are not read, want a file, a folder or a glob", pattern))
		return
	case pattern == "":
		l.fail(pattern, errors.New("an empty name is no file or folder"))
		return
	case !hasGlob(pattern):
		l.fail(pattern, fmt.Errorf("%s: no such file or folder", pattern))
		return
	case strings.Contains(pattern, "**"): // which Glob takes for *, so that files would be missed
		l.fail(pattern, fmt.Errorf("%s: no such file, and globs have no **; a folder is walked when it is named", pattern))
		return
	}
	found, err := filepath.Glob(pattern)
	switch {
	case err != nil:
		l.fail(pattern, fmt.Errorf("%s: no such file, and not a glob: %w", pattern, err))
	case len(found) == 0:
		l.fail(pattern, fmt.Errorf("%s: no such file, and nothing matches it as a glob", pattern))
	}
	slices.Sort(found)
	for _, f := range found {
		if isTemp(f) {
			l.skipped++
		} else if !sameFile(f, out) {
			l.add(f, filepath.Base(f), false, out)
		}
	}
}

func (l *listing) fail(path string, err error) {
	l.inputs = append(l.inputs, input{path: path, err: err})
}

// add adds a file, or a folder with all below it.
func (l *listing) add(path, name string, explicit bool, out string) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		l.fail(path, plain(path, err))
	case info.IsDir():
		l.folder(path, "", out)
	case info.Mode().IsRegular():
		l.inputs = append(l.inputs, input{path: path, name: name, explicit: explicit})
	case explicit:
		l.fail(path, fmt.Errorf("%s: not a regular file", path))
	default:
		l.skipped++
	}
}

// folder adds what is below a folder; rel is where we are below the folder that was named.
func (l *listing) folder(path, rel, out string) {
	if l.ctx.Err() != nil || rel != "" && sameFile(path, out) {
		return
	}
	entries, err := os.ReadDir(path) // sorted
	if err != nil {
		l.fail(path, plain(path, err))
	}
	for _, e := range entries {
		p, r := filepath.Join(path, e.Name()), filepath.Join(rel, e.Name())
		switch {
		case isTemp(p):
			l.skipped++
		case e.IsDir():
			l.folder(p, r, out)
		case e.Type().IsRegular():
			l.inputs = append(l.inputs, input{path: p, name: r})
		case e.Type()&fs.ModeSymlink != 0:
			if info, err := os.Stat(p); err == nil && info.IsDir() {
				l.skipped++
				continue
			}
			l.add(p, r, false, out)
		default:
			l.add(p, r, false, out)
		}
	}
}

func sameFile(a, b string) bool {
	i, err := os.Stat(a)
	if err != nil {
		return false
	}
	j, err := os.Stat(b)
	return err == nil && os.SameFile(i, j)
}

// sniffBytes is how much of a file tells its format; codec.Sniff looks at no more.
const sniffBytes = 64

// isImage reports whether a file starts as an image of a known format does. A
// file that cannot be read counts as one: reading it will say why not.
func isImage(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	head := make([]byte, sniffBytes)
	n, err := io.ReadFull(f, head)
	return err != nil && err != io.EOF && err != io.ErrUnexpectedEOF || codec.Sniff(head[:n]) != ""
}

// claim gives every input the files that its outputs are written to, in order;
// an input that wants a file which another has already, or which is itself an
// input, fails. Inputs that are no images take no files.
func (l *listing) claim(s *sink) {
	key := func(path string) string {
		if s.fold {
			return strings.ToLower(path)
		}
		return path
	}
	owners := map[string]int{} // by output file: how many inputs want it
	outputs := map[string]*input{}
	for i := range l.inputs {
		in := &l.inputs[i]
		if in.err != nil {
			continue
		}
		for _, f := range s.files(in.name) {
			owners[key(f)]++
		}
		if strings.HasSuffix(in.path, s.format.ext) { // it may be called as an output is
			outputs[key(absolute(in.path))] = in
		}
	}
	taken := map[string]*input{}
	for i := range l.inputs {
		in := &l.inputs[i]
		if in.err != nil {
			continue
		}
		files := s.files(in.name)
		shared := slices.ContainsFunc(files, func(f string) bool { return owners[key(f)] > 1 })
		if shared && !in.explicit && !isImage(in.path) {
			continue // it will be skipped
		}
		for _, f := range files {
			if first := taken[key(f)]; first != nil {
				in.err = fmt.Errorf("%s: its output %s is already that of %s", in.path, f, first.path)
			} else if len(outputs) > 0 {
				if o := outputs[key(absolute(f))]; o != nil && (o.explicit || isImage(o.path)) {
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

func absolute(path string) string {
	if a, err := filepath.Abs(path); err == nil {
		return a
	}
	return filepath.Clean(path)
}
