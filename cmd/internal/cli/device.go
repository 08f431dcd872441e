package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/device/cpu"
	"github.com/infer-prep/infer-prep/modelbundle"
)

// deviceFlags choose a device.
type deviceFlags struct {
	device string
	least  string
}

func (f *deviceFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.device, "device", cpu.Name, "run on this `DEVICE`, a name with options such as ort:cuda,device_id=1; --device help lists the names")
	fl.StringVar(&f.least, "least", "", "require this `CLASS` of the device: exact, within1 or approximate; a bundle may require a better one")
	var names []string
	for _, d := range device.Drivers() {
		names = append(names, d.Name)
	}
	command.Complete(cmd, "device", names...)
	command.Complete(cmd, "least", modelbundle.Exact, modelbundle.Within1, modelbundle.Approximate)
}

// class returns the better of --least and the bundle's class.
func (f *deviceFlags) class(bundle string) (device.Class, error) {
	least := device.Approximate
	for _, s := range []struct{ text, by string }{{f.least, "--least"}, {bundle, "the bundle"}} {
		if s.text == "" {
			continue
		}
		var c device.Class
		if err := c.UnmarshalText([]byte(s.text)); err != nil || c < device.Approximate {
			return 0, command.UsageErr("%s %q: want exact, within1 or approximate", s.by, s.text)
		}
		least = max(least, c)
	}
	return least, nil
}

// modelFlags choose a device and a model to run on it.
type modelFlags struct {
	deviceFlags
	model string
	infer bool

	labels []string // of the bundle; set by options
}

func (f *modelFlags) add(cmd *cobra.Command) {
	f.deviceFlags.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.model, "model", "", "run the ONNX model `FILE` on the tensors; its outputs take their place")
	fl.BoolVar(&f.infer, "infer", false, "run the bundle's model on the tensors; its outputs take their place")
	command.Must(cmd.MarkFlagFilename("model", "onnx"))
}

// options reads the model, and the class that the graph's bundle requires.
func (f *modelFlags) options(ctx context.Context, a *command.App, g *graphFlags) (o device.Options, err error) {
	if f.infer && f.model == "" && g.bundle == "" {
		return o, command.UsageErr("--infer: no model: want --bundle or --model FILE")
	}
	bundled := ""
	if g.bundle != "" {
		b, err := openBundle(ctx, g.bundle, g.limits)
		if err != nil {
			return o, err
		}
		defer b.Close()
		bundled, f.labels = b.Least(), b.Labels()
		if f.infer && f.model == "" {
			m, err := b.Model("")
			if err == nil && m.Format != "onnx" {
				err = fmt.Errorf("the model's format is %s, want onnx", m.Format)
			}
			if err != nil {
				return o, command.UsageErr("--infer: %s: %w", g.bundle, err)
			}
			o.Model = slices.Clone(m.Data)
		}
	}
	if f.model != "" {
		if o.Model, err = readSmall(ctx, f.model, a.Stdin, math.MaxInt32); err != nil {
			return o, command.UsageErr("--model %w", err)
		}
		if len(o.Model) == 0 {
			return o, command.UsageErr("--model %s: the file is empty", f.model)
		}
	}
	o.Least, err = f.class(bundled)
	return o, err
}

// listDevices prints the drivers, for --device help.
func listDevices(a *command.App) error {
	t := command.Table{}
	t.Row("DEVICE", "DESCRIPTION")
	for _, d := range device.Drivers() {
		t.Row(d.Name, d.Doc)
	}
	return t.Write(a.Stdout)
}

// openDevice opens a device by its name and options.
func openDevice(spec string) (device.Device, error) {
	d, err := device.Open(spec)
	if err != nil {
		return nil, deviceErr(fmt.Errorf("--device %s: %w", spec, err))
	}
	return d, nil
}

// deviceErr adds the exit status to an error of a device: a missing or inexact
// device is a failure, an invalid name or option is a usage error.
func deviceErr(err error) error {
	for _, kind := range []error{device.ErrUnavailable, device.ErrClass, device.ErrFellBack, device.ErrDiffers} {
		if errors.Is(err, kind) {
			return command.FailErr("%w", err)
		}
	}
	return command.UsageErr("%w", err)
}

// verifyOn checks on golden samples that a device computes the tensors of its
// class, and that the class is at least least. It returns a report even with an
// error, unless the device could not be opened.
func verifyOn(ctx context.Context, spec string, plan *datagraph.Plan, goldens []modelbundle.Golden, least device.Class) (*device.Report, error) {
	d, err := openDevice(spec)
	if err != nil {
		return nil, err
	}
	r, err := device.Verify(ctx, d, plan, goldens, least)
	return r, errors.Join(err, d.Close())
}

// openSessions opens a device and n sessions. close closes both.
func openSessions(spec string, plan *datagraph.Plan, o device.Options, n int) (p *device.Pool, close func() error, err error) {
	d, err := openDevice(spec)
	if err != nil {
		return nil, nil, err
	}
	if p, err = device.NewPool(d, plan, o, n); err != nil {
		return nil, nil, errors.Join(deviceErr(err), d.Close())
	}
	return p, func() error { return command.WrapFail(errors.Join(p.Close(), d.Close())) }, nil
}

// placement prints the placement of graph plan --device.
func placement(ctx context.Context, a *command.App, f *graphFlags, on *deviceFlags, g *datagraph.Graph, asJSON bool) error {
	bundled := ""
	if f.bundle != "" {
		b, err := openBundle(ctx, f.bundle, f.limits)
		if err != nil {
			return err
		}
		bundled = b.Least()
		if err := b.Close(); err != nil {
			return command.FailErr("%w", err)
		}
	}
	least, err := on.class(bundled)
	if err != nil {
		return err
	}
	plan, err := f.compile(g)
	if err != nil {
		return err
	}
	d, err := openDevice(on.device)
	if err != nil {
		return err
	}
	l, err := d.Place(plan)
	if err = errors.Join(err, d.Close()); err != nil {
		return deviceErr(err)
	}
	if asJSON {
		err = a.PrintJSON(struct {
			Device string           `json:"device"`
			Class  device.Class     `json:"class"`
			Steps  device.Placement `json:"steps"`
		}{d.Name(), l.Least(), l})
	} else {
		t := command.Table{}
		t.Row("STEP", "OP", "WHERE", "CLASS", "WHY")
		for _, p := range l {
			t.Row(fmt.Sprint(p.Step), p.Op, p.Where, p.Class.String(), p.Why)
		}
		t.Row()
		t.Row(fmt.Sprintf("%s: %v", d.Name(), l.Least()))
		err = t.Write(a.Stdout)
	}
	if err != nil {
		return err
	}
	if err := l.Accept(least); err != nil {
		return deviceErr(err)
	}
	return nil
}
