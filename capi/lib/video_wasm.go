//go:build wasip1 && !small

package main

import (
	"fmt"
	"unsafe"

	"github.com/infer-prep/infer-prep/codec"
)

// maxFrame is the most bytes of a frame, as of other arguments.
const maxFrame = 1 << 30

// A run reads the frames of its clips by these functions of
// capi/wasm2c/host.c. Frames stay in the host's memory; the module has one at a
// time. The functions are in WASI's module because the small build does not
// import them: host.c then passes the same list of modules to both.

// hostSizes sets to to three numbers: the first frame of the clip with an
// invalid struct_size, or -1, its struct_size, and sizeof of the struct.
//
//go:wasmimport wasi_snapshot_preview1 ip_sizes
func hostSizes(clip uint32, to unsafe.Pointer)

// hostFrame sets to, an ipInput, to frame k of the clip. Its data is 0 if the
// host's is NULL, else any address.
//
//go:wasmimport wasi_snapshot_preview1 ip_frame
func hostFrame(clip uint32, k int64, to unsafe.Pointer)

// hostData copies the n bytes of the last frame of hostFrame. Pixels become
// dense.
//
//go:wasmimport wasi_snapshot_preview1 ip_data
func hostData(to unsafe.Pointer, n int64)

// framesOf returns a function that returns the frames of clip i of the call by
// their numbers. A frame is valid until the next call of the function.
func framesOf(_ *ipClip, i int) (func(k int) (*ipInput, error), error) {
	var wrong struct{ frame, size, want int64 }
	hostSizes(uint32(i), unsafe.Pointer(&wrong))
	if wrong.frame >= 0 {
		return nil, sizeError("ip_input", int(wrong.frame), int(wrong.size), int(wrong.want))
	}
	in := new(ipInput)
	var memory []byte
	return func(k int) (*ipInput, error) {
		hostFrame(uint32(i), int64(k), unsafe.Pointer(in))
		if in.data == 0 {
			return in, nil
		}
		n, err := elements(in, encoded)
		if err != nil {
			return nil, err
		}
		if n > maxFrame {
			return nil, fmt.Errorf("%w: %d bytes: this build takes at most %d", codec.ErrLimit, n, maxFrame)
		}
		if int64(len(memory)) < n || memory == nil {
			memory = make([]byte, max(n, 1))
		}
		at := unsafe.Pointer(&memory[0])
		hostData(at, n)
		in.data, in.bytes, in.strides = address(at), uint64(n), [len(in.strides)]int64{}
		return in, nil
	}, nil
}

func reopenVideo(config []byte, options *ipOptions) (object, error) {
	v, err := newVideo(options)
	if err == nil {
		err = v.read(config)
	}
	return v, err
}

func (v *videoProcessor) source() ([]byte, error) { return v.config, nil }
