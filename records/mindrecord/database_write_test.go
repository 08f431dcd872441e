package mindrecord

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
)

// integersOf returns the integers of a row, of all sizes.
func integersOf(i int) (v [8]int64) {
	for k := range v {
		v[k] = int64(i) * int64(1-k%2*2) << (k * 5)
	}
	return v
}

// written returns a database file with the tables INDEXES and SHARD_NAME.
// INDEXES has rows rows with the given texts, and a key of fields columns. Its
// schema's text is extra bytes longer than needed.
func written(t testing.TB, rows, fields, extra int, text func(i int) string) []byte {
	f, err := os.Create(filepath.Join(t.TempDir(), "x.db"))
	require.NoError(t, err)
	defer f.Close()
	w := newDatabaseWriter(f)
	table, index, name, schema := w.table(), w.index(), w.table(), w.schema()
	var r rowWriter
	for i := range rows {
		r.reset()
		for _, v := range integersOf(i) {
			r.integer(v)
		}
		r.text(text(i))
		table.add(int64(i+1), r.record())
		r.reset()
		r.integer(int64(i))
		for range fields {
			r.integer(0)
		}
		r.integer(int64(i + 1))
		index.add(0, r.record())
	}
	r.reset()
	r.text("x")
	name.add(1, r.record())
	sql := fmt.Sprintf("CREATE TABLE INDEXES(%s INT, t TEXT%s)", strings.Join(columns, " INT,"), strings.Repeat(" ", extra))
	for i, row := range [][3]string{{"table", "INDEXES", sql}, {"index", "sqlite_autoindex_INDEXES_1", ""}, {"table", "SHARD_NAME", "CREATE TABLE SHARD_NAME(NAME TEXT)"}} {
		r.reset()
		r.text(row[0])
		r.text(row[1])
		r.text([]string{"INDEXES", "INDEXES", "SHARD_NAME"}[i])
		r.integer(int64([]*tree{table, index, name}[i].finish()))
		r.text(row[2])
		schema.add(int64(i+1), r.record())
	}
	require.NoError(t, w.finish(schema))
	b, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	require.Zero(t, len(b)%dbPage)
	require.EqualValues(t, w.pages, len(b)/dbPage)
	return b
}

// indexRows returns the number of rows of the tree of an index, in whose order
// each has to begin with the next number.
func indexRows(t testing.TB, b []byte, page int, n int64) int64 {
	p := b[(page-1)*dbPage:][:dbPage]
	inner := p[0] == indexInner
	if !inner {
		require.EqualValues(t, indexLeaf, p[0])
	}
	cells := int(p[3])<<8 | int(p[4])
	require.NotZero(t, cells, "page %d", page)
	child := func(b []byte) int { return int(b[0])<<24 | int(b[1])<<16 | int(b[2])<<8 | int(b[3]) }
	for i := range cells {
		at := 8 + 2*i
		if inner {
			at += 4
		}
		cell := p[int(p[at])<<8|int(p[at+1]):]
		if inner {
			n = indexRows(t, b, child(cell), n)
			cell = cell[4:]
		}
		size, k := varint(cell)
		cell = cell[k:]
		head, k := varint(cell)
		require.LessOrEqual(t, head, size)
		kind, _ := varint(cell[k:])
		v := int64(0)
		switch {
		case kind >= 8:
			v = kind - 8
		default:
			for _, c := range cell[head:][:kind] {
				v = v<<8 | int64(c)
			}
		}
		if n != v {
			t.Fatalf("page %d, cell %d: got row %d, want %d", page, i, v, n)
		}
		n++
	}
	if inner {
		n = indexRows(t, b, child(p[8:]), n)
	}
	return n
}

// databases is the SHA-256 of the databases of TestDatabaseWriter, the same on
// all platforms.
const databases = "868036f6425140b8639a33e52dbbd631fcb23348850ae091f9e606b8341d87ac"

// TestDatabaseWriter writes trees of one to three levels with cells of all
// lengths, and reads them. Package sqlitetest has SQLite read such files.
func TestDatabaseWriter(t *testing.T) {
	all := sha256.New()
	for _, c := range []struct {
		rows, fields, extra int
		text                func(i int) string
	}{
		{0, 0, 0, nil},
		{1, 1, 0, func(int) string { return "" }},
		{3000, 2, 0, func(i int) string { return strings.Repeat("t", i*i%9000) }},
		{5000, 990, 10000, func(i int) string { return fmt.Sprint(i) }},
		{100000, 0, 3600, func(int) string { return "" }},
	} {
		b := written(t, c.rows, c.fields, c.extra, c.text)
		all.Write(b)
		f := &database{ctx: t.Context(), r: bytes.NewReader(b), size: int64(len(b))}
		tables, err := f.schema()
		require.NoError(t, err)
		i := 0
		require.NoError(t, f.walk(tables["INDEXES"], 0, func(r *row) error {
			got, err := r.integers()
			require.NoError(t, err)
			text, err := r.text(8, 1<<20)
			require.NoError(t, err)
			if got != integersOf(i) || text != c.text(i) {
				t.Fatalf("row %d: got %d and %q, want %d and %q", i, got, text, integersOf(i), c.text(i))
			}
			i++
			return nil
		}))
		require.Equal(t, c.rows, i)
		if c.rows > 0 { // the root of the key is written before SHARD_NAME
			require.EqualValues(t, c.rows, indexRows(t, b, int(tables["SHARD_NAME"])-1, 0))
		}
	}
	require.Equal(t, databases, fmt.Sprintf("%x", all.Sum(nil)), "the bytes of five databases")
}

// TestDatabaseSchema tests schemas of all sizes around that of page 1, whose
// first 100 bytes are the file's header.
func TestDatabaseSchema(t *testing.T) {
	n := short.Rounds(t, 400, 40)
	for i := range n {
		extra := 3550 + i*400/n
		b := written(t, 2, 1, extra, func(int) string { return "t" })
		f := &database{ctx: t.Context(), r: bytes.NewReader(b), size: int64(len(b))}
		tables, err := f.schema()
		require.NoError(t, err, extra)
		require.Len(t, tables, 2)
	}
}

// TestRowWriter compares rows with the bytes that SQLite writes.
func TestRowWriter(t *testing.T) {
	var r rowWriter
	for v, want := range map[int64]string{
		0: "0208", 1: "0209", 2: "020102", -1: "0201ff", 127: "02017f", -128: "020180", 128: "02020080", -129: "0202ff7f",
		1<<23 - 1: "02037fffff", 1 << 23: "020400800000", 1 << 31: "0205000080000000", 1 << 47: "02060000800000000000", math.MinInt64: "02068000000000000000",
	} {
		r.reset()
		r.integer(v)
		require.Equal(t, want, fmt.Sprintf("%x", r.record()), v)
	}
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0208"}, {math.Copysign(0, -1), "0208"}, {1, "0209"}, {-2, "0201fe"}, {0.5, "02073fe0000000000000"}, {math.NaN(), "0200"},
		{1<<47 - 1, "02057fffffffffff"}, {1 << 47, "020742e0000000000000"}, {math.Inf(1), "02077ff0000000000000"},
	} {
		r.reset()
		r.real(c.v)
		require.Equal(t, c.want, fmt.Sprintf("%x", r.record()), c.v)
	}
	r.reset()
	for range 125 {
		r.integer(0)
	}
	require.Equal(t, byte(126), r.record()[0])
	r.integer(0)
	require.Equal(t, byte(127), r.record()[0])
	r.integer(0)
	require.Equal(t, []byte{0x81, 1}, r.record()[:2])
}
