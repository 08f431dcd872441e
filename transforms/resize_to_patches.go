package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// PatchRule is the arithmetic of ResizeToPatches. Models with the same
// parameters differ in it.
type PatchRule uint8

// The rules, for an image of h x w, with n for MaxPatches, p for Patch and m
// for Merge. All compute in float64.
const (
	// PatchNaFlex is the rule that ResizeToPatches's comment states: SigLIP2's
	// NaFlex.
	PatchNaFlex PatchRule = iota
	// PatchGemma4 multiplies both sides by sqrt(n*p*p/(h*w)) and rounds them
	// down to multiples of m*p. If one becomes 0, it is m*p and the other side
	// is floor(long/short) times m*p, but at most floor(n/(m*m)) times. An
	// image whose sides both become 0, or that still has more than n patches,
	// is an ErrInput.
	PatchGemma4
	// PatchMuseGlimmer takes h/p and w/p patches. If that is more than n, it
	// takes sqrt(n/r) and r times as many, where r is w/p divided by h/p. Of
	// the four pairs of these numbers, rounded down or up, it takes those of 1
	// to n patches, and of them the one whose ratio is nearest to h/w. Of equal
	// ones it takes the first in the order of a set of CPython 3.11. If there
	// is none, it rounds both half to even, but to at least 1.
	PatchMuseGlimmer
	// PatchNemotron takes round(h/p+0.5) and round(w/p+0.5) patches, half to
	// even, and multiplies them by sqrt(n/patches), but at most by 1, rounded
	// down. If that is less than MinPatches, which must be below n to have an
	// effect, it multiplies them by sqrt(MinPatches/patches), rounded up. At
	// last it rounds the lines, then the columns, up to a multiple of m if that
	// gives at most n patches, else down, but to at least m.
	PatchNemotron
	// PatchKimi multiplies both sides by the smallest of 1, sqrt(n/patches),
	// MaxSide*p/h and MaxSide*p/w, where patches is max(1, floor(h/p)) times
	// max(1, floor(w/p)). It truncates them, to 1 to MaxSide*p. They need not
	// be multiples of p: the model pads the image with zeros to multiples.
	PatchKimi
	// PatchPix2Struct multiplies both sides by s = sqrt(n*(p/h)*(p/w)). The
	// patches along them are s*h/p and s*w/p, truncated, but 1 to n.
	PatchPix2Struct
	// PatchGLM5 also pads the image with zeros at the bottom and right. It
	// takes the patches that cover the image. If they are less than MinPatches,
	// it multiplies both sides by sqrt(MinPatches*p*p/(h*w)), rounded up, and
	// takes the patches that cover that. If they are more than n, it takes
	// those that cover the largest reduced image of at most n, found by
	// bisecting its height. The image is scaled into these patches with the
	// aspect ratio kept, both sides rounded down to at least 1. It is enlarged
	// only if h*w is below MinPatches*p*p.
	PatchGLM5
	// PatchUltraVBert scales the longer edge to MaxSide pixels, as SizeEven of
	// Resize with a MaxEdge of 4096 does. While the image, grown to whole tiles
	// of p pixels as TilesMultiple of ResizeToTiles does, has more than n of
	// them and the edge is above p, the edge is reduced by p. The sides need
	// not be multiples of p.
	PatchUltraVBert
)

var patchRuleNames = []string{"naflex", "gemma4", "muse_glimmer", "nemotron", "kimi", "pix2struct", "glm5", "ultravbert"}

func (r PatchRule) String() string { return enum.String("patch rule", patchRuleNames, r) }

// MarshalText returns the name.
func (r PatchRule) MarshalText() ([]byte, error) {
	return enum.Format("patch rule", patchRuleNames, r)
}

// UnmarshalText parses the name.
func (r *PatchRule) UnmarshalText(t []byte) error {
	return enum.Parse(r, "patch rule", patchRuleNames, t)
}

// ResizeToPatches scales an image to at most MaxPatches square patches and
// nearly keeps its aspect ratio. Both sides become multiples of Patch. It takes
// a uint8 or float32 image of any number of channels, HWC or CHW, and keeps
// dtype, layout and channels.
//
// With a scale s, a side n becomes max(1, ceil(n*s/Patch)) times Patch. The op
// searches the largest s with at most MaxPatches patches. It bisects the range
// from 1e-6 to 100 in float64 until the range is less than 1e-5 wide, and takes
// the lower end. Small images grow by up to 100 times, and an image may get
// fewer patches than possible. Rule changes this for other models. Parameters
// that the rule does not use must have their default.
//
// Interpolation and Backend are those of Resize.
//
// Reference: get_image_size_for_max_num_patches of transformers 5.23.0
// (SigLIP2's NaFlex), and the sizes of Gemma 4, Muse Glimmer, Nemotron H Omni,
// Kimi K2.5, Pix2Struct, GLM-5 and UltraVBert there, with Image.resize of
// Pillow 13.0.0.
type ResizeToPatches struct {
	Patch         int           `json:"patch"`         // side of a patch in pixels, 1 to 2^24; default 16
	MaxPatches    int           `json:"max_patches"`   // 1 to 2^24; default 256
	Interpolation Interpolation `json:"interpolation"` // see Resize; default bilinear
	Backend       Backend       `json:"backend"`       // see Resize; default pillow
	NoAntialias   bool          `json:"no_antialias"`  // for torch; default false
	Rule          PatchRule     `json:"rule"`          // default naflex
	Merge         int           `json:"merge"`         // for gemma4 and nemotron: side in patches of the squares that the model merges, 1 to 2^12; default 1
	MinPatches    int           `json:"min_patches"`   // for nemotron and glm5: 0 to 2^24; default 0
	MaxSide       int           `json:"max_side"`      // for kimi: most patches along a side; for ultravbert: longest edge in pixels; 1 to 2^24; default 0
}

//msgp:tuple ResizeToPatches

// NewResizeToPatches returns the op: bilinear, Pillow, antialiased.
func NewResizeToPatches(patch, maxPatches int) *ResizeToPatches {
	return &ResizeToPatches{Patch: patch, MaxPatches: maxPatches, Interpolation: Bilinear, Backend: Pillow, Merge: 1}
}

// Info describes the op.
func (*ResizeToPatches) Info() Info {
	return Info{
		Name: "resize_to_patches", Version: 1, New: func() Op { return NewResizeToPatches(16, 256) },
		Reference: "transformers 5.23.0 get_image_size_for_max_num_patches with Pillow 13.0.0; backends as resize", Exactness: "0",
	}
}

// Validate checks the sizes and that the backend supports the interpolation.
func (o *ResizeToPatches) Validate() error {
	if err := checkSide("patch", o.Patch); err != nil {
		return err
	}
	if err := checkSide("max_patches", o.MaxPatches); err != nil {
		return err
	}
	if err := checkEnum("rule", o.Rule, patchRuleNames); err != nil {
		return err
	}
	const maxMerge = 1 << 12 // Merge*Merge is at most 2^24
	for _, p := range []struct {
		name              string
		n, lo, hi, unused int
		used              bool
	}{
		{"merge", o.Merge, 1, maxMerge, 1, o.Rule == PatchGemma4 || o.Rule == PatchNemotron},
		{"min_patches", o.MinPatches, 0, maxSide, 0, o.Rule == PatchNemotron || o.Rule == PatchGLM5},
		{"max_side", o.MaxSide, 1, maxSide, 0, o.Rule == PatchKimi || o.Rule == PatchUltraVBert},
	} {
		if !p.used {
			p.lo, p.hi = p.unused, p.unused
		}
		if p.n < p.lo || p.n > p.hi {
			return paramErr("%s is %d with rule %v, want %d to %d", p.name, p.n, o.Rule, p.lo, p.hi)
		}
	}
	if o.Rule == PatchUltraVBert && o.MaxSide/o.Patch > maxMerge {
		return paramErr("max_side is %d with patches of %d pixels, want at most %d patches", o.MaxSide, o.Patch, maxMerge)
	}
	if px := float64(float64(o.MaxPatches) * float64(o.Patch) * float64(o.Patch)); o.Rule == PatchGemma4 && px > 1<<53 {
		return paramErr("max_patches is %d with patches of %d pixels, want at most 2^53 pixels in all", o.MaxPatches, o.Patch)
	}
	return o.sampling().validate()
}

func (o *ResizeToPatches) sampling() sampling {
	return sampling{o.Interpolation, o.Backend, !o.NoAntialias}
}

// sized returns the new size of an image of h x w. Unknown sides stay unknown.
func (o *ResizeToPatches) sized(h, w int) (int, int, error) {
	if h == tensor.Unknown || w == tensor.Unknown {
		return tensor.Unknown, tensor.Unknown, nil
	}
	fh, fw, p := float64(h), float64(w), float64(o.Patch)
	var nh, nw float64
	switch o.Rule {
	case PatchGemma4:
		nh, nw = o.gemma4(fh, fw)
	case PatchMuseGlimmer:
		nh, nw = o.museGlimmer(fh, fw)
	case PatchNemotron:
		nh, nw = o.nemotron(fh, fw)
	case PatchKimi:
		nh, nw = o.kimi(fh, fw)
	case PatchUltraVBert:
		nh, nw = o.capped(fh, fw)
	case PatchGLM5:
		rows, columns := o.covering(int64(h), int64(w))
		nh, nw = float64(rows), float64(columns)
	case PatchPix2Struct:
		// The class raises to the power of 0.5, whose last bit may differ from
		// the square root's. It changed none of 2,000,000 sizes up to 5000, and
		// of 1,000,000 whose one side is 1 to 9 times the other, 7 above 30000.
		n := float64(o.MaxPatches)
		s := math.Sqrt(float64(float64(n*(p/fh)) * (p / fw)))
		nh, nw = min(max(1, math.Trunc(float64(s*fh)/p)), n), min(max(1, math.Trunc(float64(s*fw)/p)), n)
	default:
		nh, nw = o.naFlex(h, w)
	}
	if o.Rule != PatchKimi && o.Rule != PatchUltraVBert { // whose sides are no multiples
		nh, nw = float64(nh*p), float64(nw*p)
	}
	if o.Rule == PatchGemma4 && float64(nh*nw) > float64(float64(o.MaxPatches)*p*p) {
		return 0, 0, inputErr("an image of %d x %d (height x width) would become %.0f x %.0f, want at most %d patches of %d pixels", h, w, nh, nw, o.MaxPatches, o.Patch)
	}
	return sides(h, w, nh, nw)
}

// naFlex returns the numbers of patches by PatchNaFlex.
func (o *ResizeToPatches) naFlex(h, w int) (rows, columns float64) {
	// The constants of the search are the reference's.
	const eps = 1e-5
	lo, hi := eps/10, 100.0
	for hi-lo >= eps {
		s := float64((lo + hi) / 2)
		if float64(o.patches(h, s)*o.patches(w, s)) <= float64(o.MaxPatches) {
			lo = s
		} else {
			hi = s
		}
	}
	return o.patches(h, lo), o.patches(w, lo)
}

// patches returns the number of patches along a side of n pixels at a scale.
func (o *ResizeToPatches) patches(n int, scale float64) float64 {
	return max(1, math.Ceil(float64(float64(n)*scale)/float64(o.Patch)))
}

// gemma4 returns the numbers of patches by PatchGemma4.
func (o *ResizeToPatches) gemma4(h, w float64) (rows, columns float64) {
	p, m, n := float64(o.Patch), float64(o.Merge), float64(o.MaxPatches)
	side := float64(m * p)
	factor := math.Sqrt(float64(n*p*p) / float64(h*w))
	rows, columns = math.Floor(float64(factor*h)/side), math.Floor(float64(factor*w)/side)
	most := math.Floor(n / float64(m*m))
	switch {
	case rows == 0 && columns == 0:
	case rows == 0:
		rows, columns = 1, min(math.Floor(w/h), most)
	case columns == 0:
		rows, columns = min(math.Floor(h/w), most), 1
	}
	return float64(rows * m), float64(columns * m)
}

// museGlimmer returns the numbers of patches by PatchMuseGlimmer.
func (o *ResizeToPatches) museGlimmer(h, w float64) (rows, columns float64) {
	p, most := float64(o.Patch), float64(o.MaxPatches)
	ih, iw := h/p, w/p
	if ratio := iw / ih; float64(ih*iw) > most {
		// The reference raises to the power of 0.5, whose last bit may differ
		// from the square root's. It changed none of 1,500,000 sizes.
		ih = math.Sqrt(most / ratio)
		iw = float64(ih * ratio)
	}
	var set pairSet
	for _, y := range [2]float64{math.Floor(ih), math.Ceil(ih)} {
		for _, x := range [2]float64{math.Floor(iw), math.Ceil(iw)} {
			set.add(int64(y), int64(x))
		}
	}
	best := math.Inf(1)
	for _, e := range set {
		y, x := float64(e.y), float64(e.x)
		if y < 1 || x < 1 || float64(y*x) > most { // an empty entry is 0, 0
			continue
		}
		if d := math.Abs(y/x - h/w); d < best {
			best, rows, columns = d, y, x
		}
	}
	if rows == 0 {
		rows, columns = max(1, math.RoundToEven(ih)), max(1, math.RoundToEven(iw))
	}
	return rows, columns
}

// pairSet holds at most four pairs of numbers in the order in which a set of
// CPython 3.11 (64 bits) returns them.
type pairSet [8]struct {
	y, x int64
	used bool
}

// add adds a pair as set_add_entry does in a table of eight entries, which a
// set of four does not outgrow.
func (s *pairSet) add(y, x int64) {
	// tuplehash: xxHash over the hashes of the numbers, which are the numbers.
	const p1, p2, p5 = 11400714785074694791, 14029467366897019727, 2870177450012600261
	var h uint64 = p5
	for _, n := range [2]int64{y, x} {
		h += uint64(n) * p2
		h = h<<31 | h>>33
		h *= p1
	}
	h += 2 ^ (p5 ^ 3527539)
	const mask = uint64(len(pairSet{}) - 1)
	i, perturb := h&mask, h
	for s[i].used {
		if s[i].y == y && s[i].x == x {
			return
		}
		perturb >>= 5
		i = (i*5 + 1 + perturb) & mask
	}
	s[i].y, s[i].x, s[i].used = y, x, true
}

// nemotron returns the numbers of patches by PatchNemotron.
func (o *ResizeToPatches) nemotron(h, w float64) (rows, columns float64) {
	p, m, most, least := float64(o.Patch), float64(o.Merge), float64(o.MaxPatches), float64(o.MinPatches)
	rows, columns = math.RoundToEven(h/p+0.5), math.RoundToEven(w/p+0.5)
	f := min(math.Sqrt(most/float64(rows*columns)), 1)
	rows, columns = math.Floor(float64(f*rows)), math.Floor(float64(f*columns))
	if n := float64(rows * columns); most > least && n < least {
		f := math.Sqrt(least / n) // n may be 0; the size is then refused
		rows, columns = math.Ceil(float64(f*rows)), math.Ceil(float64(f*columns))
	}
	merged := func(n, other float64) float64 {
		rest := math.Mod(n, m)
		switch {
		case rest == 0:
			return n
		case float64((n+m-rest)*other) <= most:
			return n + m - rest
		}
		return max(m, n-rest)
	}
	rows = merged(rows, columns)
	return rows, merged(columns, rows)
}

// kimi returns the sides by PatchKimi.
func (o *ResizeToPatches) kimi(h, w float64) (height, width float64) {
	p := float64(o.Patch)
	longest := float64(float64(o.MaxSide) * p)
	n := float64(max(1, math.Floor(h/p)) * max(1, math.Floor(w/p)))
	s := min(1, math.Sqrt(float64(o.MaxPatches)/n), longest/h, longest/w)
	side := func(v float64) float64 { return min(max(1, math.Trunc(float64(v*s))), longest) }
	return side(h), side(w)
}

// Infer sets the output size.
func (o *ResizeToPatches) Infer(dst, in []tensor.Desc) error {
	return inferSized(dst, in, o.sampling(), o.sized)
}

// capped returns the sides by PatchUltraVBert.
func (o *ResizeToPatches) capped(h, w float64) (height, width float64) {
	const longest = 4096 // the reference's MAX_IMAGE_SIZE
	tile := float64(o.Patch)
	r := Resize{Edge: o.MaxSide, MaxEdge: longest}
	for ; r.Edge > o.Patch; r.Edge -= o.Patch {
		height, width = even(r, h, w)
		aspect := width / height
		long, short := math.Ceil(width/tile), 0.0
		if width >= height {
			short = math.Trunc(float64(long*tile) / aspect)
		} else {
			long = math.Ceil(height / tile)
			short = math.Trunc(float64(float64(long*tile) * aspect))
		}
		if float64(long*math.Ceil(short/tile)) <= float64(o.MaxPatches) {
			break
		}
	}
	return even(r, h, w)
}

// covering returns the numbers of patches by PatchGLM5.
func (o *ResizeToPatches) covering(h, w int64) (rows, columns int64) {
	p, most := int64(o.Patch), int64(o.MaxPatches)
	cover := func(n int64) int64 { return (n + p - 1) / p }
	rows, columns = cover(h), cover(w)
	if rows*columns < int64(o.MinPatches) {
		s := math.Sqrt(float64(float64(o.MinPatches)*float64(p)*float64(p)) / float64(h*w))
		up := func(n int64) int64 { return cover(int64(min(math.Ceil(float64(float64(n)*s)), maxPixels))) }
		rows, columns = up(h), up(w)
	}
	if float64(rows)*float64(columns) <= float64(most) {
		return rows, columns
	}
	rows, columns = 1, 1
	for low, high := int64(1), h; low <= high; {
		mid := (low + high) / 2
		if r, c := cover(mid), cover(max(1, w*mid/h)); r*c <= most {
			rows, columns, low = r, c, mid+1
		} else {
			high = mid - 1
		}
	}
	return rows, columns
}

// content returns the size of an image of h x w without padding. nh x nw is
// the output's.
func (o *ResizeToPatches) content(h, w, nh, nw int) (height, width int) {
	if o.Rule != PatchGLM5 {
		return nh, nw
	}
	fh, fw, th, tw, p := float64(h), float64(w), float64(nh), float64(nw), float64(o.Patch)
	s := min(th/fh, tw/fw)
	if float64(fh*fw) >= float64(float64(o.MinPatches)*p*p) {
		s = min(1, s)
	}
	side := func(n, most float64) int { return int(max(1, min(most, math.Floor(float64(n*s))))) }
	return side(fh, th), side(fw, tw)
}

// Apply scales and pads.
func (o *ResizeToPatches) Apply(c *Context, dst, src []*tensor.Tensor) error {
	th, tw := dst[0].Height(), dst[0].Width()
	h, w := o.content(src[0].Height(), src[0].Width(), th, tw)
	if h == th && w == tw {
		return o.sampling().apply(c, dst[0], src[0])
	}
	scaled, err := c.Temp(src[0].Desc.WithSize(h, w))
	if err != nil {
		return err
	}
	if err := o.sampling().apply(c, scaled, src[0]); err != nil {
		return err
	}
	return padTo(c, dst[0], scaled, 0, 0, PadConstant, zeroFill)
}

// Sampling returns the op's parameters.
func (o *ResizeToPatches) Sampling() (Interpolation, Backend, bool) {
	return o.Interpolation, o.Backend, !o.NoAntialias
}

// Scale returns the sizes and the padding.
func (o *ResizeToPatches) Scale(h, w int, _ []*tensor.Tensor) (Scale, error) {
	nh, nw, err := o.sized(h, w)
	if err != nil {
		return Scale{}, err
	}
	ch, cw := o.content(h, w, nh, nw)
	s := wholeImage(o.sampling(), h, w, ch, cw)
	if ch != nh || cw != nw {
		s.Place = Frame{Height: nh, Width: nw, Fill: zeroFill}
	}
	return s, nil
}
