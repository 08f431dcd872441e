package jsonstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/stretchr/testify/require"
)

// value reads a value into the types that encoding/json uses for any.
func value(s *Scanner) (any, error) {
	c, err := s.Kind()
	if err != nil {
		return nil, err
	}
	switch c {
	case '{':
		m := map[string]any{}
		return m, s.Object(func(key []byte) error {
			k := string(key)
			v, err := value(s)
			m[k] = v
			return err
		})
	case '[':
		l := []any{}
		err := s.Array(func() error {
			v, err := value(s)
			l = append(l, v)
			return err
		})
		return l, err
	case '"':
		return s.String()
	case 't', 'f':
		return s.Bool()
	case 'n':
		return nil, s.Skip()
	}
	return s.Float64()
}

var texts = []string{
	`{}`, ` [ ] `, `[1,-0.5e+3,0,true,false,null,"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é"]`, `{"a":{"b":[{}]},"":1}`, "\t1\r\n", `"x"`, `-1`, `null`, `123456789012345678901`,
	``, ` `, `[`, `[1`, `[1,`, `[1,]`, `[,1]`, `[1 2]`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{a:1}`, `{"a" 1}`, `01`, `1.`, `.5`, `-`, `+1`, `1e`, `1e+`, `0x1`,
	`nul`, `nulL`, `tru`, `"`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`, "\"a\nb\"", `1 2`, `{} x`, `]`, `}`, `1e999`, `--1`, `1-1`, "\"\x00\"", `NaN`,
}

func check(t *testing.T, text []byte) {
	t.Helper()
	var want any
	wantErr := json.Unmarshal(text, &want)
	for _, r := range []io.Reader{bytes.NewReader(text), iotest.OneByteReader(bytes.NewReader(text))} {
		s := New(r)
		got, err := value(s)
		if err == nil {
			err = s.End()
		}
		if err == nil {
			require.NoError(t, wantErr, "%q", text)
			require.Equal(t, want, got, "%q", text)
		} else {
			require.ErrorIs(t, err, dataset.ErrData)
		}
		// Unlike encoding/json, the Scanner refuses lone surrogates, invalid
		// UTF-8 and texts beyond its limits.
		if wantErr == nil && err != nil {
			msg := err.Error()
			require.True(t, strings.Contains(msg, "surrogate") || strings.Contains(msg, "UTF-8") || strings.Contains(msg, "deeper") ||
				strings.Contains(msg, "more than"), "%q: %v", text, err)
		}
		s.Reset(bytes.NewReader(text))
		skip := s.Skip()
		if skip == nil {
			skip = s.End()
		}
		if skip != nil {
			require.ErrorIs(t, skip, dataset.ErrData)
		}
		require.True(t, (skip == nil) == (err == nil) || err != nil && strings.Contains(err.Error(), "overflows float64"), "%q: %v, skipped %v", text, err, skip)
	}
}

func TestAsEncodingJSON(t *testing.T) {
	for _, x := range texts {
		check(t, []byte(x))
	}
}

func TestNumbers(t *testing.T) {
	read := func(x string) *Scanner { return New(strings.NewReader(x)) }
	for x, want := range map[string]int64{"0": 0, "-9223372036854775808": -1 << 63, "3.0": 3, "1e3": 1000} {
		got, err := read(x).Int()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, x := range []string{"9223372036854775808", "0.5", "1e300", "1e999", `"1"`, "true"} {
		_, err := read(x).Int()
		require.ErrorIs(t, err, dataset.ErrData, x)
	}
	// 2^24+1 rounds to even. 2^62+2^38+1 is rounded once, up; with a decimal
	// point it is rounded twice, down.
	for x, want := range map[string]float32{"16777217": 16777216, "4611686293305294849": 4611686568183201792, "4611686293305294849.0": 4611686018427387904, "0.1": 0.1, "-0": 0} {
		got, err := read(x).Float32()
		require.NoError(t, err)
		require.Equal(t, want, got, x)
	}
	_, err := read("1e39").Float32()
	require.ErrorIs(t, err, dataset.ErrData)
	for x, want := range map[string]bool{"true": true, "false": false, "0": false, "1": true} {
		got, err := read(x).Bool()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestLimits(t *testing.T) {
	deep := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	require.NoError(t, New(strings.NewReader(deep)).Skip())
	require.ErrorContains(t, New(strings.NewReader("["+deep+"]")).Skip(), "offset 100: nested deeper than 100")
	endless := io.MultiReader(strings.NewReader(`"`), zeros{})
	_, err := New(endless).Bytes()
	require.ErrorContains(t, err, "a string of more than")
	_, err = New(zeros{}).Float64()
	require.ErrorContains(t, err, "a number of more than")
	// A skipped string has no length limit, and its runes may span two reads.
	for n := range 8 {
		long := `"` + strings.Repeat("x", n) + strings.Repeat("日本", 1<<20) + `"`
		s := New(strings.NewReader(long))
		require.NoError(t, s.Skip())
		require.Less(t, cap(s.text), 1<<18)
		require.ErrorContains(t, New(strings.NewReader(long[:len(long)-2]+`"`)).Skip(), "UTF-8")
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '0'
	}
	return len(b), nil
}

func TestReaderErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, x := range []string{"", "[1", `"a`, "1", "tr", `{"a"`} {
		err := New(io.MultiReader(strings.NewReader(x), iotest.ErrReader(broken))).Skip()
		require.ErrorIs(t, err, broken, x)
	}
	s := New(io.MultiReader(strings.NewReader("[] "), iotest.ErrReader(broken)))
	require.NoError(t, s.Skip())
	require.ErrorIs(t, s.End(), broken)
}

func FuzzScanner(f *testing.F) {
	for _, x := range texts {
		f.Add([]byte(x))
	}
	f.Fuzz(func(t *testing.T, b []byte) { check(t, b) })
}
