package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/job"
	"github.com/stretchr/testify/require"
)

func TestLabelsUsage(t *testing.T) {
	dir := tree(t, map[string][]byte{"a.png": pngBytes(t, 5, 4, 1)})
	at := func(n string) string { return filepath.Join(dir, n) }
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--top", "3", "-o", at("out")}, "--top: no model runs: want --infer or --model"},
		{[]string{"--softmax", "-o", at("out")}, "--softmax: no model runs"},
		{[]string{"--top", "-1", "-o", at("out")}, "--top -1: want at least 0"},
		{[]string{"--infer"}, "--infer: no model: want --bundle or --model FILE"},
		{nil, "no output folder: want -o DIR"},
		{[]string{"--lines", "--top", "1"}, "--top does not apply to --lines"},
	} {
		args := append([]string{"run", "--preset", "decode"}, c.args...)
		if len(c.args) == 0 || c.args[0] != "--lines" {
			args = append(args, at("a.png"))
		}
		r := call(t, args...)
		require.Equal(t, command.ExitUsage, r.status, c.args)
		require.Contains(t, r.stderr, c.want)
		require.NoDirExists(t, at("out"))
	}
}

// TestClassifierLabels: run prints the labels that the Python program finds.
func TestClassifierLabels(t *testing.T) {
	needORT(t)
	want := inClassifier(t)
	dir := t.TempDir()
	at := func(n string) string { return filepath.Join(dir, n) }
	run := []string{"run", "--bundle", classifierBundle(t), "--device", "ort:cpu", "--infer"}

	r := call(t, append(run, "images")...)
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	require.Len(t, lines, 4*len(want), "the model has four classes")
	for i, l := range lines {
		f := strings.Split(l, "\t")
		require.Len(t, f, 3)
		w := want[filepath.Base(f[0])]
		if i%4 == 0 {
			require.Equal(t, w.Label, f[1])
		}
	}
	require.Regexp(t, `^images/00.jpg\tred circle\t26\.75\d+\nimages/00.jpg\tred square\t13\.5`, filepath.ToSlash(r.stdout))

	r = call(t, append(run, "--top", "1", "--softmax", "images")...)
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Len(t, strings.Split(strings.TrimSpace(r.stdout), "\n"), len(want))
	require.Regexp(t, `^images/00.jpg\tred circle\t0.99999\d*\n`, filepath.ToSlash(r.stdout))

	// Files are written too, unless -o is left out.
	r = call(t, append(run, "--top", "2", "--json", "-o", at("out"), "images/03.jpg")...)
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	var l imageLine
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &l))
	require.Len(t, l.Labels, 2)
	require.Equal(t, job.Label{Label: "blue square", Index: 3, Score: l.Labels[0].Score}, l.Labels[0])
	require.InDelta(t, want["03.jpg"].Logits[3], l.Labels[0].Score, 1e-3)
	require.FileExists(t, l.Outputs[0].File)
	r = call(t, append(run, "--json", "images/03.jpg")...)
	require.Contains(t, r.stdout, `"outputs":[],"labels":[{"label":"blue square","index":3,"score":`)

	// No labels: as before.
	require.Equal(t, called{}, call(t, append(run, "--top", "0", "-q", "-o", at("out"), "images/03.jpg")...))
	require.Equal(t, called{}, call(t, append(run, "-q", "-o", at("out"), "images/03.jpg")...))
	require.Contains(t, call(t, append(run, "-q", "--top", "1", "-o", at("out"), "images/03.jpg")...).stdout, "\tblue square\t")
	r = call(t, append(run, "--top", "0", "images/03.jpg")...)
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, "want -o DIR")
	r = call(t, append(run, "--format", "npz", "images/03.jpg")...)
	require.Contains(t, r.stderr, "--format applies to files: want -o DIR")

	// A bundle without labels, and one whose labels do not fit.
	create := []string{"bundle", "create", "--torchvision", "transforms.json", "--model", "model.onnx", "-o", at("x.bundle")}
	succeed(t, create...)
	run[2] = at("x.bundle")
	r = call(t, append(run, "images/03.jpg")...)
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, "; no labels are printed, since the labels are unknown: want a --bundle that has some")
	require.NoError(t, os.WriteFile(at("labels"), []byte("a\nb\nc\n"), 0o600))
	succeed(t, append(create, "--unchecked-model", "--labels", at("labels"))...)
	require.Contains(t, call(t, append(run, "--top", "1", "images/03.jpg")...).stderr, "--top: no output of the model has a score for each of the 3 labels")
	require.Equal(t, called{}, call(t, append(run, "-q", "-o", at("out"), "images/03.jpg")...))

	// The best label is bold on a terminal.
	run[2] = classifierBundle(t)
	require.Contains(t, onTerminal(t, nil, append(run, "images/03.jpg")...).stdout, "\t\x1b[1mblue square\x1b[0m\t")
}
