//go:build wasip1 && full

package main

import (
	"context"
	"slices"
	"unsafe"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/internal/gpu"
	"github.com/infer-prep/infer-prep/transforms"
)

// recorder is a memory of a GPU that the host has. It records what the host is
// to do: take buffers, fill some of them, then run kernels. Buffers have
// numbers from 1 on. A buffer's contents last while every program names it.
type recorder struct {
	largest, groups int64 // limits
	buffers         []*recorded
	newest          uint32
	uploads         []upload
	kernels         []uint32 // kernelEntry values of each kernel
}

// recorded is a buffer of a recorder.
type recorded struct {
	number uint32
	size   int64
	used   bool
}

type upload struct {
	to   *recorded
	data []byte
}

// A kernel's values: its number, the numbers of the output, input and table,
// the dispatch's size, and the uniforms.
const kernelEntry = 6 + 16

func (r *recorder) Largest() int64 { return r.largest }

// Get prefers a buffer of an earlier run. Buffers are released between runs
// only, so that all uploads of a run can come before its kernels.
func (r *recorder) Get(size int64) (gpu.Buffer, error) {
	size = max((size+255)&^255, 256)
	if size > r.largest {
		return nil, gpu.TooLargef("a buffer of %d bytes, the most is %d", size, r.largest)
	}
	for _, b := range r.buffers {
		if !b.used && b.size == size {
			b.used = true
			return b, nil
		}
	}
	r.newest++
	b := &recorded{number: r.newest, size: size, used: true}
	r.buffers = append(r.buffers, b)
	return b, nil
}

func (r *recorder) Upload(data []byte) (gpu.Buffer, error) {
	b, err := r.Get(int64(len(data)))
	if err != nil {
		return nil, err
	}
	r.uploads = append(r.uploads, upload{b.(*recorded), data})
	return b, nil
}

func (r *recorder) Put(gpu.Buffer) {}

func (r *recorder) Keep(b gpu.Buffer) { b.(*recorded).used = true }

func (r *recorder) Run(k gpu.Kernel, dst, src, table gpu.Buffer, p gpu.Params) error {
	u, x, y, err := p.Uniform(r.groups)
	if err != nil {
		return err
	}
	number := func(b gpu.Buffer) uint32 { return b.(*recorded).number }
	r.kernels = append(append(r.kernels, uint32(k), number(dst), number(src), number(table), x, y), u[:]...)
	return nil
}

func (r *recorder) Read([]gpu.Fetch) error {
	return gpu.TooLargef("a step on the host needs results of the device")
}

// Reset drops the buffers that the last run did not use.
func (r *recorder) Reset() error {
	r.buffers = slices.DeleteFunc(r.buffers, func(b *recorded) bool { return !b.used })
	for _, b := range r.buffers {
		b.used = false
	}
	r.uploads, r.kernels = r.uploads[:0], r.kernels[:0]
	return nil
}

// gpuGraph runs a graph on a recorder.
type gpuGraph struct {
	runner *gpu.Runner
	memory *recorder
}

// gpu_open prepares a graph, by its handle, for a device with limits: the bytes
// of a storage buffer, and the workgroups in each dimension of a dispatch. It
// is an error of kind unsupported unless the last steps, at least one, run on
// the device and all steps before them on the host.
//
//go:wasmexport gpu_open
func gpuOpen(handle uint32, bytes, groups float64) uint32 {
	return guard(func() error {
		g, err := lookup(handle)
		if err != nil {
			return err
		}
		steps, err := gpu.Lower(g.plan.Graph())
		if err != nil {
			return err
		}
		onDevice := 0
		for i, s := range steps {
			if s.OnDevice {
				onDevice++
			} else if onDevice > 0 {
				return errfmt.Errorf("wasm: %w: step %d (%s) runs on the host, after a step on the GPU", codec.ErrUnsupported, i, transforms.InfoOf(g.plan.Graph().Steps[i].Op).Name)
			}
		}
		if onDevice == 0 {
			return errfmt.Errorf("wasm: %w: no step of the graph runs on a GPU", codec.ErrUnsupported)
		}
		r := &recorder{largest: int64(bytes), groups: int64(groups)}
		runner, err := gpu.New(g.plan, r)
		if err != nil {
			return err
		}
		runner.FellBack = func(step int, why string) error {
			return errfmt.Errorf("wasm: %w: step %d does not run on the GPU: %s", codec.ErrUnsupported, step, why)
		}
		g.device = &gpuGraph{runner, r}
		return nil
	})
}

// program is the program of the last gpu_run.
var program []uint32

// gpu_run makes the program that runs a graph on the inputs of a table at an
// address. The steps before those of the GPU are done when it returns. tensors
// then has the outputs and side outputs. Their step is the number of a tensor's
// buffer, or 0 if the elements are here. gpu_program returns the address of the
// program, a list of values: the number of buffers, of uploads and of kernels;
// for each buffer its number and bytes; for each upload the buffer, and the
// address and bytes of the data; for each kernel kernelEntry values.
//
//go:wasmexport gpu_run
func gpuRun(handle, at uint32) uint32 {
	return guard(func() error {
		g, err := lookup(handle)
		if err != nil {
			return err
		}
		d, ok := g.device.(*gpuGraph)
		if !ok {
			return errfmt.Errorf("wasm: graph %d is not open for a GPU", handle)
		}
		if err := g.read(at); err != nil {
			return err
		}
		if err := d.runner.Run(context.Background(), g.inputs); err != nil {
			return err
		}
		startTable()
		for i, c := range g.plan.Outputs() {
			if i < len(g.plan.Graph().Outputs) {
				desc, b, err := d.runner.Device(c.Name)
				if err != nil {
					return err
				}
				addTensor(c.Name, int(b.(*recorded).number), desc, nil)
				continue
			}
			t, err := d.runner.Host([]string{c.Name})
			if err != nil {
				return err
			}
			addTensor(c.Name, 0, t[0].Desc, dense(t[0]))
		}
		finishTable()
		m := d.memory
		program = append(program[:0], 0, uint32(len(m.uploads)), uint32(len(m.kernels)/kernelEntry))
		for _, b := range m.buffers {
			if b.used {
				program[0]++
				program = append(program, b.number, uint32(b.size))
			}
		}
		for _, u := range m.uploads {
			program = append(program, u.to.number, address(u.data), uint32(len(u.data)))
		}
		program = append(program, m.kernels...)
		return nil
	})
}

//go:wasmexport gpu_program
func gpuProgram() uint32 { return address(program) }

// gpu_source returns the address of the text of the kernels, in WGSL.
//
//go:wasmexport gpu_source
func gpuSource() uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.StringData(gpu.Source)))) }

//go:wasmexport gpu_source_size
func gpuSourceSize() uint32 { return uint32(len(gpu.Source)) }
