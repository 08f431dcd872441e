package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli"
)

// TestJpegli: pack writes other and smaller files with --encoder jpegli, the
// same with any number of jobs.
func TestJpegli(t *testing.T) {
	images, err := filepath.Abs("../../testdata/images")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	packed := map[string][]byte{}
	for name, args := range map[string]string{
		"turbo": "", "jpegli": "--encoder jpegli --jobs 1", "jobs": "--encoder jpegli --jobs 5", "quality": "--encoder jpegli --quality 50", "chroma": "--encoder jpegli --chroma 444",
	} {
		var out, errs bytes.Buffer
		all := append([]string{"pack", "recordio", "-q", "--recursive", "--exts", ".jpg", "--resize", "64"}, strings.Fields(args)...)
		require.Zero(t, cli.Run(t.Context(), append(all, "out/"+name, images), strings.NewReader(""), &out, &errs), errs.String())
		packed[name], err = os.ReadFile("out/" + name + ".rec")
		require.NoError(t, err)
	}
	require.True(t, bytes.Equal(packed["jpegli"], packed["jobs"]))
	require.Less(t, len(packed["jpegli"]), len(packed["turbo"]))
	for _, name := range []string{"quality", "chroma"} {
		require.False(t, bytes.Equal(packed["jpegli"], packed[name]), name)
	}

	// Without the hint of the light program.
	var out, errs bytes.Buffer
	require.Equal(t, 2, cli.Run(t.Context(), []string{"pack", "recordio", "--encoder", "libjpeg", "x", images}, strings.NewReader(""), &out, &errs))
	require.Contains(t, errs.String(), `infer-prep-full: --encoder "libjpeg": want turbo or jpegli`)
	errs.Reset()
	require.Equal(t, 1, cli.Run(t.Context(), []string{"run", "--preset", "decode", "-o", "x", "nothing://a"}, strings.NewReader(""), &out, &errs))
	require.Contains(t, errs.String(), "no store for nothing:// in this program")
	require.NotContains(t, errs.String(), "go install")
}
