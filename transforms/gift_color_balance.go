package transforms

import "github.com/infer-prep/infer-prep/tensor"

// GiftColorBalance multiplies red, green and blue by a factor each. It takes a
// uint8 image of one, three or four channels, HWC or CHW, and keeps the
// description and alpha.
//
// A value v of 0 to 1 becomes v*(1 + percentage/100) in float32, clipped and
// rounded half up. One channel becomes the luma 0.299r + 0.587g + 0.114b of the
// result for a gray pixel.
//
// Reference: gift 1.2.1, ColorBalance.
type GiftColorBalance struct {
	Red   float64 `json:"red"`   // percentage to add, -100 to 500
	Green float64 `json:"green"` // percentage to add, -100 to 500
	Blue  float64 `json:"blue"`  // percentage to add, -100 to 500
}

//msgp:tuple GiftColorBalance
//sheet:gift_color_balance {"red": 40, "blue": -30}

// NewGiftColorBalance returns the op.
func NewGiftColorBalance(red, green, blue float64) *GiftColorBalance {
	return &GiftColorBalance{red, green, blue}
}

// Info describes the op.
func (*GiftColorBalance) Info() Info {
	return Info{
		Name: "gift_color_balance", Version: 1, New: func() Op { return NewGiftColorBalance(0, 0, 0) }, InPlace: true,
		Reference: giftReference, Exactness: "0",
	}
}

// Validate checks the percentages.
func (o *GiftColorBalance) Validate() error {
	if err := checkBounds("red", o.Red, -100, 500); err != nil {
		return err
	}
	if err := checkBounds("green", o.Green, -100, 500); err != nil {
		return err
	}
	return checkBounds("blue", o.Blue, -100, 500)
}

// Infer keeps the description.
func (o *GiftColorBalance) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantGift(in[0])
}

// giftState is what the ops with tables keep between runs.
type giftState[O comparable] struct {
	op       O
	channels int
	tables   giftTables
}

// giftStateFor returns the state, and whether it must be filled for op and the
// number of channels.
func giftStateFor[O comparable](c *Context, op O, channels int) (st *giftState[O], fresh bool) {
	st, ok := c.State.(*giftState[O])
	if !ok {
		st = new(giftState[O])
		c.State = st
	}
	fresh = st.op != op || st.channels != channels
	st.op, st.channels = op, channels
	return st, fresh
}

// Apply looks every value up in a table.
func (o *GiftColorBalance) Apply(c *Context, dst, src []*tensor.Tensor) error {
	ch := src[0].Channels()
	st, fresh := giftStateFor(c, *o, ch)
	if fresh {
		factors := [3]float32{1 + float32(o.Red)/100, 1 + float32(o.Green)/100, 1 + float32(o.Blue)/100}
		st.tables.set(ch, func(v float32, channel int) float32 { return float32(v * factors[channel]) })
	}
	return st.tables.apply(c, dst[0], src[0])
}

// Pointwise marks the op as Pointwise.
func (o *GiftColorBalance) Pointwise() {}
