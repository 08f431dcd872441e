package plugin

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

//go:generate go run ../../tools/msgpgen

// Op runs a function of a shared library that the program has allowed. Function
// Allow of package plugin allows a library under the name that graphs use, and
// so does the flag --allow-plugin NAME=PATH of the command. The library's
// function decides which images and other tensors it takes, and describes what
// it returns.
//
// Reference: MindSpore 2.10.0, transforms.Plugin, has the same purpose. Its
// lib_path is a file, and its libraries have an interface in C++.
type Op struct {
	Library  string `json:"library"`  // name of the library, 1 to 64 characters a-z, 0-9, _ and -
	Function string `json:"function"` // name of the op in the library, 1 to 64 characters a-z, 0-9 and _
	Args     string `json:"args"`     // text for the function, at most 65536 bytes
	SHA256   string `json:"sha256"`   // digest of the library's file, 64 characters 0-9 and a-f; empty takes any build
}

//msgp:tuple Op

// maxArgs is the largest length of Args in bytes.
const maxArgs = 1 << 16

func init() { transforms.Register((*Op)(nil)) }

// New returns the op of a library's function, of any build of the library.
func New(library, function, args string) *Op {
	return &Op{Library: library, Function: function, Args: args}
}

// Info describes the op.
func (*Op) Info() transforms.Info {
	return transforms.Info{
		Name: "plugin", Version: 1, New: func() transforms.Op { return New("", "", "") },
		Reference: "the library", Exactness: "0 for the same library; not compared with MindSpore's",
	}
}

// Validate checks the form of the parameters. Infer checks that the library is
// allowed and that it takes them.
func (o *Op) Validate() error {
	if err := checkLibrary(o.Library); err != nil {
		return fmt.Errorf("%w: %w", transforms.ErrParam, err)
	}
	if !isName(o.Function, "_") {
		return fmt.Errorf("%w: function %q: want a name of 1 to %d characters a-z, 0-9 and _", transforms.ErrParam, o.Function, maxName)
	}
	if len(o.Args) > maxArgs || !utf8.ValidString(o.Args) || strings.ContainsRune(o.Args, 0) {
		return fmt.Errorf("%w: args of %d bytes: want at most %d bytes of UTF-8 without zero bytes", transforms.ErrParam, len(o.Args), maxArgs)
	}
	if b, err := hex.DecodeString(o.SHA256); o.SHA256 != "" && (err != nil || len(b) != 32 || strings.ToLower(o.SHA256) != o.SHA256) {
		return fmt.Errorf("%w: sha256 %q: want 64 characters 0-9 and a-f, or nothing", transforms.ErrParam, o.SHA256)
	}
	return nil
}

// instance returns the function with its arguments.
func (o *Op) instance() (*instance, error) {
	l, err := lookup(o.Library)
	if err != nil {
		return nil, err
	}
	if o.SHA256 != "" && o.SHA256 != l.digest {
		return nil, fmt.Errorf("plugin: library %q: %w: %s has SHA-256 %s, the graph wants %s", o.Library, ErrDigest, l.path, l.digest, o.SHA256)
	}
	return l.instance(key{o.Function, o.Args})
}

// Infer calls the function's infer. It fails if the library is not allowed.
func (o *Op) Infer(dst, in []tensor.Desc) error {
	if err := in[0].Validate(); err != nil || in[0].DType == tensor.Bytes {
		return fmt.Errorf("%w: %v, want a tensor of a dtype of fixed size", transforms.ErrInput, in[0])
	}
	i, err := o.instance()
	if err != nil {
		return err
	}
	f := frames.Get().(*frame)
	defer frames.Put(f)
	dst[0], _, err = i.infer(f, in[0])
	return err
}

// state is the memory of an op between runs.
type state struct {
	op       Op
	instance *instance
	frame    frame
	in, out  tensor.Desc // of frame; zero before the first run
	scratch  int
}

// Apply calls the function's apply.
func (o *Op) Apply(c *transforms.Context, dst, src []*tensor.Tensor) error {
	s, ok := c.State.(*state)
	if !ok || s.op != *o {
		i, err := o.instance()
		if err != nil {
			return err
		}
		s = &state{op: *o, instance: i}
		c.State = s
	}
	in, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	if s.in != in.Desc || s.out != dst[0].Desc {
		if err := s.resize(c, dst[0].Desc, in.Desc); err != nil {
			return err
		}
	}
	return s.instance.apply(&s.frame, in.Data[:in.Desc.Size()], dst[0].Data[:dst[0].Desc.Size()], c.Scratch(s.scratch))
}

// resize prepares the frame for other descriptions.
func (s *state) resize(c *transforms.Context, out, in tensor.Desc) error {
	s.in = tensor.Desc{}
	limit := uint64(maxScratch)
	if c.Limits.Bytes > 0 {
		limit = min(limit, uint64(c.Limits.Bytes))
	}
	d, scratch, err := s.instance.infer(&s.frame, in)
	switch {
	case err != nil:
		return err
	case d != out:
		return s.instance.err("infer", fmt.Sprintf("%v becomes %v, and %v before", in, d, out))
	case scratch > limit:
		return s.instance.err("infer", fmt.Sprintf("%d bytes of scratch memory: the limit is %d", scratch, limit))
	}
	s.in, s.out, s.scratch = in, out, int(scratch)
	return nil
}

// maxScratch bounds the scratch memory of programs without limits. It is far
// below the size at which make panics.
const maxScratch = 1 << 40
