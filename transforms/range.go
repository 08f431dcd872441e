package transforms

import (
	"encoding/json"
	"math"

	"github.com/infer-prep/infer-prep/rng"
)

// Range is the closed interval that a random op draws from. The JSON form is
// [min, max].
type Range struct {
	Min, Max float64
}

//msgp:tuple Range

// MarshalJSON returns [min, max].
func (r Range) MarshalJSON() ([]byte, error) { return json.Marshal([2]float64{r.Min, r.Max}) }

// UnmarshalJSON parses [min, max].
func (r *Range) UnmarshalJSON(b []byte) error {
	var l []float64
	if err := json.Unmarshal(b, &l); err != nil {
		return err
	}
	if len(l) != 2 {
		return paramErr("a range has %d values, want 2, [min, max]", len(l))
	}
	r.Min, r.Max = l[0], l[1]
	return nil
}

// check wants a non-empty interval within lo..hi.
func (r Range) check(name string, lo, hi float64) error {
	if !(r.Min >= lo && r.Min <= r.Max && r.Max <= hi) {
		return paramErr("%s is %v to %v, want a range within %v to %v", name, r.Min, r.Max, lo, hi)
	}
	return nil
}

// draw draws from [Min, Max]. The clamp corrects rounding beyond Max.
func (r Range) draw(s *rng.Stream) float64 { return min(s.Uniform(r.Min, r.Max), r.Max) }

// checkWhole wants a non-empty interval of whole numbers within lo..hi.
func (r Range) checkWhole(name string, lo, hi float64) error {
	if r.Min != math.Trunc(r.Min) || r.Max != math.Trunc(r.Max) {
		return paramErr("%s is %v to %v, want whole numbers", name, r.Min, r.Max)
	}
	return r.check(name, lo, hi)
}

// drawWhole draws one of the whole numbers of the interval.
func (r Range) drawWhole(d *Draw) int { return int(r.Min) + d.IntN(int(r.Max-r.Min)+1) }
