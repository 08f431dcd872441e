//go:build ((linux && !android) || windows || (darwin && !ios)) && (amd64 || arm64) && !noclib

package ort

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/internal/clib"
	"github.com/infer-prep/infer-prep/tensor"
)

// elementTypes maps ONNXTensorElementDataType of onnxruntime_c_api.h to tensor
// types.
var elementTypes = map[int]tensor.DType{
	1: tensor.Float32, 2: tensor.Uint8, 3: tensor.Int8, 4: tensor.Uint16, 5: tensor.Int16, 6: tensor.Int32, 7: tensor.Int64,
	9: tensor.Bool, 10: tensor.Float16, 11: tensor.Float64, 16: tensor.BFloat16,
}

// elementNames names the element types that package tensor does not support.
var elementNames = map[int]string{8: "string", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128"}

func elementType(d tensor.DType) (int, bool) {
	for n, t := range elementTypes {
		if t == d {
			return n, true
		}
	}
	return 0, false
}

// onnxTensor is ONNX_TYPE_TENSOR of ONNXType, onnxruntime_c_api.h.
const onnxTensor = 1

// port is an input or output of a model. Sizes that are not fixed are -1.
type port struct {
	name  string
	dtype tensor.DType
	dims  []int64
}

func (p port) String() string {
	return fmt.Sprintf("%s (%v %s)", p.name, p.dtype, strings.ReplaceAll(fmt.Sprint(p.dims), "-1", "?"))
}

func names(l []port) []string {
	var n []string
	for _, p := range l {
		n = append(n, p.name)
	}
	return n
}

// graph is a model loaded by ORT.
type graph struct {
	a               *api
	session         uintptr
	binding         uintptr
	inputs, outputs []port
	// assigned maps each provider to its operators. It is nil if the library
	// does not report them.
	assigned map[string][]string
}

// These are keys of ORT's session configuration,
// onnxruntime_session_options_config_keys.h.
const (
	keyNoCPUFallback = "session.disable_cpu_ep_fallback"
	keyAssignment    = "session.record_ep_graph_assignment_info"
)

// load creates an ORT session of a model. threads is the number of threads, 0
// for ORT's own choice. strict forbids ORT to assign any node to its CPU
// provider.
func (d *ortDevice) load(model []byte, threads int, strict bool) (_ *graph, err error) {
	a := d.a
	if len(model) == 0 {
		return nil, errors.New("the model is empty")
	}
	var options uintptr
	if err := a.made(handleOptions, a.status(slotCreateSessionOptions, uintptr(unsafe.Pointer(&options)))); err != nil {
		return nil, err
	}
	defer a.release(handleOptions, slotReleaseSessionOptions, &options)
	if threads > 0 {
		if err := a.status(slotSetIntraOpNumThreads, options, uintptr(threads)); err != nil {
			return nil, err
		}
	}
	entries := maps.Clone(d.c.session)
	if d.p.add != addCPU && strict {
		entries[keyNoCPUFallback] = "1"
	}
	if a.has(slotSessionGetAssignment) {
		entries[keyAssignment] = "1"
	}
	for _, k := range slices.Sorted(maps.Keys(entries)) {
		if err := d.configEntry(options, k, entries[k]); err != nil {
			return nil, err
		}
	}
	if err := d.addProvider(options); err != nil {
		return nil, err
	}
	g := &graph{a: a}
	defer func() {
		if err != nil {
			g.close()
		}
	}()
	err = a.made(handleSession, a.status(slotCreateSessionFromArray, d.env, uintptr(unsafe.Pointer(&model[0])), uintptr(len(model)), options, uintptr(unsafe.Pointer(&g.session))))
	runtime.KeepAlive(model)
	if err != nil {
		g.session = 0
		if strict && strings.Contains(err.Error(), "fallback to CPU EP has been explicitly disabled") {
			return nil, fmt.Errorf("%w: %s did not take every node: %w", device.ErrFellBack, d.p.EP, err)
		}
		return nil, err
	}
	if g.inputs, err = g.ports(slotSessionGetInputCount, slotSessionGetInputName, slotSessionGetInputTypeInfo, "input"); err != nil {
		return nil, err
	}
	if g.outputs, err = g.ports(slotSessionGetOutputCount, slotSessionGetOutputName, slotSessionGetOutputTypeInfo, "output"); err != nil {
		return nil, err
	}
	if a.has(slotSessionGetAssignment) {
		if err = g.assignment(); err != nil {
			return nil, err
		}
	}
	if err = a.made(handleBinding, a.status(slotCreateIoBinding, g.session, uintptr(unsafe.Pointer(&g.binding)))); err != nil {
		g.binding = 0
		return nil, err
	}
	return g, nil
}

func (d *ortDevice) configEntry(options uintptr, key, value string) error {
	k, err := clib.Terminated(key)
	if err != nil {
		return err
	}
	v, err := clib.Terminated(value)
	if err != nil {
		return err
	}
	return d.a.status(slotAddSessionConfigEntry, options, uintptr(unsafe.Pointer(&k[0])), uintptr(unsafe.Pointer(&v[0])))
}

// addProvider adds the device's provider and its options to a session's
// options.
func (d *ortDevice) addProvider(options uintptr) error {
	a := d.a
	var pin runtime.Pinner
	defer pin.Unpin()
	keys := slices.Sorted(maps.Keys(d.c.provider))
	values := make([]string, len(keys))
	for i, k := range keys {
		values[i] = d.c.provider[k]
	}
	ck, err := cStrings(&pin, keys)
	if err != nil {
		return err
	}
	cv, err := cStrings(&pin, values)
	if err != nil {
		return err
	}
	n := uintptr(len(keys))
	switch {
	case len(d.epDevices) > 0:
		l := slices.Clone(d.epDevices)
		return a.status(slotAppendProviderV2, options, d.env, uintptr(unsafe.Pointer(&l[0])), uintptr(len(l)),
			uintptr(unsafe.Pointer(&ck[0])), uintptr(unsafe.Pointer(&cv[0])), n)
	case d.p.add == addCPU:
		return nil
	case d.p.add == addCUDA:
		return a.addWithOptions(options, ck, cv, n, slotCreateCUDAOptions, slotUpdateCUDAOptions, slotAppendCUDA, slotReleaseCUDAOptions)
	case d.p.add == addTensorRT:
		return a.addWithOptions(options, ck, cv, n, slotCreateTensorRTOptions, slotUpdateTensorRTOptions, slotAppendTensorRT, slotReleaseTensorRTOptions)
	}
	name, err := clib.Terminated(d.p.add)
	if err != nil {
		return err
	}
	return a.status(slotAppendProvider, options, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&ck[0])), uintptr(unsafe.Pointer(&cv[0])), n)
}

// addWithOptions adds a provider whose options are an object of their own.
func (a *api) addWithOptions(options uintptr, keys, values []uintptr, n uintptr, create, update, add, release slot) error {
	var o uintptr
	if err := a.made(handleOptions, a.status(create, uintptr(unsafe.Pointer(&o)))); err != nil {
		return err
	}
	defer a.release(handleOptions, release, &o)
	if n > 0 {
		if err := a.status(update, o, uintptr(unsafe.Pointer(&keys[0])), uintptr(unsafe.Pointer(&values[0])), n); err != nil {
			return err
		}
	}
	return a.status(add, options, o)
}

// ports returns the model's inputs or outputs.
func (g *graph) ports(count, name, info slot, what string) ([]port, error) {
	a := g.a
	alloc, err := a.allocator()
	if err != nil {
		return nil, err
	}
	var n uintptr
	if err := a.status(count, g.session, uintptr(unsafe.Pointer(&n))); err != nil {
		return nil, err
	}
	var l []port
	for i := range n {
		var c uintptr
		if err := a.status(name, g.session, i, alloc, uintptr(unsafe.Pointer(&c))); err != nil {
			return nil, err
		}
		p := port{}
		if p.name, err = a.allocated(c); err != nil {
			return nil, err
		}
		if p.dtype, p.dims, err = g.portType(info, i); err != nil {
			return nil, fmt.Errorf("the model's %s %s: %w", what, p.name, err)
		}
		l = append(l, p)
	}
	return l, nil
}

// portType returns the type of input or output i.
func (g *graph) portType(info slot, i uintptr) (tensor.DType, []int64, error) {
	a := g.a
	var t, s uintptr
	if err := a.made(handleInfo, a.status(info, g.session, i, uintptr(unsafe.Pointer(&t)))); err != nil {
		return 0, nil, err
	}
	defer a.release(handleInfo, slotReleaseTypeInfo, &t)
	var kind int32
	if err := a.status(slotGetOnnxTypeFromTypeInfo, t, uintptr(unsafe.Pointer(&kind))); err != nil {
		return 0, nil, err
	}
	if kind != onnxTensor {
		return 0, nil, fmt.Errorf("it is no tensor (ONNXType %d); a sequence or map must be left out when the model is exported", kind)
	}
	if err := a.status(slotCastTypeInfoToTensorInfo, t, uintptr(unsafe.Pointer(&s))); err != nil { // t owns s
		return 0, nil, err
	}
	return a.tensorInfo(s)
}

// tensorInfo reads an OrtTensorTypeAndShapeInfo.
func (a *api) tensorInfo(s uintptr) (tensor.DType, []int64, error) {
	var e int32
	if err := a.status(slotGetTensorElementType, s, uintptr(unsafe.Pointer(&e))); err != nil {
		return 0, nil, err
	}
	var rank uintptr
	if err := a.status(slotGetDimensionsCount, s, uintptr(unsafe.Pointer(&rank))); err != nil {
		return 0, nil, err
	}
	if rank > 1<<10 {
		return 0, nil, fmt.Errorf("it has %d axes", rank)
	}
	dims := make([]int64, rank+1)
	if rank > 0 {
		if err := a.status(slotGetDimensions, s, uintptr(unsafe.Pointer(&dims[0])), rank); err != nil {
			return 0, nil, err
		}
	}
	t, ok := elementTypes[int(e)]
	if !ok {
		name := elementNames[int(e)]
		if name == "" {
			name = fmt.Sprintf("of ONNXTensorElementDataType %d", e)
		}
		return 0, nil, fmt.Errorf("its elements are %s, which no tensor here has", name)
	}
	return t, dims[:rank], nil
}

// assignment reads which provider got which node.
func (g *graph) assignment() error {
	a := g.a
	var list, n uintptr
	if err := a.status(slotSessionGetAssignment, g.session, uintptr(unsafe.Pointer(&list)), uintptr(unsafe.Pointer(&n))); err != nil {
		return err
	}
	g.assigned = map[string][]string{}
	for i := range int(n) {
		part := clib.Word(list, i)
		var c, nodes, m uintptr
		if err := a.status(slotAssignedSubgraphGetEpName, part, uintptr(unsafe.Pointer(&c))); err != nil {
			return err
		}
		ep := clib.String(c)
		if err := a.status(slotAssignedSubgraphGetNodes, part, uintptr(unsafe.Pointer(&nodes)), uintptr(unsafe.Pointer(&m))); err != nil {
			return err
		}
		for j := range int(m) {
			if err := a.status(slotAssignedNodeGetOperatorType, clib.Word(nodes, j), uintptr(unsafe.Pointer(&c))); err != nil {
				return err
			}
			g.assigned[ep] = append(g.assigned[ep], clib.String(c))
		}
	}
	return nil
}

func (g *graph) close() {
	g.a.release(handleBinding, slotReleaseIoBinding, &g.binding)
	g.a.release(handleSession, slotReleaseSession, &g.session)
}

// value is an OrtValue that holds a tensor.
type value struct{ p uintptr }

func (a *api) releaseValue(v *value) { a.release(handleValue, slotReleaseValue, &v.p) }

// wrap creates a value over existing memory: Go memory that the caller has
// pinned, or ORT's.
func (a *api) wrap(memory, data uintptr, size int64, dtype tensor.DType, dims []int64) (v value, err error) {
	e, ok := elementType(dtype)
	if !ok {
		return v, fmt.Errorf("%v is no type of ONNX Runtime's tensors", dtype)
	}
	shape := append(slices.Clone(dims), 0) // never empty, so that it has an address
	err = a.made(handleValue, a.status(slotCreateTensorWithData, memory, data, uintptr(size), uintptr(unsafe.Pointer(&shape[0])), uintptr(len(dims)), uintptr(e), uintptr(unsafe.Pointer(&v.p))))
	return v, err
}

// nothing is the memory of values without elements.
var nothing [8]byte

// feed creates a value over a tensor's memory, which pin pins. The pin must
// outlive the value.
func (a *api) feed(pin *runtime.Pinner, memory uintptr, t *tensor.Tensor, dims []int64) (value, error) {
	if !t.Dense() {
		t = t.Clone()
	}
	data := nothing[:]
	if len(t.Data) > 0 {
		data = t.Data
	}
	pin.Pin(&data[0])
	return a.wrap(memory, uintptr(unsafe.Pointer(&data[0])), t.Size(), t.DType, dims)
}

// look returns a value's type, its sizes and the address of its data.
func (a *api) look(v value) (dtype tensor.DType, dims []int64, data uintptr, err error) {
	var s uintptr
	if err = a.made(handleInfo, a.status(slotGetTensorTypeAndShape, v.p, uintptr(unsafe.Pointer(&s)))); err != nil {
		return
	}
	defer a.release(handleInfo, slotReleaseTensorTypeAndShape, &s)
	if dtype, dims, err = a.tensorInfo(s); err != nil {
		return
	}
	err = a.status(slotGetTensorMutableData, v.p, uintptr(unsafe.Pointer(&data)))
	return
}

// read copies a value in host memory to t.
func (a *api) read(v value, t *tensor.Tensor) error {
	dtype, dims, data, err := a.look(v)
	if err != nil {
		return err
	}
	if len(dims) > tensor.MaxRank {
		return fmt.Errorf("a tensor of %d axes, want at most %d", len(dims), tensor.MaxRank)
	}
	sizes := make([]int, len(dims))
	for i, n := range dims {
		sizes[i] = int(n)
	}
	if err := t.Reset(tensor.Desc{DType: dtype, Shape: tensor.Dims(sizes...)}); err != nil {
		return err
	}
	if len(t.Data) > 0 {
		copy(t.Data, unsafe.Slice((*byte)(clib.At(data)), len(t.Data)))
	}
	return nil
}

// run runs the model on the named inputs. It returns the outputs named in want,
// in the memory given; the caller releases them. If ctx ends, run terminates
// ORT's call and returns the context's error.
func (g *graph) run(ctx context.Context, names []string, in []value, want []string, memory uintptr) (out []value, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a := g.a
	var options uintptr
	if err := a.made(handleRun, a.status(slotCreateRunOptions, uintptr(unsafe.Pointer(&options)))); err != nil {
		return nil, err
	}
	defer a.release(handleRun, slotReleaseRunOptions, &options)
	defer func() {
		a.void(slotClearBoundInputs, g.binding)
		a.void(slotClearBoundOutputs, g.binding)
	}()
	for i, n := range names {
		c, err := clib.Terminated(n)
		if err != nil {
			return nil, err
		}
		if err := a.status(slotBindInput, g.binding, uintptr(unsafe.Pointer(&c[0])), in[i].p); err != nil {
			return nil, err
		}
	}
	for _, n := range want {
		c, err := clib.Terminated(n)
		if err != nil {
			return nil, err
		}
		if err := a.status(slotBindOutputToDevice, g.binding, uintptr(unsafe.Pointer(&c[0])), memory); err != nil {
			return nil, err
		}
	}
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		_ = a.status(slotRunOptionsSetTerminate, options) // sets a flag
	})
	err = a.status(slotRunWithBinding, g.session, options, g.binding)
	if !stop() {
		<-told // the callback must end before the options are released
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		return nil, err
	}
	return g.bound(len(want))
}

// bound returns the n outputs of a run, in the order in which they were bound.
func (g *graph) bound(n int) ([]value, error) {
	a := g.a
	alloc, err := a.allocator()
	if err != nil {
		return nil, err
	}
	var list, count uintptr
	if err := a.status(slotGetBoundOutputValues, g.binding, alloc, uintptr(unsafe.Pointer(&list)), uintptr(unsafe.Pointer(&count))); err != nil {
		return nil, err
	}
	var out []value
	for i := range int(count) {
		out = append(out, value{clib.Word(list, i)})
		a.live[handleValue].Add(1)
	}
	if list != 0 {
		err = a.status(slotAllocatorFree, alloc, list)
	}
	if err == nil && len(out) != n {
		err = fmt.Errorf("ONNX Runtime gave %d outputs, want %d", len(out), n)
	}
	if err != nil {
		for i := range out {
			a.releaseValue(&out[i])
		}
		return nil, err
	}
	return out, nil
}
