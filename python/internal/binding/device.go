package binding

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	_ "github.com/infer-prep/infer-prep/device/ort" // ONNX Runtime's devices
	"github.com/infer-prep/infer-prep/tensor"
)

// openDevice opens a device by its name and options, and parses the worst class
// to accept. "" is no device, and exact.
func openDevice(spec, least string) (device.Device, device.Class, error) {
	class := device.Exact
	if least != "" {
		if err := class.UnmarshalText([]byte(least)); err != nil || class < device.Approximate {
			return nil, 0, fmt.Errorf("infer_prep: device: %w: least %q, want exact, within1 or approximate", errInput, least)
		}
	}
	if spec == "" {
		return nil, class, nil
	}
	d, err := device.Open(spec)
	switch {
	case errors.Is(err, device.ErrUnavailable) || errors.Is(err, device.ErrUnknown):
		return nil, 0, fmt.Errorf("infer_prep: %w", err)
	case err != nil: // an invalid option
		return nil, 0, fmt.Errorf("infer_prep: device: %w: %w", errInput, err)
	}
	return d, class, nil
}

// onDevice runs a graph on a device. It is safe for concurrent use.
type onDevice struct {
	device device.Device
	plan   *datagraph.Plan
	o      device.Options

	mu     sync.Mutex
	idle   []device.Session
	used   int
	closed bool
}

// newOnDevice opens the device and a first session, so that errors show at
// once.
func newOnDevice(spec, least string, plan *datagraph.Plan) (*onDevice, error) {
	d, class, err := openDevice(spec, least)
	if err != nil {
		return nil, err
	}
	p := &onDevice{device: d, plan: plan, o: device.Options{Least: class}}
	s, err := d.Open(plan, p.o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("infer_prep: graph: %w", err), d.Close())
	}
	p.idle = append(p.idle, s)
	return p, nil
}

// take returns an idle session, or a new one.
func (p *onDevice) take() (device.Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fmt.Errorf("infer_prep: graph %w", errClosed)
	}
	p.used++
	if n := len(p.idle); n > 0 {
		s := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return s, nil
	}
	s, err := p.device.Open(p.plan, p.o)
	if err != nil {
		p.used--
	}
	return s, err
}

// give takes a session back. One that failed is closed, since it may be in any
// state.
func (p *onDevice) give(s device.Session, failed bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used--
	if !failed && !p.closed {
		p.idle = append(p.idle, s)
		return nil
	}
	err := s.Close()
	if p.closed && p.used == 0 {
		err = errors.Join(err, p.device.Close())
	}
	return err
}

// run runs the graph on an image and gives the outputs to use, which must not
// keep them.
func (p *onDevice) run(image []byte, use func(out []*tensor.Tensor) error) (err error) {
	s, err := p.take()
	if err != nil {
		return err
	}
	failed := true // also after a panic
	defer func() { err = errors.Join(err, p.give(s, failed)) }()
	out, err := s.Preprocess(context.Background(), tensor.FromBytes(image))
	if err == nil {
		err = use(out[:len(p.plan.Outputs())])
	}
	failed = err != nil
	return err
}

// close closes the sessions and the device, or leaves that to the last run.
func (p *onDevice) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	var errs []error
	for _, s := range p.idle {
		errs = append(errs, s.Close())
	}
	p.idle = nil
	if p.used == 0 {
		errs = append(errs, p.device.Close())
	}
	return errors.Join(errs...)
}
