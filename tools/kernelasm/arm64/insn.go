package main

import "fmt"

// V is a vector register. Its methods select lanes.
type V uint32

// R is a general register.
type R uint32

// vec is a register with lanes of 8<<size bits. It has 16 bytes if q is set,
// else 8.
type vec struct {
	n    V
	size uint32
	q    bool
}

// lane is one lane of a register.
type lane struct {
	n       V
	size, i uint32
}

func (v V) b8() vec  { return vec{v, 0, false} }
func (v V) b16() vec { return vec{v, 0, true} }
func (v V) h4() vec  { return vec{v, 1, false} }
func (v V) h8() vec  { return vec{v, 1, true} }
func (v V) s2() vec  { return vec{v, 2, false} }
func (v V) s4() vec  { return vec{v, 2, true} }
func (v V) d2() vec  { return vec{v, 3, true} }

func (v V) b(i int) lane { return lane{v, 0, uint32(i)} }
func (v V) h(i int) lane { return lane{v, 1, uint32(i)} }
func (v V) s(i int) lane { return lane{v, 2, uint32(i)} }
func (v V) d(i int) lane { return lane{v, 3, uint32(i)} }

func (v vec) String() string {
	n := 8 >> v.size
	if v.q {
		n *= 2
	}
	return fmt.Sprintf("v%d.%d%c", v.n, n, "bhsd"[v.size])
}

func (l lane) String() string { return fmt.Sprintf("v%d.%c[%d]", l.n, "bhsd"[l.size], l.i) }

// Q is the bit of a whole register, and the suffix of instructions that access
// the upper half.
func (v vec) Q() uint32 {
	if v.q {
		return 1 << 30
	}
	return 0
}

func (v vec) two() string {
	if v.q {
		return "2"
	}
	return ""
}

// want stops the generator at an invalid instruction.
func want(ok bool, name string, args ...any) {
	if !ok {
		panic(fmt.Sprint(name, " ", args))
	}
}

// same encodes "three registers of the same type".
func same(name string, code uint32, d, n, m vec) {
	want(d.size == n.size && n.size == m.size && d.q == n.q && n.q == m.q, name, d, n, m)
	word(0x0E200400|code|d.Q()|uint32(m.n)<<16|uint32(n.n)<<5|uint32(d.n), "%s %v, %v, %v", name, d, n, m)
}

// sized is same for integers of any size.
func sized(name string, u, op uint32, d, n, m vec) { same(name, u<<29|d.size<<22|op<<11, d, n, m) }

func add(d, n, m vec)     { sized("add", 0, 0b10000, d, n, m) }
func sub(d, n, m vec)     { sized("sub", 1, 0b10000, d, n, m) }
func mul(d, n, m vec)     { sized("mul", 0, 0b10011, d, n, m) }
func mla(d, n, m vec)     { sized("mla", 0, 0b10010, d, n, m) }
func addp(d, n, m vec)    { sized("addp", 0, 0b10111, d, n, m) }
func sqadd(d, n, m vec)   { sized("sqadd", 0, 0b00001, d, n, m) }
func uqsub(d, n, m vec)   { sized("uqsub", 1, 0b00101, d, n, m) }
func cmtst(d, n, m vec)   { sized("cmtst", 0, 0b10001, d, n, m) }
func sqdmulh(d, n, m vec) { sized("sqdmulh", 0, 0b10110, d, n, m) }
func sqsub(d, n, m vec)   { sized("sqsub", 0, 0b00101, d, n, m) }
func uqadd(d, n, m vec)   { sized("uqadd", 1, 0b00001, d, n, m) }
func uhadd(d, n, m vec)   { sized("uhadd", 1, 0b00000, d, n, m) }
func urhadd(d, n, m vec)  { sized("urhadd", 1, 0b00010, d, n, m) }
func uabd(d, n, m vec)    { sized("uabd", 1, 0b01110, d, n, m) }
func umax(d, n, m vec)    { sized("umax", 1, 0b01100, d, n, m) }
func cmhi(d, n, m vec)    { sized("cmhi", 1, 0b00110, d, n, m) }
func cmhs(d, n, m vec)    { sized("cmhs", 1, 0b00111, d, n, m) }
func urshl(d, n, m vec)   { sized("urshl", 1, 0b01010, d, n, m) }
func cmeq(d, n, m vec)    { sized("cmeq", 1, 0b10001, d, n, m) }
func logic(name string, u, size uint32, d, n, m vec) {
	want(d.size == 0, name, d)
	same(name, u<<29|size<<22|0b00011<<11, d, n, m)
}
func and(d, n, m vec) { logic("and", 0, 0, d, n, m) }
func orr(d, n, m vec) { logic("orr", 0, 2, d, n, m) }
func eor(d, n, m vec) { logic("eor", 1, 0, d, n, m) }
func bic(d, n, m vec) { logic("bic", 0, 1, d, n, m) }

// bsl selects the bits of n where d has ones, else those of m. bit copies those
// of n to d where m has ones, bif where it has zeros.
func bsl(d, n, m vec) { logic("bsl", 1, 1, d, n, m) }
func bit(d, n, m vec) { logic("bit", 1, 2, d, n, m) }
func bif(d, n, m vec) { logic("bif", 1, 3, d, n, m) }

// mov copies a register with orr.
func mov(d, n V) { orr(d.b16(), n.b16(), n.b16()) }

func float(name string, u, size, op uint32, d, n, m vec) {
	want(d.size == 2, name, d)
	same(name, u<<29|size<<22|op<<11, d, n, m)
}
func fadd(d, n, m vec) { float("fadd", 0, 0, 0b11010, d, n, m) }
func fsub(d, n, m vec) { float("fsub", 0, 2, 0b11010, d, n, m) }
func fmla(d, n, m vec) { float("fmla", 0, 0, 0b11001, d, n, m) }
func fmul(d, n, m vec) { float("fmul", 1, 0, 0b11011, d, n, m) }
func fdiv(d, n, m vec) { float("fdiv", 1, 0, 0b11111, d, n, m) }

// long encodes "three registers of different types". The lanes of d are twice
// as wide as those of m.
func long(name string, u, op uint32, d, n, m vec) {
	want(d.q && d.size == m.size+1 && n.q == m.q && n.size == m.size, name, d, n, m)
	word(0x0E200000|m.Q()|u<<29|m.size<<22|uint32(m.n)<<16|op<<12|uint32(n.n)<<5|uint32(d.n), "%s%s %v, %v, %v", name, m.two(), d, n, m)
}
func uaddl(d, n, m vec) { long("uaddl", 1, 0b0000, d, n, m) }
func usubl(d, n, m vec) { long("usubl", 1, 0b0010, d, n, m) }
func smlal(d, n, m vec) { long("smlal", 0, 0b1000, d, n, m) }
func smull(d, n, m vec) { long("smull", 0, 0b1100, d, n, m) }
func umlal(d, n, m vec) { long("umlal", 1, 0b1000, d, n, m) }

// wide encodes long with a first operand as wide as d.
func wide(name string, u, op uint32, d, n, m vec) {
	want(d.q && d.size == m.size+1 && n.q && n.size == d.size, name, d, n, m)
	word(0x0E200000|m.Q()|u<<29|m.size<<22|uint32(m.n)<<16|op<<12|uint32(n.n)<<5|uint32(d.n), "%s%s %v, %v, %v", name, m.two(), d, n, m)
}
func uaddw(d, n, m vec) { wide("uaddw", 1, 0b0001, d, n, m) }
func usubw(d, n, m vec) { wide("usubw", 1, 0b0011, d, n, m) }

// element encodes a lane as the last operand.
func element(l lane) uint32 {
	if l.size == 1 {
		want(l.n < 16 && l.i < 8, "element", l)
		return 1<<22 | l.i&1<<20 | l.i&2<<20 | l.i&4<<9 | uint32(l.n)<<16
	}
	want(l.size == 2 && l.i < 4, "element", l)
	return 2<<22 | l.i&1<<21 | l.i&2<<10 | uint32(l.n)<<16
}

// by encodes an operation with one lane.
func by(name string, u, op uint32, d, n vec, m lane) {
	want(d.size == n.size && n.size == m.size && d.q == n.q, name, d, n, m)
	word(0x0F000000|d.Q()|u<<29|element(m)|op<<12|uint32(n.n)<<5|uint32(d.n), "%s %v, %v, %v", name, d, n, m)
}
func mulBy(d, n vec, m lane)     { by("mul", 0, 0b1000, d, n, m) }
func mlaBy(d, n vec, m lane)     { by("mla", 1, 0b0000, d, n, m) }
func sqdmulhBy(d, n vec, m lane) { by("sqdmulh", 0, 0b1100, d, n, m) }
func fmulBy(d, n vec, m lane)    { by("fmul", 0, 0b1001, d, n, m) }

func longBy(name string, u, op uint32, d, n vec, m lane) {
	want(d.q && d.size == n.size+1 && n.size == m.size, name, d, n, m)
	word(0x0F000000|n.Q()|u<<29|element(m)|op<<12|uint32(n.n)<<5|uint32(d.n), "%s%s %v, %v, %v", name, n.two(), d, n, m)
}
func smullBy(d, n vec, m lane) { longBy("smull", 0, 0b1010, d, n, m) }
func smlalBy(d, n vec, m lane) { longBy("smlal", 0, 0b0010, d, n, m) }
func umullBy(d, n vec, m lane) { longBy("umull", 1, 0b1010, d, n, m) }
func umlalBy(d, n vec, m lane) { longBy("umlal", 1, 0b0010, d, n, m) }
func umlslBy(d, n vec, m lane) { longBy("umlsl", 1, 0b0110, d, n, m) }

// shift encodes a shift by a constant.
func shift(name string, u, op uint32, q uint32, immhb int, d, n vec, by int) {
	word(0x0F000400|q|u<<29|uint32(immhb)<<16|op<<11|uint32(n.n)<<5|uint32(d.n), "%s %v, %v, #%d", name, d, n, by)
}

// right shifts lanes in their own width.
func right(name string, u, op uint32, d, n vec, by int) {
	bits := 8 << d.size
	want(d.size == n.size && d.q == n.q && by > 0 && by <= bits, name, d, n, by)
	shift(name, u, op, d.Q(), 2*bits-by, d, n, by)
}
func sshr(d, n vec, by int)  { right("sshr", 0, 0b00000, d, n, by) }
func srshr(d, n vec, by int) { right("srshr", 0, 0b00100, d, n, by) }
func ushr(d, n vec, by int)  { right("ushr", 1, 0b00000, d, n, by) }
func urshr(d, n vec, by int) { right("urshr", 1, 0b00100, d, n, by) }
func srsra(d, n vec, by int) { right("srsra", 0, 0b00110, d, n, by) }
func ssra(d, n vec, by int)  { right("ssra", 0, 0b00010, d, n, by) }
func shl(d, n vec, by int) {
	bits := 8 << d.size
	want(d.size == n.size && d.q == n.q && by >= 0 && by < bits, "shl", d, n, by)
	shift("shl", 0, 0b01010, d.Q(), bits+by, d, n, by)
}

// narrow shifts right into lanes half as wide. A whole d selects its upper
// half.
func narrow(name string, u, op uint32, d, n vec, by int) {
	bits := 8 << d.size
	want(n.q && n.size == d.size+1 && by > 0 && by <= bits, name, d, n, by)
	shift(name+d.two(), u, op, d.Q(), 2*bits-by, d, n, by)
}
func shrn(d, n vec, by int)     { narrow("shrn", 0, 0b10000, d, n, by) }
func rshrn(d, n vec, by int)    { narrow("rshrn", 0, 0b10001, d, n, by) }
func sqrshrn(d, n vec, by int)  { narrow("sqrshrn", 0, 0b10011, d, n, by) }
func sqshrn(d, n vec, by int)   { narrow("sqshrn", 0, 0b10010, d, n, by) }
func sqshrun(d, n vec, by int)  { narrow("sqshrun", 1, 0b10000, d, n, by) }
func sqrshrun(d, n vec, by int) { narrow("sqrshrun", 1, 0b10001, d, n, by) }
func uqshrn(d, n vec, by int)   { narrow("uqshrn", 1, 0b10010, d, n, by) }

// widen shifts left into lanes twice as wide.
func widen(name string, u uint32, d, n vec, by int) {
	bits := 8 << n.size
	want(d.q && d.size == n.size+1 && by >= 0 && by < bits, name, d, n, by)
	shift(name+n.two(), u, 0b10100, n.Q(), bits+by, d, n, by)
}
func sshll(d, n vec, by int) { widen("sshll", 0, d, n, by) }
func ushll(d, n vec, by int) { widen("ushll", 1, d, n, by) }

// misc encodes "two registers, miscellaneous".
func misc(name string, u, size, op uint32, q uint32, d, n vec) {
	word(0x0E200800|q|u<<29|size<<22|op<<12|uint32(n.n)<<5|uint32(d.n), "%s %v, %v", name, d, n)
}
func extract(name string, u, op uint32, d, n vec) {
	want(n.q && n.size == d.size+1, name, d, n)
	misc(name+d.two(), u, d.size, op, d.Q(), d, n)
}
func xtn(d, n vec)    { extract("xtn", 0, 0b10010, d, n) }
func sqxtn(d, n vec)  { extract("sqxtn", 0, 0b10100, d, n) }
func uqxtn(d, n vec)  { extract("uqxtn", 1, 0b10100, d, n) }
func sqxtun(d, n vec) { extract("sqxtun", 1, 0b10010, d, n) }
func unary(name string, u, size, op uint32, d, n vec) {
	want(d.size == n.size && d.q == n.q, name, d, n)
	misc(name, u, size, op, d.Q(), d, n)
}
func abs(d, n vec)    { unary("abs", 0, d.size, 0b01011, d, n) }
func scvtf(d, n vec)  { want(d.size == 2, "scvtf", d); unary("scvtf", 0, 0, 0b11101, d, n) }
func ucvtf(d, n vec)  { want(d.size == 2, "ucvtf", d); unary("ucvtf", 1, 0, 0b11101, d, n) }
func fcvtzs(d, n vec) { want(d.size == 2, "fcvtzs", d); unary("fcvtzs", 0, 2, 0b11011, d, n) }
func fcvtns(d, n vec) { want(d.size == 2, "fcvtns", d); unary("fcvtns", 0, 0, 0b11010, d, n) }

// pairs adds adjacent lanes into lanes twice as wide.
func pairs(name string, op uint32, d, n vec) {
	want(d.size == n.size+1 && d.q == n.q, name, d, n)
	misc(name, 1, n.size, op, d.Q(), d, n)
}
func uaddlp(d, n vec) { pairs("uaddlp", 0b00010, d, n) }
func uadalp(d, n vec) { pairs("uadalp", 0b00110, d, n) }

// addv adds all lanes of n to the first one of d.
func addv(d V, n vec) {
	want(n.q && n.size < 3, "addv", n)
	word(0x0E31B800|n.Q()|n.size<<22|uint32(n.n)<<5|uint32(d), "addv %c%d, %v", "bhs"[n.size], d, n)
}

// uaddlv adds all bytes of n to the first word of d.
func uaddlv(d V, n vec) {
	want(n.size == 0, "uaddlv", n)
	word(0x2E303800|n.Q()|uint32(n.n)<<5|uint32(d), "uaddlv h%d, %v", d, n)
}

// permute encodes the zip, uzp and trn instructions.
func permute(name string, op uint32, d, n, m vec) {
	want(d.size == n.size && n.size == m.size && d.q == n.q && n.q == m.q, name, d, n, m)
	word(0x0E000800|d.Q()|d.size<<22|uint32(m.n)<<16|op<<12|uint32(n.n)<<5|uint32(d.n), "%s %v, %v, %v", name, d, n, m)
}
func uzp1(d, n, m vec) { permute("uzp1", 1, d, n, m) }
func trn1(d, n, m vec) { permute("trn1", 2, d, n, m) }
func zip1(d, n, m vec) { permute("zip1", 3, d, n, m) }
func zip2(d, n, m vec) { permute("zip2", 7, d, n, m) }
func uzp2(d, n, m vec) { permute("uzp2", 5, d, n, m) }
func trn2(d, n, m vec) { permute("trn2", 6, d, n, m) }

// ext extracts the bytes at to at+15 of the concatenation of n and m.
func ext(d, n, m V, at int) {
	want(at >= 0 && at < 16, "ext", at)
	word(0x6E000000|uint32(m)<<16|uint32(at)<<11|uint32(n)<<5|uint32(d), "ext %v, %v, %v, #%d", d.b16(), n.b16(), m.b16(), at)
}

// tbl looks up the bytes of m in regs registers from n on. An index outside
// them returns 0; with tbx it keeps the byte of d.
func tbl(d, n V, regs int, m V) { table("tbl", 0, d, n, regs, m) }
func tbx(d, n V, regs int, m V) { table("tbx", 1, d, n, regs, m) }

func table(name string, op uint32, d, n V, regs int, m V) {
	word(0x4E000000|uint32(m)<<16|uint32(regs-1)<<13|op<<12|uint32(n)<<5|uint32(d), "%s %v, {%s}, %v", name, d.b16(), list(regs, n.b16()), m.b16())
}

// list formats regs registers from v on.
func list(regs int, v vec) string {
	want(int(v.n)+regs <= 32, "list", v)
	s := v.String()
	for i := 1; i < regs; i++ {
		s += ", " + vec{v.n + V(i), v.size, v.q}.String()
	}
	return s
}

// imm5 encodes the number and the size of a lane.
func imm5(size, i uint32) uint32 { return (i<<1 | 1) << size << 16 }

func dup(d vec, n lane) {
	want(d.size == n.size, "dup", d, n)
	word(0x0E000400|d.Q()|imm5(n.size, n.i)|uint32(n.n)<<5|uint32(d.n), "dup %v, %v", d, n)
}
func dupR(d vec, n R) {
	x := "w"
	if d.size == 3 {
		x = "x"
	}
	word(0x0E000C00|d.Q()|imm5(d.size, 0)|uint32(n)<<5|uint32(d.n), "dup %v, %s%d", d, x, n)
}

// umovD moves a doubleword lane to a general register.
func umovD(d R, n lane) {
	want(n.size == 3, "umov", n)
	word(0x4E003C00|imm5(3, n.i)|uint32(n.n)<<5|uint32(d), "mov x%d, %v", d, n)
}

// movi sets all bytes to v.
func movi(d vec, v uint32) {
	want(d.size == 0 && v < 256, "movi", d, v)
	word(0x0F00E400|d.Q()|v>>5<<16|v&31<<5|uint32(d.n), "movi %v, #0x%x", d, v)
}

// multiple encodes loads and stores of whole registers. by is the
// post-increment of the address: 0, or the number of bytes.
func multiple(name string, op, load uint32, regs int, v vec, at R, by int) {
	bytes := 8 * regs
	if v.q {
		bytes *= 2
	}
	want(by == 0 || by == bytes, name, v, by)
	code := 0x0C000000 | load<<22 | v.Q() | op<<12 | v.size<<10 | uint32(at)<<5 | uint32(v.n)
	post := ""
	if by != 0 {
		code |= 1<<23 | 31<<16
		post = fmt.Sprintf(", #%d", by)
	}
	word(code, "%s {%s}, [x%d]%s", name, list(regs, v), at, post)
}

// ld1 and st1 access up to four registers that are adjacent in memory.
func ld1(regs int, v vec, at R, by int) { multiple("ld1", ones[regs], 1, regs, v, at, by) }
func st1(regs int, v vec, at R, by int) { multiple("st1", ones[regs], 0, regs, v, at, by) }

var ones = [5]uint32{1: 0b0111, 2: 0b1010, 3: 0b0110, 4: 0b0010}

// ld1Step and st1Step access one register and then move the address by step.
func ld1Step(v vec, at, step R) { stepped("ld1", 1, v, at, step) }
func st1Step(v vec, at, step R) { stepped("st1", 0, v, at, step) }

func stepped(name string, load uint32, v vec, at, step R) {
	word(0x0C807000|load<<22|v.Q()|v.size<<10|uint32(step)<<16|uint32(at)<<5|uint32(v.n), "%s {%v}, [x%d], x%d", name, v, at, step)
}

// ld2 to ld4 and st2 to st4 interleave lanes: lane i of register r is element
// regs*i+r.
func ld2(v vec, at R, by int) { multiple("ld2", 0b1000, 1, 2, v, at, by) }
func ld3(v vec, at R, by int) { multiple("ld3", 0b0100, 1, 3, v, at, by) }
func ld4(v vec, at R, by int) { multiple("ld4", 0b0000, 1, 4, v, at, by) }
func st2(v vec, at R, by int) { multiple("st2", 0b1000, 0, 2, v, at, by) }
func st3(v vec, at R, by int) { multiple("st3", 0b0100, 0, 3, v, at, by) }
func st4(v vec, at R, by int) { multiple("st4", 0b0000, 0, 4, v, at, by) }

// ld1r loads one element to all lanes.
func ld1r(v vec, at R) {
	word(0x0D40C000|v.Q()|v.size<<10|uint32(at)<<5|uint32(v.n), "ld1r {%v}, [x%d]", v, at)
}

// ldr and str access the first 1<<size bytes of a register (4, 8 or 16) at a
// multiple of that size. The Post forms then move the address by a small step.
func ldr(size uint32, d V, at R, off int)    { offset("ldr", 1, size, d, at, off) }
func str(size uint32, d V, at R, off int)    { offset("str", 0, size, d, at, off) }
func ldrPost(size uint32, d V, at R, by int) { post("ldr", 1, size, d, at, by) }
func strPost(size uint32, d V, at R, by int) { post("str", 0, size, d, at, by) }

func post(name string, load, size uint32, d V, at R, by int) {
	want(size >= 2 && size <= 4 && by >= -256 && by < 256, name, size, by)
	word(0x3C000400|load<<22|sizeOf(size)|uint32(by&511)<<12|uint32(at)<<5|uint32(d), "%s %c%d, [x%d], #%d", name, "bhsdq"[size], d, at, by)
}

// sizeOf encodes the number of bytes of a load or store.
func sizeOf(size uint32) uint32 {
	if size == 4 {
		return 1 << 23
	}
	return size << 30
}

func offset(name string, load, size uint32, d V, at R, off int) {
	want(size >= 2 && size <= 4 && off >= 0 && off%(1<<size) == 0 && off>>size < 4096, name, size, off)
	word(0x3D000000|load<<22|sizeOf(size)|uint32(off>>size)<<10|uint32(at)<<5|uint32(d), "%s %c%d, [x%d, #%d]", name, "bhsdq"[size], d, at, off)
}

// ldur is ldr of 16 bytes at any small offset.
func ldur(d V, at R, off int) {
	want(off >= -256 && off < 256, "ldur", off)
	word(0x3CC00000|uint32(off&511)<<12|uint32(at)<<5|uint32(d), "ldur q%d, [x%d, #%d]", d, at, off)
}

// st1Lane stores a lane of 4 or 8 bytes; ld1Lane loads one of 2 to 8. by is the
// post-increment of the address: 0, or the number of bytes. The Step forms then
// move the address by step.
func st1Lane(n lane, at R)         { single("st1", 0, n, at, 0) }
func ld1Lane(n lane, at R, by int) { single("ld1", 1, n, at, by) }

func ld1LaneStep(n lane, at, step R) { singleStep("ld1", 1, n, at, step) }
func st1LaneStep(n lane, at, step R) { singleStep("st1", 0, n, at, step) }

func single(name string, load uint32, n lane, at R, by int) {
	want(by == 0 || by == 1<<n.size, name, by)
	code, post := laneCode(name, load, n, at), ""
	if by != 0 {
		code |= 1<<23 | 31<<16
		post = fmt.Sprintf(", #%d", by)
	}
	word(code, "%s {v%d.%c}[%d], [x%d]%s", name, n.n, "bhsd"[n.size], n.i, at, post)
}

func singleStep(name string, load uint32, n lane, at, step R) {
	word(laneCode(name, load, n, at)|1<<23|uint32(step)<<16, "%s {v%d.%c}[%d], [x%d], x%d", name, n.n, "bhsd"[n.size], n.i, at, step)
}

func laneCode(name string, load uint32, n lane, at R) uint32 {
	code := 0x0D000000 | load<<22 | uint32(at)<<5 | uint32(n.n)
	switch n.size {
	case 1:
		code |= 0b010<<13 | n.i>>2<<30 | n.i>>1&1<<12 | n.i&1<<11
	case 2:
		code |= 0b100<<13 | n.i>>1<<30 | n.i&1<<12
	case 3:
		code |= 0b100<<13 | n.i<<30 | 1<<10
	default:
		want(false, name, n)
	}
	return code
}
