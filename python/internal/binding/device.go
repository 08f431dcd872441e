package binding

import (
	"context"
	"errors"
	"fmt"

	_ "github.com/infer-prep/infer-prep/codec/avif" // registers AVIF, where the library is found
	_ "github.com/infer-prep/infer-prep/codec/heif" // registers HEIC, where the library is found
	_ "github.com/infer-prep/infer-prep/codec/jp2"  // registers JPEG 2000, where the library is found
	_ "github.com/infer-prep/infer-prep/codec/jxl"  // registers JPEG XL, where the library is found
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
	*device.Pool
	device device.Device
}

// newOnDevice opens the device and a first session, so that errors show at
// once.
func newOnDevice(spec, least string, plan *datagraph.Plan) (*onDevice, error) {
	d, class, err := openDevice(spec, least)
	if err != nil {
		return nil, err
	}
	p, err := device.NewPool(d, plan, device.Options{Least: class}, 1)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("infer_prep: graph: %w", err), d.Close())
	}
	return &onDevice{p, d}, nil
}

// run runs the graph on an image and gives the outputs to use, which must not
// keep them.
func (p *onDevice) run(image []byte, use func(out []*tensor.Tensor) error) error {
	err := p.Run(context.Background(), []*tensor.Tensor{tensor.FromBytes(image)}, use)
	if errors.Is(err, device.ErrClosed) {
		return fmt.Errorf("infer_prep: graph %w", errClosed)
	}
	return err
}

// Close waits for the runs in progress.
func (p *onDevice) Close() error { return errors.Join(p.Pool.Close(), p.device.Close()) }
