package video

import (
	"github.com/infer-prep/infer-prep/importer"
)

// rates are the settings that nearly all classes have. Python's None is 0.
type rates struct {
	num int     // num_frames
	fps float64 // target frames a second
}

// readRates reads num_frames and fps, whose defaults are given. Null is None.
func readRates(o *importer.Object, num int, fps float64) rates {
	return rates{whole(o, "num_frames", num), rate(o, "fps", fps)}
}

// exclusive reads rates of a class that permits only one of both. Defaults
// count.
func exclusive(o *importer.Object, num int, fps float64) rates {
	r := readRates(o, num, fps)
	if r.num > 0 && r.fps > 0 {
		key := "num_frames"
		if !o.Has(key) {
			key = "fps"
		}
		o.Bad(key, "null, or null for the other of num_frames and fps: the class takes one of them, and a default counts")
	}
	return r
}

// whole reads a number of frames, 0 for null.
func whole(o *importer.Object, key string, def int) int {
	if o.Null(key) {
		o.Inert(key)
		return 0
	}
	return o.Int(key, def, 1, importer.MaxSide)
}

// count reads a number that must not be null.
func count(o *importer.Object, key string, def int) int {
	return o.Int(key, def, 1, importer.MaxSide)
}

// rate reads frames a second, 0 for null.
func rate(o *importer.Object, key string, def float64) float64 {
	v, ok := o.Get(key)
	switch {
	case !ok:
		return def
	case v == nil:
		return 0
	}
	f, ok := importer.Float(v)
	if !ok || f == 0 || !valid(f) {
		o.Bad(key, "a number above 0 and at most 1e9")
		return def
	}
	return f
}
