package main

import "fmt"

// pixels writes the functions of pixels_arm64.go of package kernel. Sizes are
// those of an element in bytes.
func pixels() {
	for _, ch := range []int{3, 4} {
		transpose(ch, true)
		transpose(ch, false)
	}
	for _, size := range []int{4, 2} {
		for _, ch := range []int{3, 4} {
			lookup(ch, size, true)
		}
		for _, ch := range []int{1, 3, 4} {
			lookup(ch, size, false)
		}
	}
	for _, ch := range []int{3, 4} {
		lookupBytes(ch, true)
	}
	for _, ch := range []int{1, 3, 4} {
		lookupBytes(ch, false)
	}
	flip()
	normalize()
	quantize("Uint8", 1, false)
	quantize("Int8", 1, true)
	quantize("Uint16", 2, false)
	quantize("Int16", 2, true)
}

// of returns a whole register as lanes of size bytes.
func of(v V, size int) vec {
	return map[int]vec{1: v.b16(), 2: v.h8(), 4: v.s4(), 8: v.d2()}[size]
}

// planes sets the registers from R8 on to the starts of the planes.
func planes(first, plane string, ch int) {
	p("MOVD %s, R8", first)
	for c := 1; c < ch; c++ {
		p("ADD %s, R%d, R%d", plane, 7+c, 8+c)
	}
}

// transpose writes Deinterleave and Interleave: 16 bytes of every channel at a
// time.
func transpose(ch int, apart bool) {
	args := "dst *byte, plane int, src *byte, n, size int"
	name := fmt.Sprintf("deinterleave%dNEON", ch)
	if !apart {
		args = "dst, src *byte, plane, n, size int"
		name = fmt.Sprintf("interleave%dNEON", ch)
	}
	text(name, 40, "func "+name+"("+args+")")
	const pixels = R(0)
	if apart {
		p("MOVD dst+0(FP), R1")
		p("MOVD plane+8(FP), R2")
		p("MOVD src+16(FP), R0")
	} else {
		p("MOVD dst+0(FP), R0")
		p("MOVD src+8(FP), R1")
		p("MOVD plane+16(FP), R2")
	}
	p("MOVD n+24(FP), R3")
	p("MOVD size+32(FP), R4")
	planes("R1", "R2", ch)
	for _, size := range []int{1, 2, 4} {
		p("CMP $%d, R4", size)
		p("BEQ loop%d", size)
	}
	for _, size := range []int{8, 1, 2, 4} {
		label(fmt.Sprint("loop", size))
		v := of(0, size)
		switch {
		case apart && ch == 3:
			ld3(v, pixels, 48)
		case apart:
			ld4(v, pixels, 64)
		}
		for c := range ch {
			if apart {
				st1(1, of(V(c), size), R(8+c), 16)
			} else {
				ld1(1, of(V(c), size), R(8+c), 16)
			}
		}
		switch {
		case !apart && ch == 3:
			st3(v, pixels, 48)
		case !apart:
			st4(v, pixels, 64)
		}
		p("SUBS $%d, R3", 16/size)
		p("BNE loop%d", size)
		p("RET")
	}
}

// lookup writes LookupCHW (planar) or LookupHWC for elements of 4 or 2 bytes.
// It uses general registers and processes eight pixels at a time, or as many as
// fill whole words.
func lookup(ch, size int, planar bool) {
	layout, args, bytes := "HWC", "dst, src *byte, n int, tables *byte", 32
	if planar {
		layout, args, bytes = "CHW", "dst *byte, plane int, src *byte, n int, tables *byte", 40
	}
	name := fmt.Sprintf("lookup%s%dx%dSIMD", layout, ch, size)
	text(name, bytes, "func "+name+"("+args+")")
	elements := 8
	if planar {
		elements = 8 * ch
		p("MOVD dst+0(FP), R0")
		p("MOVD plane+8(FP), R1")
		p("MOVD src+16(FP), R2")
		p("MOVD n+24(FP), R3")
		p("MOVD tables+32(FP), R4")
		planes("R0", "R1", ch)
	} else {
		if ch == 3 {
			elements = 24
		}
		p("MOVD dst+0(FP), R8")
		p("MOVD src+8(FP), R2")
		p("MOVD n+16(FP), R3")
		p("MOVD tables+24(FP), R4")
	}
	for c := 1; c < ch; c++ {
		p("ADD $%d, R%d, R%d", 256*size, 3+c, 4+c)
	}
	label("loop")
	const words, temps = 19, 12 // R19 to R22, R12 to R15
	for w := range elements / 8 {
		p("MOVD %d(R2), R%d", 8*w, words+w)
	}
	p("ADD $%d, R2", elements)
	// four looks up four elements and stores them at offset off of dst.
	four := func(e [4]int, dst, off int) {
		for i, at := range e {
			word, shift := words+at/8, at%8*8
			switch shift {
			case 0:
				p("MOVBU R%d, R%d", word, temps+i)
			case 56:
				p("LSR $56, R%d, R%d", word, temps+i)
			default:
				p("UBFX $%d, R%d, $8, R%d", shift, word, temps+i)
			}
		}
		for i, at := range e {
			if size == 4 {
				p("MOVWU (R%d)(R%d<<2), R%d", 4+at%ch, temps+i, temps+i)
			} else {
				p("MOVHU (R%d)(R%d<<1), R%d", 4+at%ch, temps+i, temps+i)
			}
		}
		if size == 4 {
			p("STPW (R%d, R%d), %d(R%d)", temps, temps+1, off, dst)
			p("STPW (R%d, R%d), %d(R%d)", temps+2, temps+3, off+8, dst)
			return
		}
		p("ORR R%d<<16, R%d", temps+1, temps)
		p("ORR R%d<<16, R%d", temps+3, temps+2)
		p("ORR R%d<<32, R%d", temps+2, temps)
		p("MOVD R%d, %d(R%d)", temps, off, dst)
	}
	if planar {
		for c := range ch {
			for px := 0; px < 8; px += 4 {
				at := px*ch + c
				four([4]int{at, at + ch, at + 2*ch, at + 3*ch}, 8+c, px*size)
			}
			p("ADD $%d, R%d", 8*size, 8+c)
		}
		p("SUBS $8, R3")
	} else {
		for at := 0; at < elements; at += 4 {
			four([4]int{at, at + 1, at + 2, at + 3}, 8, at*size)
		}
		p("ADD $%d, R8", elements*size)
		p("SUBS $%d, R3", elements)
	}
	p("BNE loop")
	p("RET")
}

// lookupBytes writes LookupCHW or LookupHWC for bytes. The table of a channel
// is in 16 registers. The channels are processed one after another, 16 pixels
// at a time.
func lookupBytes(ch int, planar bool) {
	layout, args, bytes := "HWC", "dst, src *byte, n int, tables *byte", 32
	if planar {
		layout, args, bytes = "CHW", "dst *byte, plane int, src *byte, n int, tables *byte", 40
	}
	name := fmt.Sprintf("lookup%s%dx1SIMD", layout, ch)
	text(name, bytes, "func "+name+"("+args+")")
	const dst, src, tables = R(0), R(2), R(4)
	p("MOVD dst+0(FP), R0")
	if planar {
		p("MOVD plane+8(FP), R1")
		p("MOVD src+16(FP), R2")
		p("MOVD n+24(FP), R3")
		p("MOVD tables+32(FP), R4")
	} else {
		p("MOVD src+8(FP), R2")
		p("MOVD n+16(FP), R3")
		p("MOVD tables+24(FP), R4")
	}
	const step, entry, first = V(15), V(4), V(16)
	movi(step.b16(), 64)
	const in, out = R(5), R(6)
	for c := range ch {
		p("MOVD R2, R5")
		p("MOVD R0, R6")
		p("MOVD R3, R7")
		for i := range V(4) {
			ld1(4, (first + 4*i).b16(), tables, 64)
		}
		name := fmt.Sprint("channel", c)
		label(name)
		switch ch {
		case 1:
			ld1(1, V(0).b16(), in, 16)
		case 3:
			ld3(V(0).b16(), in, 48)
		case 4:
			ld4(V(0).b16(), in, 64)
		}
		v := V(c)
		tbl(entry, first, 4, v)
		for i := range V(3) {
			sub(v.b16(), v.b16(), step.b16())
			tbx(entry, first+4+4*i, 4, v)
		}
		switch {
		case planar || ch == 1:
			st1(1, entry.b16(), out, 16)
		default:
			mov(v, entry)
			if ch == 3 {
				st3(V(0).b16(), out, 48)
			} else {
				st4(V(0).b16(), out, 64)
			}
		}
		p("SUBS $16, R7")
		p("BNE %s", name)
		switch {
		case c == ch-1:
		case planar:
			p("ADD R1, R0")
		default:
			p("MOVD R0, R2") // the next channel reads what this one wrote
		}
	}
	p("RET")
}

// flip writes 16 bytes in reverse order at a time. The next step overwrites
// bytes that are not part of whole pixels.
func flip() {
	text("flipNEON", 40, "func flipNEON(last, src *byte, times int, order *[16]uint8, step int)")
	const dst, src, at, from = R(0), R(1), R(3), V(1)
	p("MOVD last+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD times+16(FP), R2")
	p("MOVD order+24(FP), R3")
	p("MOVD step+32(FP), R4")
	p("SUB $15, R0")
	ldr(4, 0, at, 0)
	label("loop")
	ldr(4, from, src, 0)
	p("ADD R4, R1")
	tbl(from, from, 1, 0)
	str(4, from, dst, 0)
	p("SUB R4, R0")
	p("SUBS $1, R2")
	p("BNE loop")
	p("RET")
}

// normalize subtracts and divides 24 elements at a time.
func normalize() {
	text("normalizeSIMD", 40, "func normalizeSIMD(dst, src *float32, n int, mean, std *[24]float32)")
	const dst, src, mean, std = R(0), R(1), R(3), R(4)
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD n+16(FP), R2")
	p("MOVD mean+24(FP), R3")
	p("MOVD std+32(FP), R4")
	ld1(4, V(8).s4(), mean, 64)
	ld1(2, V(12).s4(), mean, 0)
	ld1(4, V(16).s4(), std, 64)
	ld1(2, V(20).s4(), std, 0)
	label("loop")
	ld1(4, V(0).s4(), src, 64)
	ld1(2, V(4).s4(), src, 32)
	for i := range V(6) {
		fsub(i.s4(), i.s4(), (8 + i).s4())
	}
	for i := range V(6) {
		fdiv(i.s4(), i.s4(), (16 + i).s4())
	}
	st1(4, V(0).s4(), dst, 64)
	st1(2, V(4).s4(), dst, 32)
	p("SUBS $24, R2")
	p("BNE loop")
	p("RET")
}

// quantize divides, rounds and clamps 24 elements at a time, to size bytes
// each. The clamp of the additions is wider than that of the type.
func quantize(name string, size int, signed bool) {
	name = "quantize" + name + "SIMD"
	text(name, 40, "func "+name+"(dst *byte, src *float32, n int, scale *[24]float32, zero *[24]int32)")
	const dst, src, scale, zero = R(0), R(1), R(3), R(4)
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD n+16(FP), R2")
	p("MOVD scale+24(FP), R3")
	p("MOVD zero+32(FP), R4")
	ld1(4, V(16).s4(), scale, 64)
	ld1(2, V(20).s4(), scale, 0)
	ld1(4, V(22).s4(), zero, 64)
	ld1(2, V(26).s4(), zero, 0)
	label("loop")
	ld1(4, V(0).s4(), src, 64)
	ld1(2, V(4).s4(), src, 32)
	for i := range V(6) {
		fdiv(i.s4(), i.s4(), (16 + i).s4())
	}
	for i := range V(6) {
		fcvtns(i.s4(), i.s4())
		sqadd(i.s4(), i.s4(), (22 + i).s4())
	}
	first, second := sqxtun, uqxtn
	if signed {
		first, second = sqxtn, sqxtn
	}
	const out = V(6) // to 8
	for i := range V(3) {
		first((out + i).h4(), (2 * i).s4())
		first((out + i).h8(), (2*i + 1).s4())
		if size == 1 {
			second((out + i).b8(), (out + i).h8())
		}
	}
	if size == 1 {
		st1(3, out.b8(), dst, 24)
	} else {
		st1(3, out.h8(), dst, 48)
	}
	p("SUBS $24, R2")
	p("BNE loop")
	p("RET")
}
