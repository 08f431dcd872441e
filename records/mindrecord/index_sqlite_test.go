//go:build (darwin && (amd64 || arm64)) || (freebsd && (386 || amd64 || arm || arm64)) || (linux && (386 || amd64 || arm || arm64 || loong64 || ppc64le || riscv64 || s390x)) || (openbsd && (amd64 || arm64)) || (netbsd && amd64) || (windows && (386 || amd64 || arm64))

package mindrecord

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/records"
)

// dump returns the schema and the rows of an index.
func dump(t testing.TB, name string) [][]any {
	db, err := openDB(indexName(name), "mode=ro")
	require.NoError(t, err)
	defer db.Close()
	var l [][]any
	for _, q := range []string{`SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name`, `SELECT * FROM SHARD_NAME`, `SELECT * FROM INDEXES ORDER BY ROW_ID`} {
		rows, err := db.Query(q)
		require.NoError(t, err)
		columns, err := rows.Columns()
		require.NoError(t, err)
		for rows.Next() {
			values := make([]any, len(columns))
			to := make([]any, len(columns))
			for i := range values {
				to[i] = &values[i]
			}
			require.NoError(t, rows.Scan(to...))
			l = append(l, values)
		}
		require.NoError(t, errors.Join(rows.Err(), rows.Close()))
	}
	return l
}

// attack returns an index of one row made by statements of SQL, in which %s is
// the name of the data file.
func attack(t testing.TB, d *data, statements ...string) []byte {
	name := filepath.Join(t.TempDir(), "x.db")
	db, err := openDB(name, "_pragma=journal_mode(OFF)&_pragma=writable_schema(1)")
	require.NoError(t, err)
	for _, q := range statements {
		_, err := db.Exec(strings.ReplaceAll(q, "%s", d.address()))
		require.NoError(t, err, q)
	}
	require.NoError(t, db.Close())
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	return b
}

const (
	plainIndexes = `CREATE TABLE INDEXES(ROW_ID INT, PAGE_ID_RAW INT, PAGE_OFFSET_RAW INT, PAGE_OFFSET_RAW_END INT, ROW_GROUP_ID INT, PAGE_ID_BLOB INT, PAGE_OFFSET_BLOB INT, PAGE_OFFSET_BLOB_END INT)`
	insertRow    = `INSERT INTO INDEXES VALUES(0, 1, 0, 0, 0, 0, 0, 0)`
	plainShards  = `CREATE TABLE SHARD_NAME(NAME TEXT)`
	insertShard  = `INSERT INTO SHARD_NAME VALUES('%s')`
	// endless takes SQLite more than 500 MB and several seconds for each row.
	endless = `length(hex(zeroblob(200000000)))`
)

// attacks are indexes that SQLite would run, by name.
func attacks(t testing.TB, d *data) map[string][]byte {
	generated := strings.Replace(plainIndexes, "ROW_ID INT", "ROW_ID INT AS (PAGE_ID_RAW + "+endless+")", 1)
	row := `INSERT INTO INDEXES(PAGE_ID_RAW, PAGE_OFFSET_RAW) VALUES(0, 0)`
	m := map[string][]byte{
		"generated column":        attack(t, d, plainShards, insertShard, generated, row),
		"generated name":          attack(t, d, `CREATE TABLE SHARD_NAME(X INT, NAME TEXT AS (`+endless+`))`, `INSERT INTO SHARD_NAME(X) VALUES(1)`, plainIndexes, insertRow),
		"check":                   attack(t, d, plainShards, insertShard, strings.Replace(plainIndexes, "ROW_ID INT", "ROW_ID INT CHECK (ROW_ID >= 0)", 1), insertRow),
		"default":                 attack(t, d, plainShards, insertShard, strings.Replace(plainIndexes, "ROW_ID INT", "ROW_ID INT DEFAULT (1 + 1)", 1), insertRow),
		"view":                    attack(t, d, plainShards, insertShard, `CREATE VIEW INDEXES AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS ROW_ID FROM c`),
		"another view":            attack(t, d, plainShards, insertShard, plainIndexes, insertRow, `CREATE VIEW v AS SELECT 1`),
		"trigger":                 attack(t, d, plainShards, insertShard, plainIndexes, insertRow, `CREATE TRIGGER r AFTER INSERT ON INDEXES BEGIN DELETE FROM SHARD_NAME; END`),
		"index of an expression":  attack(t, d, plainShards, insertShard, plainIndexes, insertRow, `CREATE INDEX i ON INDEXES(ROW_ID + 1)`),
		"statistics":              attack(t, d, plainShards, insertShard, plainIndexes, insertRow, `CREATE INDEX i ON INDEXES(ROW_ID)`, `ANALYZE`),
		"virtual table":           attack(t, d, plainShards, insertShard, `CREATE VIRTUAL TABLE INDEXES USING rtree(ROW_ID, a, b)`),
		"no row ids":              attack(t, d, plainShards, insertShard, strings.Replace(plainIndexes, "ROW_ID INT", "ROW_ID INT PRIMARY KEY", 1)+" WITHOUT ROWID", insertRow),
		"row ids":                 attack(t, d, plainShards, insertShard, strings.Replace(plainIndexes, "ROW_ID INT", "ROW_ID INTEGER PRIMARY KEY", 1), insertRow),
		"UTF-16":                  attack(t, d, `PRAGMA encoding = 'UTF-16le'`, plainShards, insertShard, plainIndexes, insertRow),
		"no table of the name":    attack(t, d, plainIndexes, insertRow),
		"no rows":                 attack(t, d, plainShards, insertShard, plainIndexes),
		"no name":                 attack(t, d, plainShards, plainIndexes, insertRow),
		"two names":               attack(t, d, plainShards, insertShard, insertShard, plainIndexes, insertRow),
		"text where a number is":  attack(t, d, plainShards, insertShard, plainIndexes, strings.Replace(insertRow, "(0", "('a'", 1)),
		"a long text":             attack(t, d, plainShards, `INSERT INTO SHARD_NAME VALUES(hex(zeroblob(100000)))`, plainIndexes, insertRow),
		"shared rows":             attack(t, d, plainShards, insertShard, plainIndexes, insertRow, `UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'INDEXES')`),
		"another order of fields": attack(t, d, plainShards, insertShard, strings.Replace(plainIndexes, "ROW_ID INT, PAGE_ID_RAW INT", "PAGE_ID_RAW INT, ROW_ID INT", 1), insertRow),
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

// TestIndexAttacks tests that an index with anything but two plain tables is an
// error, at once and in little memory.
func TestIndexAttacks(t *testing.T) {
	name := filepath.Join(goldens(t), "scalars")
	d, err := openData(disk, name)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	const plain, two = "want plain columns", "want the tables INDEXES and SHARD_NAME alone"
	wants := map[string]string{
		"generated column": plain, "generated name": plain, "check": plain, "default": plain, "virtual table": plain, "no row ids": plain, "row ids": "is its key",
		"view": two, "another view": two, "trigger": two, "index of an expression": two, "statistics": two,
		"UTF-16": "text encoding 2", "no table of the name": "is missing", "no rows": "0 rows, the pages have 30", "no name": "it names no data file",
		"two names": "it is the index of", "a long text": "it is the index of", "text where a number is": "column 0 is no integer",
		"shared rows": "column 0 is no text", "cyclic pages": "has two uses", "another order of fields": "want ROW_ID",
	}
	for kind, b := range attacks(t, d) {
		t.Run(kind, func(t *testing.T) {
			require.Less(t, len(b), 1<<20)
			require.NoError(t, os.WriteFile(indexName(name), b, 0o600))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Open([]string{name})
			runtime.ReadMemStats(&after)
			require.ErrorIs(t, err, records.ErrCorrupt)
			require.NotEmpty(t, wants[kind])
			require.ErrorContains(t, err, wants[kind])
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
			t.Logf("%d bytes took %d bytes of memory: %v", len(b), after.TotalAlloc-before.TotalAlloc, err)
		})
	}
}

// TestDatabase reads tables that SQLite wrote, of all sizes of pages and with
// long rows, and compares all rows.
func TestDatabase(t *testing.T) {
	for _, page := range []int{512, 1024, 4096, 65536} {
		name := filepath.Join(t.TempDir(), "x.db")
		db, err := openDB(name, fmt.Sprintf("_pragma=page_size(%d)&_pragma=auto_vacuum(1)", page))
		require.NoError(t, err)
		var names []string
		for i := range 200 {
			names = append(names, fmt.Sprintf("%s_%d TEXT", strings.Repeat("n", 100), i))
		}
		for _, q := range []string{plainShards, `INSERT INTO SHARD_NAME VALUES('the name')`, strings.TrimSuffix(plainIndexes, ")") + "," + strings.Join(names, ",") + ")"} {
			_, err := db.Exec(q)
			require.NoError(t, err)
		}
		numbers := []int64{0, 1, -1, 127, -128, 128, 1 << 15, -1 << 15, 1<<23 - 1, -1 << 23, 1 << 31, 1<<47 - 1, -1 << 47, 1 << 47, math.MaxInt64, math.MinInt64}
		var want [][8]int64
		tx, err := db.Begin()
		require.NoError(t, err)
		for i := range 1000 {
			var v [8]int64
			args := []any{}
			for k := range v {
				v[k] = numbers[(i*7+k*3)%len(numbers)]
				args = append(args, v[k])
			}
			want = append(want, v)
			_, err := tx.Exec(fmt.Sprintf(`INSERT INTO INDEXES(%s, %s_3) VALUES(?,?,?,?,?,?,?,?,?)`, strings.Join(columns, ","), strings.Repeat("n", 100)), append(args, strings.Repeat("t", i*i%5000))...)
			require.NoError(t, err)
		}
		require.NoError(t, tx.Commit())
		require.NoError(t, db.Close())
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		f := &database{ctx: t.Context(), r: bytes.NewReader(b), size: int64(len(b))}
		tables, err := f.schema()
		require.NoError(t, err)
		var got [][8]int64
		require.NoError(t, f.walk(tables["INDEXES"], 0, func(r *row) error {
			v, err := r.integers()
			got = append(got, v)
			return err
		}))
		require.Equal(t, want, got, "pages of %d bytes", page)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		f = &database{ctx: ctx, r: bytes.NewReader(b), size: int64(len(b))}
		_, err = f.schema()
		require.ErrorIs(t, err, context.Canceled)
	}
}

// FuzzSchema tests that SQLite makes a table with plain columns of every schema
// that is accepted.
func FuzzSchema(f *testing.F) {
	f.Add(plainIndexes)
	f.Add(strings.TrimSuffix(plainIndexes, ")") + `,INC_0 INT, a_0 TEXT, PRIMARY KEY(ROW_ID,INC_0))`)
	f.Add(strings.Replace(plainIndexes, "ROW_ID INT", "ROW_ID INT AS (1)", 1))
	f.Add(strings.Replace(plainIndexes, "ROW_ID INT", "ROW_ID INT GENERATED ALWAYS AS (1) STORED", 1))
	f.Add(strings.Replace(plainIndexes, "INT)", "INT, PRIMARY KEY(ROW_ID)) WITHOUT ROWID", 1))
	f.Add(plainShards)
	f.Fuzz(func(t *testing.T, sql string) {
		if !plainTable.MatchString(sql) {
			return
		}
		db, err := openDB(filepath.Join(t.TempDir(), "x.db"), "_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)")
		require.NoError(t, err)
		defer db.Close()
		if _, err := db.Exec(sql); err != nil {
			return
		}
		var plain int
		require.NoError(t, db.QueryRow(`SELECT COUNT(*) FROM sqlite_schema AS s JOIN pragma_table_xinfo(s.name) AS c WHERE s.type <> 'index' AND (c.hidden <> 0 OR s.type <> 'table')`).Scan(&plain))
		require.Zero(t, plain, sql)
	})
}

// FuzzIndex tests that an arbitrary index is an error, or gives the positions
// that the data file has.
func FuzzIndex(f *testing.F) {
	name := filepath.Join(goldens(f), "scalars")
	b, err := os.ReadFile(indexName(name))
	require.NoError(f, err)
	f.Add(b)
	d, err := openData(disk, name)
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, d.Close()) })
	for _, b := range attacks(f, d) {
		f.Add(b)
	}
	require.NoError(f, d.walk())
	f.Fuzz(func(t *testing.T, b []byte) {
		got := &data{name: d.name, h: d.h, groups: d.groups}
		if got.readTables(&database{ctx: t.Context(), r: bytes.NewReader(b), size: int64(len(b))}) == nil {
			require.Equal(t, d.blobEnds[len(d.blobEnds)-1], got.blobEnds[len(d.blobEnds)-1])
			require.Len(t, got.rawEnds, len(d.rawEnds))
		}
	})
}
