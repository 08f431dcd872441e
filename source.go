package inferprep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	_ "github.com/infer-prep/infer-prep/importer/all" // every ecosystem
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/store"
)

// The errors of a Source, for errors.Is. The errors of a file whose format is
// known are those of its importer.
var (
	// ErrUnknown reports a file or folder of no known format.
	ErrUnknown = errors.New("unknown format")
	// ErrAmbiguous reports a file or folder that may be of several formats. The
	// message names them; Source.Format chooses.
	ErrAmbiguous = errors.New("ambiguous format")
	// ErrOption reports a field of a Source that does not go with the format.
	ErrOption = errors.New("invalid option")
)

// The formats of a Source that are no importer's.
const (
	FormatGraph  = "graph"  // a data graph in JSON or msgp
	FormatBundle = "bundle" // a model bundle
	FormatPreset = "preset" // the name of a preset
)

// maxGraphBytes is the largest file that describes a graph. Real ones are below
// 100 kB.
const maxGraphBytes = 16 << 20

// Source says where a model's preprocessing comes from.
type Source struct {
	// Name is a path or URL (see store.URI) of a file, or of a folder in which
	// the format chooses the file; or "preset:" and the name of a preset.
	Name string
	// Data is the content of the file, if it is not to be read. Name is then
	// optional, for messages.
	Data []byte
	// Format is "graph", "bundle", "preset" or the name of an importer, such as
	// "hf". Default: recognized by the content.
	Format string
	// Backend is one of the importer's backends, such as "pil". Default: the
	// importer's own.
	Backend string
	// Decoder is one of the importer's ways of reading image files, such as
	// "torchcodec". Default: the importer's own.
	Decoder string
	// IgnoreKeys lists keys of the file to ignore although the importer does
	// not know them. The graph's reference records it. Default: none.
	IgnoreKeys []string
}

// Error reports a file that cannot be opened.
type Error struct {
	Name string // the file, or the folder; a URL has no query
	Err  error
}

func (e *Error) Error() string {
	if e.Name == "" {
		return "inferprep: open: " + e.Err.Error()
	}
	return "inferprep: open " + e.Name + ": " + e.Err.Error()
}

// Unwrap returns the error of the format, the importer or the store.
func (e *Error) Unwrap() error { return e.Err }

// Graph reads the graph. Its errors are of type *Error.
func (s Source) Graph(ctx context.Context) (*datagraph.Graph, error) {
	s, err := s.Find(ctx)
	if err != nil {
		return nil, err
	}
	g, err := s.graph(ctx)
	if err != nil {
		return nil, &Error{store.Redact(s.Name), err}
	}
	return g, nil
}

// Find reads the file and returns s with the format, with the file that the
// format chose in a folder as Name, and with its content as Data. A bundle is
// not read. Graph of the result reads the same content. Find's errors are of
// type *Error.
func (s Source) Find(ctx context.Context) (Source, error) {
	if name, ok := strings.CutPrefix(s.Name, FormatPreset+":"); ok && s.Format == "" && s.Data == nil {
		s.Name, s.Format = name, FormatPreset
	}
	found, err := s.find(ctx)
	if errors.Is(err, fs.ErrNotExist) && slices.Contains(preset.Names(), s.Name) {
		err = fmt.Errorf("%w; the preset of this name is %s:%s", err, FormatPreset, s.Name)
	}
	if err != nil {
		return Source{}, &Error{store.Redact(s.Name), err}
	}
	return found, nil
}

// find is Find with other errors.
func (s Source) find(ctx context.Context) (_ Source, err error) {
	switch {
	case s.Format == FormatPreset:
		return s, nil
	case s.Name == "" && s.Data == nil:
		return s, errors.New("no name: want a model's folder, a file, or preset:NAME")
	case s.Data != nil:
		s.Format, err = s.detect(store.Base(s.Name), s.Data)
		return s, err
	}
	info, err := store.URI.Stat(ctx, s.Name)
	if err != nil {
		return s, err
	}
	if info.Folder {
		return s.inFolder(ctx)
	}
	f, err := store.URI.Open(ctx, s.Name)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	head := make([]byte, min(f.Size(), headBytes))
	if n, err := f.ReadAt(head, 0); n < len(head) {
		return s, err
	}
	if s.Format, err = s.detect(store.Base(s.Name), head); err != nil || s.Format == FormatBundle {
		return s, err
	}
	most := int64(maxGraphBytes)
	if i, err := importer.Lookup(s.Format); err == nil && i.MaxBytes > 0 {
		most = i.MaxBytes
	}
	if f.Size() > most {
		return s, fmt.Errorf("%w: %d bytes, the limit of %s is %d", store.ErrTooLarge, f.Size(), s.Format, most)
	}
	s.Data, err = store.ReadAll(f, nil)
	return s, err
}

// headBytes is the part of a file that shows its format.
const headBytes = 1 << 16

// detect returns s.Format, or the format of a file that begins with head.
func (s Source) detect(base string, head []byte) (string, error) {
	if s.Format != "" {
		return s.Format, nil
	}
	var l []string
	if modelbundle.Detect(head) {
		l = append(l, FormatBundle)
	}
	if datagraph.Detect(head) {
		l = append(l, FormatGraph)
	}
	for _, i := range importer.All() {
		if i.Detect(base, head) {
			l = append(l, i.Name)
		}
	}
	return one(l, "the file")
}

// inFolder chooses a file in the folder s.Name.
func (s Source) inFolder(ctx context.Context) (Source, error) {
	read := func(name string) ([]byte, error) {
		return store.ReadFile(ctx, store.URI, store.Join(s.Name, name), nil, maxGraphBytes)
	}
	var found []Source
	var formats []string
	var none error // the first importer's without a file
	for _, i := range importer.All() {
		if s.Format != "" && i.Name != s.Format || i.Folder == nil {
			continue
		}
		name, data, err := i.Folder(read)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return s, err
		case err != nil:
			none = cmp.Or(none, err)
		case s.Format != "" || i.Detect(name, data):
			f := s
			f.Name, f.Data, f.Format = store.Join(s.Name, name), data, i.Name
			found, formats = append(found, f), append(formats, i.Name)
		}
	}
	if s.Format != "" && len(found) == 0 {
		if none == nil {
			none = fmt.Errorf("%w: format %s takes a file, not a folder", ErrOption, s.Format)
		}
		return s, none
	}
	if _, err := one(formats, "the folder"); err != nil {
		return s, err
	}
	return found[0], nil
}

// one returns the only format.
func one(l []string, what string) (string, error) {
	switch len(l) {
	case 0:
		return "", fmt.Errorf("%w: %s has the marks of none: want a graph, a bundle, or a file of %s", ErrUnknown, what, strings.Join(importer.Names(), ", "))
	case 1:
		return l[0], nil
	}
	return "", fmt.Errorf("%w: %s may be of %s: set the format", ErrAmbiguous, what, strings.Join(l, " or "))
}

// graph reads the graph of a source that Find returned.
func (s Source) graph(ctx context.Context) (_ *datagraph.Graph, err error) {
	switch s.Format {
	case FormatPreset, FormatBundle, FormatGraph:
		if err := s.noOptions(); err != nil {
			return nil, err
		}
	}
	switch s.Format {
	case FormatPreset:
		return preset.Graph(s.Name)
	case FormatBundle:
		var b *modelbundle.Bundle
		if s.Data != nil {
			b, err = modelbundle.Open(s.Data, modelbundle.DefaultLimits())
		} else {
			b, err = modelbundle.OpenStore(ctx, store.URI, s.Name, modelbundle.DefaultLimits())
		}
		if err != nil {
			return nil, err
		}
		return b.Graph(), b.Close()
	case FormatGraph:
		if modelbundle.Detect(s.Data) {
			return nil, fmt.Errorf("%w: the file is a bundle, want a graph", ErrOption)
		}
		return datagraph.Parse(s.Data)
	}
	i, err := importer.Lookup(s.Format)
	if err != nil {
		return nil, err
	}
	g, err := i.Open(s.Data, importer.Options{Backend: s.Backend, Decoder: s.Decoder, IgnoreKeys: s.IgnoreKeys})
	if errors.Is(err, importer.ErrBackend) || errors.Is(err, importer.ErrDecoder) {
		err = fmt.Errorf("%w: %w", ErrOption, err)
	}
	return g, err
}

// noOptions returns an error if an option of importers is set.
func (s Source) noOptions() error {
	switch {
	case s.Backend != "":
		return fmt.Errorf("%w: backend %q: a %s has no backends", ErrOption, s.Backend, s.Format)
	case s.Decoder != "":
		return fmt.Errorf("%w: decoder %q: a %s has no decoders", ErrOption, s.Decoder, s.Format)
	case len(s.IgnoreKeys) > 0:
		return fmt.Errorf("%w: ignored keys %q: a %s has no keys to ignore", ErrOption, s.IgnoreKeys, s.Format)
	}
	return nil
}
