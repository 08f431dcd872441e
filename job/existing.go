package job

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/store"
)

// manifestName is the file of ByContent in the output folder. Its
// first line has the digest of what makes the outputs. Each other line is an
// image, with these fields between spaces: the SHA-256 of the image; its size
// and modification time (in ns, 0 if they prove nothing); the sizes of its
// output files, joined with commas; the name of the outputs and the absolute
// path of the image, as Go strings. The last line of a name holds. A line
// "begin NAME" says that the outputs of a name are about to be replaced: until
// its next line the name has none.
const manifestName = ".infer-prep-manifest"

const (
	manifestHead = "infer-prep manifest 1 "
	beginLine    = "begin "
)

// existing decides which images have their outputs already. It is safe for
// concurrent use.
type existing struct {
	files *imageFiles
	mu    sync.Mutex
	path  string // of the manifest; "" if names decide
	log   *os.File
	known map[string]made // by the name of the outputs
	here  string          // the working directory
	// present has the regular files of each output folder, if names decide.
	present map[string]map[string]struct{}

	listed digests // paths of the images in batches; nil for files of one image
}

// made is what the manifest has of an image.
type made struct {
	sum         [sha256.Size]byte
	size, mtime int64
	outputs     []int64 // sizes
	path        string
}

// racy is how old a file must be for its time to prove that it has not changed:
// clocks of file systems are coarse.
const racy = 2 * time.Second

// openExisting returns the existing of an output folder. digest is that of what
// makes the outputs. Images of a manifest with another digest count as changed.
func openExisting(files *imageFiles, how Existing, digest string) (*existing, error) {
	e := &existing{files: files, present: map[string]map[string]struct{}{}}
	if how == ByName {
		return e, nil
	}
	e.path, e.known = filepath.Join(files.dir, manifestName), map[string]made{}
	e.here = paths.Abs(".")
	lines, err := e.read(digest)
	if err != nil {
		return nil, err
	}
	if lines != 1+len(e.known) { // new, of another graph, or longer than it need be
		if err := e.compact(digest); err != nil {
			return nil, err
		}
	}
	e.log, err = os.OpenFile(e.path, os.O_WRONLY|os.O_APPEND, 0)
	return e, paths.Error(e.path, err)
}

// read reads the manifest and returns the number of its lines, 0 if it is not
// usable. Lines that a killed run wrote in part are ignored.
func (e *existing) read(digest string) (lines int, err error) {
	f, err := os.Open(e.path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, paths.Error(e.path, err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := r.ReadSlice('\n')
		if err == io.EOF {
			if len(line) > 0 {
				lines = -1 // a part of a line: compact
			}
			return lines, nil
		}
		if err != nil && err != bufio.ErrBufferFull {
			return 0, paths.Error(e.path, err)
		}
		if lines++; lines == 1 {
			if string(line) != manifestHead+digest+"\n" {
				return 0, nil
			}
			continue
		}
		text := string(line[:len(line)-1])
		if quoted, ok := strings.CutPrefix(text, beginLine); ok {
			if name, err := strconv.Unquote(quoted); err == nil {
				delete(e.known, name)
			}
		} else if name, m, ok := parseMade(text); ok {
			e.known[name] = m
		}
	}
}

func parseMade(line string) (name string, m made, ok bool) {
	sum, line, _ := strings.Cut(line, " ")
	if n, err := hex.Decode(m.sum[:], []byte(sum)); err != nil || n != len(m.sum) || len(sum) != 2*len(m.sum) {
		return "", m, false
	}
	size, line, _ := strings.Cut(line, " ")
	mtime, line, _ := strings.Cut(line, " ")
	outputs, line, _ := strings.Cut(line, " ")
	var err [4]error
	m.size, err[0] = strconv.ParseInt(size, 10, 64)
	m.mtime, err[1] = strconv.ParseInt(mtime, 10, 64)
	for s := range strings.SplitSeq(outputs, ",") {
		n, bad := strconv.ParseInt(s, 10, 64)
		if bad != nil {
			return "", m, false
		}
		m.outputs = append(m.outputs, n)
	}
	quoted, bad := strconv.QuotedPrefix(line)
	if bad != nil || !strings.HasPrefix(line[len(quoted):], " ") {
		return "", m, false
	}
	name, err[2] = strconv.Unquote(quoted)
	m.path, err[3] = strconv.Unquote(line[len(quoted)+1:])
	return name, m, errors.Join(err[:]...) == nil
}

func appendMade(b []byte, name string, m made) []byte {
	b = hex.AppendEncode(b, m.sum[:])
	b = strconv.AppendInt(append(b, ' '), m.size, 10)
	b = strconv.AppendInt(append(b, ' '), m.mtime, 10)
	for i, n := range m.outputs {
		b = strconv.AppendInt(append(b, " ,"[min(i, 1)]), n, 10)
	}
	b = strconv.AppendQuote(append(b, ' '), name)
	b = strconv.AppendQuote(append(b, ' '), m.path)
	return append(b, '\n')
}

// compact writes the manifest anew, with a line for each image.
func (e *existing) compact(digest string) error {
	return newfile.WriteAll([]newfile.File{{Path: e.path, Write: func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s%s\n", manifestHead, digest)
		var b []byte
		for name, m := range e.known {
			if err == nil {
				b = appendMade(b[:0], name, m)
				_, err = w.Write(b)
			}
		}
		return err
	}}})
}

func (e *existing) close() error {
	if e == nil || e.log == nil {
		return nil
	}
	return paths.Error(e.path, e.log.Close())
}

// outputSizes returns the sizes of an image's output files, nil if one is
// missing.
func (e *existing) outputSizes(name string) (sizes []int64) {
	for _, f := range e.files.files(name) {
		info, err := os.Lstat(f)
		if err != nil || !info.Mode().IsRegular() {
			return nil
		}
		sizes = append(sizes, info.Size())
	}
	return sizes
}

// haveFiles reports whether an image's output files exist. It reads each folder
// once: that takes less time than asking for each file.
func (e *existing) haveFiles(ctx context.Context, name string) (bool, error) {
	for _, f := range e.files.files(name) {
		dir, base := store.Dir(f), store.Base(f)
		e.mu.Lock()
		names, ok := e.present[dir]
		if !ok {
			var err error
			if names, err = presentFiles(ctx, dir); err != nil {
				e.mu.Unlock()
				return false, fmt.Errorf("cannot list the outputs: %w", paths.Error(dir, err))
			}
			e.present[dir] = names
		}
		e.mu.Unlock()
		if _, ok := names[base]; !ok {
			return false, nil
		}
	}
	return true, nil
}

// presentFiles returns the names of the files in an output folder. A folder of
// a store that cannot be listed is an error, because all images would be
// computed again.
func presentFiles(ctx context.Context, dir string) (map[string]struct{}, error) {
	if !paths.IsURI(dir) {
		return regularFiles(dir), nil
	}
	names := map[string]struct{}{}
	entries, err := store.ListNames(ctx, store.URI, dir)
	if err != nil && !paths.IsMissing(err) {
		return nil, err
	}
	for _, e := range entries {
		if !e.Folder {
			names[e.Base] = struct{}{}
		}
	}
	return names, nil
}

// regularFiles returns the names of the regular files in a folder, none if it
// cannot be read.
func regularFiles(dir string) map[string]struct{} {
	names := map[string]struct{}{}
	f, err := os.Open(dir)
	if err != nil {
		return names
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(1 << 10)
		for _, x := range entries {
			if x.Type().IsRegular() {
				names[x.Name()] = struct{}{}
			}
		}
		if err != nil {
			return names
		}
	}
}

// before reports whether an image has its outputs, as far as that is known
// without reading it.
func (e *existing) before(ctx context.Context, in *File) (bool, error) {
	if e == nil {
		return false, nil
	}
	if e.listed != nil {
		return e.listed.has(in.Path), nil
	}
	if e.path == "" {
		return e.haveFiles(ctx, in.Name)
	}
	m, ok := e.lookUp(in)
	if !ok || in.held || m.mtime == 0 || m.path != e.absolute(in.Path) {
		return false, nil
	}
	info, err := os.Stat(in.Path)
	return err == nil && info.Size() == m.size && info.ModTime().UnixNano() == m.mtime, nil
}

// lookUp returns what the manifest has of an image whose outputs are still
// there.
func (e *existing) lookUp(in *File) (made, bool) {
	e.mu.Lock()
	m, ok := e.known[in.Name]
	e.mu.Unlock()
	if !ok {
		return m, false
	}
	sizes := e.outputSizes(in.Name)
	if len(sizes) != len(m.outputs) {
		return m, false
	}
	for i, n := range sizes {
		if n != m.outputs[i] {
			return m, false
		}
	}
	return m, true
}

// absolute returns the absolute form of a path, for many files faster than
// filepath.Abs.
func (e *existing) absolute(path string) string {
	switch {
	case paths.IsURI(path):
		return path
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(e.here, path)
}

// stamp is the state of a file before it was read.
func (e *existing) stamp(in *File) (m made) {
	if e == nil || e.path == "" {
		return m
	}
	m.path = e.absolute(in.Path)
	if in.held || in.uri != "" {
		return m
	}
	if info, err := os.Stat(in.Path); err == nil {
		m.size = info.Size()
		if time.Since(info.ModTime()) > racy {
			m.mtime = info.ModTime().UnixNano()
		}
	}
	return m
}

// after completes an image's stamp with its data, and reports whether the image
// has its outputs.
func (e *existing) after(in *File, m *made, data []byte) (bool, error) {
	if e == nil || e.path == "" {
		return false, nil
	}
	m.sum = sha256.Sum256(data)
	old, ok := e.lookUp(in)
	if ok && old.sum == m.sum {
		m.outputs = old.outputs
		return true, e.record(in.Name, *m)
	}
	return false, e.begin(in.Name)
}

// begin forgets an image whose outputs are about to be replaced: a kill before
// done could leave new outputs with the record of the old image.
func (e *existing) begin(name string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.known[name]; !ok {
		return nil
	}
	delete(e.known, name)
	_, err := e.log.WriteString(beginLine + strconv.Quote(name) + "\n")
	return paths.Error(e.path, err)
}

// dropManifest removes the manifest of a folder to which a run writes without
// keeping it.
func dropManifest(dir string) error {
	err := os.Remove(filepath.Join(dir, manifestName))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return paths.Error(filepath.Join(dir, manifestName), err)
}

// done records an image whose outputs were written.
func (e *existing) done(in *File, m made) error {
	if e == nil || e.path == "" {
		return nil
	}
	m.outputs = e.outputSizes(in.Name)
	return e.record(in.Name, m)
}

// record appends a line with one call.
func (e *existing) record(name string, m made) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known[name] = m
	_, err := e.log.Write(appendMade(nil, name, m))
	return paths.Error(e.path, err)
}
