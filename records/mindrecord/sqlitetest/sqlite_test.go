package sqlitetest

import (
	"archive/tar"
	"compress/gzip"
	"database/sql"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver
)

// testdata is the folder with the files of MindSpore and of SQLite.
const testdata = "../../../testdata/mindrecord"

// openDB opens a database. The name is escaped in a URI, so it may have any
// characters.
func openDB(t testing.TB, name, mode string) *sql.DB {
	path, err := filepath.Abs(name)
	require.NoError(t, err)
	if path = filepath.ToSlash(path); !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	db, err := sql.Open("sqlite", "file://"+(&url.URL{Path: path}).EscapedPath()+"?"+mode)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	return db
}

// made returns a database made by statements.
func made(t testing.TB, pragmas string, statements ...string) []byte {
	name := filepath.Join(t.TempDir(), "x.db")
	db := openDB(t, name, pragmas)
	for _, q := range statements {
		_, err := db.Exec(q)
		require.NoError(t, err, q)
	}
	require.NoError(t, db.Close())
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	return b
}

// dump returns the schema and the rows of an index, after SQLite's check of the
// whole file.
func dump(t testing.TB, name string) [][]any {
	db := openDB(t, name+".db", "mode=ro")
	defer db.Close()
	var verdict string
	require.NoError(t, db.QueryRow(`PRAGMA integrity_check`).Scan(&verdict))
	require.Equal(t, "ok", verdict, name)
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

// unpack returns the files of an archive of testdata.
func unpack(t testing.TB, archive string) map[string][]byte {
	f, err := os.Open(filepath.Join(testdata, archive))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		require.NoError(t, err)
		files[h.Name], err = io.ReadAll(r)
		require.NoError(t, err)
	}
}

// goldens unpacks the files that MindSpore wrote.
func goldens(t testing.TB) string {
	dir := t.TempDir()
	for name, b := range unpack(t, "files.tar.gz") {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	return dir
}
