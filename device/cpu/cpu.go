// Package cpu is the reference device, named "cpu": it runs graphs by package
// datagraph, with all its passes, and is exact by definition. It has no options and
// runs no models.
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

// Name is the device's.
const Name = "cpu"

func init() {
	device.Register(device.Driver{Name: Name, Doc: "the reference: graphs in Go, exact; no models", Open: func(options map[string]string) (device.Device, error) {
		if len(options) > 0 {
			return nil, fmt.Errorf("cpu: options %v are unknown, it has none", slices.Sorted(maps.Keys(options)))
		}
		return New(), nil
	}})
}

type cpu struct{}

var errModel = fmt.Errorf("%w for models: cpu runs graphs; for the model use ort:cpu", device.ErrUnavailable)

// New is the device. It holds nothing.
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

// Open prepares a session; it refuses a model.
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

// Infer refuses: there is no model.
func (s *session) Infer(context.Context, ...*tensor.Tensor) ([]tensor.Named, error) {
	return nil, errModel
}

func (s *session) Close() error { return nil }
