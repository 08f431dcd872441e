package all

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/records"
	_ "github.com/infer-prep/infer-prep/records/all"
	"github.com/infer-prep/infer-prep/store/httpstore"
	"github.com/infer-prep/infer-prep/store/remote"
)

const secret = "SECRETSIGNATURE"

// answers are what a server sends in place of a good file.
var answers = map[string]http.HandlerFunc{
	"404":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
	"403":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
	"503":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
	"cut":   func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) },
	"empty": func(http.ResponseWriter, *http.Request) {},
	"text": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat("some,text\t5\nthat is no record\n", 30)))
	},
	"zeros": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 5000)) },
	"gzip":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("\x1f\x8b\x08\x00 and no more")) },
	"recordio": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("\x0a\x23\xd7\xce\xff\x00\x00\x00data"))
	},
	"json": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"images": [{"id": 1, "file_name": "a"}]`))
	},
	"large": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bytes.Repeat([]byte("x"), 3<<20)) },
}

// names are names of files with a signature.
func names(url string) (l []string) {
	for _, end := range []string{"rec", "tar", "tar.gz", "ark", "scp", "tfrecord", "mindrecord", "csv", "json", "lst", "npy", "x"} {
		l = append(l, url+"/data."+end+"?X-Amz-Signature="+secret)
	}
	return l
}

// TestSecrets: no error of a record reader or a source holds the signature of a
// presigned URL, whatever the server sends.
func TestSecrets(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the errors are the same on every platform")
	}
	t.Setenv("NETRC", filepath.Join(t.TempDir(), "none"))
	reached := map[string]bool{}
	failures := 0
	for what, answer := range answers {
		var asked atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			answer(w, r)
		}))
		defer server.Close()
		s := httpstore.New(remote.Options{Attempts: 1})
		check := func(who string, err error) {
			t.Helper()
			if asked.Swap(0) > 0 {
				reached[who] = true
			}
			if err != nil {
				failures++
				require.NotContains(t, err.Error(), secret, "%s, %s", who, what)
			}
		}
		for _, name := range names(server.URL) {
			_, err := records.Detect(t.Context(), s, name)
			check("detect", err)
			for _, f := range records.Formats() {
				r, err := f.Open(t.Context(), s, []string{name}, records.ReadOptions{})
				for n := 0; err == nil && n < 50; n++ {
					var to records.Record
					err = r.Next(&to)
				}
				if r != nil {
					_ = r.Close() // only the text of err matters
				}
				if err != io.EOF {
					check(f.Name, err)
				}
				if f.Verify != nil {
					_, err = f.Verify(t.Context(), s, []string{name}, records.ReadOptions{}, func(err error) { check(f.Name, err) })
					check(f.Name, err)
				}
			}
			for _, i := range dataset.Nodes() {
				src, ok := i.New().(dataset.Source)
				if !ok {
					continue
				}
				fill(src, name)
				if err := src.Validate(); err != nil {
					continue
				}
				d, err := src.Open(t.Context(), s)
				if err != nil {
					check(i.Name, err)
					continue
				}
				check(i.Name, readOne(t, d))
				_ = d.Close() // only the text of err matters
			}
		}
	}
	t.Logf("%d errors; who asked the server: %v", failures, reached)
	require.Greater(t, failures, 500)
	require.GreaterOrEqual(t, len(reached), 18, "%v", reached)
}

// fill gives the parameters of a source that are names the value name.
func fill(src dataset.Source, name string) {
	v := reflect.ValueOf(src).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		switch field := v.Type().Field(i).Name; {
		case f.Kind() == reflect.String && (field == "File" || field == "Dir" || field == "Path"):
			f.SetString(name)
		case f.Type() == reflect.TypeFor[[]string]() && (field == "Files" || field == "Patterns" || field == "Shards"):
			f.Set(reflect.ValueOf([]string{name}))
		case f.Kind() == reflect.String && field == "Usage":
			f.SetString("train")
		case f.Kind() == reflect.String && field == "Task":
			f.SetString("Detection")
		}
	}
}

func readOne(t *testing.T, d dataset.Data) error {
	switch d := d.(type) {
	case dataset.Rows:
		if d.Len() > 0 {
			return d.Read(t.Context(), 0, dataset.NewSample(d.Columns()))
		}
	case dataset.Stream:
		r, err := d.Start(t.Context(), 0)
		if err != nil {
			return err
		}
		err = r.Next(t.Context(), dataset.NewSample(d.Columns()))
		if cerr := r.Close(); err == nil {
			err = cerr
		}
		return err
	}
	return nil
}
