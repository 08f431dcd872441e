// Package arch has one test: who may import whom.
package arch

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/infer-prep/infer-prep/"

func TestImports(t *testing.T) {
	for _, c := range []struct {
		pkg     string
		allowed []string // of this module and beyond; std is always allowed
	}{
		{"tensor", nil},
		{"internal/kernel", []string{module + "internal/cpu", "golang.org/x/sys/cpu"}},
		{"rng", []string{module + "internal/kernel", module + "internal/cpu", "golang.org/x/sys/cpu"}},
		{"recordio", []string{module + "internal/mapfile", module + "rng", module + "internal/kernel", module + "internal/cpu", "golang.org/x/sys/cpu"}},
		{"recordio/imagerecord", nil},
		{"records/tfrecord", nil},
		{"records/webdataset", []string{module + "internal/mapfile", module + "recordio", module + "rng", module + "internal/kernel", module + "internal/cpu", "golang.org/x/sys/cpu", "github.com/klauspost/compress", "github.com/klauspost/compress/"}},
		{"codec", []string{module + "tensor", module + "internal/enum"}},
		{"codec/jpeg", []string{module + "tensor", module + "internal/enum", module + "internal/kernel", module + "internal/cpu", "golang.org/x/sys/cpu", module + "codec"}},
		{"datagraph", []string{
			module + "rng", module + "internal/spec", module + "internal/msgpread", module + "tensor", module + "internal/enum", module + "internal/kernel", module + "internal/cpu", module + "codec", module + "transforms",
			"github.com/tinylib/msgp/", "github.com/philhofer/fwd", "golang.org/x/sys/cpu",
		}},
		{"modelbundle", []string{
			module + "internal/mapfile", module + "datagraph", module + "rng", module + "internal/spec", module + "internal/msgpread", module + "tensor", module + "internal/enum", module + "internal/kernel", module + "internal/cpu",
			module + "codec", module + "transforms", "github.com/tinylib/msgp/", "github.com/philhofer/fwd", "golang.org/x/sys/cpu",
		}},
		{"onnx", []string{
			module + "internal/mapfile", module + "modelbundle", module + "datagraph", module + "rng", module + "internal/spec", module + "internal/msgpread", module + "tensor", module + "internal/enum", module + "internal/kernel",
			module + "internal/cpu", module + "codec", module + "transforms", "github.com/tinylib/msgp/", "github.com/philhofer/fwd", "golang.org/x/sys/cpu", "google.golang.org/protobuf/",
		}},
		{"dataset", []string{
			module + "internal/mapfile", module + "datagraph", module + "rng", module + "internal/spec", module + "internal/msgpread", module + "tensor", module + "internal/enum", module + "internal/kernel",
			module + "internal/cpu", module + "codec", module + "transforms", "github.com/tinylib/msgp/", "github.com/philhofer/fwd", "golang.org/x/sys/cpu",
		}},
		{"pullpipe", []string{
			module + "internal/mapfile", module + "dataset", module + "datagraph", module + "rng", module + "internal/spec", module + "internal/msgpread", module + "tensor", module + "internal/enum", module + "internal/kernel",
			module + "internal/cpu", module + "codec", module + "transforms", "github.com/tinylib/msgp/", "github.com/philhofer/fwd", "golang.org/x/sys/cpu",
		}},
		{"pipeline", []string{
			module + "internal/mapfile", module + "dataset", module + "datagraph", module + "rng", module + "internal/spec", module + "internal/msgpread", module + "tensor", module + "internal/enum", module + "internal/kernel",
			module + "internal/cpu", module + "codec", module + "transforms", "github.com/tinylib/msgp/", "github.com/philhofer/fwd", "golang.org/x/sys/",
		}},
		{"compat/mxnet", []string{
			module + "internal/mapfile", module + "dataset", module + "pullpipe", module + "pipeline", module + "datagraph", module + "rng", module + "internal/spec", module + "internal/msgpread", module + "tensor", module + "internal/enum",
			module + "internal/kernel", module + "internal/cpu", module + "codec", module + "codec/jpeg", module + "codec/png", module + "codec/internal/", module + "transforms",
			module + "recordio", module + "recordio/imagerecord", module + "dataset/imagerecord", "github.com/tinylib/msgp/", "github.com/philhofer/fwd", "golang.org/x/sys/",
		}},
		{"compat/paddle", []string{
			module + "internal/mapfile", module + "dataset", module + "pipeline", module + "datagraph", module + "rng", module + "internal/spec", module + "internal/msgpread", module + "tensor", module + "internal/enum",
			module + "internal/kernel", module + "internal/cpu", module + "codec", module + "transforms", "github.com/tinylib/msgp/", "github.com/philhofer/fwd", "golang.org/x/sys/",
		}},
		{"device", []string{
			module + "internal/mapfile", module + "modelbundle", module + "datagraph", module + "rng", module + "internal/spec", module + "internal/msgpread", module + "tensor", module + "internal/enum", module + "internal/kernel", module + "internal/cpu",
			module + "codec", module + "transforms", "github.com/tinylib/msgp/", "github.com/philhofer/fwd", "golang.org/x/sys/",
		}},
		{"eager", []string{module, "github.com/tinylib/msgp/", "github.com/philhofer/fwd", "golang.org/x/image/", "golang.org/x/sys/cpu"}},
	} {
		t.Run(c.pkg, func(t *testing.T) {
			out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", module+c.pkg).Output()
			require.NoError(t, err)
			deps := strings.Fields(string(out))
			require.Contains(t, deps, module+c.pkg)
			for _, d := range deps {
				if d == module+c.pkg {
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
