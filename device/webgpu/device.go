//go:build !(js && wasm)

package webgpu

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/gogpu/gputypes"
	"github.com/gogpu/wgpu"
	"github.com/gogpu/wgpu/core"
	_ "github.com/gogpu/wgpu/hal/allbackends" // Vulkan, Metal, Direct3D 12, and the library's own renderer

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/internal/gpu"
)

func init() {
	device.Register(device.Driver{
		Name: "webgpu",
		Doc:  "GPUs through WebGPU: integer resize, crops, tables; options adapter=N|NAME, software=true, strict=true",
		Open: func(options map[string]string) (device.Device, error) {
			o, err := parseOptions(options)
			if err != nil {
				return nil, err
			}
			return Open(o)
		},
	})
}

// Options configures the device.
type Options struct {
	// Adapter is an adapter's number in the order of Adapters, or a part of its
	// name in any case. Default: the first adapter that is not a software
	// renderer.
	Adapter string
	// Software accepts a software renderer if no other adapter exists, or if
	// Adapter names one.
	Software bool
	// Strict makes a run fail with device.ErrFellBack if a step is too large
	// for the device. By default the host takes over and Session.Placement says
	// so.
	Strict bool
}

func parseOptions(options map[string]string) (Options, error) {
	var o Options
	for k, v := range options {
		switch k {
		case "adapter":
			if v == "" {
				return o, fmt.Errorf("webgpu: %w: adapter is empty, want a number or a part of a name", ErrOption)
			}
			o.Adapter = v
		case "software", "strict":
			b, err := strconv.ParseBool(v)
			if err != nil {
				return o, fmt.Errorf("webgpu: %w: %s=%q, want true or false", ErrOption, k, v)
			}
			if k == "strict" {
				o.Strict = b
			} else {
				o.Software = b
			}
		default:
			return o, fmt.Errorf("webgpu: %w %q, want one of adapter, software, strict", ErrOption, k)
		}
	}
	return o, nil
}

// Adapter describes a GPU or software renderer.
type Adapter struct {
	Name     string
	Backend  string // "Vulkan"
	Software bool   // it computes on the CPU
}

func (a Adapter) String() string { return fmt.Sprintf("%s (%s)", a.Name, a.Backend) }

func adapterOf(i gputypes.AdapterInfo) Adapter {
	a := Adapter{Name: i.Name, Backend: fmt.Sprint(i.Backend), Software: i.DeviceType == gputypes.DeviceTypeCPU}
	// Drivers that translate, such as Direct3D on lavapipe, may not report a
	// CPU.
	name := strings.ToLower(i.Name)
	for _, s := range []string{"llvmpipe", "lavapipe", "swiftshader", "microsoft basic render", "software"} {
		a.Software = a.Software || strings.Contains(name, s)
	}
	return a
}

// Adapters lists the available adapters, including the library's own renderer.
func Adapters() ([]Adapter, error) {
	var l []Adapter
	err := guard("listing adapters", func() error {
		var err error
		l, _, err = adapters()
		return err
	})
	return l, err
}

// instance searches for adapters, once in a process: NVIDIA's Vulkan driver
// 580 finds no adapter in a process that has made and destroyed 30 instances.
// It leaves out OpenGL, which has no adapters without a window.
var instance = sync.OnceValue(func() *core.Instance {
	i := gputypes.DefaultInstanceDescriptor()
	i.Backends &^= gputypes.BackendsGL
	return core.NewInstance(&i)
})

func adapters() ([]Adapter, []core.AdapterID, error) {
	ids := instance().EnumerateAdapters()
	var l []Adapter
	for _, id := range ids {
		info, err := core.GetAdapterInfo(id)
		if err != nil {
			return nil, nil, failed(err, "asking an adapter for its name")
		}
		l = append(l, adapterOf(info))
	}
	return l, ids, nil
}

// choose returns the index of the adapter that o asks for. The error lists the
// adapters.
func choose(l []Adapter, o Options) (int, error) {
	names := make([]string, len(l))
	for i, a := range l {
		names[i] = fmt.Sprintf("%d: %v", i, a)
	}
	there := strings.Join(names, ", ")
	if o.Adapter != "" {
		at := -1
		if n, err := strconv.Atoi(o.Adapter); err == nil && n >= 0 && n < len(l) {
			at = n
		} else {
			for i, a := range l {
				if at < 0 && strings.Contains(strings.ToLower(a.Name), strings.ToLower(o.Adapter)) {
					at = i
				}
			}
		}
		if at < 0 {
			return 0, fmt.Errorf("webgpu: %w: no adapter %q, there are: %s", device.ErrUnavailable, o.Adapter, there)
		}
		if l[at].Software && !o.Software {
			return 0, fmt.Errorf("webgpu: adapter %v: %w", l[at], ErrSoftware)
		}
		return at, nil
	}
	software := -1
	for i, a := range l {
		if !a.Software {
			return i, nil
		}
		if software < 0 {
			software = i
		}
	}
	switch {
	case software < 0:
		return 0, fmt.Errorf("webgpu: %w: no adapter", device.ErrUnavailable)
	case !o.Software:
		return 0, fmt.Errorf("webgpu: only %s: %w", there, ErrSoftware)
	}
	return software, nil
}

// Device is an open adapter. It is safe for concurrent use. Its sessions take
// turns on the GPU.
type Device struct {
	adapter Adapter
	strict  bool
	gpu     *wgpu.Device
	kernels [gpu.KernelCount]*wgpu.ComputePipeline
	layout  *wgpu.BindGroupLayout
	limits  gputypes.Limits
	release []func() // in the order of creation

	band int64 // the size limit of a band in bytes, for tests. Default maxBand.

	mu     sync.Mutex // held while a session uses the GPU
	lost   error      // the error that reported the loss of the device
	closed bool
	memory map[*memory]bool // of the open sessions
}

// Open opens an adapter and compares its kernels with the CPU on a small image.
// A difference, caused by a driver or shader compiler, is device.ErrDiffers.
func Open(o Options) (*Device, error) {
	d := &Device{strict: o.Strict, memory: map[*memory]bool{}}
	err := guard("opening the device", func() error { return d.open(o) })
	if err == nil {
		err = d.selfTest()
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Device) open(o Options) error {
	l, ids, err := adapters()
	if err != nil {
		return err
	}
	i, err := choose(l, o)
	if err != nil {
		return err
	}
	d.adapter = l[i]
	hub := core.GetGlobal().Hub()
	a, err := hub.GetAdapter(ids[i])
	if err != nil {
		return failed(err, "getting adapter %v", d.adapter)
	}
	if !a.HasHAL() {
		return fmt.Errorf("webgpu: %w: adapter %v has no driver", device.ErrUnavailable, d.adapter)
	}
	if d.limits, err = core.GetAdapterLimits(ids[i]); err != nil {
		return failed(err, "asking adapter %v for its limits", d.adapter)
	}
	open, err := a.HALAdapter().Open(0, d.limits)
	if err != nil {
		return failed(err, "opening adapter %v", d.adapter)
	}
	if d.gpu, err = wgpu.NewDeviceFromHAL(open.Device, open.Queue, 0, d.limits, "infer-prep"); err != nil {
		return failed(err, "opening adapter %v", d.adapter)
	}
	return d.makeKernels()
}

// Name returns "webgpu".
func (d *Device) Name() string { return "webgpu" }

// Adapter returns the adapter in use.
func (d *Device) Adapter() Adapter { return d.adapter }

// GPU returns the library's device. Users of a session's Buffers submit to its
// queue. The caller must not release it.
func (d *Device) GPU() *wgpu.Device { return d.gpu }

// Place returns where each step would run; see the package comment. A graph
// with random ops is ErrRandom.
func (d *Device) Place(p *datagraph.Plan) (device.Placement, error) {
	return placement(p.Graph())
}

// Close releases the GPU. Close its sessions first. Sessions that are still
// open fail from then on, and the Buffers they returned become invalid.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	return guard("closing the device", func() error {
		for m := range d.memory {
			_ = m.close() // fails on a lost device, which no longer matters
		}
		for i := len(d.release) - 1; i >= 0; i-- {
			d.release[i]()
		}
		if d.gpu != nil {
			d.gpu.Release()
		}
		return nil
	})
}

// guard calls f, which uses the GPU library, and converts a panic to an error.
// A driver's answers can make the library panic.
func guard(doing string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &Error{doing, fmt.Errorf("panic: %v", r)}
		}
	}()
	return f()
}
