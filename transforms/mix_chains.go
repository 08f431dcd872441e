package transforms

import (
	"reflect"
	"slices"

	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
)

// MixChains adds the results of lists of ops, each times a weight, to the image
// times its own weight. It takes a uint8 image, HWC or CHW, and keeps the
// description, which all ops must keep too. Products and sums are float32, in
// the order of the lists. The sum is truncated to uint8, at most 255. AugMix
// draws it. If an op moves pixels, no mask, box or point can move with the
// image.
//
// Source: Hendrycks et al., AugMix: A Simple Data Processing Method to Improve
// Robustness and Uncertainty, 2020. Reference: torchvision 0.29.2's v2.AugMix.
type MixChains struct {
	Own     float64   `json:"own"`     // weight of the image itself, 0 to 1; default 0.5
	Weights []float64 `json:"weights"` // one for each list, 0 to 1
	Chains  []OpList  `json:"chains"`  // 1 to 64 lists of 1 to 64 ops, which must not be random
}

//msgp:tuple MixChains

// NewMixChains returns the op without lists. It is valid once Chain has added
// one.
func NewMixChains(own float64) *MixChains { return &MixChains{Own: own} }

// Chain adds a list of ops with its weight and returns the op.
func (o *MixChains) Chain(weight float64, ops ...Op) *MixChains {
	o.Weights, o.Chains = append(o.Weights, weight), append(o.Chains, ops)
	return o
}

func (o *MixChains) lists() []OpList { return o.Chains }

// Info describes the op.
func (*MixChains) Info() Info {
	return Info{
		Name: "mix_chains", Version: 1, New: func() Op { return NewMixChains(0.5).Chain(0.5, NewInvert()) },
		Reference: "torchvision 0.29.2 AugMix", Exactness: "0, if that of its ops is",
	}
}

// Validate checks the weights and the ops.
func (o *MixChains) Validate() error {
	if err := checkBounds("own", o.Own, 0, 1); err != nil {
		return err
	}
	if n := len(o.Chains); n < 1 || n > maxListed {
		return paramErr("chains has %d lists, want 1 to %d", n, maxListed)
	}
	if len(o.Weights) != len(o.Chains) {
		return paramErr("weights has %d numbers, want %d, one for each list", len(o.Weights), len(o.Chains))
	}
	for i, l := range o.Chains {
		if err := checkBounds("weights", o.Weights[i], 0, 1); err != nil {
			return err
		}
		if err := l.check("chains"); err != nil {
			return errfmt.Errorf("list %d: %w", i, err)
		}
		if k := l.firstRandom(); k >= 0 {
			return paramErr("chains[%d][%d] is %s, want an op that is neither random nor a decoder", i, k, InfoOf(l[k]).Name)
		}
	}
	return nil
}

// Infer keeps the description.
func (o *MixChains) Infer(dst, in []tensor.Desc) error {
	if err := wantImage(in[0]); err != nil {
		return err
	}
	if in[0].DType != tensor.Uint8 {
		return inputErr("%v, want uint8", in[0])
	}
	for i, l := range o.Chains {
		for k := range l {
			d, err := l.result(k, in[0])
			if err != nil {
				return errfmt.Errorf("list %d: %w", i, err)
			}
			if d != in[0] {
				return inputErr("list %d: op %d, %s, makes %v of %v, want no change", i, k, InfoOf(l[k]).Name, d, in[0])
			}
		}
	}
	dst[0] = in[0]
	return nil
}

// chainState has a context for each type of inner op.
type chainState struct {
	contexts map[reflect.Type]*Context
	dst, src [1]*tensor.Tensor
	back     Resize // of MapWindow
}

// chainStateOf returns the state of an op with inner ops.
func chainStateOf(c *Context) *chainState {
	s, ok := c.State.(*chainState)
	if !ok {
		s = &chainState{contexts: map[reflect.Type]*Context{}}
		c.State = s
	}
	return s
}

// run returns what op makes of t, which d describes, in scratch memory of c.
func (s *chainState) run(c *Context, op Op, t *tensor.Tensor, d tensor.Desc) (*tensor.Tensor, error) {
	inner := s.contexts[reflect.TypeOf(op)]
	if inner == nil {
		inner = c.Sibling()
		s.contexts[reflect.TypeOf(op)] = inner
	}
	to, err := c.Temp(d)
	if err != nil {
		return nil, err
	}
	s.dst[0], s.src[0] = to, t
	return to, op.Apply(inner, s.dst[:], s.src[:])
}

// runAll returns what a list of ops makes of t.
func (s *chainState) runAll(c *Context, l OpList, t *tensor.Tensor) (*tensor.Tensor, error) {
	for i, op := range l {
		d, err := l.result(i, t.Desc)
		if err != nil {
			return nil, err
		}
		if t, err = s.run(c, op, t, d); err != nil {
			return nil, errfmt.Errorf("op %d, %s: %w", i, InfoOf(op).Name, err)
		}
	}
	return t, nil
}

// Apply runs the lists.
func (o *MixChains) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	state := chainStateOf(c)
	total, err := c.Temp(tensor.Desc{DType: tensor.Float32, Shape: s.Shape})
	if err != nil {
		return err
	}
	sum := tensor.View[float32](total)
	own := float32(o.Own)
	for i, v := range s.Data {
		sum[i] = float32(own * float32(v))
	}
	for i, l := range o.Chains {
		bufs, tensors := c.scratch.usedB, c.scratch.usedT
		t, err := state.runAll(c, l, s)
		if err != nil {
			return errfmt.Errorf("list %d: %w", i, err)
		}
		w := float32(o.Weights[i])
		for j, v := range t.Data {
			sum[j] += float32(w * float32(v))
		}
		c.scratch.usedB, c.scratch.usedT = bufs, tensors
	}
	for i, v := range sum {
		dst[0].Data[i] = uint8(min(v, 255))
	}
	return nil
}

// Move leaves a column as it is. Lists that move pixels are an ErrInput: their
// results are in different places.
func (o *MixChains) Move(_ *Draw, r Role, _, _ tensor.Desc) error {
	if slices.ContainsFunc(o.Chains, OpList.moves) {
		return cannotMove(o, r, "the lists move pixels to different places")
	}
	return nil
}
