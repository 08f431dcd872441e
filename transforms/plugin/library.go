package plugin

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"
	"weak"

	"github.com/infer-prep/infer-prep/internal/clib"
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// The constants and structs of infer_prep_plugin.h.
const (
	symbol   = "infer_prep_plugin"
	abi      = 1
	maxCount = 1024
	maxText  = 512 // error_size
)

// The values of dtype and layout are those of package tensor, as a test checks.
type cDesc struct {
	dtype, layout, rank, reserved int32
	shape                         [tensor.MaxRank]int64
}

// cOp has addresses of a string and of functions.
type cOp struct{ name, create, destroy, infer, apply uintptr }

type cLibrary struct {
	abi, count uint32
	ops        uintptr
}

// library is a loaded library.
type library struct {
	name, path, digest string
	ops                map[string]cOp

	mu        sync.Mutex // also held during create, so that an instance is created once
	instances map[key]weak.Pointer[instance]
}

// key names an instance of a library.
type key struct{ function, args string }

// load loads a library and checks its table.
func load(name, path, digest string) (*library, error) {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s: %s", ErrLibrary, path, fmt.Sprintf(format, args...))
	}
	fn, err := clib.Load(path, symbol)
	if err != nil {
		return nil, refuse("%s", strings.TrimPrefix(err.Error(), path+": "))
	}
	p := clib.Call(fn)
	if p == 0 {
		return nil, refuse("%s returns no table", symbol)
	}
	table := (*cLibrary)(clib.At(p))
	if table.abi != abi {
		return nil, refuse("version %d of the interface, want %d: compile it with this version's infer_prep_plugin.h", table.abi, abi)
	}
	if table.count < 1 || table.count > maxCount || table.ops == 0 {
		return nil, refuse("a table of %d ops, want 1 to %d", table.count, maxCount)
	}
	l := &library{name: name, path: path, digest: digest, ops: map[string]cOp{}, instances: map[key]weak.Pointer[instance]{}}
	for i, o := range unsafe.Slice((*cOp)(clib.At(table.ops)), table.count) {
		name := clib.String(o.name)
		switch _, twice := l.ops[name]; {
		case !isName(name, "_"):
			return nil, refuse("op %d: name %q: want 1 to %d characters a-z, 0-9 and _", i, name, maxName)
		case twice:
			return nil, refuse("two ops are named %q", name)
		case o.create == 0 || o.destroy == 0 || o.infer == 0 || o.apply == 0:
			return nil, refuse("op %q: want create, destroy, infer and apply", name)
		}
		l.ops[name] = o
	}
	return l, nil
}

// instance is an op of a library with its arguments. Several runners use it at
// once. It is destroyed when none refers to it any more.
type instance struct {
	library *library
	key     key
	op      cOp
	self    uintptr
}

// instance returns the instance of an op with these arguments. It creates one
// unless one is in use.
func (l *library) instance(k key) (*instance, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := l.instances[k].Value(); i != nil {
		return i, nil
	}
	op, ok := l.ops[k.function]
	if !ok {
		var names []string
		for n := range l.ops {
			names = append(names, n)
		}
		return nil, fmt.Errorf("%w: plugin: library %q has no op %q%s", transforms.ErrParam, l.name, k.function, registry.Hint(k.function, names))
	}
	args, err := clib.Terminated(k.args)
	if err != nil {
		return nil, fmt.Errorf("%w: args %w", transforms.ErrParam, err)
	}
	i := &instance{library: l, key: k, op: op}
	f := frames.Get().(*frame)
	defer frames.Put(f)
	f.text[0], f.self = 0, 0
	status := clib.Call(op.create, uintptr(unsafe.Pointer(&args[0])), uintptr(unsafe.Pointer(&f.self)), uintptr(unsafe.Pointer(&f.text[0])), maxText)
	if int32(status) != 0 {
		return nil, fmt.Errorf("%w: %w", transforms.ErrParam, i.err("create", f.message()))
	}
	i.self = f.self
	w := weak.Make(i)
	l.instances[k] = w
	runtime.AddCleanup(i, func(self uintptr) {
		l.mu.Lock()
		if l.instances[k] == w { // not yet replaced by another one
			delete(l.instances, k)
		}
		l.mu.Unlock()
		clib.Call(op.destroy, self)
	}, i.self)
	return i, nil
}

// frame is the memory of a call that a library reads and writes.
type frame struct {
	in, out cDesc
	scratch uint64
	self    uintptr
	text    [maxText]byte
}

var frames = sync.Pool{New: func() any { return new(frame) }}

// message returns the text of an error, on one line.
func (f *frame) message() string {
	b := f.text[:]
	if n := slices.Index(b, 0); n >= 0 {
		b = b[:n]
	}
	s := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(string(b), "?"), func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if s == "" {
		return "the library gives no reason"
	}
	return s
}

func (i *instance) err(call, message string) error {
	return &Error{Library: i.library.name, Function: i.key.function, Call: call, Message: message}
}

// infer returns the description of the output and the bytes of memory that
// apply needs. It leaves both descriptions in f.
func (i *instance) infer(f *frame, in tensor.Desc) (out tensor.Desc, scratch uint64, err error) {
	f.in = cDesc{dtype: int32(in.DType), layout: int32(in.Layout), rank: int32(in.Shape.Rank())}
	for a := range in.Shape.Rank() {
		f.in.shape[a] = int64(in.Shape.At(a))
	}
	f.out, f.scratch, f.text[0] = f.in, 0, 0
	status := clib.Call8(i.op.infer, i.self, uintptr(unsafe.Pointer(&f.in)), uintptr(unsafe.Pointer(&f.out)),
		uintptr(unsafe.Pointer(&f.scratch)), uintptr(unsafe.Pointer(&f.text[0])), maxText, 0, 0)
	runtime.KeepAlive(i)
	if int32(status) != 0 {
		return out, 0, fmt.Errorf("%w: %v: %w", transforms.ErrInput, in, i.err("infer", f.message()))
	}
	if out, err = f.out.desc(); err == nil && in.Shape.Known() && !out.Shape.Known() {
		err = fmt.Errorf("%v has unknown sizes", out)
	}
	if err != nil {
		return out, 0, fmt.Errorf("%w: %v: %w", transforms.ErrInput, in, i.err("infer", "the library returns an invalid output: "+err.Error()))
	}
	return out, f.scratch, nil
}

// desc returns a description that a library wrote.
func (c *cDesc) desc() (tensor.Desc, error) {
	if c.dtype < int32(tensor.Uint8) || c.dtype > int32(tensor.Bool) || c.layout < 0 || c.layout > int32(tensor.CHW) || c.rank < 0 || c.rank > tensor.MaxRank {
		return tensor.Desc{}, fmt.Errorf("dtype %d, layout %d, rank %d", c.dtype, c.layout, c.rank)
	}
	d := tensor.Desc{DType: tensor.DType(c.dtype), Layout: tensor.Layout(c.layout)}
	for _, n := range c.shape[:c.rank] {
		d.Shape = d.Shape.Append(int(n))
	}
	return d, d.Validate()
}

// apply computes out from in, which are dense. f has their descriptions.
func (i *instance) apply(f *frame, in, out, scratch []byte) error {
	f.text[0] = 0
	status := clib.Call8(i.op.apply, i.self, uintptr(unsafe.Pointer(&f.in)), uintptr(unsafe.Pointer(unsafe.SliceData(in))),
		uintptr(unsafe.Pointer(&f.out)), uintptr(unsafe.Pointer(unsafe.SliceData(out))), uintptr(unsafe.Pointer(unsafe.SliceData(scratch))),
		uintptr(unsafe.Pointer(&f.text[0])), maxText)
	runtime.KeepAlive(i)
	if int32(status) != 0 {
		return i.err("apply", f.message())
	}
	return nil
}
