package datagraph

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// TestTableArithmetic checks which tables are computed instead of looked up.
func TestTableArithmetic(t *testing.T) {
	mean, std := []float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}
	rescale := func(scale float64, r transforms.RescaleRule) *transforms.Rescale {
		return &transforms.Rescale{Scale: scale, Rule: r}
	}
	normalize, float := transforms.NewNormalize(mean, std), &transforms.ToType{DType: tensor.Float32}
	for name, c := range map[string]struct {
		ops      []transforms.Op
		computed bool
	}{
		"to_tensor":          {[]transforms.Op{transforms.NewToTensor()}, true},
		"to_tensor, mean":    {[]transforms.Op{transforms.NewToTensor(), normalize}, true},
		"hf":                 {[]transforms.Op{rescale(1.0/255, transforms.RescaleHF), normalize, transforms.NewHWC2CHW()}, true},
		"multiply":           {[]transforms.Op{transforms.NewHWC2CHW(), rescale(1.0/255, transforms.RescaleMultiply), normalize}, true},
		"divide":             {[]transforms.Op{rescale(255, transforms.RescaleDivide), normalize}, true},
		"offset":             {[]transforms.Op{&transforms.Rescale{Scale: 1 / 127.5, Offset: -1, Rule: transforms.RescaleHF}}, true},
		"mean of 255":        {[]transforms.Op{float, transforms.NewNormalize([]float64{123.675, 116.28, 103.53}, []float64{58.395, 57.12, 57.375})}, true},
		"float32":            {[]transforms.Op{float}, true},
		"three products":     {[]transforms.Op{rescale(1.0/255, transforms.RescaleHF), rescale(2, transforms.RescaleHF), normalize}, false},
		"two means":          {[]transforms.Op{rescale(1.0/255, transforms.RescaleHF), normalize, normalize}, false},
		"not linear":         {[]transforms.Op{transforms.NewInvert(), transforms.NewToTensor(), normalize}, false},
		"float16, converted": {[]transforms.Op{float, normalize, &transforms.ToType{DType: tensor.Float16}}, false},
	} {
		table, ok := newTable(c.ops, tensor.Image(tensor.Uint8, tensor.HWC, 1, 1, 3))
		require.True(t, ok, name)
		pix := make([]uint8, 3*48)
		computed := false
		if table.dtype == tensor.Float32 {
			o := output{}
			d := tensor.Image(tensor.Float32, table.layout, 1, 48, 3)
			o.begin(d, make([]byte, d.Size()), table, 3)
			computed = o.compute(0, pix) == len(pix)
		}
		require.Equal(t, c.computed && cpu.Has(cpu.FMA), computed, name)
	}
}
