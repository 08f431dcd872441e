package hdf5

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
)

func load(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name + ".h5")
	require.NoError(t, err)
	return b
}

func open(t testing.TB, b []byte, name string) (*Dataset, error) {
	f, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	return f.Dataset(t.Context(), name)
}

// row describes row i as the golden files do.
func row(d *Dataset, i int64) (string, error) {
	b := make([]byte, d.RowSize())
	if err := d.Read(i, b); err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8]), nil
}

func (t *Type) numpy() string {
	kind, order := "u", "<"
	if t.Signed {
		kind = "i"
	}
	if t.Order == binary.BigEndian {
		order = ">"
	}
	if t.Size == 1 {
		order = "|"
	}
	return fmt.Sprint(order, kind, t.Size)
}

// TestAsH5py compares with what h5py reads.
func TestAsH5py(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.Len(t, names, 4)
	for _, name := range names {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		file := load(t, strings.TrimSuffix(filepath.Base(name), ".txt"))
		for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
			want := strings.Fields(line)
			d, err := open(t, file, want[0])
			require.NoError(t, err, "%s: %s", name, want[0])
			// Booleans are an enumeration of int8.
			require.Equal(t, strings.Replace(want[1], "|b1", "|i1", 1), d.Type.numpy(), "%s: %s", name, want[0])
			require.Equal(t, strings.ReplaceAll(want[2], ",", " "), strings.Trim(fmt.Sprint(d.Dims), "[]"), "%s: %s", name, want[0])
			rows := strings.Split(want[3], ",")
			require.EqualValues(t, len(rows), d.Rows())
			for i, r := range rows {
				got, err := row(d, int64(i))
				require.NoError(t, err, "%s: %s: row %d", name, want[0], i)
				require.Equal(t, r, got, "%s: %s: row %d", name, want[0], i)
			}
			all := make([]byte, d.Rows()*d.RowSize())
			require.NoError(t, d.Read(0, all))
			var wg sync.WaitGroup
			for g := range 4 {
				wg.Go(func() {
					b := make([]byte, d.RowSize())
					for k := range len(rows) {
						i := int64((k*7 + g) % len(rows))
						if err := d.Read(i, b); err != nil || !bytes.Equal(b, all[i*d.RowSize():][:d.RowSize()]) {
							t.Errorf("%s: %s: row %d: %v", name, want[0], i, err)
						}
					}
				})
			}
			wg.Wait()
			for _, i := range []int64{-1, d.Rows()} {
				require.ErrorContains(t, d.Read(i, all[:d.RowSize()]), "hdf5: ")
			}
			if d.RowSize() > 1 {
				require.ErrorContains(t, d.Read(0, all[1:]), "want a multiple")
			}
		}
	}
}

func TestInt(t *testing.T) {
	b := []byte{0xfe, 0xff, 3, 4, 5, 6, 7, 8}
	for name, want := range map[string]int64{"|u1": 0xfe, "|i1": -2, "<u2": 0xfffe, "<i2": -2, ">i2": -257, "<u4": 0x0403fffe, "<i4": 0x0403fffe, ">i4": -0x0100fcfc, "<i8": 0x080706050403fffe} {
		typ := Type{Size: int(name[2] - '0'), Signed: name[1] == 'i', Order: binary.LittleEndian}
		if name[0] == '>' {
			typ.Order = binary.BigEndian
		}
		require.Equal(t, name, typ.numpy())
		require.Equal(t, want, typ.Int(b), name)
	}
}

func TestUnsupported(t *testing.T) {
	b := load(t, "unsupported")
	for name, want := range map[string]string{
		"group":     "an object without type, want a dataset",
		"link":      `"link" is a symbolic link`,
		"float":     "numbers of class 1, want integers (0)",
		"scalar":    "0 axes, want 1 to 8",
		"unwritten": "a dataset that was never written",
		"lzf":       "filter 32000, want deflate (1) or shuffle (2)",
		"fletcher":  "filter 3, want deflate (1) or shuffle (2)",
		"holes":     "a chunk at 4 of axis 0, want 2: chunks are missing or in another order",
		"compact":   "a layout of class 0, want contiguous (1) or chunks (2)",
		"none":      `no dataset "none" in the root group, which has ["`,
	} {
		_, err := open(t, b, name)
		require.ErrorAs(t, err, new(*Error), name)
		require.ErrorContains(t, err, want, name)
	}
	for name, want := range map[string]string{"latest": "superblock of version 3, want 0 or 1", "userblock": "a file with a user block is not supported"} {
		_, err := open(t, load(t, name), "x")
		require.ErrorContains(t, err, want, name)
	}
}

// check opens the datasets of a damaged file and reads all of them. Every error
// must be an Error.
func check(t *testing.T, b []byte, names ...string) (refused bool) {
	t.Helper()
	for _, name := range names {
		d, err := open(t, b, name)
		if err == nil {
			for i := int64(0); i < min(d.Rows(), 1000) && err == nil; i++ {
				_, err = row(d, i)
			}
		}
		if err != nil {
			require.ErrorAs(t, err, new(*Error))
			refused = true
		}
	}
	return refused
}

// TestDamage damages files and truncates them.
func TestDamage(t *testing.T) {
	for name, sets := range map[string][]string{
		"contiguous": {"u1", "i2", "bool"}, "chunks": {"rows", "packed", "divided", "all", "shuffled"}, "levels": {"x"}, "members": {"name29"},
	} {
		b := load(t, name)
		r := rand.New(rand.NewPCG(7, uint64(len(b))))
		refused, rounds := 0, short.Rounds(t, 2000, 100)
		for k := range rounds {
			m := bytes.Clone(b)
			switch i := r.IntN(len(m)); k % 4 {
			case 0:
				m = m[:i]
			case 1:
				m[i] ^= 1 << r.IntN(8)
			case 2:
				m[i] = byte(r.IntN(256))
			case 3: // eight bytes over others: addresses point elsewhere
				copy(m[i/8*8:], b[r.IntN(len(m)/8)*8:][:8])
			}
			if check(t, m, sets...) {
				refused++
			}
		}
		t.Logf("%s: %d of %d changes were refused", name, refused, rounds)
		require.Greater(t, refused, rounds/5)
	}
}

// TestCircle reads a B-tree whose root refers to one node many times.
func TestCircle(t *testing.T) {
	b := load(t, "levels")
	// The root is the only node of level 1 for chunks: TREE, 1, 1.
	root := bytes.Index(b, []byte("TREE\x01\x01"))
	require.Positive(t, root)
	const key = 8 + 8*3
	n := int(u16(b[root+6:]))
	require.Greater(t, n, 1)
	for i := range n {
		copy(b[root+24+i*(key+8):], b[root+24:][:key+8])
	}
	_, err := open(t, b, "x")
	require.ErrorContains(t, err, "a chunk at 0 of axis 0, want")
	binary.LittleEndian.PutUint16(b[root+6:], 600)
	_, err = open(t, b, "x")
	require.ErrorContains(t, err, fmt.Sprintf("offset %d: a B-tree of more than the %d bytes of the file", root, len(b)))
}

// failing is a reader whose reads fail from an offset on.
type failing struct {
	io.ReaderAt
	from int64
}

var errDisk = errors.New("disk on fire")

func (f failing) ReadAt(b []byte, at int64) (int, error) {
	if at+int64(len(b)) > f.from {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(b, at)
}

// TestReadErrors: errors of the reader are no errors of the format.
func TestReadErrors(t *testing.T) {
	b := load(t, "levels")
	for _, from := range []int64{50, 1000, 3000, 10000} {
		f, err := Open(failing{bytes.NewReader(b), from}, int64(len(b)))
		if err == nil {
			var d *Dataset
			if d, err = f.Dataset(t.Context(), "x"); err == nil {
				err = d.Read(0, make([]byte, d.Rows()*d.RowSize()))
			}
		}
		require.ErrorIs(t, err, errDisk)
		require.NotErrorIs(t, err, ErrInvalid)
	}
}

func TestCancel(t *testing.T) {
	b := load(t, "levels")
	f, err := Open(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = f.Dataset(ctx, "x")
	require.ErrorIs(t, err, context.Canceled)
}

// TestAllocs: rows of contiguous datasets and of kept chunks allocate nothing.
// To unpack a chunk, package zlib allocates.
func TestAllocs(t *testing.T) {
	for _, c := range []struct {
		file, name string
		most       float64
	}{{"contiguous", "u1", 0}, {"chunks", "packed", 0}, {"chunks", "plain", 0}, {"levels", "x", 1}} {
		d, err := open(t, load(t, c.file), c.name)
		require.NoError(t, err)
		b := make([]byte, d.RowSize())
		read := func(i int64) {
			if err := d.Read(i, b); err != nil {
				t.Error(err)
			}
		}
		for i := range d.Rows() {
			read(i)
		}
		i := int64(0)
		require.LessOrEqual(t, testing.AllocsPerRun(500, func() {
			read(i)
			i = (i + 7) % d.Rows()
		}), c.most, c.name)
	}
}

func FuzzOpen(f *testing.F) {
	for _, name := range []string{"contiguous", "chunks", "levels", "members", "unsupported", "latest"} {
		f.Add(load(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) { check(t, b, "x", "u1", "packed", "divided", "shuffled", "holes") })
}
