package command

import (
	"fmt"
	"math"
	"strconv"

	"github.com/infer-prep/infer-prep/datagraph/diff"
)

// Percent formats a part of 1. It is 100 % only if nothing is missing.
func Percent(part float64) string {
	p := 100 * part
	switch {
	case p > 99 && p < 100:
		return strconv.FormatFloat(min(99.99, math.Floor(p*100)/100), 'f', -1, 64) + " %"
	case p >= 10:
		return strconv.FormatFloat(p, 'f', 0, 64) + " %"
	}
	return strconv.FormatFloat(p, 'g', 2, 64) + " %"
}

func Figure(n diff.Number) string { return strconv.FormatFloat(float64(n), 'g', 4, 64) }

// Remains describes the difference that an explanation leaves.
func Remains(x *diff.Explanation) string {
	switch {
	case x.Equal:
		return "all values are equal"
	case x.Rounding:
		return fmt.Sprintf("equal up to float rounding, largest difference %s", Figure(x.Max))
	}
	s := fmt.Sprintf("this explains %s of the difference; %d of %d elements still differ, largest difference %s", Percent(float64(x.Explains)), x.Differ, x.Elements, Figure(x.Max))
	if x.Levels > 0 {
		s += fmt.Sprintf(" (%.2g of 255 levels)", float64(x.Levels))
	}
	return s + ", mean " + Figure(x.Mean)
}
