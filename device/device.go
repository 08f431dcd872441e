// Package device replays inference data graphs on devices, and says how exactly.
//
// A [Device] places the steps of a graph: each runs on the device, or on the host
// by the ops of package transforms, which are the reference. Whatever the place,
// its [Class] is said beforehand, and is checked: [Verify] compares a session with
// the reference on a bundle's golden samples, and a class counts only after that.
// Nothing falls back silently.
//
// Devices register themselves when their package is imported (device/cpu,
// device/ort); [Open] finds them by name.
package device

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/tensor"
)

// Class is how exactly a step is computed, against the reference.
type Class uint8

// The classes, from the worst on.
const (
	// Unsupported: it cannot be run there.
	Unsupported Class = iota
	// Approximate: no bound is known.
	Approximate
	// Within1: every uint8 element differs by 1 at most; a float element by what
	// that becomes in the steps that follow.
	Within1
	// Exact: equal bits.
	Exact
)

var classNames = []string{"unsupported", "approximate", "within1", "exact"}

func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return fmt.Sprintf("class %d", uint8(c))
}

// MarshalText writes the class's name.
func (c Class) MarshalText() ([]byte, error) {
	if int(c) >= len(classNames) {
		return nil, fmt.Errorf("device: %v", c)
	}
	return []byte(c.String()), nil
}

// UnmarshalText reads a class's name.
func (c *Class) UnmarshalText(b []byte) error {
	i := slices.Index(classNames, string(b))
	if i < 0 {
		return fmt.Errorf("device: class %q, want one of %s", b, strings.Join(classNames, ", "))
	}
	*c = Class(i)
	return nil
}

// Place is where one step of a graph runs.
type Place struct {
	Step  int    `json:"step"`
	Op    string `json:"op"`
	Where string `json:"where"` // a device's name; "cpu" is the host
	Class Class  `json:"class"`
	// Why says in a few words what decided, where the step could have been elsewhere.
	Why string `json:"why,omitempty"`
}

// Placement has a Place for each step of a graph as it was written, in order.
type Placement []Place

// Least is the worst class of the steps: that of the whole.
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
	// ErrUnavailable: the device, its library or its driver is not there.
	ErrUnavailable = errors.New("device is not available")
	// ErrClass: the placement is worse than what is accepted.
	ErrClass = errors.New("less exact than accepted")
	// ErrFellBack: a runtime computed elsewhere than asked for.
	ErrFellBack = errors.New("the runtime fell back to another device")
	// ErrDiffers: the device's tensors are not those of its class.
	ErrDiffers = errors.New("the device's tensors differ")
)

// Device is something that can run graphs, or part of them. It may be used by
// several goroutines.
type Device interface {
	// Name is that by which it was opened.
	Name() string
	// Place says where each step would run. It computes nothing.
	Place(p *datagraph.Plan) (Placement, error)
	// Open prepares a session; a placement worse than o.Least is ErrClass.
	Open(p *datagraph.Plan, o Options) (Session, error)
	// Close lets go of the device. Its sessions must be closed before.
	Close() error
}

// Options are those of a session.
type Options struct {
	// Model is an encoded model (ONNX) that is fed with the graph's outputs, by
	// their names; nil for none. A device that runs no models refuses one.
	Model []byte
	// Least is the worst class that is accepted.
	Least Class
}

// Session runs one graph on one device. It is used by one goroutine at a time.
type Session interface {
	// Placement is that of its steps.
	Placement() Placement
	// Preprocess runs the graph: its outputs, then its side outputs, in host
	// memory. They are valid until the next call.
	Preprocess(ctx context.Context, inputs ...*tensor.Tensor) ([]*tensor.Tensor, error)
	// Infer runs the graph and the model: the model's outputs, likewise. Tensors stay on
	// the device in between where it can hold them.
	Infer(ctx context.Context, inputs ...*tensor.Tensor) ([]tensor.Named, error)
	Close() error
}

// Driver opens the devices of one name.
type Driver struct {
	Name string // without options: "cpu", "ort:cuda"
	Doc  string // one line for people
	// Open opens the device; options are the driver's own. What it does not know
	// it refuses by name.
	Open func(options map[string]string) (Device, error)
}

var drivers = registry.New[Driver]("device")

// Register adds a driver. Packages call it from init functions. It panics if the
// name is empty or taken, or if Open is nil.
func Register(d Driver) {
	if d.Open == nil {
		drivers.Refuse(d.Name, "Open is nil")
	}
	drivers.Add(d.Name, d)
}

// Drivers returns the registered drivers, sorted by name.
func Drivers() []Driver { return slices.Clone(drivers.All()) }

// Open opens a device by its name and options: "cpu", "ort:cuda,device_id=1".
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
			return nil, fmt.Errorf("device: %s: option %q, want NAME=VALUE, each once", parts[0], p)
		}
		options[k] = v
	}
	return d.Open(options)
}
