package lzw

import (
	"bytes"
	"compress/lzw"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// plain decodes with strings, code by code.
func plain(n int, in []byte, v Variant) ([]byte, error) {
	var out []byte
	clearCode := 1 << v.Bits
	var table [][]byte
	width, at := v.Bits+1, 0
	var last []byte
	cleared := !v.Clear
	reset := func() {
		table = nil
		for i := range clearCode + 2 {
			table = append(table, []byte{byte(i)})
		}
		width, last = v.Bits+1, nil
	}
	reset()
	for len(out) < n {
		code := 0
		for i := range width {
			if at == 8*len(in) {
				return out, ErrEnd
			}
			b := int(in[at/8])
			if v.HighFirst {
				code = code<<1 | b>>(7-at%8)&1
			} else {
				code |= b >> (at % 8) & 1 << i
			}
			at++
		}
		if code == clearCode {
			reset()
			cleared = true
			continue
		}
		if code == clearCode+1 {
			return out, ErrEnd
		}
		if !cleared || last == nil && code > clearCode || last != nil && (code > len(table) || len(table) == v.Codes && v.Full) {
			return out, ErrCode
		}
		var next []byte
		if last != nil {
			first := last[0]
			if code < len(table) {
				first = table[code][0]
			}
			next = append(bytes.Clone(last), first)
		}
		if code < len(table) {
			last = table[code]
		} else {
			last = next
		}
		if next != nil && len(table) < v.Codes {
			table = append(table, next)
			limit := 1 << width
			if v.Early {
				limit--
			}
			if len(table) == limit && width < 12 {
				width++
			}
		}
		out = append(out, last...)
	}
	return out[:n], nil
}

var variants = map[string]Variant{
	"gif":      {Bits: 8, Codes: 4096},
	"gif 2":    {Bits: 2, Codes: 4096},
	"gif 0":    {Bits: 0, Codes: 4096},
	"gif 1":    {Bits: 1, Codes: 4096},
	"gif 11":   {Bits: 11, Codes: 4096},
	"gif 12":   {Bits: 12, Codes: 4096},
	"tiff":     {Bits: 8, HighFirst: true, Early: true, Clear: true, Codes: MaxCodes, Full: true},
	"old tiff": {Bits: 8, Clear: true, Codes: MaxCodes, Full: true},
}

func same(t *testing.T, d *Decoder, n int, in []byte, v Variant) error {
	want, wantErr := plain(n, in, v)
	out := make([]byte, n+3)
	got, err := d.Decode(out[:n], in, v)
	require.Equal(t, wantErr, err)
	require.Equal(t, len(want), got)
	if !bytes.Equal(want, out[:got]) {
		t.Fatalf("%v: %d bytes differ", v, n)
	}
	require.Equal(t, []byte{0, 0, 0}, out[n:])
	return err
}

// TestRandom decodes random codes, most of which are valid, with assembly and
// without.
func TestRandom(t *testing.T) {
	t.Run("fast", testRandom)
	t.Run("plain", func(t *testing.T) {
		defer cpu.DisableAll()()
		testRandom(t)
	})
}

func testRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var d Decoder
	whole := 0
	for name, v := range variants {
		for round := range 80 {
			var in []byte
			bits := uint(0)
			put := func(code, width int) {
				for i := range width {
					if bits%8 == 0 {
						in = append(in, 0)
					}
					b := code >> i & 1
					if v.HighFirst {
						b = code >> (width - 1 - i) & 1
						in[bits/8] |= byte(b << (7 - bits%8))
					} else {
						in[bits/8] |= byte(b << (bits % 8))
					}
					bits++
				}
			}
			clearCode := 1 << v.Bits
			width, free, some := v.Bits+1, clearCode+2, false
			if v.Clear {
				put(clearCode, width)
			}
			for range rnd.IntN(6000) {
				code := rnd.IntN(clearCode)
				switch k := rnd.IntN(1000); {
				case k == 0:
					code = clearCode
				case k == 1 && round%4 == 0:
					code = rnd.IntN(1 << width)
				case k < 400 && some:
					code = clearCode + 2 + rnd.IntN(free-clearCode-1)
				case k < 600 && some:
					code = free
				}
				if code >= 1<<width {
					code = 0
				}
				put(code, width)
				if code == clearCode {
					width, free, some = v.Bits+1, clearCode+2, false
					continue
				}
				if some && free < v.Codes {
					free++
					limit := 1 << width
					if v.Early {
						limit--
					}
					if free == limit && width < 12 {
						width++
					}
				}
				some = true
			}
			if same(t, &d, rnd.IntN(40_000), in, v) == nil {
				whole++
			}
		}
		t.Log(name, whole)
	}
	require.Greater(t, whole, 30)
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{0x80, 0x0b, 0x60, 0x50, 0x22, 0x0c}, uint16(20), true)
	f.Add([]byte{4, 1, 2, 3, 4, 5, 6}, uint16(200), false)
	f.Fuzz(func(t *testing.T, in []byte, n uint16, tiff bool) {
		var d Decoder
		v := variants["gif"]
		if tiff {
			v = variants["tiff"]
		}
		_ = same(t, &d, int(n), in, v)
	})
}

func BenchmarkDecode(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 300_000)
	for i := range data {
		data[i] = byte(rnd.NormFloat64() * 3)
	}
	var packed bytes.Buffer
	w := lzw.NewWriter(&packed, lzw.LSB, 8)
	_, _ = w.Write(data)
	_ = w.Close()
	var d Decoder
	out := make([]byte, len(data))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := d.Decode(out, packed.Bytes(), variants["gif"]); err != nil {
			b.Fatal(err)
		}
	}
	require.Equal(b, data, out)
}
