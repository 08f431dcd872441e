//go:build wasip1

package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// The exports of the module of WebAssembly, which capi/wasm2c/host.c calls one
// at a time. They take numbers, and addresses in the module's memory that alloc
// returned. Structs have the layout of abi.go. Those that return a status set
// the text of failure. A reply is an address and a length; what lies there is
// valid until the next call.

// form is the name of this form in ip_capabilities.
const form = "wasm2c"

// keepSource says whether objects keep what they were opened from.
const keepSource = true

var (
	// held keeps the host's memory from the garbage collector, by address.
	held = map[uint32][]byte{}
	// failed is the text of the last call's error.
	failed string
	// replied is what the last reply points to.
	replied []byte
	// kept are outputs of the last run that were copied, or the last batch.
	kept []*tensor.Tensor
)

// panicked returns the error of a panic. A slice larger than the module's
// memory is one. The functions of a stack have no names here.
func panicked(p any) error {
	if e, ok := p.(runtime.Error); ok && strings.Contains(e.Error(), "makeslice: len out of range") {
		return fmt.Errorf("infer_prep: %w: out of memory: this build has 4 GiB for a run", codec.ErrLimit)
	}
	return fmt.Errorf("infer_prep: %w: %v", errInternal, p)
}

func setError(_ *ipError, _ int32, text string) { failed = text }

//go:wasmexport alloc
func wasmAlloc(n uint32) uint32 {
	b := make([]byte, max(n, 1))
	at := uint32(uintptr(unsafe.Pointer(&b[0])))
	held[at] = b
	return at
}

//go:wasmexport free
func wasmFree(at uint32) { delete(held, at) }

type reply struct{ at, n uint64 }

func (r *reply) set(b []byte) {
	replied = b
	r.at, r.n = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))), uint64(len(b))
}

//go:wasmexport failure
func wasmFailure(to unsafe.Pointer) { (*reply)(to).set([]byte(failed)) }

//go:wasmexport capabilities
func wasmCapabilities(to unsafe.Pointer) int32 {
	return do(nil, func() error {
		b, err := capabilities()
		(*reply)(to).set(b)
		return err
	})
}

// open opens a graph by its name, which is not nil, or by its n bytes at data.
// folder is the folder that a relative name starts from.
//
//go:wasmexport open
func wasmOpen(folder, name, data unsafe.Pointer, n uint32, options, handle unsafe.Pointer) int32 {
	if err := enter((*byte)(folder)); err != nil {
		return fail(nil, err)
	}
	return graphOpen((*byte)(name), data, uint64(n), (*ipOptions)(options), (*uintptr)(handle), nil)
}

// enter makes folder the one that relative names start from.
func enter(folder *byte) error {
	if folder == nil {
		return nil
	}
	return os.Chdir(goString(folder))
}

//go:wasmexport opentokens
func wasmOpenTokens(folder, name, files, handle unsafe.Pointer) int32 {
	if err := enter((*byte)(folder)); err != nil {
		return fail(nil, err)
	}
	return tokensOpen((*byte)(name), (*ipTokenFiles)(files), (*uintptr)(handle), nil)
}

//go:wasmexport openvideo
func wasmOpenVideo(folder, name, data unsafe.Pointer, n uint32, options, handle unsafe.Pointer) int32 {
	if err := enter((*byte)(folder)); err != nil {
		return fail(nil, err)
	}
	return videoOpen((*byte)(name), data, uint64(n), (*ipOptions)(options), (*uintptr)(handle), nil)
}

// reopened is an object that reopen opens.
type reopened interface {
	object
	// source returns the bytes that reopen takes.
	source() ([]byte, error)
}

func (g *graph) source() ([]byte, error) { return g.pool.Plan().Graph().MarshalMsg(nil) }

// source replies with the bytes from which reopen opens the same object in
// another instance of the module.
//
//go:wasmexport source
func wasmSource(handle uint64, to unsafe.Pointer) int32 {
	return do(nil, func() error {
		x, err := get[reopened](uintptr(handle))
		if err != nil {
			return err
		}
		b, err := x.source()
		(*reply)(to).set(b)
		return err
	})
}

// reopen opens an object from the bytes of source. Options are the limits of a
// graph or a video processor.
//
//go:wasmexport reopen
func wasmReopen(kind int32, data unsafe.Pointer, n uint32, options, handle unsafe.Pointer) int32 {
	return do(nil, func() error {
		b, err := bytesOf(address(data), uint64(n))
		if err != nil {
			return err
		}
		var x object
		switch kind {
		case kindGraph:
			x, err = openGraph(source{data: b, format: "graph"}, (*ipOptions)(options))
		case kindVideo:
			x, err = reopenVideo(b, (*ipOptions)(options))
		default:
			x, err = reopenProcessor(b)
		}
		if err == nil {
			*(*uintptr)(handle) = put(x)
		}
		return err
	})
}

//go:wasmexport close
func wasmClose(handle uint64, kind int32) int32 { return free(uintptr(handle), kind) }

//go:wasmexport count
func wasmCount(handle uint64, list int32) int32 { return graphCount(uintptr(handle), list) }

//go:wasmexport describe
func wasmDescribe(handle uint64, list, i int32, column unsafe.Pointer) int32 {
	return graphDescribe(uintptr(handle), list, i, (*ipColumn)(column), nil)
}

//go:wasmexport sizes
func wasmSizes(handle uint64, height, width int64, columns unsafe.Pointer, n int32) int32 {
	return graphSizes(uintptr(handle), height, width, (*ipColumn)(columns), n, nil)
}

//go:wasmexport probe
func wasmProbe(image unsafe.Pointer, n uint32, info unsafe.Pointer) int32 {
	return probe(image, uint64(n), (*ipImageInfo)(info), nil)
}

// inputs sets bytes[i] to the number of bytes of the dense elements of input i,
// which the host must copy to the module before a run. It checks the inputs as
// a run does, but does not read their elements.
//
//go:wasmexport inputs
func wasmInputs(handle uint64, in unsafe.Pointer, n int32, bytes unsafe.Pointer) int32 {
	return do(nil, func() error {
		g, err := get[*graph](uintptr(handle))
		if err != nil {
			return err
		}
		sizes, err := g.sizes((*ipInput)(in), n)
		copy(unsafe.Slice((*int64)(bytes), len(sizes)), sizes)
		return err
	})
}

// sizes returns the bytes of the inputs' elements, as if they were dense.
func (g *graph) sizes(in *ipInput, n int32) ([]int64, error) {
	l, err := g.listOf(in, n)
	if err != nil {
		return nil, err
	}
	sizes := make([]int64, l.n)
	for i := range sizes {
		if sizes[i], err = elements(l.of(i), g.inputs[i].Desc); err != nil {
			return nil, fmt.Errorf("infer_prep: run: input %q: %w", g.inputs[i].Name, err)
		}
	}
	return sizes, nil
}

// elements checks an input and returns the bytes of its elements.
func elements(in *ipInput, want tensor.Desc) (int64, error) {
	if in.dtype == int32(tensor.Bytes) {
		_, err := bytesOf(in.data, in.bytes)
		return int64(in.bytes), err
	}
	d, err := descOf(in)
	if err == nil && want.DType == tensor.Bytes {
		_, _, err = imageOf(in, d)
		return d.Size(), err
	}
	if err != nil {
		return 0, err
	}
	return dense(in, d)
}

// run runs a graph and sets data of every output to its elements, valid until
// the next call. An output is larger than its capacity only if the
// status is IP_CAPACITY.
//
//go:wasmexport run
func wasmRun(handle uint64, in unsafe.Pointer, nin int32, out unsafe.Pointer, nout int32) int32 {
	return runInto(uintptr(handle), (*ipInput)(in), nin, (*ipTensor)(out), nout, nil)
}

// write runs a graph and describes its outputs.
func write(r *datagraph.Runner, in []*tensor.Tensor, out list[ipTensor]) error {
	res, err := r.Run(in...)
	if err != nil {
		return err
	}
	kept = kept[:0]
	for i := range out.n {
		t := res[i]
		if t.DType != tensor.Bytes && !t.Dense() {
			t = t.Clone()
			kept = append(kept, t)
		}
		show(out.of(i), t)
	}
	return nil
}

// show describes a tensor, with the address of its elements.
func show(to *ipTensor, t *tensor.Tensor) {
	setTensor(to, t)
	to.data = address(unsafe.Pointer(unsafe.SliceData(t.Data)))
}

// collate joins the outputs of n runs, nout tensors each, and sets data of
// every tensor of out to the batch's elements, valid until the next call.
//
//go:wasmexport collate
func wasmCollate(handle uint64, in unsafe.Pointer, n uint32, out unsafe.Pointer, nout int32) int32 {
	return do(nil, func() error {
		g, err := get[*graph](uintptr(handle))
		if err != nil {
			return err
		}
		all, err := listOf("ip_tensor", (*ipTensor)(in), int32(n)*nout)
		if err != nil {
			return err
		}
		to, err := listOf("ip_tensor", (*ipTensor)(out), nout)
		if err != nil {
			return err
		}
		kept, err = g.join(uint64(n), func(i int) ([]*tensor.Tensor, error) {
			l := make([]*tensor.Tensor, nout)
			for k := range l {
				if l[k], err = tensorOf(all.of(i*len(l) + k)); err != nil {
					return nil, err
				}
			}
			return l, nil
		})
		if err != nil {
			return err
		}
		for k, t := range kept {
			show(to.of(k), t)
		}
		return nil
	})
}

// tensorOf returns an output as setTensor described it.
func tensorOf(t *ipTensor) (*tensor.Tensor, error) {
	b, err := bytesOf(t.data, t.bytes)
	if err != nil || tensor.DType(t.dtype) == tensor.Bytes {
		return tensor.FromBytes(b), err
	}
	d := tensor.Desc{DType: tensor.DType(t.dtype), Layout: tensor.Layout(t.layout)}
	for _, n := range t.shape[:t.rank] {
		d.Shape = d.Shape.Append(int(n))
	}
	return tensor.Wrap(d, b)
}

//go:wasmexport images
func wasmImages(handle uint64, sizes unsafe.Pointer, n int32, images, text unsafe.Pointer, capacity uint64, bytes unsafe.Pointer) int32 {
	return tokensImages(uintptr(handle), (*int64)(sizes), n, (*ipImageTokens)(images), (*byte)(text), capacity, (*uint64)(bytes), nil)
}

//go:wasmexport sample
func wasmSample(handle uint64, clip, numbers unsafe.Pointer, capacity uint64, count unsafe.Pointer) int32 {
	return videoSample(uintptr(handle), (*ipClip)(clip), (*int64)(numbers), capacity, (*uint64)(count), nil)
}

// output is an output of a batch of videos.
type output struct {
	ipTensor
	name [72]byte
}

// runvideo runs a video processor on clips, whose frames it reads by functions
// of the host. It replies with a list of outputs, whose data are valid until
// the next call.
//
//go:wasmexport runvideo
func wasmRunVideo(handle uint64, clips unsafe.Pointer, n int32, to unsafe.Pointer) int32 {
	return do(nil, func() error {
		names, batch, err := videoBatch(uintptr(handle), (*ipClip)(clips), n)
		if err != nil {
			return err
		}
		l := make([]output, len(batch))
		for i, t := range batch {
			show(&l[i].ipTensor, t)
			text(l[i].name[:], names[i])
		}
		kept = batch
		(*reply)(to).set(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(l))), len(l)*int(unsafe.Sizeof(l[0]))))
		return nil
	})
}
