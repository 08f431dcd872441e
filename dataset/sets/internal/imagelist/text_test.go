package imagelist

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
)

func TestLines(t *testing.T) {
	read := func(r io.Reader) (lines []string, err error) {
		err = Lines(r, "dir/list.txt", func(line string) error {
			if line == "bad" {
				return errors.New("a bad line")
			}
			lines = append(lines, line)
			return nil
		})
		return lines, err
	}
	lines, err := read(strings.NewReader("\n a b \r\n\n\tc\nlast"))
	require.NoError(t, err)
	require.Equal(t, []string{"a b", "c", "last"}, lines)

	_, err = read(strings.NewReader("a\n\nbad\n"))
	require.ErrorIs(t, err, dataset.ErrData)
	require.EqualError(t, err, "invalid data: dir/list.txt:3: a bad line")

	_, err = read(strings.NewReader("a\n" + strings.Repeat("x", maxLine+1)))
	require.ErrorIs(t, err, dataset.ErrData)
	require.EqualError(t, err, "invalid data: dir/list.txt:2: a line of more than 65536 bytes")

	// An error of the store is none of the data.
	broken := errors.New("broken")
	_, err = read(io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
	require.NotErrorIs(t, err, dataset.ErrData)
}

func TestInt(t *testing.T) {
	n, err := Int("41", "class", 42)
	require.NoError(t, err)
	require.EqualValues(t, 41, n)
	for _, s := range []string{"42", "-1", "", "1.0", "0x1", "99999999999999999999"} {
		_, err := Int(s, "class", 42)
		require.ErrorContains(t, err, "want 0 to 41", s)
	}
	_, err = Int("0", "class", 0)
	require.EqualError(t, err, `class "0", want none`)
}
