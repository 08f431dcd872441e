package transforms

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/infer-prep/infer-prep/internal/short"
)

// The least that the goldens of a deterministic op must cover.
const (
	leastInputs = 6
	leastParams = 8
)

// fewParams holds the ops that have fewer than leastParams sets of parameters
// worth testing, and why. Ops without parameters need not be listed.
var fewParams = map[string]string{
	"align_long_axis":      "the orders of two sides",
	"argmax":               "the axes of three",
	"clamp_coords_to_size": "formats",
	"concat_rows":          "values of omit",
	"equalize":             "backends",
	"expand_dims":          "the axes of an image",
	"grayscale":            "three backends, one or three channels",
	"image_size":           "dtypes",
	"luma":                 "a switch",
	"normalize_sequence":   "three rules, and two switches of one",
	"resize_to":            "interpolations; the size is an input",
}

// fewInputs holds the ops whose inputs hardly matter, and why.
var fewInputs = map[string]string{
	"constant":  "the input has no effect",
	"row_count": "only the number of rows counts",
}

// TestGoldensCover requires enough inputs and parameter sets in the goldens of
// each deterministic op.
func TestGoldensCover(t *testing.T) {
	if short.On() {
		t.Skip("short: no platform changes the list of goldens")
	}
	for _, i := range measured() { // draws.json replaces the goldens of random ops
		g, _ := readGoldens(t, i.Name)
		inputs, params := map[string]bool{}, map[string]bool{}
		for _, c := range g.Cases {
			in := ""
			for _, a := range c.In {
				in += a.Array + " "
			}
			inputs[in], params[string(c.Params)] = true, true
		}
		_, few := fewInputs[i.Name]
		assert.Equal(t, few, len(inputs) < leastInputs, "%s: %d different inputs, want %d", i.Name, len(inputs), leastInputs)
		_, few = fewParams[i.Name]
		few = few || params["{}"]
		assert.Equal(t, few, len(params) < leastParams, "%s: %d sets of parameters, want %d", i.Name, len(params), leastParams)
	}
}
