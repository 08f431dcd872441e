package job

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/tensor"
)

// imageFiles is a sink that writes files for each image below a folder.
type imageFiles struct {
	columns
	dir     string
	fold    bool // dir's file system ignores case; set by ready
	mu      sync.RWMutex
	numbers map[string]int // of images, by name
	force   bool           // remove numbered folders of an earlier run
	late    bool           // some images are numbered during the run
	lines   []string       // of the list
}

// files returns the output files of an image: one for each output, or one for
// all.
func (s *imageFiles) files(name string) []string {
	if s.format.file != nil {
		if s.format.Numbered && s.numberOf(name) < 0 {
			return nil // not an image
		}
		var l []string
		for i := range s.names {
			l = append(l, paths.Join(s.dir, s.format.file(s, name, i)))
		}
		return l
	}
	if s.format.many || len(s.names) == 1 {
		return []string{paths.Join(s.dir, name+s.format.Ext)}
	}
	var l []string
	for _, o := range s.names {
		l = append(l, paths.Join(s.dir, name+"."+o+s.format.Ext))
	}
	return l
}

// write writes all outputs of an image or none.
func (s *imageFiles) write(name string, out []*tensor.Tensor) (written, error) {
	return s.writeWith(name, out)
}

// writeWith is write with more files, which appear last.
func (s *imageFiles) writeWith(name string, out []*tensor.Tensor, more ...newfile.File) (w written, err error) {
	files := s.files(name)
	if s.format.line != nil {
		if _, err := s.format.line(s, name, files); err != nil {
			return w, err
		}
	}
	named, results, err := s.named(out)
	if err != nil {
		return w, err
	}
	var list []newfile.File
	for i, f := range files {
		part := named
		if len(files) > 1 {
			part = named[i : i+1]
		}
		list = append(list, newfile.File{Path: f, Write: func(w io.Writer) error { return s.format.write(w, part) }})
	}
	for i := range results {
		results[i].File = files[min(i, len(files)-1)]
	}
	list = append(list, more...)
	if !paths.IsURI(s.dir) {
		return written{results: results}, newfile.WriteAll(list)
	}
	w.results = results
	for i := range list { // the outputs are valid only until write returns
		var b bytes.Buffer
		if err := list[i].Write(&b); err != nil {
			return w, err
		}
		list[i].Write = func(w io.Writer) error {
			_, err := w.Write(b.Bytes())
			return err
		}
	}
	w.upload = func(ctx context.Context) error { return newfile.Put(ctx, list) }
	return w, nil
}

// ready creates the output folder and checks that it is writable.
func (s *imageFiles) ready(ctx context.Context) (err error) {
	if s.fold, err = readyFolder(ctx, s.dir); err == nil && s.format.Numbered {
		err = newSeries(ctx, s.dir, numberedFolder, s.force)
	}
	return err
}

// number numbers the images, in order. Other files get no number. It ends at
// the first input whose images are not known yet: a container or a stream.
func (s *imageFiles) number(ctx context.Context, inputs []File) {
	s.numbers = map[string]int{}
	for i := range inputs {
		in := &inputs[i]
		if s.late = in.pipe || in.container != nil; s.late || !s.format.Numbered {
			return
		}
		if _, ok := s.numbers[in.Name]; !ok && in.Err == nil && (in.Explicit || in.IsImage(ctx)) {
			s.numbers[in.Name] = len(s.numbers)
		}
		in.numbered = true
	}
}

// numberLate numbers an image that number could not.
func (s *imageFiles) numberLate(ctx context.Context, in *File) {
	if !s.format.Numbered || !s.late || in.numbered || in.Err != nil || !in.Explicit && !in.IsImage(ctx) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.numbers[in.Name]; ok {
		in.Err = fmt.Errorf("%s: an earlier image has the same name, %s", in.Path, in.Name)
		return
	}
	s.numbers[in.Name] = len(s.numbers)
}

// numberOf returns the number of an image, -1 if it has none.
func (s *imageFiles) numberOf(name string) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if n, ok := s.numbers[name]; ok {
		return n
	}
	return -1
}

// add adds an image that succeeded to the list. Its files are written.
func (s *imageFiles) add(o outcome) ([]outcome, error) {
	if s.format.List != "" {
		line, err := s.format.line(s, o.in.Name, s.files(o.in.Name))
		if err == nil { // write reported it
			s.lines = append(s.lines, line)
		}
	}
	return []outcome{o}, nil
}

// close writes the list.
func (s *imageFiles) close() ([]outcome, error) {
	if s.format.List == "" || len(s.lines) == 0 {
		return nil, nil
	}
	return nil, newfile.Write(context.Background(), filepath.Join(s.dir, s.format.List), func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(s.lines, "\n")+"\n")
		return err
	})
}

// abort writes no list.
func (s *imageFiles) abort() error { return nil }
