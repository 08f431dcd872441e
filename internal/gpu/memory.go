// Package gpu runs the image steps of inference data graphs as integer kernels:
// it lowers a graph to kernels of kernels.wgsl, computes their tables, and
// hands them to a Memory, which runs them on a GPU or records them for one. All
// other steps run on the host.
package gpu

import (
	_ "embed"
	"errors"
	"fmt"
)

// Source holds the kernels, in WGSL.
//
//go:embed kernels.wgsl
var Source string

// ErrRandom reports a graph with random ops, which inference does not allow.
var ErrRandom = errors.New("the graph has random ops")

// Kernel is an entry point of Source.
type Kernel int

// The kernels.
const (
	Horizontal Kernel = iota
	Vertical
	Pick
	Lookup
	KernelCount
)

// String returns the name of the entry point.
func (k Kernel) String() string {
	return [KernelCount]string{"horizontal", "vertical", "pick", "lookup"}[k]
}

// groupSize is the workgroup size of all kernels; WebGPU guarantees 256.
const groupSize = 64

// Buffer is a buffer of a Memory.
type Buffer any

// Fetch is a result to read back: the first bytes of From.
type Fetch struct {
	From Buffer
	To   []byte
}

// Memory holds buffers on a device and runs kernels on them, in order. Buffers
// are released with Put, or by Reset, after which they may be used again.
type Memory interface {
	// Largest returns the size limit of one buffer in bytes.
	Largest() int64
	// Get returns a buffer of at least size bytes. The error is a *TooLarge if
	// none fits.
	Get(size int64) (Buffer, error)
	// Upload returns a buffer that starts with data.
	Upload(data []byte) (Buffer, error)
	// Put releases a buffer; nil is ignored.
	Put(b Buffer)
	// Keep takes a buffer that Reset released.
	Keep(b Buffer)
	// Run runs a kernel.
	Run(k Kernel, dst, src, table Buffer, p Params) error
	// Read waits for all kernels and reads buffers.
	Read(l []Fetch) error
	// Reset discards the work that has not begun, and releases all buffers.
	Reset() error
}

// Params holds the kernels' parameters; see Params in kernels.wgsl.
type Params struct {
	Total                int64
	Size                 int // bytes of an element of the output
	CHW                  bool
	W, H, Ch             int
	SW, SH               int
	SCHW                 bool
	First, Base, Weights int
}

// Uniform returns the kernels' uniform values and the size of the dispatch.
// most is the limit of workgroups in each dimension.
func (p *Params) Uniform(most int64) (u [16]uint32, gx, gy uint32, err error) {
	per := int64(4 / p.Size)
	words := (p.Total + per - 1) / per
	groups := (words + groupSize - 1) / groupSize
	x := min(groups, most)
	y := (groups + x - 1) / x
	if y > most {
		return u, 0, 0, TooLargef("%d workgroups, the most are %d", groups, most*most)
	}
	bits := uint32(8 * p.Size)
	return [16]uint32{
		uint32(words), uint32(x * groupSize), uint32(p.Total), uint32(per), bits, uint32(1<<bits - 1), flag(p.CHW), uint32(p.W),
		uint32(p.H), uint32(p.Ch), uint32(p.SW), uint32(p.SH), flag(p.SCHW), uint32(p.First), uint32(p.Base), uint32(p.Weights),
	}, uint32(x), uint32(y), nil
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// TooLarge says why a step cannot run on the device at these sizes.
type TooLarge struct{ Why string }

func (e *TooLarge) Error() string { return "webgpu: " + e.Why }

// TooLargef returns a *TooLarge.
func TooLargef(format string, args ...any) error { return &TooLarge{fmt.Sprintf(format, args...)} }
