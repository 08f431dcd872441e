package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// RandomCutmix pastes a random window of another image of a batch into each
// image, and blends the labels by the areas. See Cutmix for the inputs and the
// outputs. The random numbers depend on the first sample of the batch, so they
// are the same for any number of workers.
//
// One window is drawn for the batch, or one for each image if Each is set.
// First, a number of [0, 1) is drawn. If it is not below Probability, the
// window is empty. Otherwise a factor f is drawn from the beta distribution
// whose two parameters are Alpha. Then the column x and the row y of the
// window's centre are drawn uniformly. Let r be sqrt(1-f)/2. The window has the
// columns from x-int(r*width) to before x+int(r*width) and the rows from
// y-int(r*height) to before y+int(r*height). It is clipped to the image. The
// permutation of a shuffled Partner is drawn last.
//
// Source: Yun et al., CutMix: Regularization Strategy to Train Strong
// Classifiers with Localizable Features, 2019. Reference: torchvision 0.29.2's
// v2.CutMix. MindSpore 2.10.0's CutMixBatch (Each, shuffled) clips its windows
// in another way.
type RandomCutmix struct {
	Probability float64       `json:"probability"` // 0 to 1; default 1
	Alpha       float64       `json:"alpha"`       // 1e-3 to 1000; default 1
	Each        bool          `json:"each"`        // draw a window for each image, not one for the batch; default false
	Partner     Partner       `json:"partner"`     // previous, next or shuffled; default previous
	Classes     int           `json:"classes"`     // number of classes of integer labels, 1 to 2^24; 0 for labels that are vectors; default 0
	Layout      tensor.Layout `json:"layout"`      // of one image, CHW or HWC; default CHW
}

//msgp:tuple RandomCutmix

// NewRandomCutmix returns the op with torchvision's partners and one window for
// a batch of images of layout CHW.
func NewRandomCutmix(alpha float64, classes int) *RandomCutmix {
	return &RandomCutmix{Probability: 1, Alpha: alpha, Classes: classes, Layout: tensor.CHW}
}

// Info describes the op.
func (*RandomCutmix) Info() Info {
	return Info{
		Name: "random_cutmix", Version: 1, New: func() Op { return NewRandomCutmix(1, 0) },
		In: labelled, Out: labelled, Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the parameters.
func (o *RandomCutmix) Validate() error {
	if err := checkProbability(o.Probability); err != nil {
		return err
	}
	if err := checkBatchLayout(o.Layout); err != nil {
		return err
	}
	return checkMix(o.Alpha, o.Partner, o.Classes)
}

// Infer describes the images and the vectors.
func (o *RandomCutmix) Infer(dst, in []tensor.Desc) error {
	if err := inferLabelled(dst, in, o.Classes); err != nil {
		return err
	}
	_, _, err := batchSize(in[0], o.Layout)
	return err
}

// Apply returns ErrNotDrawn.
func (o *RandomCutmix) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error { return ErrNotDrawn }

// Draw emits a Cutmix.
func (o *RandomCutmix) Draw(d *Draw) error {
	h, w, err := batchSize(d.In[0], o.Layout)
	if err != nil {
		return err
	}
	n := d.In[0].Shape.At(0)
	if n < 1 || h < 1 || w < 1 {
		return inputErr("%v, want a batch of known size", d.In[0])
	}
	op := NewOp[Cutmix](d)
	windows := op.Windows[:0]
	for i := 0; i == 0 || o.Each && i < n; i++ {
		if !d.Coin(o.Probability) {
			windows = append(windows, 0, 0, 0, 0)
			continue
		}
		r := float64(0.5 * math.Sqrt(1-d.Beta(o.Alpha, o.Alpha)))
		x, y := d.IntN(w), d.IntN(h)
		rx, ry := int(float64(r*float64(w))), int(float64(r*float64(h)))
		top, left := max(y-ry, 0), max(x-rx, 0)
		windows = append(windows, top, left, min(y+ry, h)-top, min(x+rx, w)-left)
	}
	*op = Cutmix{Windows: windows, Partners: o.Partner.draw(d, op.Partners, n), Classes: o.Classes, Layout: o.Layout}
	return d.Emit(op)
}
