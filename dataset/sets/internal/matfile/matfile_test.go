package matfile

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/store"
)

const testdata = "../../../../testdata/datasets/matfile/"

// memory is a store with one file.
type memory struct {
	store.Opener
	b []byte
}

type file struct{ *bytes.Reader }

func (file) Close() error { return nil }

func (m memory) Open(context.Context, string) (store.File, error) {
	return file{bytes.NewReader(m.b)}, nil
}

func open(t testing.TB, b []byte) (Arrays, error) {
	return Open(t.Context(), memory{store.Local, b}, "x.mat", 1<<20)
}

// described is an array as SciPy gives it.
type described struct {
	Dims    []int
	Numbers *[]string
	Text    *string
	Fields  []string
	Cells   []described
}

func compare(t *testing.T, want described, got *Array, name string) {
	switch {
	case want.Text != nil:
		s, err := got.Text()
		require.NoError(t, err, name)
		require.Equal(t, *want.Text, s, name)
		return
	case want.Numbers != nil:
		require.Equal(t, want.Dims, got.Dims, name)
		f, err := got.Floats()
		if len(*want.Numbers) == 0 && err != nil {
			return // an empty cell without data
		}
		require.NoError(t, err, name)
		texts := []string{}
		for _, v := range f {
			w, err := strconv.ParseFloat((*want.Numbers)[len(texts)], 64)
			require.NoError(t, err)
			if w == v && 1/w == 1/v || w != w && v != v {
				texts = append(texts, (*want.Numbers)[len(texts)])
			} else {
				texts = append(texts, strconv.FormatFloat(v, 'g', -1, 64))
			}
		}
		require.Equal(t, *want.Numbers, texts, name)
		return
	}
	require.Equal(t, want.Dims, got.Dims, name)
	require.Equal(t, want.Fields, got.Fields, name)
	require.Len(t, got.Cells, len(want.Cells), name)
	for i := range want.Cells {
		compare(t, want.Cells[i], got.Cells[i], name+" "+strconv.Itoa(i))
	}
}

func TestAsSciPy(t *testing.T) {
	b, err := os.ReadFile(testdata + "scipy.json")
	require.NoError(t, err)
	var golden struct {
		Files map[string]map[string]described
	}
	require.NoError(t, json.Unmarshal(b, &golden))
	require.Len(t, golden.Files, 3)
	for name, want := range golden.Files {
		got, err := Open(t.Context(), store.Local, testdata+name+".mat", 1<<20)
		require.NoError(t, err, name)
		require.Len(t, got, len(want), name)
		for array, w := range want {
			require.Contains(t, got, array, name)
			require.Equal(t, array, got[array].Name)
			compare(t, w, got[array], name+" "+array)
		}
	}
}

func TestAccess(t *testing.T) {
	arrays, err := Open(t.Context(), store.Local, testdata+"packed.mat", 1<<20)
	require.NoError(t, err)
	_, err = arrays.Get("none")
	require.EqualError(t, err, `no array "none"`)
	_, err = arrays.Ints("float64", -90, 30)
	require.EqualError(t, err, `element 3 of array "float64" is 70, want a whole number from -90 to 30`)
	l, err := arrays.Ints("int16", -90, 110)
	require.NoError(t, err)
	require.Equal(t, []int32{-90, 30, -50, 70, -10, 110}, l)
	_, err = arrays["nan"].Ints(-1000, 1000)
	require.ErrorContains(t, err, "is NaN")
	_, err = arrays["int16"].Bytes()
	require.ErrorContains(t, err, "numbers of type 3, want uint8")
	_, err = arrays["int16"].Text()
	require.EqualError(t, err, "an array, want a text")
	_, err = arrays["text"].Floats()
	require.ErrorContains(t, err, "has no numbers")
	_, err = arrays["structure"].Field(2, "a")
	require.EqualError(t, err, "no element 2 in a structure of 2")
	_, err = arrays["structure"].Field(0, "b")
	require.EqualError(t, err, `no field "b" in ["a" "long_name"]`)
	_, err = arrays["int16"].Int(-90, 110)
	require.EqualError(t, err, "6 numbers, want one")
}

// element returns an element of a file in little-endian order.
func element(kind uint32, parts ...[]byte) []byte {
	data := bytes.Join(parts, nil)
	b := binary.LittleEndian.AppendUint32(nil, kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	b = append(b, data...)
	return append(b, make([]byte, -len(data)&7)...)
}

func int32s(n ...int32) (b []byte) {
	for _, v := range n {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

// matrix returns an array.
func matrix(class int32, dims []int32, name string, data ...[]byte) []byte {
	parts := [][]byte{element(typeUint32, int32s(class, 0)), element(typeInt32, int32s(dims...)), element(typeInt8, []byte(name))}
	return element(typeMatrix, append(parts, data...)...)
}

// sparse returns a sparse matrix.
func sparse(dims []int32, rows, starts, numbers []byte) []byte {
	return matrix(classSparse, dims, "x", element(typeInt32, rows), element(typeInt32, starts), element(typeUint8, numbers))
}

func TestSparse(t *testing.T) {
	arrays, err := open(t, mat(sparse([]int32{4, 3}, int32s(1, 3, 0, 9), int32s(0, 2, 2, 3), []byte{7, 0, 255, 1})))
	require.NoError(t, err)
	var got [][3]float64
	require.NoError(t, arrays["x"].Sparse(func(row, col int, v float64) { got = append(got, [3]float64{float64(row), float64(col), v}) }))
	require.Equal(t, [][3]float64{{1, 0, 7}, {3, 0, 0}, {0, 2, 255}}, got)
	arrays, err = open(t, mat(matrix(classDouble, []int32{1, 1}, "x", element(typeUint8, []byte{1}))))
	require.NoError(t, err)
	require.EqualError(t, arrays["x"].Sparse(nil), "an array, want a sparse matrix")
}

func mat(elements ...[]byte) []byte {
	b := append(make([]byte, 124), 0, 1, 'I', 'M')
	return append(b, bytes.Join(elements, nil)...)
}

func packed(b []byte) []byte {
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, _ = w.Write(b) // to memory
	_ = w.Close()
	e := binary.LittleEndian.AppendUint32(nil, typeCompressed)
	return append(binary.LittleEndian.AppendUint32(e, uint32(z.Len())), z.Bytes()...)
}

func TestBadFiles(t *testing.T) {
	good := matrix(classDouble, []int32{1, 2}, "x", element(typeUint8, []byte{1, 2}))
	deep := matrix(classDouble, []int32{1, 1}, "", element(typeUint8, []byte{1}))
	for range maxDepth + 1 {
		deep = matrix(classCell, []int32{1, 1}, "", deep)
	}
	z := packed(good)
	longer := append(bytes.Clone(z), 0)
	binary.LittleEndian.PutUint32(longer[4:], uint32(len(longer)-8))
	flipped := bytes.Clone(z)
	flipped[len(flipped)-1] ^= 1
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"good", mat(good), ""},
		{"good packed", mat(z), ""},
		{"packed with more after", mat(longer), ""},
		{"no arrays", mat(), ""},
		{"version 4", make([]byte, 200), `endian mark "\x00\x00", want IM or MI`},
		{"another version", append(append(make([]byte, 124), 0, 2, 'I', 'M'), good...), "version 0x200, want 0x100"},
		{"cut", mat(good[:len(good)-1]), "in the array at byte 128: the data ends after 63 bytes, want 64"},
		{"cut tag", mat(good, good[:5]), "in the array at byte 200: the data ends, want a tag of 8 bytes"},
		{"twice", mat(good, good), `in the array at byte 200: a second array "x"`},
		{"no array", mat(element(typeDouble, make([]byte, 8))), "element of type 9, want an array"},
		{"packed no array", mat(packed(element(typeDouble, make([]byte, 8)))), "packed element of type 9, want an array"},
		{"no zlib", mat(element(typeCompressed, make([]byte, 8))), "zlib: invalid header"},
		{"bad checksum", mat(flipped), "zlib: invalid checksum"},
		{"cut packed", mat(z[:len(z)-2]), "the data ends, want the end of the packed data"},
		{"more than the limit", mat(matrix(classDouble, []int32{1, 1 << 20}, "x", element(typeUint8, make([]byte, 1<<20)))), "want at most"},
		{"object", mat(matrix(3, []int32{1, 1}, "x")), `array "x" of class 3, want numbers, a sparse matrix, text, cells or a structure`},
		{"sparse", mat(sparse([]int32{4, 2}, int32s(1, 3, 0), int32s(0, 2, 3), []byte{1, 2, 3})), ""},
		{"sparse with more numbers", mat(sparse([]int32{4, 1}, int32s(1, 0, 0), int32s(0, 1), []byte{1, 0, 0})), ""},
		{"sparse of three axes", mat(sparse([]int32{1, 1, 1}, int32s(0), int32s(0, 1), []byte{1})), "sparse array of sizes [1 1 1], want two axes"},
		{"sparse, few starts", mat(sparse([]int32{4, 2}, int32s(1), int32s(0, 1), []byte{1})), "2 starts of columns, want 3 from 0 on"},
		{"sparse, no starts", mat(sparse([]int32{4, 0}, int32s(1), nil, []byte{1})), "0 starts of columns, want 1 from 0 on"},
		{"sparse, first start", mat(sparse([]int32{4, 1}, int32s(1), int32s(1, 1), []byte{1})), "2 starts of columns, want 2 from 0 on"},
		{"sparse, descending starts", mat(sparse([]int32{4, 2}, int32s(1, 2), int32s(0, 2, 1), []byte{1, 2})), "column 1 has numbers 2 to 1"},
		{"sparse, few rows", mat(sparse([]int32{4, 1}, int32s(1), int32s(0, 2), []byte{1, 2})), "column 0 has numbers 0 to 2, want some of 1 rows and 2 numbers"},
		{"sparse, few numbers", mat(sparse([]int32{4, 1}, int32s(1, 2), int32s(0, 2), []byte{1})), "column 0 has numbers 0 to 2, want some of 2 rows and 1 numbers"},
		{"sparse, row below all", mat(sparse([]int32{4, 1}, int32s(4), int32s(0, 1), []byte{1})), "row 4 after -1 in column 0, want ascending ones below 4"},
		{"sparse, row twice", mat(sparse([]int32{4, 1}, int32s(2, 2), int32s(0, 2), []byte{1, 1})), "row 2 after 2 in column 0, want ascending ones below 4"},
		{"complex", mat(matrix(classDouble|0x800, []int32{1, 1}, "x")), "a complex array, want a real one"},
		{"negative size", mat(matrix(classDouble, []int32{1, -1}, "x")), "size -1 of axis 1, want 0 or more"},
		{"one axis", mat(matrix(classDouble, []int32{1}, "x")), "sizes of 4 bytes, want 2 to 32 numbers"},
		{"many elements", mat(matrix(classDouble, []int32{1 << 20, 1 << 20}, "x")), "more than 2147483647 elements"},
		{"few numbers", mat(matrix(classDouble, []int32{1, 3}, "x", element(typeUint8, []byte{1, 2}))), "2 bytes of numbers, want 3 for sizes [1 3]"},
		{"numbers as text", mat(matrix(classDouble, []int32{1, 2}, "x", element(typeUTF8, []byte{1, 2}))), "numbers of type 16"},
		{"a million cells", mat(matrix(classCell, []int32{1000, 1000}, "x")), "1000000 cells in 0 bytes"},
		{"a cell of numbers", mat(matrix(classCell, []int32{1, 1}, "x", element(typeUint8, []byte{1}))), "cell: type 2, want [14]"},
		{"two lines of text", mat(matrix(classChar, []int32{2, 2}, "x", element(typeUTF8, []byte("abcd")))), "text of sizes [2 2], want one line"},
		{"text of doubles", mat(matrix(classChar, []int32{1, 1}, "x", element(typeDouble, make([]byte, 8)))), "text of type 9, want UTF-8 or UTF-16"},
		{"no fields", mat(matrix(classStruct, []int32{1, 1}, "x", element(typeInt32, int32s(0)), element(typeInt8))), "want a multiple of their length 0"},
		{"half a field", mat(matrix(classStruct, []int32{1, 1}, "x", element(typeInt32, int32s(8)), element(typeInt8, []byte("abc")))), "field names of 3 bytes, want a multiple of their length 8"},
		{"long element", mat(element(typeMatrix, int32s(typeUint32, 1<<30))), "an element of 1073741824 bytes, want at most the 0 that are left"},
		{"long short element", mat(element(typeMatrix, int32s(5<<16|typeUint32, 0))), "a short element of 5 bytes, want at most 4"},
		{"deep", mat(deep), "nested deeper than 16"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := open(t, c.b)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, dataset.ErrData)
			require.ErrorContains(t, err, "x.mat")
			require.ErrorContains(t, err, c.want)
		})
	}
}

// TestClaims opens a small file whose tag claims a gigabyte.
func TestClaims(t *testing.T) {
	tag := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, typeMatrix), 1<<30)
	for name, b := range map[string][]byte{"plain": mat(tag), "packed": mat(packed(append(tag, 1, 2, 3)))} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Open(t.Context(), memory{store.Local, b}, "x.mat", 1<<31-1)
		require.ErrorIs(t, err, dataset.ErrData, name)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), name)
	}
}

// TestMemory opens small files of many arrays, names and texts. Memory stays
// within the limits.
func TestMemory(t *testing.T) {
	const most = 16 << 20 // of the file, unpacked, and of its arrays
	empty := element(typeMatrix)
	one := matrix(classCell, []int32{1, 1}, "", empty)
	var dims []int32
	for range maxAxes {
		dims = append(dims, 1)
	}
	axes := matrix(classCell, dims, "", empty)
	cells := func(cell []byte) []byte {
		n := (most - 1000) / len(cell)
		return mat(packed(matrix(classCell, []int32{1, int32(n)}, "x", bytes.Repeat(cell, n))))
	}
	for name, b := range map[string][]byte{
		"empty cells":      cells(empty),
		"cells of cells":   cells(one),
		"cells of 32 axes": cells(axes),
		"fields":           mat(packed(matrix(classStruct, []int32{1, 1}, "x", element(typeInt32, int32s(1)), element(typeInt8, make([]byte, most-1000))))),
		"text":             mat(packed(matrix(classChar, []int32{1, most / 2}, "x", element(typeUTF16, make([]byte, most-1000))))),
		"indices":          mat(packed(sparse([]int32{4, 1}, int32s(), make([]byte, most-1000), nil))),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			_, err := Open(t.Context(), memory{store.Local, b}, "x.mat", most)
			runtime.ReadMemStats(&after)
			require.ErrorIs(t, err, dataset.ErrData)
			took := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes took %d MB: %v", len(b), took>>20, err)
			// The file is read into buffers that grow, twice its size in all.
			require.Less(t, took, uint64(3*most+most/4))
		})
	}
}

// walk reads all of an array.
func walk(a *Array) {
	if l, err := a.Floats(); err == nil && len(l) > 0 {
		_, _ = a.Ints(-10, 10)
	}
	_, _ = a.Text()
	_, _ = a.Bytes()
	_ = a.Sparse(func(int, int, float64) {})
	for i := range min(a.Len(), 10) {
		for _, f := range a.Fields {
			_, _ = a.Field(i, f)
		}
	}
	for _, c := range a.Cells {
		walk(c)
	}
}

func try(t testing.TB, b []byte) (ok bool) {
	arrays, err := open(t, b)
	if err != nil {
		require.ErrorIs(t, err, dataset.ErrData)
		return false
	}
	for _, a := range arrays {
		walk(a)
	}
	return true
}

func TestMutations(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{"packed", "plain", "big_endian"} {
		b, err := os.ReadFile(testdata + name + ".mat")
		require.NoError(t, err)
		refused, tried := 0, 0
		for i := 0; i < len(b); i += 2 * short.Step(t, 5) {
			tried++
			m := bytes.Clone(b)
			m[i] = byte(r.IntN(256))
			if !try(t, m) {
				refused++
			}
			try(t, b[:i])
		}
		t.Logf("%s: %d of %d changes of a byte were refused", name, refused, tried)
		require.Positive(t, refused)
	}
}

// FuzzNesting tests that the arrays within an array take no more memory than
// their limit.
func FuzzNesting(f *testing.F) {
	text := matrix(classChar, []int32{1, 2}, "t", element(typeUTF16, []byte("a\x00b\x00")))
	number := matrix(classDouble, []int32{1, 1}, "n", element(typeUint8, []byte{1}))
	names := []([]byte){element(typeInt32, int32s(2)), element(typeInt8, []byte("a\x00b\x00"))}
	structure := matrix(classStruct, []int32{1, 1}, "s", append(names, text, number)...)
	for _, a := range [][]byte{
		matrix(classCell, []int32{2, 2}, "c", element(typeMatrix), structure, number, element(typeMatrix)),
		matrix(classCell, []int32{1, 1}, "c", matrix(classCell, []int32{1, 1}, "", matrix(classCell, []int32{1, 1}, "", structure))),
		matrix(classStruct, []int32{1, 1}, "s", append(names, structure, structure)...),
		matrix(classCell, []int32{1, 500}, "c", bytes.Repeat(element(typeMatrix), 500)),
		sparse([]int32{4, 3}, int32s(1, 3, 0, 9), int32s(0, 2, 2, 3), []byte{7, 0, 255, 1}),
	} {
		f.Add(a[8:], uint16(60000))
		f.Add(a[8:], uint16(1000))
	}
	f.Fuzz(func(t *testing.T, b []byte, most uint16) {
		tree := int64(most)
		p := &parser{b: b, order: binary.LittleEndian, tree: &tree}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		a, err := p.matrix(0)
		runtime.ReadMemStats(&after)
		// Errors quote at most some hundred bytes, once for each level.
		require.Less(t, after.TotalAlloc-before.TotalAlloc, 2*uint64(most)+64<<10)
		if err == nil {
			walk(a)
		}
	})
}

func FuzzOpen(f *testing.F) {
	for _, name := range []string{"packed", "plain", "big_endian"} {
		b, err := os.ReadFile(testdata + name + ".mat")
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { try(t, b) })
}
