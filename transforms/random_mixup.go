package transforms

import (
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// Partner says which image of a batch is the partner of image i.
type Partner uint8

// The partners.
const (
	PartnerPrevious Partner = iota // image i-1; the last for the first
	PartnerNext                    // image i+1; the first for the last
	PartnerShuffled                // image i of a random permutation of the batch
)

var partnerNames = []string{"previous", "next", "shuffled"}

func (p Partner) String() string { return enum.String("partner", partnerNames, p) }

// MarshalText returns the name.
func (p Partner) MarshalText() ([]byte, error) { return enum.Format("partner", partnerNames, p) }

// UnmarshalText parses the name.
func (p *Partner) UnmarshalText(t []byte) error { return enum.Parse(p, "partner", partnerNames, t) }

// draw sets to the list of partners of n images.
func (p Partner) draw(d *Draw, to []int, n int) []int {
	to = to[:0]
	if p == PartnerPrevious {
		return to
	}
	for i := range n {
		to = append(to, (i+1)%n)
	}
	if p == PartnerShuffled {
		d.Shuffle(n, func(i, j int) { to[i], to[j] = to[j], to[i] })
	}
	return to
}

// RandomMixup blends each image of a batch with another image of the batch, and
// its label with that image's label. The factor is drawn from the beta
// distribution whose two parameters are Alpha. See Mixup for the inputs, the
// outputs and the arithmetic. The random numbers depend on the first sample of
// the batch, so they are the same for any number of workers. The factors are
// drawn first, then the permutation of a shuffled Partner.
//
// Source: Zhang et al., mixup: Beyond Empirical Risk Minimization, 2018.
// Reference: torchvision 0.29.2's v2.MixUp; MindSpore 2.10.0's MixUp with
// is_single (Each, next) and MixUpBatch (shuffled).
type RandomMixup struct {
	Alpha   float64 `json:"alpha"`   // 1e-3 to 1000; default 1
	Each    bool    `json:"each"`    // draw a factor for each image, not one for the batch; default false
	Partner Partner `json:"partner"` // previous, next or shuffled; default previous
	Classes int     `json:"classes"` // number of classes of integer labels, 1 to 2^24; 0 for labels that are vectors; default 0
}

//msgp:tuple RandomMixup

// NewRandomMixup returns the op with torchvision's partners and one factor for
// a batch.
func NewRandomMixup(alpha float64, classes int) *RandomMixup {
	return &RandomMixup{Alpha: alpha, Classes: classes}
}

// Info describes the op.
func (*RandomMixup) Info() Info {
	return Info{
		Name: "random_mixup", Version: 1, New: func() Op { return NewRandomMixup(1, 0) },
		In: labelled, Out: labelled, Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the parameters.
func (o *RandomMixup) Validate() error { return checkMix(o.Alpha, o.Partner, o.Classes) }

func checkMix(alpha float64, p Partner, classes int) error {
	if err := checkBounds("alpha", alpha, 1e-3, 1000); err != nil {
		return err
	}
	if err := checkEnum("partner", p, partnerNames); err != nil {
		return err
	}
	return checkPartners(nil, classes)
}

// Infer describes the images and the vectors.
func (o *RandomMixup) Infer(dst, in []tensor.Desc) error { return inferLabelled(dst, in, o.Classes) }

// Apply returns ErrNotDrawn.
func (o *RandomMixup) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error { return ErrNotDrawn }

// Draw emits a Mixup.
func (o *RandomMixup) Draw(d *Draw) error {
	n := d.In[0].Shape.At(0)
	if n < 1 {
		return inputErr("%v, want a batch of known size", d.In[0])
	}
	op := NewOp[Mixup](d)
	factors := op.Factors[:0]
	for i := 0; i == 0 || o.Each && i < n; i++ {
		factors = append(factors, d.Beta(o.Alpha, o.Alpha))
	}
	*op = Mixup{Factors: factors, Partners: o.Partner.draw(d, op.Partners, n), Classes: o.Classes}
	return d.Emit(op)
}
