package filecache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/hexdoc"
	"github.com/infer-prep/infer-prep/internal/mapfile"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
)

var exampleValues = []tensor.Desc{
	tensor.Encoded(), {DType: tensor.Float32, Shape: tensor.Dims(tensor.Unknown, 2)},
}

var (
	examplePrint = sha256.Sum256([]byte("example"))
	exampleStamp = sha256.Sum256([]byte("stamp"))
)

// sample is a Sample in memory.
type sample struct {
	key    string
	values []tensor.Tensor
}

func (s *sample) Key() string                { return s.key }
func (s *sample) Len() int                   { return len(s.values) }
func (s *sample) Value(i int) *tensor.Tensor { return &s.values[i] }
func (s *sample) Reset(n int, key string)    { s.key, s.values = key, make([]tensor.Tensor, n) }

func (s *sample) Set(i int, t tensor.Tensor, _ bool) error {
	t.Data = bytes.Clone(t.Data)
	s.values[i] = t
	return nil
}

// exampleSample returns sample 0 or 1 of the example.
func exampleSample(t testing.TB, row int64) *sample {
	s := &sample{key: fmt.Sprintf("photo%d", row), values: make([]tensor.Tensor, 2)}
	s.values[0] = tensor.Tensor{Desc: tensor.Encoded(), Data: []byte([]string{"abc", "xyz"}[row])}
	require.NoError(t, s.values[1].Reset(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(1, 2)}))
	copy(tensor.View[float32](&s.values[1]), []float32{0.5, float32(row)})
	return s
}

func open(t testing.TB, name string, mapped bool) *File {
	c, err := Open(t.Context(), name, exampleValues, 2, 1<<12, examplePrint)
	require.NoError(t, err)
	if !mapped {
		require.NoError(t, mapfile.Unmap(c.mem))
		c.mem = nil
	}
	return c
}

// has reports whether the file has a row, and checks its sample.
func has(t testing.TB, c *File, row int64) bool {
	var s sample
	ok, err := c.Get(row, exampleStamp, &s)
	require.NoError(t, err)
	if ok {
		want := exampleSample(t, row)
		require.Equal(t, want.key, s.key)
		for i := range want.values {
			require.Equal(t, want.values[i].Desc, s.values[i].Desc)
			require.Equal(t, want.values[i].Data, s.values[i].Data)
		}
	}
	return ok
}

func exampleFile(t testing.TB) []byte {
	name := filepath.Join(t.TempDir(), "cache")
	c := open(t, name, true)
	for _, row := range []int64{1, 0} {
		require.False(t, has(t, c, row))
		require.NoError(t, c.Keep(t.Context(), row, exampleStamp, exampleSample(t, row)))
		require.NoError(t, c.Keep(t.Context(), row, exampleStamp, exampleSample(t, row)))
		require.True(t, has(t, c, row))
	}
	require.NoError(t, c.Close())
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	return b
}

// TestFormat writes and reads the example file of docs/format/cache.md.
func TestFormat(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		t.Skip("a cache has the machine's byte order: the example is that of a little-endian machine")
	}
	want := hexdoc.Read(t, "../../..", "cache")
	got := exampleFile(t)
	want = append(want, make([]byte, max(len(got)-len(want), 0))...)
	require.Equal(t, hex.Dump(want), hex.Dump(got))
	name := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, os.WriteFile(name, want, 0o600))
	for _, mapped := range []bool{true, false} {
		c := open(t, name, mapped)
		require.True(t, has(t, c, 0))
		require.True(t, has(t, c, 1))
		require.NoError(t, c.Close())
	}
}

// recovers opens a damaged file. It must return correct samples or none, and
// store the missing ones. recovers returns the number of samples that were
// there.
func recovers(t *testing.T, name string, file []byte, mapped bool, what string) (had int) {
	require.NoError(t, os.WriteFile(name, file, 0o600))
	c := open(t, name, mapped)
	for row := range int64(2) {
		if has(t, c, row) {
			had++
			continue
		}
		require.NoError(t, c.Keep(t.Context(), row, exampleStamp, exampleSample(t, row)))
		require.True(t, has(t, c, row), what)
	}
	require.NoError(t, c.Close())
	c = open(t, name, mapped)
	require.True(t, has(t, c, 0) && has(t, c, 1), what)
	require.NoError(t, c.Close())
	return had
}

// steps is the distance of the bytes that tests change, with and without a
// mapping.
var steps = map[bool]int{true: 1, false: 5}

func TestTruncated(t *testing.T) {
	file := exampleFile(t)
	name := filepath.Join(t.TempDir(), "cache")
	apart := short.Step(t, 9)
	for mapped, step := range steps {
		for n := 0; n < len(file); n += step * apart {
			require.Zero(t, recovers(t, name, file[:n], mapped, fmt.Sprintf("%d bytes", n)), "%d bytes", n)
		}
		require.Equal(t, 2, recovers(t, name, append(bytes.Clone(file), file...), mapped, "longer"))
	}
}

func TestFlipped(t *testing.T) {
	file := exampleFile(t)
	name := filepath.Join(t.TempDir(), "cache")
	apart := short.Step(t, 9)
	for mapped, step := range steps {
		step *= apart
		had := [3]int{}
		for at := 0; at < len(file); at += step {
			b := bytes.Clone(file)
			b[at] ^= 1 << (at % 8)
			had[recovers(t, name, b, mapped, fmt.Sprintf("byte %d", at))]++
		}
		t.Log("bytes whose change costs two, one and no samples:", had)
		require.Equal(t, (80+step-1)/step, had[0]) // the header
	}
}

// TestTorn checks files that a killed process has left, at every point of its
// writes. They return whole samples alone.
func TestTorn(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "cache")
	c := open(t, name, true)
	require.NoError(t, c.Keep(t.Context(), 1, exampleStamp, exampleSample(t, 1)))
	require.NoError(t, c.Close())
	before, err := os.ReadFile(name)
	require.NoError(t, err)
	after := exampleFile(t)
	// Write the sample byte by byte, then the end, then the table.
	step := short.Step(t, 9)
	for n := len(before); n <= len(after); n += step {
		torn := append(bytes.Clone(before), after[len(before):n]...)
		require.Equal(t, 1, recovers(t, name, torn, true, fmt.Sprintf("%d bytes", n)))
	}
	torn := bytes.Clone(after)
	copy(torn[headerSize:], before[headerSize:headerSize+16])
	require.Equal(t, 1, recovers(t, name, torn, true, "without the table"))
	for n := range 16 {
		torn := append(bytes.Clone(before), after[len(before):]...)
		copy(torn[endOffset:], after[endOffset:endOffset+n])
		had := recovers(t, name, torn, true, "within the end")
		require.LessOrEqual(t, had, 1)
	}
}

func TestReplace(t *testing.T) {
	name := filepath.Join(t.TempDir(), "cache")
	for _, c := range []struct {
		rows  int64
		print string
		had   bool
	}{{2, "a", false}, {2, "a", true}, {2, "b", false}, {3, "b", false}, {3, "b", true}} {
		f, err := Open(t.Context(), name, exampleValues, c.rows, 1<<12, sha256.Sum256([]byte(c.print)))
		require.NoError(t, err)
		require.Equal(t, c.had, has(t, f, 1), "%v", c)
		require.NoError(t, f.Keep(t.Context(), 1, exampleStamp, exampleSample(t, 1)))
		require.True(t, has(t, f, 1))
		require.NoError(t, f.Close())
	}
	_, err := Open(t.Context(), t.TempDir(), exampleValues, 3, 1<<12, examplePrint)
	require.Error(t, err)
}

func TestLimit(t *testing.T) {
	whole := int64(len(exampleFile(t)))
	for _, mapped := range []bool{true, false} {
		for limit := firstSample(2); limit <= whole; limit += 16 {
			name := filepath.Join(t.TempDir(), "cache")
			c, err := Open(t.Context(), name, exampleValues, 2, limit, examplePrint)
			require.NoError(t, err)
			if !mapped {
				require.NoError(t, mapfile.Unmap(c.mem))
				c.mem = nil
			}
			n := 0
			for row := range int64(2) {
				require.NoError(t, c.Keep(t.Context(), row, exampleStamp, exampleSample(t, row)))
				if has(t, c, row) {
					n++
				}
			}
			i, err := os.Stat(name)
			require.NoError(t, err)
			require.LessOrEqual(t, i.Size(), limit)
			require.Equal(t, limit == whole, n == 2)
			require.NoError(t, c.Close())
		}
	}
}

// FuzzFile reads arbitrary tables and samples with correct checksums.
func FuzzFile(f *testing.F) {
	file := exampleFile(f)
	f.Add(file[headerSize:], true)
	f.Add(file[headerSize:], false)
	for _, at := range []int{headerSize, 192 + 8, 192 + 24, 192 + 28, 192 + 40, 192 + 66, 192 + 72, 192 + 80, 192 + 88, 192 + 162} {
		b := bytes.Clone(file[headerSize:])
		b[at-headerSize]++
		f.Add(b, true)
	}
	f.Fuzz(func(t *testing.T, body []byte, mapped bool) {
		b := append(newHeader(2, examplePrint), body...)
		b = append(b, make([]byte, aligned(int64(max(len(b), int(firstSample(2)))))-int64(len(b)))...)
		if len(b) > 1<<12 {
			return
		}
		putEnd(b[endOffset:], int64(len(b)))
		for row := range int64(2) {
			at := binary.LittleEndian.Uint64(b[headerSize+8*row:])
			if at > uint64(len(b)) {
				continue
			}
			if n, ok := sampleLength(b[at:], int64(len(b))-int64(at)); ok {
				binary.LittleEndian.PutUint32(b[at:], crc32.Checksum(b[int64(at)+4:int64(at)+n], castagnoli))
			}
		}
		name := filepath.Join(t.TempDir(), "cache")
		require.NoError(t, os.WriteFile(name, b, 0o600))
		c := open(t, name, mapped)
		for row := range int64(2) {
			var s sample
			ok, err := c.Get(row, exampleStamp, &s)
			require.NoError(t, err)
			for i := range s.values {
				if ok {
					require.True(t, exampleValues[i].Matches(s.values[i].Desc))
					require.LessOrEqual(t, len(s.values[i].Data), len(b))
				}
			}
			require.NoError(t, c.Keep(t.Context(), row, exampleStamp, exampleSample(t, row)))
		}
		require.NoError(t, c.Close())
	})
}

// TestStamp checks that a sample is returned under its own stamp alone, and
// that one with another stamp takes its place.
func TestStamp(t *testing.T) {
	for _, mapped := range []bool{true, false} {
		name := filepath.Join(t.TempDir(), "cache")
		c := open(t, name, mapped)
		require.NoError(t, c.Keep(t.Context(), 1, sha256.Sum256([]byte("old")), exampleSample(t, 0)))
		require.False(t, has(t, c, 1))
		require.NoError(t, c.Keep(t.Context(), 1, exampleStamp, exampleSample(t, 1)))
		require.True(t, has(t, c, 1))
		var s sample
		ok, err := c.Get(1, sha256.Sum256([]byte("old")), &s)
		require.NoError(t, err)
		require.False(t, ok)
		require.NoError(t, c.Close())
		c = open(t, name, mapped)
		require.True(t, has(t, c, 1))
		require.NoError(t, c.Close())
	}
}
