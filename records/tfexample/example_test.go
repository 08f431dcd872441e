package tfexample

import (
	"encoding/hex"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/hexdoc"
)

// reference is the output of serialize_tf_example of the tfrecord package
// 1.14.6 of PyPI. The features are bytes "image" (ff d8), an int "label" (3),
// floats "box" (0.5, -1.25) and ints "n" (-1, 300).
const reference = "0a4d0a130a03626f78120c120a0a080000003f0000a0bf0a150a016e12101a0e0a0cffffffffffffffffff01ac020a0f0a05696d61676512060a040a02ffd80a0e0a056c6162656c12051a030a0103"

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	require.NoError(t, err)
	return b
}

func TestReference(t *testing.T) {
	b := unhex(t, reference)
	l, err := Parse(b)
	require.NoError(t, err)
	want := []Feature{
		{Name: "box", Kind: Float, Floats: []float32{0.5, -1.25}},
		{Name: "n", Kind: Int64, Ints: []int64{-1, 300}},
		{Name: "image", Kind: Bytes, Bytes: [][]byte{{0xff, 0xd8}}},
		{Name: "label", Kind: Int64, Ints: []int64{3}},
	}
	require.Equal(t, want, l) // in the order of the message
	again, err := Parse(Append(nil, l))
	require.NoError(t, err)
	require.Equal(t, []Feature{want[0], want[2], want[3], want[1]}, again) // by name
	require.Equal(t, Append(nil, again), Append(nil, l))
	require.Len(t, Append(nil, l), len(b))
}

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		hex  string
		want []Feature
		err  string
	}{
		"nothing":          {"", nil, ""},
		"no features":      {"0a00", nil, ""},
		"unpacked ints":    {"0a0d 0a0b 0a0161 1206 1a04 0801 0802", []Feature{{Name: "a", Kind: Int64, Ints: []int64{1, 2}}}, ""},
		"unpacked floats":  {"0a0e 0a0c 0a0161 1207 1205 0d0000803f", []Feature{{Name: "a", Kind: Float, Floats: []float32{1}}}, ""},
		"both ways":        {"0a11 0a0f 0a0161 120a 1a08 0801 0a020203 0804", []Feature{{Name: "a", Kind: Int64, Ints: []int64{1, 2, 3, 4}}}, ""},
		"empty list":       {"0a09 0a07 0a0161 1202 1a00", []Feature{{Name: "a", Kind: Int64}}, ""},
		"no name":          {"0a06 0a04 1202 0a00", []Feature{{Kind: Bytes}}, ""},
		"no list":          {"0a07 0a05 0a0161 1200", nil, `at byte 4: the feature "a" has no list`},
		"no feature":       {"0a05 0a03 0a0161", nil, `has no list`},
		"two lists":        {"0a0b 0a09 0a0161 1204 1a00 1a00", nil, "two lists"},
		"name twice":       {"0a0c 0a0a 0a0161 0a0161 1202 1a00", nil, "field 1 of an entry twice"},
		"feature twice":    {"0a12 0a07 0a0161 1202 1a00 0a07 0a0161 1202 1a00", nil, `the feature "a" twice`},
		"features twice":   {"0a00 0a00", nil, "features twice"},
		"unknown field":    {"1200", nil, "no field that Example has"},
		"unknown list":     {"0a09 0a07 0a0161 1202 2200", nil, "no field that Feature has"},
		"a number":         {"0801", nil, "no field that Example has"},
		"no UTF-8":         {"0a09 0a07 0a01ff 1202 1a00", nil, "no UTF-8"},
		"cut":              {"0a05 0a", nil, "at byte 0: field 1 of Example is cut off"},
		"cut number":       {"0a0a 0a08 0a0161 1203 1a01 08", nil, "at byte 12: a value of a list is cut off"},
		"cut packed":       {"0a0c 0a0a 0a0161 1205 1a03 0a0180", nil, "a number of a packed list is cut off"},
		"float as int":     {"0a0e 0a0c 0a0161 1207 1a05 0d0000803f", nil, "of another type"},
		"bytes as number":  {"0a0b 0a09 0a0161 1204 0a02 0801", nil, "of another type"},
		"a field of lists": {"0a0b 0a09 0a0161 1204 1a02 1001", nil, "no value of a list"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := Parse(unhex(t, c.hex))
			if c.err != "" {
				require.ErrorIs(t, err, ErrExample)
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, l)
		})
	}
}

// Every truncation is an error. Every changed bit is an error or another
// message, and never a panic; TFRecord's checksums detect both.
func TestDamage(t *testing.T) {
	b := unhex(t, reference)
	for n := 1; n < len(b); n++ {
		_, err := Parse(b[:n])
		require.ErrorIs(t, err, ErrExample, "%d bytes", n)
	}
	for i := range 8 * len(b) {
		c := append([]byte{}, b...)
		c[i/8] ^= 1 << (i % 8)
		check(t, c)
	}
}

// check parses b, which may be invalid. A valid message must be the same after
// it is written and parsed again.
func check(t *testing.T, b []byte) {
	l, err := Parse(b)
	if err != nil {
		require.ErrorIs(t, err, ErrExample)
		return
	}
	w := Append(nil, l) // which sorts l
	again, err := Parse(w)
	require.NoError(t, err)
	require.Equal(t, bits(l), bits(again))
	require.Equal(t, w, Append(nil, again))
}

// TestFormat writes the example of docs/format/records.md and reads it.
func TestFormat(t *testing.T) {
	b := hexdoc.Read(t, filepath.Join("..", ".."), "records")
	l := []Feature{
		{Name: "box", Kind: Float, Floats: []float32{0.5, -1.25}},
		{Name: "image", Kind: Bytes, Bytes: [][]byte{{0xff, 0xd8}}},
		{Name: "n", Kind: Int64, Ints: []int64{-1}},
	}
	require.Equal(t, hex.Dump(Append(nil, l)), hex.Dump(b))
	got, err := Parse(b)
	require.NoError(t, err)
	require.Equal(t, l, got)
}

// bits returns a comparable form of features, in which a NaN equals itself.
func bits(l []Feature) (s []string) {
	for _, f := range l {
		var v []uint32
		for _, x := range f.Floats {
			v = append(v, math.Float32bits(x))
		}
		s = append(s, fmt.Sprintf("%q %d %q %x %d", f.Name, f.Kind, f.Bytes, v, f.Ints))
	}
	return s
}

func FuzzExample(f *testing.F) {
	f.Add(unhex(f, reference))
	f.Add(unhex(f, "0a110a0f0a0161120a1a0808010a0202030804"))
	f.Add([]byte{})
	f.Fuzz(check)
}
