package sqlitetest

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/records/mindrecord"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestIndex rebuilds the indexes of MindSpore's files. SQLite accepts them and
// reads from them what it reads from MindSpore's.
func TestIndex(t *testing.T) {
	dir := goldens(t)
	want := map[string][][]any{}
	for name := range unpack(t, "files.tar.gz") {
		if !strings.HasSuffix(name, ".db") {
			want[name] = dump(t, filepath.Join(dir, name))
			require.NoError(t, os.Remove(filepath.Join(dir, name+".db")))
		}
	}
	require.Len(t, want, 22)
	for name := range want {
		require.NoError(t, mindrecord.Index(filepath.Join(dir, name)))
	}
	for name, rows := range want {
		require.Equal(t, singles(rows), singles(dump(t, filepath.Join(dir, name))))
	}
}

// singles rounds numbers to float32: MindSpore writes float32 0.1 as the
// float64 0.1.
func singles(rows [][]any) [][]any {
	for _, r := range rows {
		for i := range r {
			if v, ok := r[i].(float64); ok {
				r[i] = float32(v)
			}
		}
	}
	return rows
}

// scalar returns a value without axes.
func scalar[T int64 | float64](t testing.TB, d tensor.DType, v T) tensor.Tensor {
	x, err := tensor.New(tensor.Desc{DType: d})
	require.NoError(t, err)
	tensor.View[T](x)[0] = v
	return *x
}

// TestLarge writes sets whose indexes have inner pages on several levels, long
// rows, a long schema and a key of many columns. SQLite checks them and finds
// each row, also by its key.
func TestLarge(t *testing.T) {
	text := tensor.Encoded()
	for _, c := range []struct {
		fields, rows int
		text         func(i int) string
	}{
		{1, 100000, func(i int) string { return fmt.Sprint(i) }},
		{3, 3000, func(i int) string { return strings.Repeat("é", i*i%4000) }},
		{900, 300, func(i int) string { return fmt.Sprint(i) }},
	} {
		var s mindrecord.Schema
		for k := range c.fields {
			s.Fields = append(s.Fields, mindrecord.Field{Name: fmt.Sprintf("text%03d", k), Desc: text, Text: true})
		}
		s.Fields = append(s.Fields, mindrecord.Field{Name: "x", Desc: tensor.Desc{DType: tensor.Float64}}, mindrecord.Field{Name: "z", Desc: tensor.Desc{DType: tensor.Int64}})
		name := filepath.Join(t.TempDir(), "x")
		w, err := mindrecord.Create(name, s, mindrecord.WriterOptions{})
		require.NoError(t, err)
		reals := []float64{0, 1, -1, 0.5, 1 << 46, 1 << 47, 1 << 60, math.NaN(), math.Inf(-1), math.Copysign(0, -1)}
		for i := range c.rows {
			var row []tensor.Tensor
			for range c.fields {
				row = append(row, *tensor.FromBytes([]byte(c.text(i))))
			}
			require.NoError(t, w.Write(append(row, scalar(t, tensor.Float64, reals[i%len(reals)]), scalar(t, tensor.Int64, int64(i)<<40-int64(i)))))
		}
		require.NoError(t, w.Close())
		rows := dump(t, name)
		require.Len(t, rows, 3+c.rows)
		require.Len(t, rows[3], 8+2*(c.fields+2))
		for i, r := range rows[3:] {
			require.EqualValues(t, i, r[0])
			require.Equal(t, c.text(i), r[9])
			x, z := r[len(r)-3], r[len(r)-1]
			require.EqualValues(t, int64(i)<<40-int64(i), z)
			if v := reals[i%len(reals)]; v != v {
				require.Nil(t, x)
			} else {
				require.Equal(t, v, x)
			}
		}
		db := openDB(t, name+".db", "mode=ro")
		for i := 0; i < c.rows; i += 7 {
			var got string
			require.NoError(t, db.QueryRow(`SELECT text000_0 FROM INDEXES INDEXED BY sqlite_autoindex_INDEXES_1 WHERE ROW_ID = ? AND INC_0 = 0`, i).Scan(&got))
			require.Equal(t, c.text(i), got)
		}
		require.NoError(t, db.Close())
	}
}

// TestSchemaSizes has SQLite check indexes whose schema is as long as page 1,
// more or less.
func TestSchemaSizes(t *testing.T) {
	for size := range 130 {
		s := mindrecord.Schema{Fields: []mindrecord.Field{{Name: "a" + strings.Repeat("b", size), Desc: tensor.Desc{DType: tensor.Int64}}}}
		for k := range 29 {
			s.Fields = append(s.Fields, mindrecord.Field{Name: fmt.Sprintf("field%02d%s", k, strings.Repeat("c", 70)), Desc: tensor.Desc{DType: tensor.Int64}})
		}
		name := filepath.Join(t.TempDir(), "x")
		w, err := mindrecord.Create(name, s, mindrecord.WriterOptions{})
		require.NoError(t, err)
		var row []tensor.Tensor
		for k := range int64(30) {
			row = append(row, scalar(t, tensor.Int64, k))
		}
		require.NoError(t, w.Write(row))
		require.NoError(t, w.Close())
		require.Len(t, dump(t, name), 4)
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
	const columns = "ROW_ID, PAGE_ID_RAW, PAGE_OFFSET_RAW, PAGE_OFFSET_RAW_END, ROW_GROUP_ID, PAGE_ID_BLOB, PAGE_OFFSET_BLOB, PAGE_OFFSET_BLOB_END"
	dir := goldens(f)
	index, data := filepath.Join(dir, "scalars.db"), filepath.Join(dir, "scalars")
	var rows [][]any
	for _, r := range dump(f, data)[3:] {
		rows = append(rows, r[:8])
	}
	f.Fuzz(func(t *testing.T, sql string) {
		if !strings.HasPrefix(sql, "CREATE TABLE INDEXES") {
			return // for SQLite, which takes long
		}
		require.NoError(t, os.WriteFile(index, nil, 0o600))
		db := openDB(t, index, "_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)")
		defer db.Close()
		for _, q := range []string{sql, plainShards, insertShard} {
			if _, err := db.Exec(q); err != nil {
				return
			}
		}
		for _, r := range rows {
			if _, err := db.Exec(`INSERT INTO INDEXES(`+columns+`) VALUES(?,?,?,?,?,?,?,?)`, r...); err != nil {
				return
			}
		}
		s, err := mindrecord.Open([]string{data})
		if err != nil {
			require.NotEqual(t, plainIndexes, sql, err)
			return
		}
		require.NoError(t, s.Close())
		var other int
		require.NoError(t, db.QueryRow(`SELECT COUNT(*) FROM sqlite_schema AS s JOIN pragma_table_xinfo(s.name) AS c WHERE s.type <> 'index' AND (c.hidden <> 0 OR s.type <> 'table')`).Scan(&other))
		require.Zero(t, other, sql)
	})
}
