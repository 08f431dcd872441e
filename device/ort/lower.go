package ort

import (
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/onnx"
	"github.com/infer-prep/infer-prep/transforms"
)

// These are the values of the option form.
const (
	formHost  = "host"
	formTail  = "tail"
	formFast  = "fast"
	formExact = "exact"
)

var forms = []string{formHost, formTail, formFast, formExact}

// lowered is a graph with the placement of its steps.
type lowered struct {
	*onnx.Exported // nil if every step runs on the host
	placement      device.Placement
}

// lower places a graph's steps. Steps from Exported.First on run on the device.
// Their class is claim, or Within1 where Exported says so. A step that the form
// cannot express is an error; with form tail, the whole graph then runs on the
// host.
func lower(g *datagraph.Graph, form, name string, claim device.Class) (*lowered, error) {
	l := &lowered{}
	why := ""
	if form == formHost {
		why = "form=host"
	} else {
		o := onnx.Options{}
		switch form {
		case formTail:
			o.Form, why = onnx.Tail, "form=tail: decoding, resizing and cropping stay on the host"
		case formFast:
			o.Form, why = onnx.Fast, "form=fast: decoding stays on the host"
		case formExact:
			o.Form, o.HostTaps, why = onnx.Exact, true, "form=exact: decoding stays on the host"
		}
		e, err := onnx.Export(g, o)
		switch {
		case err == nil:
			l.Exported = e
		case form == formTail && errors.Is(err, onnx.ErrUnsupported):
			why = err.Error() // the host is as good, and the placement gives the reason
		default:
			return nil, fmt.Errorf("%w; want form=host", err)
		}
	}
	for i, s := range g.Steps {
		p := device.Place{Step: i, Op: transforms.InfoOf(s.Op).Name, Where: "cpu", Class: device.Exact, Why: why}
		if l.Exported != nil && i >= l.First {
			p.Where, p.Class, p.Why = name, claim, ""
			if claim < device.Exact {
				p.Why = "the provider has not been measured"
			}
			for _, w := range l.Within1 {
				if w == i && claim > device.Within1 {
					p.Class, p.Why = device.Within1, "the operator Resize"
				}
			}
		}
		l.placement = append(l.placement, p)
	}
	return l, nil
}
