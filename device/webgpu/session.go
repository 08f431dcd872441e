//go:build !(js && wasm)

package webgpu

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gogpu/wgpu"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/internal/gpu"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Session runs a graph. It is not safe for concurrent use.
type Session struct {
	d         *Device
	graph     *datagraph.Graph
	runner    *gpu.Runner
	planned   device.Placement // before any image
	placement device.Placement // of the last run
	mem       *memory
	closed    bool
}

// Open opens a session. A model is ErrModel.
func (d *Device) Open(p *datagraph.Plan, o device.Options) (device.Session, error) {
	return d.NewSession(p, o)
}

// NewSession opens a session, like Open, and returns this package's own type.
// Its results can stay on the device.
func (d *Device) NewSession(p *datagraph.Plan, o device.Options) (*Session, error) {
	if o.Model != nil {
		return nil, fmt.Errorf("webgpu: %w", ErrModel)
	}
	at, err := placement(p.Graph())
	if err != nil {
		return nil, err
	}
	// Every step is exact, wherever it runs, so only a Least above Exact fails.
	if least := at.Least(); least < o.Least {
		return nil, fmt.Errorf("webgpu: %w: %v, want %v", device.ErrClass, least, o.Least)
	}
	s := &Session{d: d, graph: p.Graph(), planned: at, placement: slices.Clone(at), mem: &memory{d: d, budget: p.Limits().Bytes}}
	if s.runner, err = gpu.New(p, s.mem); err != nil {
		return nil, err
	}
	s.runner.FellBack = s.fellBack
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fmt.Errorf("webgpu: device: %w", ErrClosed)
	}
	d.memory[s.mem] = true
	return s, nil
}

// placement returns a graph's placement, before any image.
func placement(g *datagraph.Graph) (device.Placement, error) {
	steps, err := gpu.Lower(g)
	if err != nil {
		return nil, err
	}
	var p device.Placement
	for i, s := range steps {
		where := "cpu"
		if s.OnDevice {
			where = "webgpu"
		}
		p = append(p, device.Place{Step: i, Op: transforms.InfoOf(g.Steps[i].Op).Name, Where: where, Class: device.Exact, Why: s.Why})
	}
	return p, nil
}

// fellBack notes that the host runs the steps from i on.
func (s *Session) fellBack(i int, why string) error {
	if s.d.strict {
		return &datagraph.StepError{Step: i, Op: s.placement[i].Op, Err: fmt.Errorf("%w: %s", device.ErrFellBack, why)}
	}
	for j := range s.placement[i:] {
		p := &s.placement[i+j]
		if p.Where != "cpu" {
			p.Where, p.Why = "cpu", why
		}
	}
	return nil
}

// Placement returns where the steps of the last run ran, or before the first
// run, where they will run.
func (s *Session) Placement() device.Placement { return slices.Clone(s.placement) }

// Infer always returns ErrModel.
func (s *Session) Infer(context.Context, ...*tensor.Tensor) ([]tensor.Named, error) {
	return nil, fmt.Errorf("webgpu: %w", ErrModel)
}

// Preprocess runs the graph and reads the results back: its outputs, then its
// side outputs. They are valid until the next call. Errors of steps are
// *datagraph.StepError, as in datagraph's Runner. Others are *Error, ErrLost or
// the context's error, which is checked between steps.
func (s *Session) Preprocess(ctx context.Context, inputs ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	var out []*tensor.Tensor
	err := s.locked(func() (err error) {
		if err = s.run(ctx, inputs); err == nil {
			out, err = s.runner.Host(slices.Concat(s.graph.Outputs, s.graph.SideOutputs))
		}
		return err
	})
	return out, err
}

// Buffer is a result on the device: its elements in row-major order,
// little-endian, from the start of GPU on. GPU may be longer than the result.
type Buffer struct {
	Name string
	Desc tensor.Desc
	GPU  *wgpu.Buffer // usable as storage and as the source of copies
}

// PreprocessOnDevice runs the graph like Preprocess, but leaves the results on
// the device. The computation is done when it returns. The buffers may be used
// on Device.GPU's queue until the next call. Results that the host computed are
// uploaded; one of dtype bytes is an error.
func (s *Session) PreprocessOnDevice(ctx context.Context, inputs ...*tensor.Tensor) ([]Buffer, error) {
	var l []Buffer
	err := s.locked(func() error {
		if err := s.run(ctx, inputs); err != nil {
			return err
		}
		for _, n := range slices.Concat(s.graph.Outputs, s.graph.SideOutputs) {
			desc, b, err := s.runner.Device(n)
			if err != nil {
				return err
			}
			l = append(l, Buffer{n, desc, b.(*buffer).gpu})
		}
		return s.mem.wait()
	})
	return l, err
}

// Close releases the session's memory.
func (s *Session) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if s.d.closed {
		return nil
	}
	delete(s.d.memory, s.mem)
	err := guard("closing a session", s.mem.close)
	if s.d.lost != nil {
		return nil // the call that lost the device reported it
	}
	return err
}

// locked runs f with exclusive use of the GPU.
func (s *Session) locked(f func() error) error {
	if s.closed {
		return fmt.Errorf("webgpu: session: %w", ErrClosed)
	}
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if s.d.closed {
		return fmt.Errorf("webgpu: device: %w", ErrClosed)
	}
	if s.d.lost != nil {
		return s.d.lost
	}
	err := guard("running", f)
	if errors.Is(err, ErrLost) {
		s.d.lost = err
	}
	var t *gpu.TooLarge
	if errors.As(err, &t) {
		err = fmt.Errorf("webgpu: %w: %s", codec.ErrLimit, t.Why)
	}
	return err
}

// run computes all columns, each on the device or on the host.
func (s *Session) run(ctx context.Context, inputs []*tensor.Tensor) error {
	copy(s.placement, s.planned)
	s.runner.Band = s.d.band
	return s.runner.Run(ctx, inputs)
}
