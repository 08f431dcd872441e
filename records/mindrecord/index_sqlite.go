//go:build (darwin && (amd64 || arm64)) || (freebsd && (386 || amd64 || arm || arm64)) || (linux && (386 || amd64 || arm || arm64 || loong64 || ppc64le || riscv64 || s390x)) || (openbsd && (amd64 || arm64)) || (netbsd && amd64) || (windows && (386 || amd64 || arm64))

package mindrecord

// These are the ports of modernc.org/sqlite; index_other.go has the other
// platforms.

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// ported reports whether this platform has SQLite.
const ported = true

// openDB opens a database of this program: one that somebody else wrote could
// run code. The name is escaped in a URI, so it may have any characters.
func openDB(name, mode string) (*sql.DB, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("mindrecord: %w", err)
	}
	if path = filepath.ToSlash(path); !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	db, err := sql.Open("sqlite", "file://"+(&url.URL{Path: path}).EscapedPath()+"?"+mode)
	if err != nil {
		return nil, fmt.Errorf("mindrecord: %s: %w", store.Redact(name), err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// writeIndex writes the index of a data file, from that file alone, into an
// empty file.
func (d *data) writeIndex(name string) (err error) {
	if err := d.walk(); err != nil {
		return err
	}
	db, err := openDB(name, "_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)")
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, db.Close()); err != nil {
			err = fmt.Errorf("mindrecord: %s: %w", store.Redact(name), err)
		}
	}()
	// MindSpore writes these spaces.
	table := `CREATE TABLE INDEXES(  ROW_ID               INT  NOT NULL, PAGE_ID_RAW          INT  NOT NULL, PAGE_OFFSET_RAW      INT  NOT NULL, ` +
		`PAGE_OFFSET_RAW_END  INT  NOT NULL, ROW_GROUP_ID         INT  NOT NULL, PAGE_ID_BLOB         INT  NOT NULL, PAGE_OFFSET_BLOB     INT  NOT NULL, PAGE_OFFSET_BLOB_END INT  NOT NULL`
	key, into := "ROW_ID", strings.Join(columns, ",")
	for i, field := range d.h.schema.Index {
		kind := "INTEGER"
		switch f := d.h.schema.Fields[d.h.schema.find(field)]; {
		case f.Text:
			kind = "TEXT"
		case f.Desc.DType == tensor.Float32 || f.Desc.DType == tensor.Float64:
			kind = "REAL"
		}
		table += fmt.Sprintf(",INC_%d INT, %s_0 %s", i, field, kind)
		key += fmt.Sprintf(",INC_%d", i)
		into += fmt.Sprintf(",INC_%d,%s_0", i, field)
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	for _, q := range []string{table + `, PRIMARY KEY(` + key + `))`, `CREATE TABLE SHARD_NAME(NAME TEXT NOT NULL)`} {
		if _, err := tx.Exec(q); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(`INSERT INTO SHARD_NAME(NAME) VALUES(?)`, d.address()); err != nil {
		return err
	}
	args := make([]any, len(columns)+2*len(d.h.schema.Index))
	insert, err := tx.Prepare(`INSERT INTO INDEXES(` + into + `) VALUES(?` + strings.Repeat(",?", len(args)-1) + `)`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	var buf []byte
	s := &d.h.schema
	seen := make([]bool, len(s.Fields))
	fields := make([]tensor.Tensor, len(s.Fields))
	wanted := make([]*tensor.Tensor, len(s.Fields))
	for _, name := range s.Index {
		i := s.find(name)
		wanted[i] = &fields[i]
	}
	for row := range d.rows() {
		g, blob, raw := d.places(row)
		r, err := d.record(d.groups[g].raw, raw, &buf)
		if err != nil {
			return err
		}
		if err := s.decodeRaw(wanted, r, seen); err != nil {
			return d.corrupt(d.groups[g].raw, raw[0], "%v", err)
		}
		args = append(args[:0], row, d.groups[g].raw, raw[0], raw[1], g, d.groups[g].blob, blob[0], blob[1])
		for _, name := range s.Index {
			args = append(args, 0, indexed(&fields[s.find(name)]))
		}
		if _, err := insert.Exec(args...); err != nil {
			return err
		}
	}
	done = true
	return tx.Commit()
}

// indexed returns a value for the index. As in MindSpore, text ends at its
// first zero byte.
func indexed(t *tensor.Tensor) any {
	switch t.DType {
	case tensor.Int32:
		return int64(tensor.View[int32](t)[0])
	case tensor.Int64:
		return tensor.View[int64](t)[0]
	case tensor.Float32:
		return float64(tensor.View[float32](t)[0])
	case tensor.Float64:
		return tensor.View[float64](t)[0]
	}
	s, _, _ := strings.Cut(string(t.Data), "\x00")
	return s
}
