package main

import (
	"fmt"
	"testing"
)

// TestWords compares the codes with those of GNU's assembler (binutils 2.40).
func TestWords(t *testing.T) {
	v := func(n int) V { return V(n) }
	for _, c := range []struct {
		emit func()
		want uint32
		text string
	}{
		{func() { add(v(1).h8(), v(2).h8(), v(31).h8()) }, 0x4e7f8441, "add v1.8h, v2.8h, v31.8h"},
		{func() { add(v(30).s4(), v(17).s4(), v(4).s4()) }, 0x4ea4863e, "add v30.4s, v17.4s, v4.4s"},
		{func() { sub(v(7).b16(), v(8).b16(), v(9).b16()) }, 0x6e298507, "sub v7.16b, v8.16b, v9.16b"},
		{func() { mul(v(5).h4(), v(6).h4(), v(7).h4()) }, 0x0e679cc5, "mul v5.4h, v6.4h, v7.4h"},
		{func() { mla(v(18).s4(), v(19).s4(), v(20).s4()) }, 0x4eb49672, "mla v18.4s, v19.4s, v20.4s"},
		{func() { sqadd(v(1).s4(), v(12).s4(), v(23).s4()) }, 0x4eb70d81, "sqadd v1.4s, v12.4s, v23.4s"},
		{func() { uqsub(v(1).h8(), v(2).h8(), v(31).h8()) }, 0x6e7f2c41, "uqsub v1.8h, v2.8h, v31.8h"},
		{func() { addp(v(4).s4(), v(5).s4(), v(6).s4()) }, 0x4ea6bca4, "addp v4.4s, v5.4s, v6.4s"},
		{func() { orr(v(1).b8(), v(2).b8(), v(3).b8()) }, 0x0ea31c41, "orr v1.8b, v2.8b, v3.8b"},
		{func() { eor(v(11).b16(), v(12).b16(), v(13).b16()) }, 0x6e2d1d8b, "eor v11.16b, v12.16b, v13.16b"},
		{func() { fadd(v(1).s4(), v(2).s4(), v(3).s4()) }, 0x4e23d441, "fadd v1.4s, v2.4s, v3.4s"},
		{func() { fsub(v(1).s4(), v(2).s4(), v(3).s4()) }, 0x4ea3d441, "fsub v1.4s, v2.4s, v3.4s"},
		{func() { fmul(v(1).s4(), v(2).s4(), v(3).s4()) }, 0x6e23dc41, "fmul v1.4s, v2.4s, v3.4s"},
		{func() { fdiv(v(21).s4(), v(22).s4(), v(23).s4()) }, 0x6e37fed5, "fdiv v21.4s, v22.4s, v23.4s"},
		{func() { uaddl(v(1).h8(), v(2).b8(), v(3).b8()) }, 0x2e230041, "uaddl v1.8h, v2.8b, v3.8b"},
		{func() { usubl(v(1).h8(), v(2).b16(), v(3).b16()) }, 0x6e232041, "usubl2 v1.8h, v2.16b, v3.16b"},
		{func() { umlal(v(1).h8(), v(2).b16(), v(3).b16()) }, 0x6e238041, "umlal2 v1.8h, v2.16b, v3.16b"},
		{func() { smull(v(1).s4(), v(2).h4(), v(3).h4()) }, 0x0e63c041, "smull v1.4s, v2.4h, v3.4h"},
		{func() { smlal(v(1).s4(), v(2).h8(), v(3).h8()) }, 0x4e638041, "smlal2 v1.4s, v2.8h, v3.8h"},
		{func() { uaddw(v(1).h8(), v(2).h8(), v(3).b16()) }, 0x6e231041, "uaddw2 v1.8h, v2.8h, v3.16b"},
		{func() { uaddw(v(1).s4(), v(2).s4(), v(3).h4()) }, 0x2e631041, "uaddw v1.4s, v2.4s, v3.4h"},
		{func() { mulBy(v(16).h8(), v(17).h8(), v(15).h(7)) }, 0x4f7f8a30, "mul v16.8h, v17.8h, v15.h[7]"},
		{func() { mlaBy(v(16).s4(), v(17).s4(), v(31).s(3)) }, 0x6fbf0a30, "mla v16.4s, v17.4s, v31.s[3]"},
		{func() { mlaBy(v(16).s4(), v(17).s4(), v(0).s(2)) }, 0x6f800a30, "mla v16.4s, v17.4s, v0.s[2]"},
		{func() { sqdmulhBy(v(16).h8(), v(17).h8(), v(15).h(7)) }, 0x4f7fca30, "sqdmulh v16.8h, v17.8h, v15.h[7]"},
		{func() { fmulBy(v(1).s4(), v(2).s4(), v(3).s(1)) }, 0x4fa39041, "fmul v1.4s, v2.4s, v3.s[1]"},
		{func() { smullBy(v(16).s4(), v(17).h4(), v(9).h(5)) }, 0x0f59aa30, "smull v16.4s, v17.4h, v9.h[5]"},
		{func() { smlalBy(v(16).s4(), v(17).h8(), v(10).h(2)) }, 0x4f6a2230, "smlal2 v16.4s, v17.8h, v10.h[2]"},
		{func() { sshr(v(1).s4(), v(2).s4(), 13) }, 0x4f330441, "sshr v1.4s, v2.4s, #13"},
		{func() { ushr(v(1).h8(), v(2).h8(), 8) }, 0x6f180441, "ushr v1.8h, v2.8h, #8"},
		{func() { srsra(v(1).h8(), v(2).h8(), 1) }, 0x4f1f3441, "srsra v1.8h, v2.8h, #1"},
		{func() { ssra(v(1).h8(), v(2).h8(), 1) }, 0x4f1f1441, "ssra v1.8h, v2.8h, #1"},
		{func() { shl(v(1).h4(), v(2).h4(), 2) }, 0x0f125441, "shl v1.4h, v2.4h, #2"},
		{func() { shl(v(1).s4(), v(2).s4(), 21) }, 0x4f355441, "shl v1.4s, v2.4s, #21"},
		{func() { shrn(v(1).b8(), v(2).h8(), 2) }, 0x0f0e8441, "shrn v1.8b, v2.8h, #2"},
		{func() { rshrn(v(1).h8(), v(2).s4(), 16) }, 0x4f108c41, "rshrn2 v1.8h, v2.4s, #16"},
		{func() { sqrshrn(v(1).b16(), v(2).h8(), 5) }, 0x4f0b9c41, "sqrshrn2 v1.16b, v2.8h, #5"},
		{func() { sqrshrn(v(1).h4(), v(2).s4(), 11) }, 0x0f159c41, "sqrshrn v1.4h, v2.4s, #11"},
		{func() { sqshrn(v(1).h8(), v(2).s4(), 12) }, 0x4f149441, "sqshrn2 v1.8h, v2.4s, #12"},
		{func() { sqshrun(v(1).h4(), v(2).s4(), 16) }, 0x2f108441, "sqshrun v1.4h, v2.4s, #16"},
		{func() { sqrshrun(v(1).b16(), v(2).h8(), 2) }, 0x6f0e8c41, "sqrshrun2 v1.16b, v2.8h, #2"},
		{func() { uqshrn(v(1).b8(), v(2).h8(), 6) }, 0x2f0a9441, "uqshrn v1.8b, v2.8h, #6"},
		{func() { sshll(v(1).s4(), v(2).h4(), 15) }, 0x0f1fa441, "sshll v1.4s, v2.4h, #15"},
		{func() { sshll(v(1).s4(), v(2).h8(), 13) }, 0x4f1da441, "sshll2 v1.4s, v2.8h, #13"},
		{func() { ushll(v(1).h8(), v(2).b16(), 0) }, 0x6f08a441, "ushll2 v1.8h, v2.16b, #0"},
		{func() { xtn(v(1).b8(), v(2).h8()) }, 0x0e212841, "xtn v1.8b, v2.8h"},
		{func() { sqxtn(v(1).h8(), v(2).s4()) }, 0x4e614841, "sqxtn2 v1.8h, v2.4s"},
		{func() { uqxtn(v(1).b16(), v(2).h8()) }, 0x6e214841, "uqxtn2 v1.16b, v2.8h"},
		{func() { sqxtun(v(1).h4(), v(2).s4()) }, 0x2e612841, "sqxtun v1.4h, v2.4s"},
		{func() { scvtf(v(1).s4(), v(2).s4()) }, 0x4e21d841, "scvtf v1.4s, v2.4s"},
		{func() { ucvtf(v(1).s4(), v(2).s4()) }, 0x6e21d841, "ucvtf v1.4s, v2.4s"},
		{func() { fcvtns(v(1).s4(), v(2).s4()) }, 0x4e21a841, "fcvtns v1.4s, v2.4s"},
		{func() { uaddlp(v(1).h8(), v(2).b16()) }, 0x6e202841, "uaddlp v1.8h, v2.16b"},
		{func() { uadalp(v(1).h8(), v(2).b16()) }, 0x6e206841, "uadalp v1.8h, v2.16b"},
		{func() { uzp1(v(1).s4(), v(2).s4(), v(3).s4()) }, 0x4e831841, "uzp1 v1.4s, v2.4s, v3.4s"},
		{func() { uzp2(v(1).h8(), v(2).h8(), v(3).h8()) }, 0x4e435841, "uzp2 v1.8h, v2.8h, v3.8h"},
		{func() { trn1(v(1).b16(), v(2).b16(), v(3).b16()) }, 0x4e032841, "trn1 v1.16b, v2.16b, v3.16b"},
		{func() { trn2(v(1).d2(), v(2).d2(), v(3).d2()) }, 0x4ec36841, "trn2 v1.2d, v2.2d, v3.2d"},
		{func() { zip1(v(1).s4(), v(2).s4(), v(3).s4()) }, 0x4e833841, "zip1 v1.4s, v2.4s, v3.4s"},
		{func() { ext(1, 2, 3, 14) }, 0x6e037041, "ext v1.16b, v2.16b, v3.16b, #14"},
		{func() { tbl(1, 2, 1, 3) }, 0x4e030041, "tbl v1.16b, {v2.16b}, v3.16b"},
		{func() { tbx(1, 28, 4, 3) }, 0x4e037381, "tbx v1.16b, {v28.16b, v29.16b, v30.16b, v31.16b}, v3.16b"},
		{func() { dup(v(1).d2(), v(2).d(1)) }, 0x4e180441, "dup v1.2d, v2.d[1]"},
		{func() { dupR(v(1).b16(), 4) }, 0x4e010c81, "dup v1.16b, w4"},
		{func() { dupR(v(1).d2(), 25) }, 0x4e080f21, "dup v1.2d, x25"},
		{func() { umovD(9, v(2).d(1)) }, 0x4e183c49, "mov x9, v2.d[1]"},
		{func() { movi(v(1).b16(), 0x80) }, 0x4f04e401, "movi v1.16b, #0x80"},
		{func() { movi(v(1).b8(), 0x7f) }, 0x0f03e7e1, "movi v1.8b, #0x7f"},
		{func() { ld1(1, v(1).b16(), 2, 16) }, 0x4cdf7041, "ld1 {v1.16b}, [x2], #16"},
		{func() { ld1(2, v(30).s4(), 3, 0) }, 0x4c40a87e, "ld1 {v30.4s, v31.4s}, [x3]"},
		{func() { ld1(3, v(2).h8(), 20, 48) }, 0x4cdf6682, "ld1 {v2.8h, v3.8h, v4.8h}, [x20], #48"},
		{func() { ld1(4, v(27).h8(), 3, 64) }, 0x4cdf247b, "ld1 {v27.8h, v28.8h, v29.8h, v30.8h}, [x3], #64"},
		{func() { st1(3, v(6).b8(), 0, 24) }, 0x0c9f6006, "st1 {v6.8b, v7.8b, v8.8b}, [x0], #24"},
		{func() { ld2(v(1).h8(), 4, 32) }, 0x4cdf8481, "ld2 {v1.8h, v2.8h}, [x4], #32"},
		{func() { ld3(v(1).b16(), 4, 48) }, 0x4cdf4081, "ld3 {v1.16b, v2.16b, v3.16b}, [x4], #48"},
		{func() { ld4(v(1).d2(), 4, 64) }, 0x4cdf0c81, "ld4 {v1.2d, v2.2d, v3.2d, v4.2d}, [x4], #64"},
		{func() { st2(v(1).b16(), 4, 32) }, 0x4c9f8081, "st2 {v1.16b, v2.16b}, [x4], #32"},
		{func() { st3(v(1).b8(), 4, 24) }, 0x0c9f4081, "st3 {v1.8b, v2.8b, v3.8b}, [x4], #24"},
		{func() { st4(v(1).s4(), 4, 64) }, 0x4c9f0881, "st4 {v1.4s, v2.4s, v3.4s, v4.4s}, [x4], #64"},
		{func() { ld1r(v(1).h8(), 4) }, 0x4d40c481, "ld1r {v1.8h}, [x4]"},
		{func() { ldr(2, 1, 2, 8) }, 0xbd400841, "ldr s1, [x2, #8]"},
		{func() { ldr(3, 1, 2, 48) }, 0xfd401841, "ldr d1, [x2, #48]"},
		{func() { ldr(4, 1, 2, 64) }, 0x3dc01041, "ldr q1, [x2, #64]"},
		{func() { str(3, 1, 2, 0) }, 0xfd000041, "str d1, [x2, #0]"},
		{func() { str(4, 31, 2, 16) }, 0x3d80045f, "str q31, [x2, #16]"},
		{func() { ldrPost(4, 1, 2, 12) }, 0x3cc0c441, "ldr q1, [x2], #12"},
		{func() { ldrPost(2, 1, 2, 4) }, 0xbc404441, "ldr s1, [x2], #4"},
		{func() { strPost(3, 1, 2, 6) }, 0xfc006441, "str d1, [x2], #6"},
		{func() { strPost(4, 1, 2, -16) }, 0x3c9f0441, "str q1, [x2], #-16"},
		{func() { ldur(1, 2, -1) }, 0x3cdff041, "ldur q1, [x2, #-1]"},
		{func() { st1Lane(v(1).s(2), 3) }, 0x4d008061, "st1 {v1.s}[2], [x3]"},
		{func() { st1Lane(v(1).d(1), 3) }, 0x4d008461, "st1 {v1.d}[1], [x3]"},
		{func() { ld1Lane(v(1).h(7), 3, 0) }, 0x4d405861, "ld1 {v1.h}[7], [x3]"},
		{func() { ld1Lane(v(1).s(3), 13, 4) }, 0x4ddf91a1, "ld1 {v1.s}[3], [x13], #4"},
	} {
		out.Reset()
		c.emit()
		if got, want := out.String(), fmt.Sprintf("\tWORD $0x%08x // %s\n", c.want, c.text); got != want {
			t.Errorf("got %swant %s", got, want)
		}
	}
}
