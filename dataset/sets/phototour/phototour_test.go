package phototour

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
	"github.com/infer-prep/infer-prep/store"
)

const (
	set     = "phototour/liberty"
	bitmap0 = "patches0000.bmp"
)

func train(dir string) dataset.Source { return New(dir) }

func test(dir string) dataset.Source { return &PhotoTour{dir, "test"} }

func TestAsReferences(t *testing.T) {
	settest.Check(t, "phototour", func(dir string) dataset.Source { return test(dir + "/liberty") }, "torchvision", "mindspore")
}

func TestValidate(t *testing.T) {
	require.ErrorIs(t, (&PhotoTour{"x", "all"}).Validate(), dataset.ErrParam)
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, set, info, train)
	settest.Mutate(t, set, pairs, test)
	settest.Mutate(t, set, bitmap0, train)
}

// TestDown reads a picture whose rows are from top to bottom.
func TestDown(t *testing.T) {
	b, err := os.ReadFile(settest.Dir + set + "/" + bitmap0)
	require.NoError(t, err)
	read := func(b []byte) []byte {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(dir+"/a.bmp", b, 0o600))
		require.NoError(t, os.WriteFile(dir+"/"+info, []byte("3 1\n4 1\n"), 0o600))
		d, err := New(dir).Open(t.Context(), store.Local)
		require.NoError(t, err)
		defer d.Close()
		s := dataset.NewSample(d.Columns())
		require.NoError(t, d.(dataset.Rows).Read(t.Context(), 1, s))
		return s.Column("image").Data
	}
	want := read(b)
	at := int(binary.LittleEndian.Uint32(b[10:]))
	down := append([]byte{}, b[:at]...)
	for r := range side {
		down = append(down, b[at+(side-1-r)*2*side:][:2*side]...)
	}
	binary.LittleEndian.PutUint32(down[22:], uint32(0x100000000-side))
	require.Equal(t, want, read(down))
}

func TestBadFiles(t *testing.T) {
	b, err := os.ReadFile(settest.Dir + set + "/" + bitmap0)
	require.NoError(t, err)
	change := func(at int, v byte) string {
		c := append([]byte{}, b...)
		c[at] = v
		return string(c)
	}
	for _, c := range []struct {
		source              func(string) dataset.Source
		file, content, want string
	}{
		{train, bitmap0, "BM", "patches0000.bmp: 2 bytes, want a header of 54"},
		{train, bitmap0, change(0, 'X'), "starts with \"XM\""},
		{train, bitmap0, change(28, 24), "24 bits a pixel and compression 0, want 8 and 0"},
		{train, bitmap0, change(18, 100), "size 100 x 64, want multiples of 64"},
		{train, bitmap0, string(b[:len(b)-1]), "bytes of pixels, want 8192"},
		{train, info, "0 0\nx 1\n", "info.txt:2: point \"x\", want 0 to"},
		{train, info, "0\n0\n0\n0\n0\n", "info.txt:5: a line for patch 4, want at most 4"},
		{train, info, "", "has no patches of this usage"},
		{test, info, "", "has no patches of this usage"},
		{test, pairs, "0 0 0 1\n", "m50_100000_100000_0.txt:1: 4 fields, want patch"},
		{test, pairs, "0 0 0 4 0\n", "m50_100000_100000_0.txt:1: patch \"4\", want 0 to 3"},
	} {
		settest.Refuses(t, set, c.file, c.content, c.want, c.source)
	}
}

func FuzzInfo(f *testing.F) { settest.Fuzz(f, set, info, train) }

func FuzzPairs(f *testing.F) { settest.Fuzz(f, set, pairs, test) }

func FuzzBitmap(f *testing.F) { settest.Fuzz(f, set, bitmap0, train) }
