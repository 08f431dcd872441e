package store_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store"
	_ "github.com/infer-prep/infer-prep/store/httpstore"
)

// TestSplit: a list of files of several stores, and a file whose name has a
// semicolon.
func TestSplit(t *testing.T) {
	dir := t.TempDir()
	local := filepath.ToSlash(filepath.Join(dir, "a.rec"))
	require.NoError(t, os.WriteFile(local, []byte("aa"), 0o600))
	literal := filepath.ToSlash(filepath.Join(dir, "b;c.rec"))
	require.NoError(t, os.WriteFile(literal, []byte("bb"), 0o600))
	s := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer s.Close()
	remote := s.URL + "/a.rec"

	for _, c := range []struct{ names, want []string }{
		{[]string{local + ";" + remote}, []string{local, remote}},
		{[]string{remote + ";;" + local + ";", literal}, []string{remote, local, literal}},
		{[]string{literal}, []string{literal}},
		{[]string{remote + ";" + remote + "?v=1"}, []string{remote, remote + "?v=1"}},
		{[]string{";"}, []string{}},
		{[]string{"", local}, []string{"", local}},
	} {
		require.Equal(t, c.want, store.Split(t.Context(), store.URI, c.names))
	}
	l, err := store.Files(t.Context(), store.URI, []string{local + ";" + remote, literal}, false)
	require.NoError(t, err)
	require.Len(t, l, 3)
	_, err = store.Files(t.Context(), store.URI, []string{local + ";" + dir + "/none"}, false)
	require.ErrorIs(t, err, os.ErrNotExist)
}
