package csv

import (
	"bytes"
	stdcsv "encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/golden"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestMindSpore(t *testing.T) {
	cases := golden.Load(t, "../../testdata/datasets/csv/mindspore.json")
	t.Chdir("../../testdata/datasets/csv")
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			if c.Name == "unended" {
				// MindSpore loses a row that has one column, if nothing ends
				// it.
				require.Len(t, c.Rows, 1)
				c.Rows = append(c.Rows, map[string]golden.Value{"x": {DType: "bytes", Hex: "32"}})
			}
			s := c.Specs(t, func() dataset.Node { return New() }).(*CSV)
			rename := func(from, to string) {
				require.Equal(t, from, c.Columns[0])
				c.Columns[0] = to
				for _, r := range c.Rows {
					r[to] = r[from]
					delete(r, from)
				}
			}
			switch c.Name {
			case "unnamed": // MindSpore's column has an empty name
				_, err := s.Open(t.Context(), store.Local)
				require.EqualError(t, err, "csv: invalid data: unnamed.csv: column 0 has no name in the header: want column_names with 3 names, or a file without it: pandas writes its index there unless to_csv has index=False")
				rename("", "index")
				s.ColumnNames = c.Columns
			case "bom": // MindSpore's name has it
				rename("\ufeffname", "name")
			}
			c.Compare(t, s)
		})
	}
}

// open opens files with the given contents.
func open(t testing.TB, o *CSV, texts ...string) (dataset.Rows, error) {
	t.Helper()
	o.Files = nil
	for i, x := range texts {
		o.Files = append(o.Files, filepath.Join(t.TempDir(), string(rune('a'+i))+".csv"))
		require.NoError(t, os.WriteFile(o.Files[i], []byte(x), 0o600))
	}
	data, err := o.Open(t.Context(), store.Local)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { data.Close() })
	return data.(dataset.Rows), nil
}

// plain returns a source without a header, with columns a, b, …
func plain(columns int, types ...tensor.DType) *CSV {
	o := New()
	o.Header, o.ColumnTypes = false, types
	for i := range columns {
		o.ColumnNames = append(o.ColumnNames, string(rune('a'+i)))
	}
	return o
}

func TestUnlikeMindSpore(t *testing.T) {
	d, err := open(t, plain(2), "\ufeff1,2\n3,4\n", "\ufeff5,6")
	require.NoError(t, err)
	require.EqualValues(t, 3, d.Len())
	for i, want := range []string{"1", "3", "5"} {
		s := dataset.NewSample(d.Columns())
		require.NoError(t, d.Read(t.Context(), int64(i), s))
		require.Equal(t, want, string(s.Values[0].Data))
	}
	_, err = open(t, plain(1), "\xff\xfea\x00")
	require.ErrorContains(t, err, "text in UTF-16: want UTF-8")
	d, err = open(t, New(), "\r\n\"x,\n\"\"y\",b\n1,2", "\"x,\n\"\"y\",b\r\n3,4")
	require.NoError(t, err)
	require.Equal(t, "x,\n\"y", d.Columns()[0].Name)
	require.EqualValues(t, 2, d.Len())
	o := New()
	o.ColumnNames = []string{"p"}
	d, err = open(t, o, "x\n1")
	require.NoError(t, err)
	require.Equal(t, "p", d.Columns()[0].Name)
	require.EqualValues(t, 1, d.Len())

	d, err = open(t, plain(2, tensor.Int64, tensor.Float64), "-9223372036854775808,1e-320\n")
	require.NoError(t, err)
	s := dataset.NewSample(d.Columns())
	require.NoError(t, d.Read(t.Context(), 0, s))
	require.EqualValues(t, int64(-1<<63), tensor.View[int64](&s.Values[0].Tensor)[0])
	require.Equal(t, 1e-320, tensor.View[float64](&s.Values[1].Tensor)[0])
}

// TestLong reads long fields and runs of empty lines, at and around the sizes
// of reads.
func TestLong(t *testing.T) {
	for _, n := range []int{1<<16 - 3, 1 << 16, 1<<16 + 1, 1<<20 - 2, 1 << 20, 1<<20 + 1} {
		long := strings.Repeat("x", n)
		d, err := open(t, plain(2), long+",y\n"+strings.Repeat("\n", n)+"a,\""+strings.Repeat("\"\"", n)+"\"\n\""+strings.Repeat("\n", n)+"\",z")
		require.NoError(t, err)
		require.EqualValues(t, 3, d.Len())
		s := dataset.NewSample(d.Columns())
		for i, want := range [][2]string{{long, "y"}, {"a", strings.Repeat(`"`, n)}, {strings.Repeat("\n", n), "z"}} {
			require.NoError(t, d.Read(t.Context(), int64(i), s))
			require.Equal(t, want[0], string(s.Values[0].Data))
			require.Equal(t, want[1], string(s.Values[1].Data))
		}
	}
}

// TestMalformedRows checks that a malformed row is an error and the others can
// be read.
func TestMalformedRows(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"1", "line 2 (offset 4): 1 fields, want 2"},
		{"1,2,3", "line 2 (offset 8): more than 2 fields"},
		{`1"2,3`, "line 2 (offset 5): a quote within an unquoted field"},
		{`"1"2,3`, `line 2 (offset 7): '2' after a closing quote`},
		{"x,2", `line 2 (offset 4): "x", want a valid int32`},
		{",2", `"", want a valid int32`},
		{" ,2", `" ", want a valid int32`},
		{"1.9,2", `"1.9", want a valid int32`},
		{"2147483648,2", `"2147483648", want a valid int32`},
		{"1,2x", `line 2 (offset 6): "2x", want a valid float32`},
		{"1,1e39", `"1e39", want a valid float32`},
		{"1,0x1p3", `want a valid float32`},
		{"1,1_000", `want a valid float32`},
	} {
		d, err := open(t, plain(2, tensor.Int32, tensor.Float32), "0,0\n"+c.text+"\n\n9,9\n")
		require.NoError(t, err)
		require.EqualValues(t, 3, d.Len())
		s := dataset.NewSample(d.Columns())
		require.NoError(t, d.Read(t.Context(), 0, s))
		require.NoError(t, d.Read(t.Context(), 2, s))
		require.EqualValues(t, 9, tensor.View[int32](&s.Values[0].Tensor)[0])
		err = d.Read(t.Context(), 1, s)
		require.ErrorIs(t, err, dataset.ErrData, c.text)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "a.csv")
		require.True(t, strings.HasSuffix(s.Key, "a.csv@4"), s.Key)
	}
	d, err := open(t, plain(2), "1,2\n\n3,\"4\n5,6\n")
	require.NoError(t, err)
	require.EqualValues(t, 2, d.Len())
	require.ErrorContains(t, d.Read(t.Context(), 1, dataset.NewSample(d.Columns())), "line 3 (offset 7): the file ends within quotes")
}

func TestErrors(t *testing.T) {
	for name, change := range map[string]func(o *CSV){
		"no files":             func(o *CSV) { o.Files = nil },
		`field_delim ""`:       func(o *CSV) { o.Delim = "" },
		`field_delim ";;"`:     func(o *CSV) { o.Delim = ";;" },
		`field_delim "\""`:     func(o *CSV) { o.Delim = `"` },
		`field_delim "\n"`:     func(o *CSV) { o.Delim = "\n" },
		"no column_names":      func(o *CSV) { o.Header = false },
		"column type uint8":    func(o *CSV) { o.ColumnTypes = []tensor.DType{tensor.Uint8} },
		"2 columns and 1":      func(o *CSV) { o.ColumnNames, o.ColumnTypes = []string{"a", "b"}, []tensor.DType{tensor.Int32} },
		`are named "a"`:        func(o *CSV) { o.ColumnNames = []string{"a", "a"} },
		"column 1 has no name": func(o *CSV) { o.ColumnNames = []string{"a", ""} },
	} {
		o := New("x.csv")
		change(o)
		require.ErrorIs(t, o.Validate(), dataset.ErrParam)
		require.ErrorContains(t, o.Validate(), name)
		_, err := o.Open(t.Context(), store.Local)
		require.ErrorIs(t, err, dataset.ErrParam)
	}
	for _, c := range []struct {
		want  string
		texts []string
	}{
		{"a.csv has no header", []string{""}},
		{"b.csv has no header", []string{"a,b\n1,2", "\n\n"}},
		{"b.csv line 2 (offset 1): the header differs from that of", []string{"a,b\n1,2\n", "\nb,a\n1,2\n"}},
		{"no row in 2 files", []string{"a,b", "a,b\n"}},
		{"column 1 has no name", []string{"a,\n1,2"}},
		{`two columns are named "a"`, []string{"a,a\n1,2"}},
		{"a quote within an unquoted field", []string{"a\"b\n1"}},
		{"more than 65536 columns", []string{strings.Repeat("a,", 1<<16) + "b\n"}},
	} {
		_, err := open(t, New(), c.texts...)
		require.ErrorIs(t, err, dataset.ErrData)
		require.ErrorContains(t, err, c.want)
	}
	o := New()
	o.ColumnNames = []string{"p"}
	_, err := open(t, o, "a,b\n1,2")
	require.ErrorContains(t, err, "2 columns, want the 1 of column_names")
	_, err = New(t.TempDir()+"/*").Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrData)
}

// TestAllocations allows one allocation per row: the key.
func TestAllocations(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("reading a file allocates in js")
	}
	o := New()
	o.ColumnTypes = []tensor.DType{tensor.Bytes, tensor.Int32, tensor.Float32, tensor.Int64, tensor.Float64}
	d, err := open(t, o, "a,b,c,d,e\n"+strings.Repeat("\"x\"\"y\",12,0.25,-7,1e-3\nlonger text,-123456,3.14159265358979,9007199254740993,0.1\n", 20))
	require.NoError(t, err)
	require.EqualValues(t, 1, golden.Allocs(t, d))
}

// FuzzRows compares rows with encoding/csv. It treats carriage returns as data
// and converts line ends within quotes, so inputs with them are compared with
// reading in pieces only.
func FuzzRows(f *testing.F) {
	for _, x := range []string{"a,b\n1,\"2\n3\"\n\n\"\"\"\",x", "a,b\r\n", `a"b`, `"a"b`, `"`, ",\n,", "\"a\n", "1,2\r3,4"} {
		f.Add([]byte(x), 3)
	}
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if n < 1 || n > 1<<10 || len(b) > 1<<10 {
			return
		}
		var starts []int64
		s := splitter{delim: ','}
		s.Reset()
		for i := 0; i < len(b); i += n {
			starts = s.Split(starts, b[i:min(i+n, len(b))], int64(i))
		}
		var rows [][]string
		good := true
		for i, at := range starts {
			end := int64(len(b))
			if i+1 < len(starts) {
				end = starts[i+1]
			}
			row := b[at:end]
			var fields []string
			take := func(k int, f field) error {
				fields = append(fields[:k], string(f.appendTo(nil)))
				return nil
			}
			pos, err := split(row, ',', true, take)
			require.LessOrEqual(t, pos, len(row))
			require.False(t, errors.Is(err, errCut))
			if err != nil {
				good = false
				continue
			}
			// Only line ends may remain.
			require.Empty(t, bytes.Trim(row[pos:], "\r\n"))
			rows = append(rows, fields)
			// A prefix of a row is either incomplete or the whole row.
			want := fields
			for k := range row {
				if _, err := split(row[:k], ',', false, take); err == nil {
					require.Equal(t, want, fields)
				}
			}
		}
		if bytes.ContainsRune(b, '\r') || !good {
			return
		}
		r := stdcsv.NewReader(bytes.NewReader(b))
		r.FieldsPerRecord = -1
		for i := 0; ; i++ {
			want, err := r.Read()
			if errors.Is(err, io.EOF) {
				require.Len(t, rows, i)
				return
			}
			require.NoError(t, err)
			require.Equal(t, want, rows[i])
		}
	})
}

func TestStore(t *testing.T) {
	sourcetest.Store(t, "../../testdata/datasets/csv", func(dir string) dataset.Source { return New(dir + "/header*.csv") })
}
