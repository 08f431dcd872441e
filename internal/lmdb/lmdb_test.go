package lmdb

import (
	"bytes"
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
	b, err := os.ReadFile("testdata/" + name + ".mdb")
	require.NoError(t, err)
	return b
}

func open(t testing.TB, b []byte) (*DB, error) {
	return Open(t.Context(), bytes.NewReader(b), int64(len(b)))
}

// line describes an entry as the golden files do.
func line(d *DB, i int64) (string, error) {
	e, err := d.Entry(i, nil)
	if err != nil {
		return "", err
	}
	b := make([]byte, e.Need())
	if err := d.Value(&e, b); err != nil {
		return "", err
	}
	sum := sha256.Sum256(append(e.Key, b[:e.Size]...))
	return fmt.Sprintf("%d %d %s", len(e.Key), e.Size, hex.EncodeToString(sum[:8])), nil
}

// TestAsLMDB compares with what the package lmdb of Python reads.
func TestAsLMDB(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.Len(t, names, 7)
	for _, name := range names {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		want := strings.Split(string(b), "\n")
		want = want[:len(want)-1]
		d, err := open(t, load(t, strings.TrimSuffix(filepath.Base(name), ".txt")))
		require.NoError(t, err, name)
		require.EqualValues(t, len(want), d.Len(), name)
		for i, w := range want {
			got, err := line(d, int64(i))
			require.NoError(t, err, "%s: entry %d", name, i)
			require.Equal(t, w, got, "%s: entry %d", name, i)
		}
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for k := range want {
					i := (k*7 + g) % len(want)
					got, err := line(d, int64(i))
					if err != nil || got != want[i] {
						t.Errorf("%s: entry %d is %s (%v), want %s", name, i, got, err, want[i])
					}
				}
			})
		}
		wg.Wait()
		for _, i := range []int64{-1, d.Len()} {
			_, err := d.Entry(i, nil)
			require.ErrorContains(t, err, fmt.Sprintf("lmdb: entry %d, want 0 to %d", i, d.Len()-1))
		}
	}
}

func TestDepth(t *testing.T) {
	d, err := open(t, load(t, "deep"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, d.depth, 3)
	require.Greater(t, len(d.leaves), 10)
}

func TestAllocs(t *testing.T) {
	d, err := open(t, load(t, "changed"))
	require.NoError(t, err)
	key, b := make([]byte, 600), make([]byte, 1<<16)
	i := int64(0)
	require.Zero(t, testing.AllocsPerRun(500, func() {
		e, err := d.Entry(i, key[:0])
		if err == nil {
			err = d.Value(&e, b[:e.Need()])
		}
		if err != nil {
			t.Error(err)
		}
		i = (i + 37) % d.Len()
	}))
}

// set returns a copy of b with a number at an offset.
func set[T uint16 | uint32 | uint64](b []byte, at int, v T) []byte {
	b = bytes.Clone(b)
	n, err := binary.Encode(b[at:], binary.LittleEndian, v)
	if err != nil || n == 0 {
		panic(err)
	}
	return b
}

// TestErrors reads files with one wrong number. Meta page 1 is the younger one
// of small.mdb; page 0 must be intact, too.
func TestErrors(t *testing.T) {
	const page = 4096
	small, deep := load(t, "small"), load(t, "deep")
	d, err := open(t, small)
	require.NoError(t, err)
	root := int(d.root) * page
	e, err := d.Entry(1, nil) // the key a, whose value is in the leaf
	require.NoError(t, err)
	require.EqualValues(t, 2000, e.Size)
	large, err := open(t, load(t, "overflow"))
	require.NoError(t, err)
	over, err := large.Entry(7, nil)
	require.NoError(t, err)
	require.EqualValues(t, pageHead, over.head)
	deepDB, err := open(t, deep)
	require.NoError(t, err)
	branch := int(deepDB.root) * page
	firstNode := branch + int(binary.LittleEndian.Uint16(deep[branch+pageHead:]))
	meta := page + pageHead
	bigEndian := bytes.Clone(small)
	binary.BigEndian.PutUint32(bigEndian[pageHead:], magic)
	for _, c := range []struct {
		b    []byte
		kind error
		want string
	}{
		{nil, ErrInvalid, "page 0 (offset 0): the file ends after 0 bytes, want 152"},
		{small[:page+100], ErrInvalid, "page 1 (offset 4096): the file ends after 100 bytes, want 152"},
		{make([]byte, 9000), ErrInvalid, "page 0 (offset 16): 0x0, want LMDB's magic number 0xbeefc0de"},
		{bigEndian, ErrUnsupported, "page 0 (offset 16): written by a big-endian machine"},
		{set[uint32](set[uint32](small, 12, magic), 16, 1), ErrUnsupported, "page 0 (offset 12): written by a 32-bit machine"},
		{set[uint32](small, meta+4, 2), ErrUnsupported, "page 1 (offset 4116): data version 2, want 1 (LMDB 0.9)"},
		{set[uint16](small, page+10, 0), ErrInvalid, "page 1 (offset 4106): flags 0x0, want a meta page"},
		{set[uint32](small, pageHead+24, 3000), ErrInvalid, "page 0 (offset 40): pages of 3000 bytes, want a power of two from 256 to 65536"},
		{set[uint32](small, meta+24, 8192), ErrInvalid, "page 1 (offset 4136): pages of 8192 bytes, want 4096 as in meta page 0"},
		{set[uint16](small, meta+76, 4), ErrUnsupported, "page 1 (offset 4188): database flags 0x4"},
		{set[uint16](small, meta+78, 0), ErrInvalid, "page 1 (offset 4190): a tree of depth 0, want 1 to 32"},
		{set[uint16](small, meta+78, 33), ErrInvalid, "a tree of depth 33"},
		{set[uint16](small, meta+78, 2), ErrInvalid, "flags 0x2, want 0x1 as the depth of the tree requires"},
		{set[uint64](small, meta+104, 4), ErrInvalid, "page 0 (offset 16): 5 entries in the tree, want 4 as its meta page says"},
		{set[uint64](small, meta+104, 1<<63), ErrInvalid, "9223372036854775808 entries"},
		{set[uint64](small, meta+112, 1), ErrInvalid, "page 1 (offset 4224): page number 1, want 2 to"},
		{set[uint64](small, meta+112, 1<<40), ErrInvalid, "page number 1099511627776, want 2 to"},
		{small[:root+100], ErrInvalid, "page number 2, want 2 to 1"},
		{set[uint64](small, root, 9), ErrInvalid, "the page says that it is number 9"},
		{set[uint16](small, root+12, 15), ErrInvalid, "free space from 15 to"},
		{set[uint16](small, root+14, 5000), ErrInvalid, "to 5000, want a part of 18 to 4096"},
		{set[uint16](small, root+pageHead, 4095), ErrInvalid, "node 0 at offset 4095, want"},
		{set[uint16](small, root+pageHead, 20), ErrInvalid, "node 0 at offset 20, want"},
		{set[uint16](small, root+pageHead+2, binary.LittleEndian.Uint16(small[root+pageHead:])), ErrInvalid, `key "\x00", want one after "\x00"`},
		{set[uint16](small, root+int(e.at)-1-nodeHead+2, 1), ErrInvalid, "a value of 67536 bytes, want at most the"},
		{set[uint16](small, root+int(e.at)-1-nodeHead+6, 5000), ErrInvalid, "a key of 5000 bytes, want at most the"},
		{set[uint16](small, root+int(e.at)-1-nodeHead+4, nodeOverflow), ErrInvalid, "page number 8680820740569200760, want 2 to"},
		{load(t, "named"), ErrUnsupported, `a named database "name"`},
		{set[uint16](small, root+int(e.at)-1-nodeHead+4, nodeDups), ErrUnsupported, `duplicates of the key "a"`},
		{set[uint64](deep, firstNode, uint64(deepDB.root)), ErrInvalid, "flags 0x1, want 0x2 as the depth of the tree requires"},
	} {
		_, err := open(t, c.b)
		require.ErrorIs(t, err, c.kind, "%s", c.want)
		require.ErrorContains(t, err, c.want)
		require.ErrorAs(t, err, new(*Error))
	}
	// Damage of overflow pages shows when a value is read.
	at := int(over.page) * page
	for _, c := range []struct {
		b    []byte
		want string
	}{
		{set[uint64](load(t, "overflow"), at, 3), "the page says that it is number 3"},
		{set[uint16](load(t, "overflow"), at+10, pageLeaf), "flags 0x2, want an overflow page"},
		{set[uint32](load(t, "overflow"), at+12, 4), "4 overflow pages, want enough for 20016 bytes"},
		{set[uint32](load(t, "overflow"), at+12, 1<<20), "1048576 overflow pages"},
	} {
		d, err := open(t, c.b)
		require.NoError(t, err)
		_, err = line(d, 7)
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, c.want)
	}
}

// TestCircle reads a tree whose root has the same subtree in all places.
func TestCircle(t *testing.T) {
	b := load(t, "deep")
	d, err := open(t, b)
	require.NoError(t, err)
	root := b[d.root*d.pageSize:]
	first := b[int(d.root)*4096+int(binary.LittleEndian.Uint16(root[pageHead:])):][:6]
	for i := range int(binary.LittleEndian.Uint16(root[12:])-pageHead) / 2 {
		copy(root[binary.LittleEndian.Uint16(root[pageHead+2*i:]):], first)
	}
	_, err = open(t, b)
	require.ErrorIs(t, err, ErrInvalid)
	require.ErrorContains(t, err, "the tree has more pages than the file, which has 26")
}

// check opens a damaged file and reads all of it. Every error must be an Error.
func check(t *testing.T, b []byte) (ok bool) {
	t.Helper()
	d, err := open(t, b)
	if err == nil {
		for i := int64(0); i < d.Len() && err == nil; i++ {
			_, err = line(d, i)
		}
	}
	if err != nil {
		require.ErrorAs(t, err, new(*Error))
	}
	return err == nil
}

// TestDamage damages files: each byte of the headers and nodes, and random
// ones, and truncates them.
func TestDamage(t *testing.T) {
	for _, name := range []string{"small", "overflow", "deep", "changed"} {
		b := load(t, name)
		r := rand.New(rand.NewPCG(7, uint64(len(b))))
		refused, rounds := 0, 0
		for k := range short.Rounds(t, 2000, 100) {
			m := bytes.Clone(b)
			switch i := r.IntN(len(m)); k % 4 {
			case 0:
				m = m[:i]
			case 1:
				m[i] ^= 1 << r.IntN(8)
			case 2: // in a header
				m[i/4096*4096+r.IntN(pageHead+metaSize)] = byte(r.IntN(256))
			case 3: // a page over another
				copy(m[i/4096*4096:], b[r.IntN(len(m)/4096)*4096:][:4096])
			}
			rounds++
			if !check(t, m) {
				refused++
			}
		}
		t.Logf("%s: %d of %d changes were refused", name, refused, rounds)
		require.Greater(t, refused, rounds/4)
	}
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
	b := load(t, "deep")
	for _, from := range []int64{100, 5000, 9000, 30000} {
		_, err := Open(t.Context(), failing{bytes.NewReader(b), from}, int64(len(b)))
		require.ErrorIs(t, err, errDisk)
		require.NotErrorIs(t, err, ErrInvalid)
	}
}

func FuzzOpen(f *testing.F) {
	for _, name := range []string{"empty", "one", "small", "overflow", "deep", "changed", "named"} {
		f.Add(load(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) { check(t, b) })
}
