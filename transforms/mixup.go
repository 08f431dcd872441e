package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// Mixup blends each image of a batch with its partner, another image of the
// batch. With the factor f, an image becomes f*image + (1-f)*partner. Its label
// is blended with the partner's label in the same way.
//
// Inputs: image, uint8 or float32 (n, ...), without layout; label, numbers (n,
// classes), or with Classes, integers (n) from 0 to Classes-1, of which a
// vector with a 1 is made first. Outputs: image, as the input; label, float32
// (n, classes). Float32 is computed in float32, each product rounded. For
// uint8, the blend is computed in float64 and rounded to the nearest integer,
// halves to even.
//
// Source: Zhang et al., mixup: Beyond Empirical Risk Minimization, 2018.
// Reference: torchvision 0.29.2's v2.MixUp with torch 2.15.0, for float32;
// MindSpore 2.10.0's MixUpBatch, for uint8.
type Mixup struct {
	Factors  []float64 `json:"factors"`  // 0 to 1: one for all images or one for each; default 0.5
	Partners IndexList `json:"partners"` // the index of each image's partner; empty for the image before, the last for the first; default empty
	Classes  int       `json:"classes"`  // number of classes of integer labels, 1 to 2^24; 0 for labels that are vectors; default 0
}

//msgp:tuple Mixup

// labelled are the names of the columns of ops on batches with labels.
var labelled = []string{"image", "label"}

// NewMixup returns the op that blends each image with the one before, with the
// same factor for all.
func NewMixup(factor float64) *Mixup { return &Mixup{Factors: []float64{factor}} }

// maxImages bounds the images of a batch.
const maxImages = 1 << 20

// Info describes the op.
func (*Mixup) Info() Info {
	return Info{
		Name: "mixup", Version: 1, New: func() Op { return NewMixup(0.5) },
		In: labelled, Out: labelled,
		Reference: "torchvision 0.29.2 MixUp, MindSpore 2.10.0 MixUpBatch", Exactness: "0",
	}
}

// Validate checks the factors, the partners and the number of classes.
func (o *Mixup) Validate() error {
	if n := len(o.Factors); n < 1 || n > maxImages {
		return paramErr("factors has %d numbers, want 1 to %d", n, maxImages)
	}
	for _, f := range o.Factors {
		if err := checkBounds("factors", f, 0, 1); err != nil {
			return err
		}
	}
	return checkPartners(o.Partners, o.Classes)
}

// checkPartners checks the partners and the number of classes.
func checkPartners(partners []int, classes int) error {
	n := len(partners)
	if n > maxImages {
		return paramErr("partners has %d numbers, want at most %d", n, maxImages)
	}
	for i, p := range partners {
		if p < 0 || p >= n {
			return paramErr("partners[%d] is %d, want 0 to %d, an image of the batch", i, p, n-1)
		}
	}
	if classes < 0 || classes > maxSide {
		return paramErr("classes is %d, want 0 to %d", classes, maxSide)
	}
	return nil
}

// Infer describes the images and the vectors.
func (o *Mixup) Infer(dst, in []tensor.Desc) error {
	if err := inferLabelled(dst, in, o.Classes); err != nil {
		return err
	}
	return wantPerImage(in[0], len(o.Factors), len(o.Partners), 1)
}

// inferLabelled describes the results of an op on a batch of images with
// labels.
func inferLabelled(dst, in []tensor.Desc, classes int) error {
	img, label := in[0], in[1]
	for i, d := range in {
		if err := d.Validate(); err != nil {
			return inputErr("%s: %v", labelled[i], err)
		}
	}
	if img.DType != tensor.Uint8 && img.DType != tensor.Float32 || img.Layout != tensor.NoLayout || img.Shape.Rank() < 2 {
		return inputErr("%v, want a batch of uint8 or float32 (n, ...) without layout", img)
	}
	rank, text := 2, "vectors (n, classes) of numbers; or set classes"
	if classes > 0 {
		rank, text = 1, "int32 or int64 (n) with classes"
	}
	integers := label.DType == tensor.Int32 || label.DType == tensor.Int64
	if label.Layout != tensor.NoLayout || label.Shape.Rank() != rank || !integers && (classes > 0 || label.DType != tensor.Float32) {
		return inputErr("label is %v, want %s", label, text)
	}
	n, m := img.Shape.At(0), label.Shape.At(0)
	if n != tensor.Unknown && m != tensor.Unknown && n != m {
		return inputErr("%d labels for %d images", m, n)
	}
	if n == tensor.Unknown {
		n = m
	}
	k := classes
	if k == 0 {
		k = label.Shape.At(1)
	}
	dst[0] = img
	dst[1] = tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(n, k)}
	return inferred(dst[1])
}

// wantPerImage rejects a batch with another number of images than the
// parameters. values is the number of values that each image has.
func wantPerImage(img tensor.Desc, factors, partners, values int) error {
	n := img.Shape.At(0)
	if n == tensor.Unknown {
		return nil
	}
	if factors != values && factors != n*values {
		return inputErr("%d images, with parameters for %d", n, factors/values)
	}
	if partners != 0 && partners != n {
		return inputErr("%d images, with %d partners", n, partners)
	}
	return nil
}

// partner returns the partner of image i of n.
func partner(partners []int, i, n int) int {
	if len(partners) > 0 {
		return partners[i]
	}
	return (i + n - 1) % n
}

// Apply blends.
func (o *Mixup) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	n := s.Shape.At(0)
	if n == 0 {
		return nil
	}
	size := len(s.Data) / n
	factor := func(i int) float64 { return o.Factors[min(i, len(o.Factors)-1)] }
	for i := range n {
		p := partner(o.Partners, i, n)
		to, a, b := dst[0].Data[i*size:][:size], s.Data[i*size:][:size], s.Data[p*size:][:size]
		if s.DType == tensor.Uint8 {
			mixBytes(to, a, b, factor(i))
		} else {
			mixFloats(tensor.Cast[float32](to), tensor.Cast[float32](a), tensor.Cast[float32](b), factor(i))
		}
	}
	return mixLabels(c, dst[1], src[1], o.Partners, factor)
}

// mixFloats writes f*a + (1-f)*b in torch's order of operations.
func mixFloats(dst, a, b []float32, f float64) {
	p, q := float32(f), float32(1-f)
	for i := range dst {
		dst[i] = float32(b[i]*q) + float32(a[i]*p)
	}
}

func mixBytes(dst, a, b []uint8, f float64) {
	for i := range dst {
		dst[i] = uint8(math.RoundToEven(float64(f*float64(a[i])) + float64((1-f)*float64(b[i]))))
	}
}

// mixLabels blends the labels.
func mixLabels(c *Context, dst, src *tensor.Tensor, partners []int, factor func(i int) float64) error {
	s, err := c.Dense(src)
	if err != nil {
		return err
	}
	n, k := dst.Shape.At(0), dst.Shape.At(1)
	out := tensor.View[float32](dst)
	label := func(i int) (int, error) {
		var v [1]int64
		loadInts(v[:], s, i)
		if v[0] < 0 || v[0] >= int64(k) {
			return 0, inputErr("label %d of the batch is %d, want 0 to %d", i, v[0], k-1)
		}
		return int(v[0]), nil
	}
	for i := range n {
		row := out[i*k:][:k]
		j := partner(partners, i, n)
		p, q := float32(factor(i)), float32(1-factor(i))
		if s.Shape.Rank() == 2 {
			for x := range row {
				var v [2]float64
				loadFloats(v[:1], s, i*k+x)
				loadFloats(v[1:], s, j*k+x)
				row[x] = float32(float32(v[1])*q) + float32(float32(v[0])*p)
			}
			continue
		}
		a, err := label(i)
		if err != nil {
			return err
		}
		b, err := label(j)
		if err != nil {
			return err
		}
		clear(row)
		row[b] = q
		row[a] += p
	}
	return nil
}
