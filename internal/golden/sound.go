package golden

// Sound returns n samples of a sound made of whole numbers, -1 to 1: speech,
// noise, silence, clip (too loud a speech) or sweep. The function sound of
// testdata/gen/common/sound.py returns the same bits.
func Sound(kind string, n int) []float32 {
	x := make([]float32, n)
	for k := range x {
		x[k] = float32(integer(kind, int64(k))) / 32768
	}
	return x
}

func integer(kind string, k int64) int64 {
	switch kind {
	case "silence":
		return 0
	case "noise":
		return noise(k)
	case "sweep":
		return tone(k*(1+k/64), 4096)
	}
	period := 100 + k/4000*37%60/2*2
	r := k % 5000
	envelope := min(min(r, 5000-r)*2, 4096)
	v := tone(k, period) + tone(3*k, period)>>1 + tone(7*k, period)>>2 + noise(k)>>4
	v = v * envelope >> 13
	if kind == "clip" {
		v *= 8
	}
	return max(-32768, min(v, 32767))
}

// tone returns a wave of parabolas, -32767 to 32767.
func tone(k, period int64) int64 {
	half := period / 2
	p := k % period
	q := p % half
	v := 4 * 32767 * q * (half - q) / (half * half)
	if p >= half {
		v = -v
	}
	return v
}

func noise(k int64) int64 {
	h := uint32(uint64(k)*2654435761 + 12345)
	h ^= h >> 15
	h *= 2246822519
	h ^= h >> 13
	return int64(h>>16) - 32768
}
