// Package cpu registers the reference device, "cpu", which runs graphs on the
// host. It uses package datagraph with all its passes, and is exact by
// definition. It has no options and runs no models.
package cpu

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Name is the device's name.
const Name = "cpu"

func init() {
	device.Register(device.Driver{Name: Name, Doc: "the reference: runs graphs in Go, exact; runs no models", Open: func(options map[string]string) (device.Device, error) {
		if len(options) > 0 {
			return nil, fmt.Errorf("cpu: unknown options %v: the device has no options", slices.Sorted(maps.Keys(options)))
		}
		return New(), nil
	}})
}

type cpu struct{}

var errModel = fmt.Errorf("%w for models: cpu runs only graphs; use ort:cpu for the model", device.ErrUnavailable)

// New returns the device. It holds no resources.
func New() device.Device { return cpu{} }

func (cpu) Name() string { return Name }

func (cpu) Close() error { return nil }

// Place puts every step on the host.
func (cpu) Place(p *datagraph.Plan) (device.Placement, error) {
	var l device.Placement
	for i, s := range p.Graph().Steps {
		l = append(l, device.Place{Step: i, Op: transforms.InfoOf(s.Op).Name, Where: Name, Class: device.Exact})
	}
	return l, nil
}

// Open opens a session. It rejects a model.
func (d cpu) Open(p *datagraph.Plan, o device.Options) (device.Session, error) {
	if o.Model != nil {
		return nil, errModel
	}
	l, err := d.Place(p)
	if err != nil {
		return nil, err
	}
	return &session{p.NewRunner(), l}, nil
}

type session struct {
	runner    *datagraph.Runner
	placement device.Placement
}

func (s *session) Placement() device.Placement { return s.placement }

func (s *session) Preprocess(ctx context.Context, inputs ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.runner.Run(inputs...)
}

// Infer always fails, since the session has no model.
func (s *session) Infer(context.Context, ...*tensor.Tensor) ([]tensor.Named, error) {
	return nil, errModel
}

func (s *session) Close() error { return nil }
