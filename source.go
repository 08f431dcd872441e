package inferprep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	_ "github.com/infer-prep/infer-prep/importer/all" // every ecosystem
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/preset"
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
	// optional, for messages. Bundles are always read.
	Data []byte
	// Format is "graph", "bundle", "preset" or the name of an importer, such as
	// "hf". Default: recognized by the content.
	Format string
	// Backend is one of the importer's backends, such as "pil". Default: the
	// importer's own.
	Backend string
	// IgnoreKeys lists keys of the file to ignore although the importer does
	// not know them. The graph's reference records it. Default: none.
	IgnoreKeys []string
}

// Graph reads the graph. Its errors name the file.
func (s Source) Graph(ctx context.Context) (*datagraph.Graph, error) {
	if name, ok := strings.CutPrefix(s.Name, FormatPreset+":"); ok && s.Format == "" && s.Data == nil {
		s.Name, s.Format = name, FormatPreset
	}
	g, err := s.graph(ctx)
	if err != nil {
		return nil, fmt.Errorf("inferprep: open %s: %w", store.Redact(s.Name), err)
	}
	return g, nil
}

func (s Source) graph(ctx context.Context) (*datagraph.Graph, error) {
	if s.Format == FormatPreset {
		if err := s.noOptions(s.Format); err != nil {
			return nil, err
		}
		return preset.Graph(s.Name)
	}
	format, data, err := s.content(ctx)
	if err != nil {
		return nil, err
	}
	if format == FormatBundle || format == FormatGraph {
		if err := s.noOptions(format); err != nil {
			return nil, err
		}
	}
	switch format {
	case FormatBundle:
		b, err := modelbundle.OpenStore(ctx, store.URI, s.Name, modelbundle.DefaultLimits())
		if err != nil {
			return nil, err
		}
		return b.Graph(), b.Close()
	case FormatGraph:
		return datagraph.Parse(data)
	}
	i, err := importer.Lookup(format)
	if err != nil {
		return nil, err
	}
	parse := i.Import
	if s.Backend != "" {
		if parse = i.Backends[s.Backend]; parse == nil {
			return nil, noBackend(s.Backend, i)
		}
	}
	return importer.IgnoreKeys(parse, s.IgnoreKeys...)(data)
}

// noOptions returns an error if an option of importers is set.
func (s Source) noOptions(format string) error {
	switch {
	case s.Backend != "":
		return fmt.Errorf("%w: backend %q: a %s has no backends", ErrOption, s.Backend, format)
	case len(s.IgnoreKeys) > 0:
		return fmt.Errorf("%w: ignored keys %q: a %s has no keys to ignore", ErrOption, s.IgnoreKeys, format)
	}
	return nil
}

func noBackend(name string, i importer.Importer) error {
	names := slices.Sorted(maps.Keys(i.Backends))
	if len(names) == 0 {
		return fmt.Errorf("%w: backend %q: %s has no backends", ErrOption, name, i.Name)
	}
	return fmt.Errorf("%w: backend %q of %s: want one of %q%s", ErrOption, name, i.Name, names, registry.DidYouMean(name, names))
}

// headBytes is the part of a file that shows its format.
const headBytes = 1 << 16

// content returns the format, and the content of the file that it reads; nil
// for a bundle.
func (s Source) content(ctx context.Context) (format string, data []byte, err error) {
	if s.Data != nil {
		format, err = s.detect(store.Base(s.Name), s.Data)
		return format, s.Data, err
	}
	info, err := store.URI.Stat(ctx, s.Name)
	if err != nil {
		return "", nil, err
	}
	if info.Folder {
		return s.folder(func(name string) ([]byte, error) {
			return store.ReadFile(ctx, store.URI, store.Join(s.Name, name), nil, maxGraphBytes)
		})
	}
	f, err := store.URI.Open(ctx, s.Name)
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	head := make([]byte, min(f.Size(), headBytes))
	if n, err := f.ReadAt(head, 0); n < len(head) {
		return "", nil, err
	}
	if format, err = s.detect(store.Base(s.Name), head); err != nil || format == FormatBundle {
		return format, nil, err
	}
	most := int64(maxGraphBytes)
	if i, err := importer.Lookup(format); err == nil && i.MaxBytes > 0 {
		most = i.MaxBytes
	}
	if f.Size() > most {
		return "", nil, fmt.Errorf("%w: %d bytes, the limit of %s is %d", store.ErrTooLarge, f.Size(), format, most)
	}
	data, err = store.ReadAll(f, nil)
	return format, data, err
}

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
		if i.Detect != nil && i.Detect(base, head) {
			l = append(l, i.Name)
		}
	}
	return one(l, "the file")
}

// folder returns the format of a model's folder, and the file that it reads.
func (s Source) folder(read func(name string) ([]byte, error)) (string, []byte, error) {
	found := map[string][]byte{}
	var errs []error
	for _, i := range importer.All() {
		if s.Format != "" && i.Name != s.Format || i.Folder == nil {
			continue
		}
		name, data, err := i.Folder(read)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", nil, err
		case err != nil:
			errs = append(errs, err)
		case s.Format != "" || i.Detect(name, data):
			found[i.Name] = data
		}
	}
	if s.Format != "" && len(found) == 0 {
		if len(errs) == 0 {
			return "", nil, fmt.Errorf("%w: a folder, want a file of %s", ErrOption, s.Format)
		}
		return "", nil, errs[0]
	}
	format, err := one(slices.Sorted(maps.Keys(found)), "the folder")
	return format, found[format], err
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
