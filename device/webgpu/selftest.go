//go:build !(js && wasm)

package webgpu

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// selfTest compares every kernel with the CPU on an image of a few pixels. It
// covers all element sizes, both layouts and both orders of the passes.
func (d *Device) selfTest() error {
	lanczos := transforms.NewResize(67, 45)
	lanczos.Interpolation = transforms.Lanczos
	pad := transforms.NewPad(1, 2, 3, 0)
	pad.Fill = []float64{1, 2, 3}
	half := transforms.NewToType(tensor.Float16)
	for _, ops := range [][]transforms.Op{
		{transforms.NewResize(11, 21), transforms.NewHorizontalFlip(), transforms.NewToTensor(), transforms.NewNormalize([]float64{0.5, 0.25, 0.1}, []float64{0.5, 0.3, 0.2}), transforms.NewCenterCrop(19, 13)},
		{transforms.NewResize(5, 31), pad, half, transforms.NewVerticalFlip()}, // height first
		{lanczos, transforms.NewInvert()},
	} {
		if err := d.test(ops); err != nil {
			return err
		}
	}
	return nil
}

func (d *Device) test(ops []transforms.Op) error {
	t, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 37, 29, 3))
	if err != nil {
		return err
	}
	x := uint32(1) // arbitrary values, with every difference between neighbours
	for i := range t.Data {
		x = x*1664525 + 1013904223
		t.Data[i] = uint8(x >> 24)
	}
	g := datagraph.New(ops...)
	g.Inputs[0].Desc = t.Desc
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	if err != nil {
		return err
	}
	s, err := d.NewSession(p, device.Options{Least: device.Exact})
	if err != nil {
		return err
	}
	defer s.Close()
	got, err := s.Preprocess(context.Background(), t)
	if err != nil {
		return err
	}
	want, err := p.NewRunner().Run(t)
	if err != nil {
		return err
	}
	for i := range want {
		if !bytes.Equal(got[i].Data, want[i].Data) {
			var names []string
			for _, op := range ops {
				names = append(names, transforms.InfoOf(op).Name)
			}
			return fmt.Errorf("webgpu: adapter %v: %w in the self-test: %s", d.adapter, device.ErrDiffers, strings.Join(names, ", "))
		}
	}
	return nil
}
