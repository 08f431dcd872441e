package bom

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestBOM(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "a", "ab": "ab", "abc": "abc", "abcd\n": "abcd\n",
		UTF8: "", UTF8 + "a": "a", UTF8 + UTF8: UTF8, "a" + UTF8: "a" + UTF8,
		"\xef": "\xef", "\xef\xbb": "\xef\xbb", "\xef\xbbx": "\xef\xbbx", "\xefxyz": "\xefxyz", "\xff": "\xff", "\xfex": "\xfex",
	} {
		got, err := Cut([]byte(text))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
		for _, r := range []io.Reader{
			strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text)),
		} {
			got, err := io.ReadAll(NewReader(r))
			require.NoError(t, err, "%q", text)
			require.Equal(t, want, string(got))
		}
		broken := errors.New("broken")
		got, err = io.ReadAll(NewReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken))))
		require.ErrorIs(t, err, broken)
		require.Equal(t, want, string(got))
	}
	for _, text := range []string{"\xff\xfea\x00", "\xfe\xff\x00a", "\xff\xfe"} {
		_, err := Cut([]byte(text))
		require.ErrorIs(t, err, ErrUTF16)
		_, err = io.ReadAll(NewReader(strings.NewReader(text)))
		require.ErrorIs(t, err, ErrUTF16)
	}
	// A reader of lines needs no byte after the first line.
	in, out := io.Pipe()
	go out.Write([]byte("a\n"))
	b := make([]byte, 2)
	_, err := io.ReadFull(NewReader(in), b)
	require.NoError(t, err)
	require.Equal(t, "a\n", string(b))
}
