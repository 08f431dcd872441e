package sqlitetest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/mindrecord/sqlite.tar.gz")

// TestFiles compares sqlite.tar.gz, which the tests of records/mindrecord read
// on every platform, with what SQLite writes.
func TestFiles(t *testing.T) {
	files := attacks(t)
	for _, page := range []int{512, 1024, 4096, 65536} {
		files[fmt.Sprintf("pages of %d", page)] = pages(t, page)
	}
	if *update {
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		require.NoError(t, err)
		w := tar.NewWriter(z)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name])), Format: tar.FormatUSTAR}))
			_, err := w.Write(files[name])
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		require.NoError(t, z.Close())
		require.NoError(t, os.WriteFile(filepath.Join(testdata, "sqlite.tar.gz"), b.Bytes(), 0o644))
	}
	stored := unpack(t, "sqlite.tar.gz")
	require.Equal(t, slices.Sorted(maps.Keys(files)), slices.Sorted(maps.Keys(stored)))
	for name, b := range files {
		require.True(t, bytes.Equal(b, stored[name]), "%s: go test -run TestFiles -update writes it", name)
	}
}

const (
	plainIndexes = `CREATE TABLE INDEXES(ROW_ID INT, PAGE_ID_RAW INT, PAGE_OFFSET_RAW INT, PAGE_OFFSET_RAW_END INT, ROW_GROUP_ID INT, PAGE_ID_BLOB INT, PAGE_OFFSET_BLOB INT, PAGE_OFFSET_BLOB_END INT)`
	insertRow    = `INSERT INTO INDEXES VALUES(0, 1, 0, 0, 0, 0, 0, 0)`
	plainShards  = `CREATE TABLE SHARD_NAME(NAME TEXT)`
	insertShard  = `INSERT INTO SHARD_NAME VALUES('scalars')` // a file of MindSpore
	// endless takes SQLite more than 500 MB and several seconds for each row.
	endless = `length(hex(zeroblob(200000000)))`
)

// attacks are indexes that SQLite would run, by name.
func attacks(t testing.TB) map[string][]byte {
	attack := func(statements ...string) []byte {
		return made(t, "_pragma=journal_mode(OFF)&_pragma=writable_schema(1)", statements...)
	}
	generated := strings.Replace(plainIndexes, "ROW_ID INT", "ROW_ID INT AS (PAGE_ID_RAW + "+endless+")", 1)
	row := `INSERT INTO INDEXES(PAGE_ID_RAW, PAGE_OFFSET_RAW) VALUES(0, 0)`
	m := map[string][]byte{
		"generated column":        attack(plainShards, insertShard, generated, row),
		"generated name":          attack(`CREATE TABLE SHARD_NAME(X INT, NAME TEXT AS (`+endless+`))`, `INSERT INTO SHARD_NAME(X) VALUES(1)`, plainIndexes, insertRow),
		"check":                   attack(plainShards, insertShard, strings.Replace(plainIndexes, "ROW_ID INT", "ROW_ID INT CHECK (ROW_ID >= 0)", 1), insertRow),
		"default":                 attack(plainShards, insertShard, strings.Replace(plainIndexes, "ROW_ID INT", "ROW_ID INT DEFAULT (1 + 1)", 1), insertRow),
		"view":                    attack(plainShards, insertShard, `CREATE VIEW INDEXES AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS ROW_ID FROM c`),
		"another view":            attack(plainShards, insertShard, plainIndexes, insertRow, `CREATE VIEW v AS SELECT 1`),
		"trigger":                 attack(plainShards, insertShard, plainIndexes, insertRow, `CREATE TRIGGER r AFTER INSERT ON INDEXES BEGIN DELETE FROM SHARD_NAME; END`),
		"index of an expression":  attack(plainShards, insertShard, plainIndexes, insertRow, `CREATE INDEX i ON INDEXES(ROW_ID + 1)`),
		"statistics":              attack(plainShards, insertShard, plainIndexes, insertRow, `CREATE INDEX i ON INDEXES(ROW_ID)`, `ANALYZE`),
		"virtual table":           attack(plainShards, insertShard, `CREATE VIRTUAL TABLE INDEXES USING rtree(ROW_ID, a, b)`),
		"no row ids":              attack(plainShards, insertShard, strings.Replace(plainIndexes, "ROW_ID INT", "ROW_ID INT PRIMARY KEY", 1)+" WITHOUT ROWID", insertRow),
		"row ids":                 attack(plainShards, insertShard, strings.Replace(plainIndexes, "ROW_ID INT", "ROW_ID INTEGER PRIMARY KEY", 1), insertRow),
		"UTF-16":                  attack(`PRAGMA encoding = 'UTF-16le'`, plainShards, insertShard, plainIndexes, insertRow),
		"no table of the name":    attack(plainIndexes, insertRow),
		"no rows":                 attack(plainShards, insertShard, plainIndexes),
		"no name":                 attack(plainShards, plainIndexes, insertRow),
		"two names":               attack(plainShards, insertShard, insertShard, plainIndexes, insertRow),
		"text where a number is":  attack(plainShards, insertShard, plainIndexes, strings.Replace(insertRow, "(0", "('a'", 1)),
		"a long text":             attack(plainShards, `INSERT INTO SHARD_NAME VALUES(hex(zeroblob(100000)))`, plainIndexes, insertRow),
		"shared rows":             attack(plainShards, insertShard, plainIndexes, insertRow, `UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'INDEXES')`),
		"another order of fields": attack(plainShards, insertShard, strings.Replace(plainIndexes, "ROW_ID INT, PAGE_ID_RAW INT", "PAGE_ID_RAW INT, ROW_ID INT", 1), insertRow),
	}
	// All pages are inner ones that lead to the next page many times: 10^40
	// rows.
	const page = 4096
	cyclic := append([]byte(nil), m["no rows"]...)
	for n := 1; n < len(cyclic)/page; n++ {
		b := cyclic[n*page : (n+1)*page]
		clear(b)
		b[0] = 5
		binary.BigEndian.PutUint16(b[3:], 100)
		binary.BigEndian.PutUint32(b[8:], uint32(min(n+2, len(cyclic)/page)))
		for i := range 100 {
			binary.BigEndian.PutUint16(b[12+2*i:], 3000)
		}
		binary.BigEndian.PutUint32(b[3000:], uint32(min(n+2, len(cyclic)/page)))
	}
	m["cyclic pages"] = cyclic
	return m
}

// pages is a database of pages of that size, with long rows.
func pages(t testing.TB, page int) []byte {
	name := filepath.Join(t.TempDir(), "x.db")
	db := openDB(t, name, "_pragma=journal_mode(OFF)")
	var names []string
	for i := range 200 {
		names = append(names, fmt.Sprintf("%s_%d TEXT", strings.Repeat("n", 100), i))
	}
	for _, q := range []string{fmt.Sprintf(`PRAGMA page_size = %d`, page), `PRAGMA auto_vacuum = 1`, plainShards, `INSERT INTO SHARD_NAME VALUES('the name')`, strings.TrimSuffix(plainIndexes, ")") + "," + strings.Join(names, ",") + ")"} {
		_, err := db.Exec(q)
		require.NoError(t, err)
	}
	numbers := []int64{0, 1, -1, 127, -128, 128, 1 << 15, -1 << 15, 1<<23 - 1, -1 << 23, 1 << 31, 1<<47 - 1, -1 << 47, 1 << 47, math.MaxInt64, math.MinInt64}
	tx, err := db.Begin()
	require.NoError(t, err)
	columns := "ROW_ID,PAGE_ID_RAW,PAGE_OFFSET_RAW,PAGE_OFFSET_RAW_END,ROW_GROUP_ID,PAGE_ID_BLOB,PAGE_OFFSET_BLOB,PAGE_OFFSET_BLOB_END"
	for i := range 1000 {
		args := []any{}
		for k := range 8 {
			args = append(args, numbers[(i*7+k*3)%len(numbers)])
		}
		_, err := tx.Exec(fmt.Sprintf(`INSERT INTO INDEXES(%s, %s_3) VALUES(?,?,?,?,?,?,?,?,?)`, columns, strings.Repeat("n", 100)), append(args, strings.Repeat("t", i*i%5000))...)
		require.NoError(t, err)
	}
	require.NoError(t, tx.Commit())
	require.NoError(t, db.Close())
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, uint16(page%65535), binary.BigEndian.Uint16(b[16:])) // 65536 is stored as 1
	return b
}
