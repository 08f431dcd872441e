//go:build (darwin && (amd64 || arm64)) || (freebsd && (386 || amd64 || arm || arm64)) || (linux && (386 || amd64 || arm || arm64 || loong64 || ppc64le || riscv64 || s390x)) || (openbsd && (amd64 || arm64)) || (netbsd && amd64) || (windows && (386 || amd64 || arm64))

package mindrecord

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
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
