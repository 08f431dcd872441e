package main

/*
#cgo CFLAGS: -I${SRCDIR}/..
#include "infer_prep.h"

extern char *ipc_capabilities;
void ipc_set_error(ip_error *e, ip_status status, const char *text, size_t n);
*/
import "C"

import (
	"fmt"
	"runtime/debug"
	"sync"
	"unsafe"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// The functions that shim.c calls.

// form is the name of this form in ip_capabilities.
const form = "go"

// keepSource says whether objects keep what they were opened from.
const keepSource = false

// The structs of abi.go have the layout of C's: another size, or another offset
// of the last member, is an index that is out of range.
var (
	_ = [1]bool{}[unsafe.Sizeof(C.ip_options{})-unsafe.Sizeof(ipOptions{})]
	_ = [1]bool{}[unsafe.Offsetof(C.ip_options{}.ignored_keys)-unsafe.Offsetof(ipOptions{}.ignoredKeys)]
	_ = [1]bool{}[unsafe.Sizeof(C.ip_column{})-unsafe.Sizeof(ipColumn{})]
	_ = [1]bool{}[unsafe.Offsetof(C.ip_column{}.name)-unsafe.Offsetof(ipColumn{}.name)]
	_ = [1]bool{}[unsafe.Sizeof(C.ip_input{})-unsafe.Sizeof(ipInput{})]
	_ = [1]bool{}[unsafe.Offsetof(C.ip_input{}.data)-unsafe.Offsetof(ipInput{}.data)]
	_ = [1]bool{}[unsafe.Sizeof(C.ip_tensor{})-unsafe.Sizeof(ipTensor{})]
	_ = [1]bool{}[unsafe.Offsetof(C.ip_tensor{}.data)-unsafe.Offsetof(ipTensor{}.data)]
	_ = [1]bool{}[unsafe.Sizeof(C.ip_image_info{})-unsafe.Sizeof(ipImageInfo{})]
	_ = [1]bool{}[unsafe.Offsetof(C.ip_image_info{}.mode)-unsafe.Offsetof(ipImageInfo{}.mode)]
	_ = [1]bool{}[unsafe.Sizeof(C.ip_token_files{})-unsafe.Sizeof(ipTokenFiles{})]
	_ = [1]bool{}[unsafe.Offsetof(C.ip_token_files{}.tokens)-unsafe.Offsetof(ipTokenFiles{}.tokens)]
	_ = [1]bool{}[unsafe.Sizeof(C.ip_image_tokens{})-unsafe.Sizeof(ipImageTokens{})]
	_ = [1]bool{}[unsafe.Offsetof(C.ip_image_tokens{}.text_bytes)-unsafe.Offsetof(ipImageTokens{}.textBytes)]
	_ = [1]bool{}[unsafe.Sizeof(C.ip_clip{})-unsafe.Sizeof(ipClip{})]
	_ = [1]bool{}[unsafe.Offsetof(C.ip_clip{}.frames)-unsafe.Offsetof(ipClip{}.frames)]
	_ = [1]bool{}[unsafe.Sizeof(C.ip_error{})-unsafe.Sizeof(ipError{})]
)

// The types of C's pointers.
func errorOf(p *C.ip_error) *ipError    { return (*ipError)(unsafe.Pointer(p)) }
func handleOf(p *C.uintptr_t) *uintptr  { return (*uintptr)(unsafe.Pointer(p)) }
func byteOf(p *C.char) *byte            { return (*byte)(unsafe.Pointer(p)) }
func inputOf(p *C.ip_input) *ipInput    { return (*ipInput)(unsafe.Pointer(p)) }
func tensorOf(p *C.ip_tensor) *ipTensor { return (*ipTensor)(unsafe.Pointer(p)) }
func columnOf(p *C.ip_column) *ipColumn { return (*ipColumn)(unsafe.Pointer(p)) }

// panicked returns the error of a panic.
func panicked(p any) error {
	return fmt.Errorf("infer_prep: %w: %v\n%s", errInternal, p, debug.Stack())
}

func setError(e *ipError, status int32, text string) {
	if e != nil {
		b := append([]byte(text), 0)
		C.ipc_set_error((*C.ip_error)(unsafe.Pointer(e)), C.ip_status(status), (*C.char)(unsafe.Pointer(&b[0])), C.size_t(len(text)))
	}
}

// cCapabilities sets C.ipc_capabilities to a text that is never freed. A
// variable of C shows leak detectors that it is in use.
var cCapabilities = sync.OnceValue(func() error {
	b, err := capabilities()
	C.ipc_capabilities = C.CString(string(b))
	return err
})

//export ipgo_capabilities
func ipgo_capabilities(text **C.char, e *C.ip_error) C.ip_status {
	return C.ip_status(do(errorOf(e), func() error {
		err := cCapabilities()
		*text = C.ipc_capabilities
		return err
	}))
}

//export ipgo_free
func ipgo_free(h C.uintptr_t, kind C.int32_t) C.ip_status {
	return C.ip_status(free(uintptr(h), int32(kind)))
}

//export ipgo_graph_open
func ipgo_graph_open(name *C.char, data unsafe.Pointer, n C.size_t, options *C.ip_options, h *C.uintptr_t, e *C.ip_error) C.ip_status {
	return C.ip_status(graphOpen(byteOf(name), data, uint64(n), (*ipOptions)(unsafe.Pointer(options)), handleOf(h), errorOf(e)))
}

//export ipgo_graph_count
func ipgo_graph_count(h C.uintptr_t, list C.int32_t) C.int32_t {
	return C.int32_t(graphCount(uintptr(h), int32(list)))
}

//export ipgo_graph_find
func ipgo_graph_find(h C.uintptr_t, list C.int32_t, name *C.char) C.int32_t {
	return C.int32_t(graphFind(uintptr(h), int32(list), byteOf(name)))
}

//export ipgo_graph_describe
func ipgo_graph_describe(h C.uintptr_t, list, i C.int32_t, column *C.ip_column, e *C.ip_error) C.ip_status {
	return C.ip_status(graphDescribe(uintptr(h), int32(list), int32(i), columnOf(column), errorOf(e)))
}

//export ipgo_graph_sizes
func ipgo_graph_sizes(h C.uintptr_t, height, width C.int64_t, columns *C.ip_column, n C.int32_t, e *C.ip_error) C.ip_status {
	return C.ip_status(graphSizes(uintptr(h), int64(height), int64(width), columnOf(columns), int32(n), errorOf(e)))
}

//export ipgo_probe
func ipgo_probe(image unsafe.Pointer, n C.size_t, info *C.ip_image_info, e *C.ip_error) C.ip_status {
	return C.ip_status(probe(image, uint64(n), (*ipImageInfo)(unsafe.Pointer(info)), errorOf(e)))
}

//export ipgo_run_into
func ipgo_run_into(h C.uintptr_t, in *C.ip_input, nin C.int32_t, out *C.ip_tensor, nout C.int32_t, e *C.ip_error) C.ip_status {
	return C.ip_status(runInto(uintptr(h), inputOf(in), int32(nin), tensorOf(out), int32(nout), errorOf(e)))
}

//export ipgo_run
func ipgo_run(h C.uintptr_t, in *C.ip_input, nin C.int32_t, lent *C.uintptr_t, e *C.ip_error) C.ip_status {
	return C.ip_status(run(uintptr(h), inputOf(in), int32(nin), handleOf(lent), errorOf(e)))
}

//export ipgo_result_tensor
func ipgo_result_tensor(h C.uintptr_t, i C.int32_t, to *C.ip_tensor, e *C.ip_error) C.ip_status {
	return C.ip_status(resultTensor(uintptr(h), int32(i), tensorOf(to), errorOf(e)))
}

//export ipgo_tokens_open
func ipgo_tokens_open(folder *C.char, files *C.ip_token_files, h *C.uintptr_t, e *C.ip_error) C.ip_status {
	return C.ip_status(tokensOpen(byteOf(folder), (*ipTokenFiles)(unsafe.Pointer(files)), handleOf(h), errorOf(e)))
}

//export ipgo_tokens_images
func ipgo_tokens_images(h C.uintptr_t, sizes *C.int64_t, n C.int32_t, images *C.ip_image_tokens, to *C.char, capacity C.uint64_t, bytes *C.uint64_t, e *C.ip_error) C.ip_status {
	return C.ip_status(tokensImages(uintptr(h), (*int64)(unsafe.Pointer(sizes)), int32(n), (*ipImageTokens)(unsafe.Pointer(images)), byteOf(to), uint64(capacity), (*uint64)(unsafe.Pointer(bytes)), errorOf(e)))
}

//export ipgo_result_count
func ipgo_result_count(h C.uintptr_t) C.int32_t { return C.int32_t(resultCount(uintptr(h))) }

//export ipgo_result_describe
func ipgo_result_describe(h C.uintptr_t, i C.int32_t, column *C.ip_column, e *C.ip_error) C.ip_status {
	return C.ip_status(resultDescribe(uintptr(h), int32(i), columnOf(column), errorOf(e)))
}

//export ipgo_collate
func ipgo_collate(h C.uintptr_t, results unsafe.Pointer, n C.size_t, lent *C.uintptr_t, e *C.ip_error) C.ip_status {
	return C.ip_status(collate(uintptr(h), results, uint64(n), handleOf(lent), errorOf(e)))
}

//export ipgo_video_open
func ipgo_video_open(name *C.char, data unsafe.Pointer, n C.size_t, options *C.ip_options, h *C.uintptr_t, e *C.ip_error) C.ip_status {
	return C.ip_status(videoOpen(byteOf(name), data, uint64(n), (*ipOptions)(unsafe.Pointer(options)), handleOf(h), errorOf(e)))
}

//export ipgo_video_sample
func ipgo_video_sample(h C.uintptr_t, clip *C.ip_clip, numbers *C.int64_t, capacity C.uint64_t, count *C.uint64_t, e *C.ip_error) C.ip_status {
	return C.ip_status(videoSample(uintptr(h), (*ipClip)(unsafe.Pointer(clip)), (*int64)(unsafe.Pointer(numbers)), uint64(capacity), (*uint64)(unsafe.Pointer(count)), errorOf(e)))
}

//export ipgo_video_run
func ipgo_video_run(h C.uintptr_t, clips *C.ip_clip, n C.int32_t, lent *C.uintptr_t, e *C.ip_error) C.ip_status {
	return C.ip_status(videoRun(uintptr(h), (*ipClip)(unsafe.Pointer(clips)), int32(n), handleOf(lent), errorOf(e)))
}

// write runs a graph, writes its outputs to the host's memory and describes
// them.
func write(r *datagraph.Runner, in []*tensor.Tensor, out list[ipTensor]) error {
	dst := make([][]byte, out.n)
	for i := range dst {
		var err error
		if dst[i], err = bytesOf(out.of(i).data, out.of(i).capacity); err != nil {
			return err
		}
	}
	res, err := r.RunInto(dst, in...)
	if err != nil {
		return err
	}
	for i := range out.n {
		setTensor(out.of(i), res[i])
	}
	return nil
}
