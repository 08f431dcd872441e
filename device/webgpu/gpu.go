//go:build !(js && wasm)

package webgpu

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/gogpu/gputypes"
	"github.com/gogpu/wgpu"

	"github.com/infer-prep/infer-prep/internal/gpu"
)

func (d *Device) makeKernels() error {
	module, err := d.gpu.CreateShaderModule(&wgpu.ShaderModuleDescriptor{Label: "infer-prep", WGSL: gpu.Source})
	if err != nil {
		return failed(err, "compiling the kernels")
	}
	d.release = append(d.release, module.Release)
	binding := func(i uint32, t gputypes.BufferBindingType) wgpu.BindGroupLayoutEntry {
		return wgpu.BindGroupLayoutEntry{Binding: i, Visibility: wgpu.ShaderStageCompute, Buffer: &gputypes.BufferBindingLayout{Type: t}}
	}
	d.layout, err = d.gpu.CreateBindGroupLayout(&wgpu.BindGroupLayoutDescriptor{Entries: []wgpu.BindGroupLayoutEntry{
		binding(0, gputypes.BufferBindingTypeReadOnlyStorage),
		binding(1, gputypes.BufferBindingTypeStorage),
		binding(2, gputypes.BufferBindingTypeUniform),
		binding(3, gputypes.BufferBindingTypeReadOnlyStorage),
	}})
	if err != nil {
		return failed(err, "describing the kernels' buffers")
	}
	d.release = append(d.release, d.layout.Release)
	layout, err := d.gpu.CreatePipelineLayout(&wgpu.PipelineLayoutDescriptor{BindGroupLayouts: []*wgpu.BindGroupLayout{d.layout}})
	if err != nil {
		return failed(err, "describing the kernels' buffers")
	}
	d.release = append(d.release, layout.Release)
	for k := range gpu.KernelCount {
		name := k.String()
		p, err := d.gpu.CreateComputePipeline(&wgpu.ComputePipelineDescriptor{Label: name, Layout: layout, Module: module, EntryPoint: name})
		if err != nil {
			return failed(err, "compiling kernel %s", name)
		}
		d.kernels[k] = p
		d.release = append(d.release, p.Release)
	}
	return nil
}

// memory holds a session's buffers on the device and reuses them from run to
// run. Buffers in use are only accessed with the device's lock held.
type memory struct {
	d       *Device
	budget  int64 // of all buffers together; 0 means only the adapter's limit
	total   int64
	buffers []*buffer
	// The recorded work that has not been submitted.
	encoder *wgpu.CommandEncoder
	groups  []*wgpu.BindGroup
	flying  bool // an upload or a submission has not been waited for
}

type buffer struct {
	gpu   *wgpu.Buffer
	size  int64
	usage wgpu.BufferUsage
	users int  // 0 if free
	dirty bool // used by work that is recorded or running
}

const (
	storage = wgpu.BufferUsageStorage | wgpu.BufferUsageCopySrc | wgpu.BufferUsageCopyDst
	uniform = wgpu.BufferUsageUniform | wgpu.BufferUsageCopyDst
	staging = wgpu.BufferUsageMapRead | wgpu.BufferUsageCopyDst
)

// Largest returns the size limit of one buffer in bytes.
func (m *memory) Largest() int64 {
	n := min(m.d.limits.MaxStorageBufferBindingSize, m.d.limits.MaxBufferSize, math.MaxInt32)
	if m.budget > 0 {
		n = min(n, uint64(m.budget))
	}
	return int64(n)
}

// get returns a buffer of at least size bytes. The error is a *gpu.TooLarge if
// none fits.
func (m *memory) get(size int64, usage wgpu.BufferUsage) (*buffer, error) {
	size = max((size+255)&^255, 256)
	if most := m.Largest(); size > most {
		return nil, gpu.TooLargef("a buffer of %d bytes, the most is %d", size, most)
	}
	var best *buffer
	for _, b := range m.buffers {
		if b.users == 0 && b.usage == usage && b.size >= size && b.size <= 4*size && (best == nil || b.size < best.size) {
			best = b
		}
	}
	if best == nil {
		if m.budget > 0 && m.total+size > m.budget {
			if err := m.trim(); err != nil {
				return nil, err
			}
		}
		if m.budget > 0 && m.total+size > m.budget {
			return nil, gpu.TooLargef("buffers of %d bytes, the limit is %d", m.total+size, m.budget)
		}
		g, err := m.d.gpu.CreateBuffer(&wgpu.BufferDescriptor{Label: "infer-prep", Size: uint64(size), Usage: usage})
		if err != nil {
			return nil, failed(err, "creating a buffer of %d bytes", size)
		}
		best = &buffer{gpu: g, size: size, usage: usage}
		m.buffers = append(m.buffers, best)
		m.total += size
	}
	best.users = 1
	return best, nil
}

// Get returns a buffer for kernels.
func (m *memory) Get(size int64) (gpu.Buffer, error) {
	b, err := m.get(size, storage)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Put releases a buffer.
func (m *memory) Put(b gpu.Buffer) {
	if b, ok := b.(*buffer); ok && b != nil && b.users > 0 {
		b.users--
	}
}

// Keep takes a buffer that Reset released.
func (m *memory) Keep(b gpu.Buffer) { b.(*buffer).users = 1 }

// trim releases the unused buffers. It first waits for the device, since the
// library does not count pending uploads as users.
func (m *memory) trim() error {
	if err := m.wait(); err != nil {
		return err
	}
	m.release()
	return nil
}

func (m *memory) release() {
	kept := m.buffers[:0]
	for _, b := range m.buffers {
		if b.users > 0 {
			kept = append(kept, b)
			continue
		}
		m.total -= b.size
		b.gpu.Release()
	}
	clear(m.buffers[len(kept):])
	m.buffers = kept
}

// Reset frees all buffers and discards the recorded work, at the start of a
// run.
func (m *memory) Reset() error {
	m.drop()
	if err := m.wait(); err != nil {
		return err
	}
	for _, b := range m.buffers {
		b.users = 0
	}
	return nil
}

// drop discards the recorded work.
func (m *memory) drop() {
	if m.encoder != nil {
		m.encoder.DiscardEncoding()
		m.encoder = nil
	}
	for _, g := range m.groups {
		g.Release()
	}
	m.groups = m.groups[:0]
}

// upload writes data of any length to a new or reused buffer.
func (m *memory) upload(data []byte, usage wgpu.BufferUsage) (*buffer, error) {
	b, err := m.get(int64(len(data)), usage)
	if err != nil {
		return nil, err
	}
	return b, m.write(b, data)
}

// Upload writes data to a buffer for kernels.
func (m *memory) Upload(data []byte) (gpu.Buffer, error) {
	b, err := m.upload(data, storage)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// write uploads data to the start of b. Uploads run before all recorded work.
// If that work may use b, write waits for it first.
func (m *memory) write(b *buffer, data []byte) error {
	if b.dirty {
		if err := m.wait(); err != nil {
			return err
		}
	}
	b.dirty, m.flying = true, true
	// Writes consist of whole 4-byte words. Bytes behind the data are never
	// read.
	whole := len(data) &^ 3
	if whole > 0 {
		if err := m.d.gpu.Queue().WriteBuffer(b.gpu, 0, data[:whole]); err != nil {
			return failed(err, "uploading %d bytes", len(data))
		}
	}
	if whole < len(data) {
		var last [4]byte
		copy(last[:], data[whole:])
		if err := m.d.gpu.Queue().WriteBuffer(b.gpu, uint64(whole), last[:]); err != nil {
			return failed(err, "uploading %d bytes", len(data))
		}
	}
	return nil
}

// Run records one kernel.
func (m *memory) Run(k gpu.Kernel, to, from, with gpu.Buffer, p gpu.Params) error {
	dst, src, table := to.(*buffer), from.(*buffer), with.(*buffer)
	values, gx, gy, err := p.Uniform(int64(m.d.limits.MaxComputeWorkgroupsPerDimension))
	if err != nil {
		return err
	}
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	u, err := m.upload(b, uniform)
	if err != nil {
		return err
	}
	g, err := m.d.gpu.CreateBindGroup(&wgpu.BindGroupDescriptor{Layout: m.d.layout, Entries: []wgpu.BindGroupEntry{
		{Binding: 0, Buffer: src.gpu, Size: uint64(src.size)},
		{Binding: 1, Buffer: dst.gpu, Size: uint64(dst.size)},
		{Binding: 2, Buffer: u.gpu, Size: 64},
		{Binding: 3, Buffer: table.gpu, Size: uint64(table.size)},
	}})
	if err != nil {
		return failed(err, "binding the buffers of kernel %v", k)
	}
	m.groups = append(m.groups, g)
	e, err := m.recorder()
	if err != nil {
		return err
	}
	// Each kernel is a pass of its own, so that it sees the results of the one
	// before.
	pass, err := e.BeginComputePass(nil)
	if err != nil {
		return failed(err, "recording kernel %v", k)
	}
	pass.SetPipeline(m.d.kernels[k])
	pass.SetBindGroup(0, g, nil)
	pass.Dispatch(gx, gy, 1)
	dst.dirty, src.dirty, table.dirty = true, true, true
	return failed(pass.End(), "recording kernel %v", k)
}

func (m *memory) recorder() (*wgpu.CommandEncoder, error) {
	if m.encoder == nil {
		e, err := m.d.gpu.CreateCommandEncoder(nil)
		if err != nil {
			return nil, failed(err, "recording")
		}
		m.encoder = e
	}
	return m.encoder, nil
}

// submit starts the uploads and the recorded work.
func (m *memory) submit() error {
	e := m.encoder
	m.encoder = nil
	defer m.drop()
	m.flying = true
	if e == nil {
		_, err := m.d.gpu.Queue().Submit()
		return failed(err, "submitting")
	}
	c, err := e.Finish()
	if err != nil {
		return failed(err, "recording")
	}
	_, err = m.d.gpu.Queue().Submit(c)
	return failed(err, "submitting")
}

// wait submits the recorded work and waits until the device is idle.
func (m *memory) wait() error {
	if m.encoder == nil && !m.flying {
		return nil
	}
	if err := m.submit(); err != nil {
		return err
	}
	h := m.d.gpu.HalDevice()
	if h == nil {
		return failed(ErrClosed, "waiting")
	}
	// Poll would hide a lost device.
	if err := h.WaitIdle(); err != nil {
		return failed(err, "waiting")
	}
	m.flying = false
	for _, b := range m.buffers {
		b.dirty = false
	}
	return nil
}

// Read waits for all recorded work and copies the results to the host.
func (m *memory) Read(l []gpu.Fetch) error {
	// Each round reads as many results as one buffer holds.
	for len(l) > 0 {
		n, size := 0, int64(0)
		for n < len(l) && (n == 0 || size+int64(len(l[n].To)) <= m.Largest()-256) {
			size += (int64(len(l[n].To)) + 7) &^ 7
			n++
		}
		if err := m.readSome(l[:n], size); err != nil {
			return err
		}
		l = l[n:]
	}
	return nil
}

func (m *memory) readSome(l []gpu.Fetch, size int64) (err error) {
	s, err := m.get(size, staging)
	if err != nil {
		return err
	}
	defer m.Put(s)
	e, err := m.recorder()
	if err != nil {
		return err
	}
	at := uint64(0)
	for _, f := range l {
		e.CopyBufferToBuffer(f.From.(*buffer).gpu, 0, s.gpu, at, (uint64(len(f.To))+3)&^3)
		at += (uint64(len(f.To)) + 7) &^ 7
	}
	if err := m.wait(); err != nil {
		return err
	}
	pending, err := s.gpu.MapAsync(wgpu.MapModeRead, 0, at)
	if err != nil {
		return failed(err, "mapping %d bytes", at)
	}
	m.d.gpu.Poll(wgpu.PollWait)
	done, err := pending.Status()
	pending.Release()
	if err == nil && !done {
		err = errors.New("not done although the device is idle")
	}
	if err != nil {
		return failed(err, "mapping %d bytes", at)
	}
	defer func() { err = errors.Join(err, failed(s.gpu.Unmap(), "unmapping")) }()
	r, err := s.gpu.MappedRange(0, at)
	if err != nil {
		return failed(err, "mapping %d bytes", at)
	}
	defer r.Release()
	data := r.Bytes()
	if uint64(len(data)) < at {
		return failed(fmt.Errorf("%d bytes, want %d", len(data), at), "mapping")
	}
	for _, f := range l {
		copy(f.To, data)
		data = data[(len(f.To)+7)&^7:]
	}
	return nil
}

// close releases all buffers, also those of a lost device.
func (m *memory) close() error {
	m.drop()
	err := m.wait()
	for _, b := range m.buffers {
		b.users = 0
	}
	m.release()
	return err
}
