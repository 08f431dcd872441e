package errfmt

import (
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

type name uint8

func (n name) String() string { return "name" + string('0'+rune(n)) }

type code int

func (c code) Error() string { return "code" }

// TestEqualsFmt compares every verb and kind of argument with package fmt.
func TestEqualsFmt(t *testing.T) {
	integers := []any{
		0, 1, -1, 255, math.MaxInt, math.MinInt, int8(-128), int16(-3), int32(0x1f600), int64(math.MinInt64),
		uint(7), uint8('"'), uint16(65535), uint32(math.MaxUint32), uint64(math.MaxUint64), uintptr(9),
	}
	floats := []any{
		0.0, 1.5, -2.0, 1e6, 1e20, 1e21, 1e22, 123456789.0, 0.1, 1e-5, 1e-4, math.Inf(1), math.Inf(-1), math.NaN(),
		math.MaxFloat64, math.Copysign(0, -1), float32(0.1), float32(1e30), float32(16777216),
	}
	texts := []any{"", "a", "a \"b\"\n\x00\xff é😀", []byte("a\xff\""), []byte{}, []byte(nil), name(3), code(1), errors.New("no"), io.EOF}
	lists := []any{[]string{"a", "b c"}, []string{}, []string(nil), []int{1, -2}, []int{}, []int64{math.MinInt64}, []float64{1, 0.5, 1e30, math.NaN()}}
	for verbs, args := range map[string][]any{
		"%d %v %5d %05d %[1]d %02d %4v": integers,
		"%x %02x %04x %#x %q":           integers,
		"%v %f %.0f %.1f %8.3f":         floats,
		"%s %v %q %10s %3q":             texts,
		"%v":                            append(append([]any{true, false, nil}, lists...), []byte{1, 2}),
		"%q":                            {[]string{"a", "b\""}, []string{}},
		"%d":                            {[]int{1, -2}, []int64{5}, []byte{1, 2}},
		"%s":                            {[]string{"a", "b"}, nil},
		"%%d %v%% %[1]v and %[1]v":      {"x"},
		"%w and %[1]v":                  {io.EOF, code(2)},
		"text %d":                       {nil},
		"%x":                            {"\x00ab\xff", []byte{1, 0xab}},
		"é%dü":                          {5},
		"%.2f %.0f %.10f":               {1.005, 2.5, float32(0.1)},
	} {
		for _, a := range args {
			directives := 0
			for i := range len(verbs) {
				if verbs[i] == '%' {
					directives++
				}
			}
			list := make([]any, directives)
			for i := range list {
				list[i] = a
			}
			// An index makes fmt accept unused arguments.
			format := verbs + "%[1]v"
			require.Equal(t, fmt.Errorf(format, list...).Error(), Errorf(format, list...).Error(), "%q of %T %[2]v", verbs, a)
		}
	}
	require.Equal(t, fmt.Sprintf("%d and %[1]d, %[3]s, %[2]v", 1, 2, "3"), Sprintf("%d and %[1]d, %[3]s, %[2]v", 1, 2, "3"))
	for _, format := range []string{"", "no directive", "100%%", "%", "%5", "%d"} {
		require.Equal(t, fmt.Sprintf(format, []any{}...), Sprintf(format, []any{}...), format)
	}
	require.Equal(t, "a5", string(Appendf([]byte("a"), "%d", 5)))
	require.Equal(t, []string{"name1", "name2"}, Strings([]name{1, 2}))
}

// TestWrap compares what errors unwrap to with package fmt.
func TestWrap(t *testing.T) {
	for _, e := range []error{Errorf("%w: %s", io.EOF, "x"), fmt.Errorf("%w: %s", io.EOF, "x")} {
		require.ErrorIs(t, e, io.EOF)
		require.Equal(t, io.EOF, errors.Unwrap(e))
		require.Equal(t, "EOF: x", e.Error())
	}
	for _, e := range []error{Errorf("%w, %w", io.EOF, code(1)), fmt.Errorf("%w, %w", io.EOF, code(1))} {
		require.ErrorIs(t, e, io.EOF)
		var c code
		require.ErrorAs(t, e, &c)
		require.NoError(t, errors.Unwrap(e))
		require.Equal(t, []error{io.EOF, code(1)}, e.(interface{ Unwrap() []error }).Unwrap())
	}
	require.NoError(t, errors.Unwrap(Errorf("%v", io.EOF)))
}

// TestUnsupported shows what the package does not print.
func TestUnsupported(t *testing.T) {
	for want, got := range map[string]string{
		"%!v(unsupported)": Sprintf("%v", any(struct{}{})),
		"%!d(MISSING)":     Sprintf("%[2]d", []any{1}...),
		"%!w(unsupported)": Errorf("%w", []any{5}...).Error(),
	} {
		require.Equal(t, want, got)
	}
}
