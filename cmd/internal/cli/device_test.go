package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/bundle"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/device"
	_ "github.com/infer-prep/infer-prep/device/ort"
	"github.com/infer-prep/infer-prep/tensor"
)

func ortModel(name string) string {
	return filepath.Join("..", "..", "..", "device", "ort", "testdata", name+".onnx")
}

// needORT skips the test unless make test-device has set the path of ONNX
// Runtime.
func needORT(t *testing.T) {
	if os.Getenv("INFER_PREP_ORT") == "" {
		t.Skip("ONNX Runtime is not there: make test-device installs it and sets INFER_PREP_ORT")
	}
}

func TestDeviceFlags(t *testing.T) {
	dir := tree(t, map[string][]byte{"a.png": pngBytes(t, 40, 30, 1), "empty.onnx": nil})
	a, out := filepath.Join(dir, "a.png"), filepath.Join(dir, "out")
	for _, c := range []struct {
		args   []string
		status int
		stderr string
	}{
		{[]string{"--device", "npu"}, command.ExitUsage, `--device npu: device: unknown device "npu"; did you mean "cpu"?`},
		{[]string{"--device", "cpu,threads=2"}, command.ExitUsage, "unknown options [threads]: the device has no options"},
		{[]string{"--device", "ort:cpu,form=all"}, command.ExitUsage, `form="all"`},
		{[]string{"--device", "ort:cpu,lib=" + filepath.Join(dir, "none")}, command.ExitFailed, "device is not available"},
		{[]string{"--least", "unsupported", "--device", "ort:cpu"}, command.ExitUsage, "--least"},
		{[]string{"--infer"}, command.ExitUsage, "--infer: no model"},
		{[]string{"--model", filepath.Join(dir, "none.onnx")}, command.ExitUsage, "none.onnx"},
		{[]string{"--model", filepath.Join(dir, "empty.onnx")}, command.ExitUsage, "the file is empty"},
		{[]string{"--model", ortModel("plain")}, command.ExitFailed, "cpu runs only graphs; use ort:cpu for the model"},
	} {
		r := call(t, append([]string{"run", "--preset", "imagenet", "-o", out, a}, c.args...)...)
		require.Equal(t, c.status, r.status, "%v: %s", c.args, r.stderr)
		require.Contains(t, r.stderr, c.stderr)
	}
	require.NoDirExists(t, out)

	// --device cpu equals the default.
	for _, args := range [][]string{{}, {"--device", "cpu", "--least", "exact"}} {
		require.Equal(t, called{}, call(t, append([]string{"run", "--preset", "imagenet", "-q", "-o", out, a}, args...)...))
	}
	for _, args := range [][]string{{"run"}, {"graph", "plan"}, {"bundle", "verify"}} {
		r := call(t, append(args, "--device", "help")...)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		require.Regexp(t, `(?m)^cpu +the reference`, r.stdout)
		require.Regexp(t, `(?m)^ort:cuda +.*\(untested\)$`, r.stdout)
	}
}

func TestPlanDevice(t *testing.T) {
	r := call(t, "graph", "plan", "--preset", "imagenet", "--device", "cpu")
	require.Equal(t, called{stdout: `STEP  OP           WHERE  CLASS  WHY
0     decode       cpu    exact
1     resize       cpu    exact
2     center_crop  cpu    exact
3     to_tensor    cpu    exact
4     normalize    cpu    exact

cpu: exact
`}, r)

	needORT(t)
	r = call(t, "graph", "plan", "--preset", "imagenet", "--device", "ort:cpu", "--json")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	var plan struct {
		Device string
		Class  device.Class
		Steps  device.Placement
	}
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &plan))
	require.Equal(t, "ort:cpu", plan.Device)
	require.Equal(t, device.Exact, plan.Class)
	require.Equal(t, device.Place{Step: 4, Op: "normalize", Where: "ort:cpu", Class: device.Exact}, plan.Steps[4])

	r = call(t, "graph", "plan", "--preset", "imagenet", "--device", "ort:cpu,form=fast", "--least", "exact")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stdout, "ort:cpu: within1")
	require.Contains(t, r.stderr, "want exact: step 1 (resize) on ort:cpu is within1")
}

// TestBundleOnDevice: a bundle's graph and model run together, and its golden
// samples prove the device.
func TestBundleOnDevice(t *testing.T) {
	needORT(t)
	dir := tree(t, map[string][]byte{"a.png": pngBytes(t, 40, 30, 1), "b.png": pngBytes(t, 31, 50, 2)})
	at := func(name string) string { return filepath.Join(dir, name) }
	r := call(t, "bundle", "create", "--preset", "imagenet", "--model", ortModel("batched"), "--golden", at("a.png"), "--golden", at("b.png"), "-o", at("net.bundle"))
	require.Equal(t, called{}, r)

	r = call(t, "bundle", "verify", "--device", "ort:cpu", at("net.bundle"))
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Contains(t, r.stdout, "are right; ort:cpu is exact")
	r = call(t, "bundle", "verify", "--json", "--device", "ort:cpu,form=exact", at("net.bundle"))
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	var v bundle.Verdict
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &v))
	require.Len(t, v.Device.Outputs, 2)
	require.Zero(t, v.Device.Outputs[0].Differ)
	require.EqualValues(t, 3*224*224, v.Device.Outputs[0].Of)
	// The bundle requires exact.
	r = call(t, "run", "--bundle", at("net.bundle"), "--device", "ort:cpu,form=fast", "-o", at("out"), at("a.png"))
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "less exact than accepted")

	for _, c := range []string{"cpu", "ort:cpu", "ort:cpu,form=exact"} {
		r = call(t, "run", "--bundle", at("net.bundle"), "--device", c, "-q", "-o", at(c), at("a.png"), at("b.png"))
		require.Equal(t, called{}, r)
	}
	require.Equal(t, called{}, call(t, "run", "--bundle", at("net.bundle"), "--device", "ort:cpu", "--infer", "-q", "-o", at("model"), at("a.png"), at("b.png")))
	for _, name := range []string{"a.png", "b.png"} {
		want := readNPY(t, at("cpu/"+name+".npy"))
		require.Equal(t, want, readNPY(t, at("ort:cpu/"+name+".npy")))
		require.Equal(t, want, readNPY(t, at("ort:cpu,form=exact/"+name+".npy")))
		got := readNPY(t, at("model/"+name+".linear.npy"))
		require.Equal(t, "float32 (1, 3, 224, 224)", got.Desc.String())
		for i, x := range tensor.View[float32](want) {
			require.Equal(t, float32(x*2)+1, tensor.View[float32](got)[i], "at %d", i)
		}
		require.Equal(t, "int64 (1, 224, 224)", readNPY(t, at("model/"+name+".best.npy")).Desc.String())
	}

	r = call(t, "run", "--bundle", at("net.bundle"), "--device", "ort:cpu", "--infer", "--batch", "-o", at("out"), at("a.png"))
	require.Equal(t, command.ExitUsage, r.status)
	r = call(t, "run", "--bundle", at("net.bundle"), "--device", "ort:azure", "--infer", "-o", at("out"), at("a.png"))
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "less exact than accepted")
	r = call(t, "run", "--bundle", at("net.bundle"), "--device", "ort:azure,form=host", "--infer", "-o", at("out"), at("a.png"))
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "the runtime fell back to another device")
	require.NoDirExists(t, at("out"))
}
