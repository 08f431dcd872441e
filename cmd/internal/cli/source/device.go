package source

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/device/cpu"
	"github.com/infer-prep/infer-prep/modelbundle"
)

// DeviceFlags choose a device.
type DeviceFlags struct {
	Device string
	Least  string
}

func (f *DeviceFlags) Add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.Device, "device", cpu.Name, "run on this `DEVICE`, a name with options such as ort:cuda,device_id=1; --device help lists the names")
	fl.StringVar(&f.Least, "least", "", "require this `CLASS` of the device: exact, within1 or approximate; a bundle may require a better one")
	var names []string
	for _, d := range device.Drivers() {
		names = append(names, d.Name)
	}
	command.Complete(cmd, "device", names...)
	command.Complete(cmd, "least", modelbundle.Exact, modelbundle.Within1, modelbundle.Approximate)
}

// Class returns the better of --least and the bundle's class.
func (f *DeviceFlags) Class(bundle string) (device.Class, error) {
	least := device.Approximate
	for _, s := range []struct{ text, by string }{{f.Least, "--least"}, {bundle, "the bundle"}} {
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

// ModelFlags choose a device and a model to run on it.
type ModelFlags struct {
	DeviceFlags
	model string
	Infer bool

	Labels []string // of the bundle; set by options
}

func (f *ModelFlags) Add(cmd *cobra.Command) {
	f.DeviceFlags.Add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.model, "model", "", "run the ONNX model `FILE` on the tensors; its outputs take their place")
	fl.BoolVar(&f.Infer, "infer", false, "run the bundle's model on the tensors; its outputs take their place")
	command.Must(cmd.MarkFlagFilename("model", "onnx"))
}

// Options reads the model, and the class that the graph's bundle requires.
func (f *ModelFlags) Options(ctx context.Context, a *command.App, g *GraphFlags) (o device.Options, err error) {
	if f.Infer && f.model == "" && g.Bundle == "" {
		return o, command.UsageErr("--infer: no model: want --bundle or --model FILE")
	}
	bundled := ""
	if g.Bundle != "" {
		b, err := OpenBundle(ctx, g.Bundle, g.Limits)
		if err != nil {
			return o, err
		}
		defer b.Close()
		bundled, f.Labels = b.Least(), b.Labels()
		if f.Infer && f.model == "" {
			m, err := b.Model("")
			if err == nil && m.Format != "onnx" {
				err = notONNX(m.Format)
			}
			if err != nil {
				return o, command.UsageErr("--infer: %s: %w", g.Bundle, err)
			}
			o.Model = slices.Clone(m.Data)
		}
	}
	if f.model != "" {
		if format := strings.TrimPrefix(strings.ToLower(filepath.Ext(f.model)), "."); runtimes[format] != "" {
			return o, command.UsageErr("--model %s: %w", f.model, notONNX(format))
		}
		if o.Model, err = ReadSmall(ctx, f.model, a.Stdin, math.MaxInt32); err != nil {
			return o, command.UsageErr("--model %w", err)
		}
		if len(o.Model) == 0 {
			return o, command.UsageErr("--model %s: the file is empty", f.model)
		}
	}
	o.Least, err = f.Class(bundled)
	return o, err
}

// runtimes are the runtimes of models that are not ONNX, by the format's name.
var runtimes = map[string]string{
	"mindir": "MindSpore or MindSpore Lite", "ms": "MindSpore Lite", "tflite": "LiteRT", "pte": "ExecuTorch", "pt2": "PyTorch",
}

// notONNX returns the error of a model that no device runs.
func notONNX(format string) error {
	if r := runtimes[format]; r != "" {
		return fmt.Errorf("the model's format is %s, which %s runs; run it there on the tensors. Devices here run onnx", format, r)
	}
	return fmt.Errorf("the model's format is %s, want onnx", format)
}

// ListDevices prints the drivers, for --device help.
func ListDevices(a *command.App) error {
	t := command.Table{}
	t.Row("DEVICE", "DESCRIPTION")
	for _, d := range device.Drivers() {
		t.Row(d.Name, d.Doc)
	}
	return t.Write(a.Stdout)
}

// OpenDevice opens a device by its name and options.
func OpenDevice(spec string) (device.Device, error) {
	d, err := device.Open(spec)
	if err != nil {
		return nil, DeviceErr(fmt.Errorf("--device %s: %w", spec, err))
	}
	return d, nil
}

// DeviceErr adds the exit status to an error of a device: a missing or inexact
// device is a failure, an invalid name or option is a usage error.
func DeviceErr(err error) error {
	for _, kind := range []error{device.ErrUnavailable, device.ErrClass, device.ErrFellBack, device.ErrDiffers} {
		if errors.Is(err, kind) {
			return command.FailErr("%w", err)
		}
	}
	return command.UsageErr("%w", err)
}

// VerifyOn checks on golden samples that a device computes the tensors of its
// class, and that the class is at least least. It returns a report even with an
// error, unless the device could not be opened.
func VerifyOn(ctx context.Context, spec string, plan *datagraph.Plan, goldens []modelbundle.Golden, least device.Class) (*device.Report, error) {
	d, err := OpenDevice(spec)
	if err != nil {
		return nil, err
	}
	r, err := device.Verify(ctx, d, plan, goldens, least)
	return r, errors.Join(err, d.Close())
}

// OpenSessions opens a device and n sessions. close closes both.
func OpenSessions(spec string, plan *datagraph.Plan, o device.Options, n int) (p *device.Pool, close func() error, err error) {
	d, err := OpenDevice(spec)
	if err != nil {
		return nil, nil, err
	}
	if p, err = device.NewPool(d, plan, o, n); err != nil {
		return nil, nil, errors.Join(DeviceErr(err), d.Close())
	}
	return p, func() error { return command.WrapFail(errors.Join(p.Close(), d.Close())) }, nil
}

// Placement prints the placement of graph plan --device.
func Placement(ctx context.Context, a *command.App, f *GraphFlags, on *DeviceFlags, g *datagraph.Graph, asJSON bool) error {
	bundled := ""
	if f.Bundle != "" {
		b, err := OpenBundle(ctx, f.Bundle, f.Limits)
		if err != nil {
			return err
		}
		bundled = b.Least()
		if err := b.Close(); err != nil {
			return command.FailErr("%w", err)
		}
	}
	least, err := on.Class(bundled)
	if err != nil {
		return err
	}
	plan, err := f.Compile(g)
	if err != nil {
		return err
	}
	d, err := OpenDevice(on.Device)
	if err != nil {
		return err
	}
	l, err := d.Place(plan)
	if err = errors.Join(err, d.Close()); err != nil {
		return DeviceErr(err)
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
		return DeviceErr(err)
	}
	return nil
}
