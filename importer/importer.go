// Package importer turns the preprocessing files of other ecosystems into data
// graphs that return the same bytes.
//
// Each ecosystem has its own folder below this one and registers itself when a
// program imports it. Package all imports every one. An importer ignores a key
// only if it is known not to influence the pixels. Any other key takes effect,
// or is an error that names it. What a file does not say and the reference
// needs is an error that names it too.
//
// A graph decodes as its reference's own reader of files does, and its decode
// step states the policies. The reader is Pillow's
// Image.open(f).convert("RGB"), which ignores the EXIF orientation, unless the
// importer's documentation names another.
package importer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/registry"
)

// Importer reads the files of one ecosystem.
type Importer struct {
	// Name is the ecosystem's name, and the command line's flag, such as "hf".
	Name string
	// Doc names, in one line, the file that Import reads, and the program and
	// version whose preprocessing the graph reproduces.
	Doc string
	// Import builds the graph. Its errors wrap those of this package. It keeps
	// no reference to data and is safe for concurrent use.
	Import func(data []byte) (*datagraph.Graph, error)
	// Backends has a function like Import for each backend of the ecosystem, by
	// its name there. It is nil if there is only one. Import is one of them.
	Backends map[string]func(data []byte) (*datagraph.Graph, error)
	// Decoders are the ways in which programs of the ecosystem read image
	// files, by name. It is nil if there is only one.
	Decoders map[string]Decoder
	// Detect reports whether a file bears the marks of the files that Import
	// reads. base is its name without folders, head its beginning: the whole
	// file, or 64 KiB or more of it. A file without marks is not detected.
	Detect func(base string, head []byte) bool
	// Folder, if not nil, chooses the file in a model's folder that Import
	// reads. read returns the content of a file of the folder, or an error
	// that matches fs.ErrNotExist. Folder returns the file's name and content.
	// It may complete the content from another file, and then names both.
	Folder func(read func(name string) ([]byte, error)) (name string, data []byte, err error)
	// MaxBytes is the largest file size in bytes. 0 means 16 MiB. Model files
	// are larger.
	MaxBytes int64
}

// The kinds of error, for errors.Is. One error may match several kinds, since
// an importer reports all problems of a file at once.
var (
	ErrJSON         = errors.New("not a JSON object")
	ErrFormat       = errors.New("malformed file") // for files that are not JSON
	ErrUnknownClass = errors.New("unknown class")  // or the class is missing
	ErrUnsupported  = errors.New("unsupported class")
	ErrUnknownKey   = errors.New("unknown key")
	ErrMissing      = errors.New("missing key")
	ErrValue        = errors.New("invalid value")
)

// Error reports a problem at one place of a file.
type Error struct {
	Kind error  // one of the kinds above
	Path string // the key, with the keys around it: "crop_size.height"
	Text string // the offending value and the expected one; may be empty
}

func (e *Error) Error() string {
	s := e.Kind.Error()
	if e.Path != "" {
		switch e.Kind { // the path is not what these kinds are about
		case ErrFormat, ErrUnknownClass, ErrUnsupported:
			s += ":"
		}
		s += " " + e.Path
	}
	if e.Text != "" {
		s += ": " + e.Text
	}
	return s
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// Errors holds all problems of a file, sorted by path.
type Errors []*Error

func (l Errors) Error() string {
	s := make([]string, len(l))
	for i, e := range l {
		s[i] = e.Error()
	}
	return strings.Join(s, "; ")
}

// Unwrap returns the errors, for errors.Is and errors.As.
func (l Errors) Unwrap() []error {
	u := make([]error, len(l))
	for i, e := range l {
		u[i] = e
	}
	return u
}

var registered = registry.New[Importer]("importer")

// ErrUnknown reports an importer that no imported package registered.
var ErrUnknown = registered.ErrUnknown()

// Register adds an importer. Packages call it from init functions. It panics if
// the name is empty or taken, or if Doc or Import is missing.
func Register(i Importer) {
	if i.Doc == "" {
		registered.Refuse(i.Name, "Doc is empty")
	}
	if i.Import == nil {
		registered.Refuse(i.Name, "Import is nil")
	}
	if i.Detect == nil {
		registered.Refuse(i.Name, "Detect is nil")
	}
	registered.Add(i.Name, i)
}

// Lookup returns the importer of a name. The error of an unknown name wraps
// ErrUnknown and suggests the closest known name.
func Lookup(name string) (Importer, error) {
	i, err := registered.Lookup(name)
	if err != nil {
		return i, fmt.Errorf("importer: %w", err)
	}
	return i, nil
}

// All returns the registered importers, sorted by name.
func All() []Importer { return slices.Clone(registered.All()) }

// Names returns the names of the registered importers, sorted.
func Names() []string { return slices.Clone(registered.Names()) }

// Finish validates a graph made from a file and returns it. A value that an op
// rejects is an ErrValue.
func Finish(name string, g *datagraph.Graph) (*datagraph.Graph, error) {
	if _, err := g.Infer(); err != nil {
		return nil, fmt.Errorf("importer: %s: %w: %w", name, ErrValue, err)
	}
	return g, nil
}
