// Package device runs inference data graphs and their models on devices, and
// states how exactly.
//
// A [Device] places every step of a graph on the device or on the host. The
// host runs the ops of package transforms, which are the reference. A
// [Placement] states the [Class] of every step before it runs. [Verify]
// measures the class by comparing a session with the reference on a bundle's
// golden samples. Nothing falls back silently.
//
// Devices register themselves when a program imports their package, such as
// device/cpu or device/ort. [Open] opens them by name.
package device

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/tensor"
)

// Class states how exactly a step reproduces the reference.
type Class uint8

// The classes, worst first.
const (
	// Unsupported steps cannot run on the device.
	Unsupported Class = iota
	// Approximate steps have no known bound of the difference.
	Approximate
	// Within1 steps differ by at most 1 in every uint8 element, and in float
	// elements by at most what the following steps make of that 1.
	Within1
	// Exact steps return equal bits.
	Exact
)

var classNames = []string{"unsupported", "approximate", "within1", "exact"}

func (c Class) String() string { return enum.String("class", classNames, c) }

// MarshalText returns the class's name.
func (c Class) MarshalText() ([]byte, error) { return enum.Format("class", classNames, c) }

// UnmarshalText parses a class's name.
func (c *Class) UnmarshalText(b []byte) error { return enum.Parse(c, "class", classNames, b) }

// Place states where one step of a graph runs.
type Place struct {
	Step  int    `json:"step"`
	Op    string `json:"op"`
	Where string `json:"where"` // the device's name, "cpu" for the host
	Class Class  `json:"class"`
	// Why states the reason in a few words. It is empty if there was no choice.
	Why string `json:"why,omitempty"`
}

// Placement holds a Place for each step of a graph, in the order of the graph
// before fusion.
type Placement []Place

// Least returns the worst class of the steps, which is the class of the whole.
func (p Placement) Least() Class {
	least := Exact
	for _, s := range p {
		least = min(least, s.Class)
	}
	return least
}

// The kinds of error, for errors.Is.
var (
	// ErrUnknown reports a device that no imported package registered.
	ErrUnknown = drivers.ErrUnknown()
	// ErrUnavailable reports a missing device, library or driver.
	ErrUnavailable = errors.New("device is not available")
	// ErrClass reports a class that is worse than the least accepted one.
	ErrClass = errors.New("less exact than accepted")
	// ErrFellBack reports that a runtime computed on another device.
	ErrFellBack = errors.New("the runtime fell back to another device")
	// ErrDiffers reports tensors that differ more than their class allows.
	ErrDiffers = errors.New("the device's tensors differ")
)

// Device runs graphs or parts of them. It is safe for concurrent use.
type Device interface {
	// Name returns the name that opened the device.
	Name() string
	// Place returns where each step would run. It computes nothing.
	Place(p *datagraph.Plan) (Placement, error)
	// Open opens a session. It fails with ErrClass if the placement is worse
	// than o.Least. The caller must close the session.
	Open(p *datagraph.Plan, o Options) (Session, error)
	// Close releases the device. Close its sessions first.
	Close() error
}

// Options configures a session.
type Options struct {
	// Model is an encoded ONNX model. Its inputs are the graph's outputs of the
	// same names. Nil means no model. A device that runs no models rejects one.
	Model []byte
	// Least is the worst class to accept. Default Unsupported: every class
	// that can run.
	Least Class
}

// Session runs one graph on one device. It is not safe for concurrent use.
type Session interface {
	// Placement returns the place of every step.
	Placement() Placement
	// Preprocess runs the graph. It returns the outputs, then the side
	// outputs, in host memory. They are valid until the next call.
	Preprocess(ctx context.Context, inputs ...*tensor.Tensor) ([]*tensor.Tensor, error)
	// Infer runs the graph and the model. It returns the model's outputs, which
	// are valid until the next call. The tensors between graph and model stay
	// on the device if it has memory for them.
	Infer(ctx context.Context, inputs ...*tensor.Tensor) ([]tensor.Named, error)
	Close() error
}

// Driver opens the devices of one name.
type Driver struct {
	Name string // such as "cpu" or "ort:cuda"
	Doc  string // one line about the device
	// Open opens the device with the driver's own options. It rejects unknown
	// ones.
	Open func(options map[string]string) (Device, error)
}

var drivers = registry.New[Driver]("device")

// Register adds a driver. Packages call it from init functions. It panics if
// the name is empty or taken, or if Open is nil.
func Register(d Driver) {
	if d.Open == nil {
		drivers.Refuse(d.Name, "Open is nil")
	}
	drivers.Add(d.Name, d)
}

// Drivers returns the registered drivers, sorted by name.
func Drivers() []Driver { return slices.Clone(drivers.All()) }

// Open opens a device. spec is its name and its options, such as "cpu" or
// "ort:cuda,device_id=1". The caller must close the device.
func Open(spec string) (Device, error) {
	parts := strings.Split(spec, ",")
	d, err := drivers.Lookup(parts[0])
	if err != nil {
		return nil, fmt.Errorf("device: %w", err)
	}
	options := map[string]string{}
	for _, p := range parts[1:] {
		k, v, ok := strings.Cut(p, "=")
		if _, twice := options[k]; !ok || k == "" || twice {
			return nil, fmt.Errorf("device: %s: option %q: want NAME=VALUE, each name once", parts[0], p)
		}
		options[k] = v
	}
	return d.Open(options)
}
