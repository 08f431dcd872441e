// Package arch has one test: who may import whom.
package arch

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/infer-prep/infer-prep/"

func TestImports(t *testing.T) {
	ours := func(l ...string) (r []string) {
		for _, p := range l {
			r = append(r, module+p)
		}
		return r
	}
	and := func(l []string, more ...string) []string { return slices.Concat(l, more) }
	// What a package may import is what those below it may, and more.
	kernel := and(ours("internal/cpu", "internal/kernel"), "golang.org/x/sys/cpu")
	codec := and(ours("tensor", "internal/enum", "codec"), kernel...)
	jpegli := and(codec, "github.com/gen2brain/jpegli", "github.com/tetratelabs/wazero", "github.com/tetratelabs/wazero/", "golang.org/x/sys/")
	datagraph := and(ours("datagraph", "transforms", "rng", "internal/pass", "internal/spec", "internal/msgpread"), and(codec, "github.com/tinylib/msgp/", "github.com/philhofer/fwd")...)
	bundle := and(ours("modelbundle", "internal/mapfile"), datagraph...)
	data := and(ours("dataset", "store", "internal/engine", "internal/registry", "internal/filelock", "internal/mapfile"), datagraph...)
	engines := and(ours("pullpipe", "pipeline"), and(data, "golang.org/x/sys/")...)
	records := and(ours("store", "recordio", "rng", "internal/mapfile"), kernel...)
	format := and(ours("records", "tensor", "internal/enum"), records...)
	// SQLite and what it takes; nothing else may have it.
	mindrecord := and(ours("records/mindrecord", "internal/msgpread"), and(format, "github.com/tinylib/msgp/", "github.com/philhofer/fwd", "modernc.org/", "golang.org/x/sys/",
		"github.com/dustin/go-humanize", "github.com/google/uuid", "github.com/mattn/go-isatty", "github.com/ncruces/go-strftime", "github.com/remyoudompheng/bigfft")...)
	for _, c := range []struct {
		pkg     string
		allowed []string
	}{
		{"tensor", nil},
		{"internal/kernel", kernel},
		{"rng", kernel},
		{"store", ours("internal/mapfile")},
		{"recordio", records},
		{"recordio/imagerecord", nil},
		{"records", and(ours("tensor", "internal/enum"), records...)},
		{"records/mxrecord", and(ours("recordio/imagerecord"), format...)},
		{"records/kaldi", format},
		{"records/tfrecord", format},
		{"records/tfexample", and(ours("records/tfrecord"), and(format, "google.golang.org/protobuf/")...)},
		{"records/webdataset", and(format, "github.com/klauspost/compress", "github.com/klauspost/compress/")},
		{"records/mindrecord", mindrecord},
		{"dataset/mindrecord", and(mindrecord, data...)},
		{"codec", ours("tensor", "internal/enum")},
		{"codec/jpeg", codec},
		{"datagraph", datagraph},
		{"diff", datagraph},
		{"modelbundle", bundle},
		{"onnx", and(bundle, "google.golang.org/protobuf/")},
		{"device", and(bundle, "golang.org/x/sys/")},
		{"dataset", data},
		{"dataset/webdataset", and(ours("store", "recordio", "rng", "records", "records/webdataset"), and(data, "github.com/klauspost/compress", "github.com/klauspost/compress/")...)},
		{"dataset/tfrecord", and(ours("store", "recordio", "records", "records/tfrecord"), data...)},
		{"dataset/kaldi", and(ours("store", "recordio", "records", "records/kaldi", "dataset/internal/lines"), data...)},
		{"pullpipe", data},
		{"pipeline", engines},
		{"compat/mxnet", and(ours("store", "recordio", "recordio/imagerecord", "dataset/imagerecord", "codec/jpeg", "codec/png", "codec/internal/"), engines...)},
		{"compat/paddle", engines},
		{"codec/jpegli", jpegli},
		{"pack", and(ours("internal/ordered", "internal/spec", "internal/msgpread", "internal/filelock", "transforms", "store", "recordio", "recordio/imagerecord", "internal/mapfile", "rng", "codec/jpegli", "records", "records/kaldi", "records/webdataset"), and(jpegli, "github.com/klauspost/compress", "github.com/klauspost/compress/", "github.com/tinylib/msgp/", "github.com/philhofer/fwd")...)},
		{"eager", []string{module, "github.com/tinylib/msgp/", "github.com/philhofer/fwd", "golang.org/x/image/", "golang.org/x/sys/cpu"}},
	} {
		t.Run(c.pkg, func(t *testing.T) {
			out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", module+c.pkg).Output()
			require.NoError(t, err)
			deps := strings.Fields(string(out))
			require.Contains(t, deps, module+c.pkg)
			for _, d := range deps {
				if d == module+c.pkg || d == module+"internal/registry" { // any package may have a registry
					continue
				}
				ok := false
				for _, a := range c.allowed {
					ok = ok || d == a || strings.HasSuffix(a, "/") && strings.HasPrefix(d, a)
				}
				require.True(t, ok, "%s imports %s", c.pkg, d)
			}
			if c.pkg == "datagraph" || c.pkg == "modelbundle" || c.pkg == "onnx" || c.pkg == "dataset" || c.pkg == "pullpipe" {
				require.NotContains(t, deps, module+"codec/jpeg", "formats are linked by whoever wants them")
			}
		})
	}
}

// TestSQLite: only those who import MindRecord link SQLite.
func TestSQLite(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"dataset/all", module+"compat/...").Output()
	require.NoError(t, err)
	require.NotContains(t, string(out), "modernc.org/")
}
