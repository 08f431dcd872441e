package kernel

import "math"

// CVHSV is OpenCV's 8-bit HSV for one scale of the hue. The conversion to HSV
// uses 12-bit reciprocals of the value and of the channels' range and rounds
// half to even. The conversion from HSV is float32.
type CVHSV struct {
	turn, circle int32      // hues of a turn to HSV, and from HSV
	hue          [256]int32 // reciprocals of the channels' range
	// The sector of the colour circle (of six) of every hue, and the position
	// within it.
	sector   [256]uint8
	fraction [256]float32
}

// HSVHalf has hues in steps of 2 degrees. HSVFull has the hues of
// COLOR_RGB2HSV_FULL and COLOR_HSV2RGB_FULL, whose scales differ.
var HSVHalf, HSVFull = newCVHSV(180, 180), newCVHSV(256, 255)

func newCVHSV(turn, circle int32) *CVHSV {
	k := &CVHSV{turn: turn, circle: circle}
	for i := 1; i < 256; i++ {
		k.hue[i] = int32(math.RoundToEven(float64(turn<<12) / float64(6*i)))
	}
	for h := range k.sector {
		f := float32(float32(h) * k.step())
		whole := float32(int32(f))
		k.sector[h], k.fraction[h] = uint8(int32(whole)%6), f-whole
	}
	return k
}

// Sector returns the sector of a hue and the position within it.
func (k *CVHSV) Sector(h uint8) (sector uint8, fraction float32) { return k.sector[h], k.fraction[h] }

// step returns the sectors of one hue.
func (k *CVHSV) step() float32 { return float32(6) / float32(k.circle) }

// hsvSat holds the reciprocals of the value.
var hsvSat = func() (s [256]int32) {
	for i := 1; i < 256; i++ {
		s[i] = int32(math.RoundToEven(float64(255<<12) / float64(i)))
	}
	return s
}()

// FromRGB converts a colour to HSV.
func (k *CVHSV) FromRGB(r, g, b uint8) (h, s, v uint8) {
	v = max(r, g, b)
	d := int32(v - min(r, g, b))
	var hue int32
	switch v {
	case r:
		hue = int32(g) - int32(b)
	case g:
		hue = int32(b) - int32(r) + 2*d
	default:
		hue = int32(r) - int32(g) + 4*d
	}
	hue = (hue*k.hue[d] + 2048) >> 12
	if hue < 0 {
		hue += k.turn
	}
	return toUint8(hue), uint8((d*hsvSat[v] + 2048) >> 12), v
}

// ToRGB converts a colour from HSV. body selects truncation, which OpenCV's
// vector loop uses, else results are rounded half to even.
func (k *CVHSV) ToRGB(h, s, v uint8, body bool) (r, g, b uint8) {
	sat, val := float32(float32(s)*(float32(1)/255)), float32(float32(v)*(float32(1)/255))
	f := k.fraction[h]
	// 1 - s*f is rounded once: OpenCV's build fuses the two operations. The
	// product is exact in float64.
	t := [4]float32{
		val,
		float32(val * (1 - sat)),
		float32(val * float32(1-float64(float64(sat)*float64(f)))),
		float32(val * float32(1-float64(float64(sat)*float64(1-f)))),
	}
	p := HSVParts[k.sector[h]]
	x, y, z := float32(t[p[0]]*255), float32(t[p[1]]*255), float32(t[p[2]]*255)
	if body {
		return uint8(int32(x)), uint8(int32(y)), uint8(int32(z))
	}
	return round8(x), round8(y), round8(z)
}

// HSVParts holds, for each sector, which of v, v(1-s), v(1-sf) and v(1-s(1-f))
// are red, green and blue.
var HSVParts = [6][3]uint8{{0, 3, 1}, {2, 0, 1}, {1, 0, 3}, {1, 2, 0}, {3, 1, 0}, {0, 1, 2}}

// FromRGBRow converts planes of RGB to HSV. Planes of dst may be those of src.
func (k *CVHSV) FromRGBRow(dst, src [3][]uint8) {
	n := len(dst[0])
	r, g, b := src[0][:n], src[1][:n], src[2][:n]
	h, s, v := dst[0], dst[1][:n], dst[2][:n]
	for i := k.fromRGB(dst, src); i < n; i++ {
		h[i], s[i], v[i] = k.FromRGB(r[i], g[i], b[i])
	}
}

// ToRGBRow converts planes of HSV to RGB. It adds turn to the hue before,
// modulo 256. Planes of dst may be those of src.
func (k *CVHSV) ToRGBRow(dst, src [3][]uint8, turn uint8, body bool) {
	n := len(dst[0])
	h, s, v := src[0][:n], src[1][:n], src[2][:n]
	r, g, b := dst[0], dst[1][:n], dst[2][:n]
	for i := k.toRGB(dst, src, turn, body); i < n; i++ {
		r[i], g[i], b[i] = k.ToRGB(h[i]+turn, s[i], v[i], body)
	}
}
