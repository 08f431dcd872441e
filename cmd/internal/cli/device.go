package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/device/cpu"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/tensor"
)

// deviceFlags choose a device.
type deviceFlags struct {
	device string
	least  string
}

func (f *deviceFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.device, "device", cpu.Name, "run on this `DEVICE`: its name, then its options, as in ort:cuda,device_id=1; --device help lists them")
	fl.StringVar(&f.least, "least", "", "refuse a device that is less exact than this `CLASS`: exact, within1 or approximate; a bundle's own counts too")
	var names []string
	for _, d := range device.Drivers() {
		names = append(names, d.Name)
	}
	complete(cmd, "device", names...)
	complete(cmd, "least", modelbundle.Exact, modelbundle.Within1, modelbundle.Approximate)
}

// class is the class that --least names, or the bundle's own if that is better.
func (f *deviceFlags) class(bundle string) (device.Class, error) {
	least := device.Approximate
	for _, s := range []struct{ text, by string }{{f.least, "--least"}, {bundle, "the bundle"}} {
		if s.text == "" {
			continue
		}
		var c device.Class
		if err := c.UnmarshalText([]byte(s.text)); err != nil || c < device.Approximate {
			return 0, usageErr("%s %q: want exact, within1 or approximate", s.by, s.text)
		}
		least = max(least, c)
	}
	return least, nil
}

// listDevices is --device help.
func (a *app) listDevices() error {
	t := table{}
	t.row("DEVICE", "WHAT IT IS")
	for _, d := range device.Drivers() {
		t.row(d.Name, d.Doc)
	}
	return t.write(a.stdout)
}

// openDevice opens a device by its name and options. What is not there is a failure,
// what is written wrongly is wrong usage.
func openDevice(spec string) (device.Device, error) {
	d, err := device.Open(spec)
	if err != nil {
		return nil, deviceErr(fmt.Errorf("--device %s: %w", spec, err))
	}
	return d, nil
}

// deviceErr gives an error of a device its exit status.
func deviceErr(err error) error {
	for _, kind := range []error{device.ErrUnavailable, device.ErrClass, device.ErrFellBack, device.ErrDiffers} {
		if errors.Is(err, kind) {
			return failErr("%w", err)
		}
	}
	return usageErr("%w", err)
}

// verifyOn proves on a bundle's golden samples that a device gives the tensors of its class, and
// that this is no worse than least. The report is there beside an error too, unless the device
// could not be opened.
func verifyOn(ctx context.Context, spec string, plan *datagraph.Plan, goldens []modelbundle.Golden, least device.Class) (*device.Report, error) {
	d, err := openDevice(spec)
	if err != nil {
		return nil, err
	}
	r, err := device.Verify(ctx, d, plan, goldens, least)
	return r, errors.Join(err, d.Close())
}

// sessions are those of a device's that a batch's workers use, each one at a time.
type sessions struct {
	device device.Device
	plan   *datagraph.Plan
	o      device.Options
	infer  bool     // run the model too
	names  []string // of what run gives, in order

	mu   sync.Mutex
	idle []device.Session
}

// newSessions opens a device and a first session, so that what cannot be is known at once.
func newSessions(spec string, plan *datagraph.Plan, o device.Options) (*sessions, error) {
	d, err := openDevice(spec)
	if err != nil {
		return nil, err
	}
	s := &sessions{device: d, plan: plan, o: o, infer: o.Model != nil}
	first, err := d.Open(plan, o)
	if err != nil {
		return nil, errors.Join(deviceErr(err), d.Close())
	}
	s.idle = append(s.idle, first)
	return s, nil
}

// outputs describes the model's outputs.
func (s *sessions) outputs() []datagraph.Column {
	if m, ok := s.idle[0].(interface{ ModelOutputs() []datagraph.Column }); ok {
		return m.ModelOutputs()
	}
	return nil
}

// take gives a session to a worker.
func (s *sessions) take() (device.Session, error) {
	s.mu.Lock()
	if n := len(s.idle); n > 0 {
		t := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.mu.Unlock()
		return t, nil
	}
	s.mu.Unlock()
	return s.device.Open(s.plan, s.o)
}

// give takes it back, or closes it if something went badly wrong in it.
func (s *sessions) give(t device.Session, sound bool) {
	if !sound {
		_ = t.Close() // its error would hide the other
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, t)
}

// run runs a session on an image: the tensors that are written, in the order of their names.
func (s *sessions) run(ctx context.Context, t device.Session, image *tensor.Tensor) ([]*tensor.Tensor, error) {
	if !s.infer {
		return t.Preprocess(ctx, image)
	}
	named, err := t.Infer(ctx, image)
	if err != nil {
		return nil, err
	}
	out := make([]*tensor.Tensor, len(named))
	for i, n := range named {
		out[i] = n.T
	}
	return out, nil
}

// close closes the device, once no worker has a session.
func (s *sessions) close() error {
	var errs []error
	for _, t := range s.idle {
		errs = append(errs, t.Close())
	}
	return errors.Join(append(errs, s.device.Close())...)
}

// modelNames are the names that a model's outputs are written under: what cannot stand in a
// file's name is an underscore. Names that are then the same, or types that the format cannot hold, are
// refused.
func modelNames(l []datagraph.Column, f format) ([]string, error) {
	var names []string
	for _, c := range l {
		n := strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.' {
				return r
			}
			return '_'
		}, c.Name)
		if n = strings.TrimLeft(n, ".-"); n == "" {
			n = "output"
		}
		if i := slices.IndexFunc(names, func(o string) bool { return strings.EqualFold(o, n) }); i >= 0 {
			return nil, usageErr("the model's outputs %s and %s would be written under one name", l[i].Name, c.Name)
		}
		if slices.Contains(f.no, c.Desc.DType) {
			return nil, usageErr("the model's output %s is %v, which --format %s cannot hold", c.Name, c.Desc.DType, f.name)
		}
		names = append(names, n)
	}
	return names, nil
}

// placement is graph plan --device.
func (a *app) placement(f *graphFlags, on *deviceFlags, g *datagraph.Graph, asJSON bool) error {
	bundled := ""
	if f.bundle != "" {
		b, err := openBundle(f.bundle, f.limits)
		if err != nil {
			return err
		}
		bundled = b.Least()
		if err := b.Close(); err != nil {
			return failErr("%w", err)
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
		err = a.printJSON(struct {
			Device string           `json:"device"`
			Class  device.Class     `json:"class"`
			Steps  device.Placement `json:"steps"`
		}{d.Name(), l.Least(), l})
	} else {
		t := table{}
		t.row("STEP", "OP", "WHERE", "CLASS", "WHY")
		for _, p := range l {
			t.row(fmt.Sprint(p.Step), p.Op, p.Where, p.Class.String(), p.Why)
		}
		t.row()
		t.row(fmt.Sprintf("%s: %v", d.Name(), l.Least()))
		err = t.write(a.stdout)
	}
	if err != nil {
		return err
	}
	if err := l.Accept(least); err != nil {
		return deviceErr(err)
	}
	return nil
}
