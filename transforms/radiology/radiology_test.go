package radiology_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/dicom"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
	"github.com/infer-prep/infer-prep/transforms/radiology"
)

// goldens is testdata/golden.json, which testdata/gen/codecs/dicom.py
// describes.
type goldens struct {
	Files []struct {
		File     string
		Modality bool
		VOI      *int
		result
	}
	Palettes []struct{ File, DType, Digest string }
	Windows  []struct {
		Function      radiology.Function
		Center, Width float64
		In            string
		result
	}
}

// result stands for an array: digests and some values, or for a sigmoid, every
// seventh value with 12 digits, because NumPy's exp depends on the processor.
// Package internal/exactmath compares exp itself.
type result struct {
	Float64, Float32 string
	Values, Rounded  []float64
}

// equal compares y with a result.
func (r *result) equal(t *testing.T, y *tensor.Tensor, text string) {
	t.Helper()
	if r.Rounded == nil {
		want := r.Float32
		if y.DType == tensor.Float64 {
			want = r.Float64
			v := tensor.View[float64](y)
			for i, w := range r.Values {
				require.Equal(t, w, v[i*(len(v)/5)], "%s: value %d", text, i)
			}
		}
		require.Equal(t, want, digest(y), "%s, %v", text, y.DType)
		return
	}
	for i, w := range r.Rounded {
		if y.DType == tensor.Float32 {
			require.Equal(t, float32(w), tensor.View[float32](y)[7*i], "%s: value %d", text, i)
			continue
		}
		require.InEpsilon(t, w+1, tensor.View[float64](y)[7*i]+1, 1e-11, "%s: value %d", text, i)
	}
}

func golden(t testing.TB) (g goldens) {
	b, err := os.ReadFile("testdata/golden.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &g))
	return g
}

// digest returns the first digits of the SHA-256 of samples, in little-endian
// order.
func digest(x *tensor.Tensor) string {
	b := bytes.Clone(x.Data)
	if size := x.DType.Size(); binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		for i := 0; i < len(b); i += size {
			slices.Reverse(b[i : i+size])
		}
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])[:16]
}

// run applies an op.
func run(op transforms.Op, src ...*tensor.Tensor) (*tensor.Tensor, error) {
	if err := op.Validate(); err != nil {
		return nil, err
	}
	in := make([]tensor.Desc, len(src))
	for i, s := range src {
		in[i] = s.Desc
	}
	var out [1]tensor.Desc
	if err := op.Infer(out[:], in); err != nil {
		return nil, err
	}
	c := transforms.NewContext(codec.Limits{})
	if d, ok := op.(transforms.DataShaped); ok {
		if err := d.InferData(c, out[:], src); err != nil {
			return nil, err
		}
	}
	x, err := tensor.New(out[0])
	if err != nil {
		return nil, err
	}
	return x, op.Apply(c, []*tensor.Tensor{x}, src)
}

// open returns a file and its samples.
func open(t testing.TB, name string) (file, samples *tensor.Tensor) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	var d codec.Decoder
	i, err := d.OpenNative(b, nil)
	require.NoError(t, err)
	n := i.Info()
	file = tensor.FromBytes(b)
	samples, err = run(transforms.NewDecodeNative(n.DType, n.Channels), file)
	require.NoError(t, err)
	return file, samples
}

// TestFiles compares with pydicom's results for the files' own numbers.
func TestFiles(t *testing.T) {
	for _, g := range golden(t).Files {
		file, x := open(t, g.File)
		for _, dtype := range []tensor.DType{tensor.Float64, tensor.Float32} {
			y, err := x, error(nil)
			if g.Modality {
				d := dtype
				if g.VOI != nil {
					d = tensor.Float64
				}
				y, err = run(&radiology.ModalityLUT{DType: d}, y, file)
				require.NoError(t, err, g.File)
			}
			if g.VOI != nil {
				y, err = run(&radiology.VOILUT{Index: *g.VOI, DType: dtype}, y, file)
				require.NoError(t, err, g.File)
			}
			g.equal(t, y, g.File)
		}
	}
}

// TestWindow compares with pydicom's windows of given numbers.
func TestWindow(t *testing.T) {
	_, samples := open(t, "rescale_signed.dcm")
	v := tensor.View[int16](samples)
	inputs := map[string]*tensor.Tensor{"int16": samples}
	for name, d := range map[string]tensor.DType{"float32": tensor.Float32, "float64": tensor.Float64} {
		x, err := tensor.New(tensor.Image(d, tensor.HWC, samples.Height(), samples.Width(), 1))
		require.NoError(t, err)
		for i, s := range v {
			if d == tensor.Float32 {
				tensor.View[float32](x)[i] = float32(float64(float64(s)*1.7) - 3)
			} else {
				tensor.View[float64](x)[i] = float64(s) * 0.123
			}
		}
		inputs[name] = x
	}
	for _, g := range golden(t).Windows {
		for _, dtype := range []tensor.DType{tensor.Float64, tensor.Float32} {
			y, err := run(&radiology.Window{Center: g.Center, Width: g.Width, High: 255, Function: g.Function, DType: dtype}, inputs[g.In])
			require.NoError(t, err)
			g.equal(t, y, fmt.Sprintf("%v %v %v %s", g.Function, g.Center, g.Width, g.In))
		}
	}
}

// TestPalettes compares with pydicom's colours.
func TestPalettes(t *testing.T) {
	for _, g := range golden(t).Palettes {
		file, x := open(t, g.File)
		var d, other tensor.DType = tensor.Uint8, tensor.Uint16
		if g.DType == "uint16" {
			d, other = other, d
		}
		y, err := run(&radiology.PaletteLUT{DType: d}, x, file)
		require.NoError(t, err, g.File)
		require.Equal(t, tensor.Image(d, tensor.HWC, x.Height(), x.Width(), 3), y.Desc)
		require.Equal(t, g.Digest, digest(y), g.File)
		_, err = run(&radiology.PaletteLUT{DType: other}, x, file)
		require.ErrorIs(t, err, codec.ErrUnsupported)
	}
}

func TestWindowLiteral(t *testing.T) {
	x, err := tensor.New(tensor.Image(tensor.Int16, tensor.HWC, 1, 5, 1))
	require.NoError(t, err)
	copy(tensor.View[int16](x), []int16{-1000, -160, 40, 240, 3000})
	y, err := run(&radiology.Window{Center: 40, Width: 400, High: 1, Function: radiology.LinearExact, DType: tensor.Float32}, x)
	require.NoError(t, err)
	require.Equal(t, []float32{0, 0, 0.5, 1, 1}, tensor.View[float32](y))
	// 709 and more overflow exp.
	y, err = run(&radiology.Window{Center: 0, Width: 1, High: 1, Function: radiology.Sigmoid, DType: tensor.Float64}, x)
	require.NoError(t, err)
	require.Equal(t, []float64{0, 1 / (1 + math.Exp(640)), 1 / (1 + math.Exp(-160)), 1, 1}[3:], tensor.View[float64](y)[3:])
	require.Zero(t, tensor.View[float64](y)[0])
}

func TestErrors(t *testing.T) {
	plain, x := open(t, "window_8.dcm")
	rescale, u16 := open(t, "rescale.dcm")
	short, _ := open(t, "window_signed.dcm")
	lut, _ := open(t, "voi_lut.dcm")
	modality8, _ := open(t, "modality_lut.dcm")
	text := tensor.FromBytes([]byte("text"))
	f32, err := run(radiology.NewWindow(1, 2), x)
	require.NoError(t, err)
	for _, c := range []struct {
		op   transforms.Op
		src  []*tensor.Tensor
		text string
	}{
		{radiology.NewModalityLUT(), []*tensor.Tensor{x, plain}, "the DICOM file has no Rescale Slope (0028,1053)"},
		{&radiology.PaletteLUT{DType: tensor.Float32}, []*tensor.Tensor{x, plain}, "dtype is float32, want uint8 or uint16"},
		{radiology.NewPaletteLUT(), []*tensor.Tensor{f32, plain}, "want samples of one channel, HWC"},
		{radiology.NewVOILUT(), []*tensor.Tensor{u16, rescale}, "the DICOM file has no Window Center (0028,1050) and no VOI LUT Sequence (0028,3010)"},
		{&radiology.VOILUT{Index: 2, DType: tensor.Float32}, []*tensor.Tensor{u16, lut}, "VOI LUT Sequence (0028,3010) has 2 items, index is 2"},
		{&radiology.ModalityLUT{DType: tensor.Uint8}, []*tensor.Tensor{x, plain}, "dtype is uint8, want float32 or float64"},
		{radiology.NewModalityLUT(), []*tensor.Tensor{f32, modality8}, "Modality LUT Sequence (0028,3000) maps samples, got an image of float32"},
		{radiology.NewModalityLUT(), []*tensor.Tensor{x, modality8}, "which uint8 does not hold"},
		{radiology.NewModalityLUT(), []*tensor.Tensor{text, plain}, "want an image"},
		{radiology.NewModalityLUT(), []*tensor.Tensor{x, x}, "want bytes: a DICOM file"},
		{&radiology.VOILUT{Index: -1, DType: tensor.Float32}, []*tensor.Tensor{x, plain}, "index is -1, want 0 to 1023"},
		{radiology.NewWindow(0, 0.5), []*tensor.Tensor{x}, "the width of a linear window is below 1"},
		{&radiology.Window{Function: radiology.Sigmoid, DType: tensor.Float32}, []*tensor.Tensor{x}, "the width of a window is not above 0"},
		{radiology.NewWindow(math.NaN(), 1), []*tensor.Tensor{x}, "center is NaN, want a finite number"},
		{&radiology.Window{Width: 1, Function: 3, DType: tensor.Float32}, []*tensor.Tensor{x}, "function is"},
	} {
		_, err := run(c.op, c.src...)
		require.ErrorContains(t, err, c.text)
		require.True(t, errors.Is(err, transforms.ErrInput) || errors.Is(err, transforms.ErrParam), c.text)
	}
	_, err = run(radiology.NewModalityLUT(), x, text)
	var e *codec.Error
	require.ErrorAs(t, err, &e)
	_, err = run(radiology.NewPaletteLUT(), x, plain)
	require.ErrorAs(t, err, &e)
	require.ErrorContains(t, err, "the file has no Red Palette Color Lookup Table Descriptor (0028,1101)")
	_, err = run(radiology.NewVOILUT(), u16, short)
	require.NoError(t, err)
}
