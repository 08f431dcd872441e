package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/pack"
)

// TestPackPlanned: a plan, its parts, and the check of all.
func TestPackPlanned(t *testing.T) {
	files := map[string][]byte{"in/y/bad.png": []byte("no image"), "in/README": nil}
	for i := range 7 {
		files[fmt.Sprintf("in/%c/%d.png", "xy"[i%2], i)] = pngBytes(t, 9+i, 8, uint8(i))
	}
	t.Chdir(tree(t, files))
	r := call(t, "pack", "plan", "-o", "plan.json", "--input", "classes", "--shards", "3", "--seed", "5", "--resize", "6", "in")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Regexp(t, `^plan.json: 8 samples in 3 shards, \d+ B; the listing plan.list has \d+ B; 1 file in no sample, such as README\n$`, r.stderr)
	r = call(t, "pack", "plan", "-o", "plan.json", "in")
	require.Equal(t, called{1, "", "infer-prep: pack: plan: plan.json: exists already; --force replaces it\n"}, r)

	// No shard is there, and no folder; then there is one of three.
	for range 2 {
		r = call(t, "pack", "finish", "--plan", "plan.json", "-o", "out")
		require.Equal(t, 1, r.status)
		require.Contains(t, r.stderr, "no shard is there; to pack all: infer-prep pack --plan plan.json -o out\n")
		require.NoError(t, os.MkdirAll("out", 0o777))
	}
	text := ""
	for i := range 2 {
		r = call(t, "pack", "--plan", "plan.json", "-o", "out", "--shard", fmt.Sprintf("%d/2", i))
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		text += r.stderr
		if i == 0 {
			r = call(t, "pack", "finish", "--plan", "plan.json", "-o", "out")
			require.Equal(t, 1, r.status)
			require.Contains(t, r.stderr, "shard 2 is missing: it was not packed; to pack it: infer-prep pack --plan plan.json --shard 2/3 -o out\n")
		}
	}
	require.Regexp(t, `(?m)^infer-prep: y/bad.png: position \d: .*unknown format.* \(image\)$`, text)
	require.Regexp(t, `(?m)^shard 0 of 3: 2 samples, .*samples/s$`, text)
	require.Contains(t, text, "1 bad sample left out (1 image)")
	require.Regexp(t, `(?m)^shards 1 to 2 of 3: `, text)
	r = call(t, "pack", "--plan", "plan.json", "-o", "out", "--json", "--verify")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	var report pack.PlannedReport
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &report))
	report.Seconds = 0
	size := report.Bytes
	require.Equal(t, pack.PlannedReport{Shards: 3, Of: 3, Resumed: 3, Samples: 8, Records: 7, Bytes: size, Bad: map[string]int64{"image": 1}, Missing: []int{}}, report)

	r = call(t, "pack", "finish", "--plan", "plan.json", "-o", "out", "--json", "--verify")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &report))
	require.Equal(t, int64(7), report.Records)
	r = call(t, "pack", "finish", "--plan", "plan.json", "-o", "out")
	require.Equal(t, called{0, "", fmt.Sprintf("out: 3 shards with 7 samples, %s; 1 bad sample left out (1 image)\n", command.ByteSize(float64(size)))}, r)
	require.Equal(t, []string{
		"classes.txt", "data-00000.json", "data-00000.tar", "data-00000.tar.index", "data-00001.json", "data-00001.tar",
		"data-00001.tar.index", "data-00002.json", "data-00002.tar", "data-00002.tar.index", "data-index.json",
	}, listFiles(t, "out"))

	// A shard is lost.
	require.NoError(t, os.Remove("out/data-00001.tar"))
	r = call(t, "pack", "finish", "--plan", "plan.json", "-o", "out", "--json")
	require.Equal(t, 1, r.status)
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &report))
	require.Equal(t, []int{1}, report.Missing)
	r = call(t, "pack", "--plan", "plan.json", "-o", "out", "--shard", "1/3", "-q")
	require.Equal(t, called{0, "", ""}, called{r.status, r.stdout, ""})
	require.Equal(t, command.ExitOK, call(t, "pack", "finish", "--plan", "plan.json", "-o", "out", "-q").status)

	// A bad sample ends the pack.
	r = call(t, "pack", "--plan", "plan.json", "-o", "strict", "--bad", "fail", "-q")
	require.Equal(t, 1, r.status)
	require.Regexp(t, `^infer-prep: pack: plan: y/bad.png: position \d: .* \(image\) \(\d of 3 shards done\)\n$`, r.stderr)

	// Another plan in the same folder.
	require.Equal(t, command.ExitOK, call(t, "pack", "plan", "-q", "-o", "other.json", "--shards", "3", "in").status)
	r = call(t, "pack", "--plan", "other.json", "-o", "out")
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, "the shard is of the plan")
	require.Equal(t, command.ExitOK, call(t, "pack", "--plan", "other.json", "-o", "out", "--force", "-q").status)

	// Interrupted after two samples.
	ctx, cancel := context.WithCancel(t.Context())
	done := 0
	var stderr bytes.Buffer
	a := &command.App{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &stderr, OnItem: func() {
		if done++; done == 4 {
			cancel()
		}
	}}
	require.Equal(t, command.ExitInterrupted, execute(ctx, a, []string{"pack", "--plan", "plan.json", "-o", "late", "-j", "1"}))
	require.Contains(t, stderr.String(), "give the same command again to go on")
	require.Equal(t, command.ExitOK, call(t, "pack", "--plan", "plan.json", "-o", "late", "-q").status)
	require.Equal(t, command.ExitOK, call(t, "pack", "finish", "--plan", "plan.json", "-o", "late", "-q", "--verify").status)
}

// TestPackPlannedGraph: shards of tensors are those of run.
func TestPackPlannedGraph(t *testing.T) {
	files := map[string][]byte{}
	for i := range 4 {
		files[fmt.Sprintf("in/%d.png", i)] = pngBytes(t, 9+i, 8, uint8(i))
	}
	t.Chdir(tree(t, files))
	require.Equal(t, command.ExitOK, call(t, "pack", "plan", "-q", "-o", "plan.json", "--preset", "clip", "in").status)
	require.Equal(t, command.ExitOK, call(t, "pack", "--plan", "plan.json", "-q", "-o", "out").status)
	require.Equal(t, command.ExitOK, call(t, "run", "--preset", "clip", "--format", "webdataset", "-q", "-o", "want", "in").status)
	got, err := os.ReadFile("out/data-00000.tar")
	require.NoError(t, err)
	want, err := os.ReadFile("want/data-00000.tar")
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// TestPackPlannedKinds: the kinds of inputs, and their defaults by name.
func TestPackPlannedKinds(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{
		"in/a.txt": []byte("a"), "in/a.cls": []byte("1"), "in/b.txt": []byte("b"), "in/p.png": pngBytes(t, 5, 5, 1),
		"a.lst": []byte("3\t1\t0.5\tin/p.png\n"), "m.jsonl": []byte(`{"source":"in/p.png","usage":"train","annotation":[{"name":"x"}]}` + "\n"),
	}))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--input", "samples", "in"}, "a.cls a.txt b.txt p.png"},
		{[]string{"in"}, "p.png"},
		{[]string{"a.lst"}, "in/p.json in/p.png"},
		{[]string{"m.jsonl"}, "in/p.cls in/p.png"},
		{[]string{"--input", "list", "--root", ".", "a.lst"}, "in/p.json in/p.png"},
		{[]string{"--exts", ".TXT", "in"}, "a.txt b.txt"},
	} {
		r := call(t, append([]string{"pack", "plan", "--force", "-q", "-o", "plan.json"}, c.args...)...)
		require.Equal(t, called{0, "", ""}, r)
		r = call(t, "pack", "--plan", "plan.json", "-o", "out", "--force", "-q")
		require.Equal(t, called{0, "", ""}, r, c.args)
		require.Equal(t, c.want, strings.Join(members(t, filepath.Join("out", "data-00000.tar")), " "))
	}
	r := call(t, "pack", "plan", "--force", "-o", "plan.json", "--format", "recordio", "--pack-label", "--name", "x", "a.lst", "--json")
	require.Equal(t, command.ExitOK, r.status)
	require.Contains(t, r.stdout, `"samples": 1`)
	require.Equal(t, command.ExitOK, call(t, "pack", "--plan", "plan.json", "-o", "rec", "-q").status)
	require.Equal(t, command.ExitOK, call(t, "pack", "finish", "--plan", "plan.json", "-o", "rec", "-q").status)
	require.Equal(t, []string{"x-00000.idx", "x-00000.json", "x-00000.rec", "x-index.json"}, listFiles(t, "rec"))
	b, err := os.ReadFile("rec/x-index.json")
	require.NoError(t, err)
	require.NotContains(t, string(b), "wids")
	b, err = os.ReadFile("rec/x-00000.idx")
	require.NoError(t, err)
	require.Equal(t, "3\t0\n", string(b))
}

func TestPackPlannedUsage(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"in/p.png": pngBytes(t, 5, 5, 1), "a.lst": []byte("0\t1\tin/p.png\n"), "bad.json": []byte("{}")}))
	require.Equal(t, command.ExitOK, call(t, "pack", "plan", "-q", "-o", "plan.json", "in").status)
	plan, err := os.ReadFile("plan.json")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("lost.json", []byte(strings.ReplaceAll(string(plan), "plan.list", "lost.list")), 0o666))
	require.NoError(t, os.WriteFile("damaged.json", []byte(strings.ReplaceAll(string(plan), "plan.list", "damaged.list")), 0o666))
	require.Equal(t, command.ExitOK, call(t, "pack", "plan", "-q", "-o", "jpegli.json", "--resize", "5", "in").status)
	resized, err := os.ReadFile("jpegli.json")
	require.NoError(t, err)
	require.Contains(t, string(resized), `"turbo"`)
	require.NoError(t, os.WriteFile("jpegli.json", []byte(strings.ReplaceAll(string(resized), `"turbo"`, `"github.com/gen2brain/jpegli v0.4.2"`)), 0o666))
	list, err := os.ReadFile("plan.list")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("damaged.list", list[:len(list)-1], 0o666))
	for want, c := range map[string][]string{
		"v0.4.2\": no such encoder in this program: want one of turbo, which write other bytes; the program infer-prep-full has jpegli: in a clone, go install -C cmd/infer-prep-full .": {"--plan", "jpegli.json", "-o", "out"},
		"no file for the plan":                     {"plan", "in"},
		"want one folder, list or manifest, got 0": {"plan", "-o", "p.json"},
		"--shards 0: want at least 1":              {"plan", "-o", "p.json", "--shards", "0", "in"},
		"want only one of them":                    {"plan", "-o", "p.json", "--shards", "1", "--samples-per-file", "2", "in"},
		"--resize changes images, but --preset":    {"plan", "-o", "p.json", "--resize", "5", "--preset", "clip", "in"},
		"--preset needs --format webdataset":       {"plan", "-o", "p.json", "--preset", "clip", "--format", "recordio", "in"},
		"--layout applies to a graph":              {"plan", "-o", "p.json", "--layout", "HWC", "in"},
		"--resize applies to images":               {"plan", "-o", "p.json", "--resize", "5", "--input", "samples", "in"},
		"--input samples needs --format":           {"plan", "-o", "p.json", "--format", "recordio", "--input", "samples", "in"},
		"--pack-label needs a list":                {"plan", "-o", "p.json", "--pack-label", "a.lst"},
		"--root applies to a list":                 {"plan", "-o", "p.json", "--root", "x", "in"},
		"--usage applies to a manifest":            {"plan", "-o", "p.json", "--usage", "x", "in"},
		"--exts applies to --input images":         {"plan", "-o", "p.json", "--exts", ".x", "a.lst"},
		`--exts "x": want extensions`:              {"plan", "-o", "p.json", "--exts", "x", "in"},
		`--input "folder"`:                         {"plan", "-o", "p.json", "--input", "folder", "in"},
		`--format "tar"`:                           {"plan", "-o", "p.json", "--format", "tar", "in"},
		"no plan: want --plan":                     {"-o", "out"},
		"no output: want -o":                       {"--plan", "plan.json"},
		`--shard "1"`:                              {"--plan", "plan.json", "-o", "out", "--shard", "1"},
		`--shard "2/2": want i/n with 0 <= i < n`:  {"--plan", "plan.json", "-o", "out", "--shard", "2/2"},
		"--jobs 0":  {"--plan", "plan.json", "-o", "out", "-j", "0"},
		`--bad "x"`: {"--plan", "plan.json", "-o", "out", "--bad", "x"},
		`bad.json: invalid plan: no "infer_prep_plan"`: {"--plan", "bad.json", "-o", "out"},
		"damaged.list: invalid plan: the listing is":   {"finish", "--plan", "damaged.json", "-o", "out"},
		`pack finish: unexpected argument "x"`:         {"finish", "x"},
	} {
		r := call(t, append([]string{"pack"}, c...)...)
		require.Equal(t, command.ExitUsage, r.status, "%v: %s", c, r.stderr)
		require.Contains(t, r.stderr, want)
	}
	for want, c := range map[string][]string{
		"gone.json":                      {"--plan", "gone.json", "-o", "out"},
		"lost.list":                      {"--plan", "lost.json", "-o", "out"},
		"no samples: want files with":    {"plan", "-o", "p.json", "--exts", ".gif", "in"},
		"gone":                           {"plan", "-o", "p.json", "gone"},
		"out":                            {"finish", "--plan", "plan.json", "-o", "out"},
		"ftp://x/y: no store for ftp://": {"plan", "-o", "p.json", "ftp://x/y"},
	} {
		r := call(t, append([]string{"pack"}, c...)...)
		require.Equal(t, command.ExitFailed, r.status, "%v: %s", c, r.stderr)
		require.Contains(t, r.stderr, want)
	}
}

// TestPackUntrustedPlan: a plan chooses neither the folder that is read nor
// limits above those of the flags, and finish finds a changed byte.
func TestPackUntrustedPlan(t *testing.T) {
	files := map[string][]byte{}
	for _, folder := range []string{"plans/in", "other"} {
		for i := range 3 {
			files[fmt.Sprintf("%s/x/%d.png", folder, i)] = pngBytes(t, 9+i, 8, uint8(i))
		}
	}
	t.Chdir(tree(t, files))
	plan := func(args ...string) {
		r := call(t, append([]string{"pack", "plan", "-q", "--force", "--input", "classes", "--shards", "2", "-o", "plans/plan.json"}, args...)...)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
	}
	pack := func(args ...string) called {
		return call(t, append([]string{"pack", "-q", "--plan", "plans/plan.json", "-o", "out"}, args...)...)
	}

	// Another folder.
	for _, root := range []string{"other", "."} {
		plan(root)
		r := pack()
		require.Equal(t, command.ExitUsage, r.status)
		require.Contains(t, r.stderr, "which is not in the plan's folder: want --root with the folder to read")
		require.NoDirExists(t, "out")
	}
	plan("other")
	require.Equal(t, command.ExitOK, pack("--root", "other").status)
	require.NoError(t, os.RemoveAll("out"))
	require.Equal(t, command.ExitOK, pack("--allow-outside").status)
	require.NoError(t, os.RemoveAll("out"))

	// Limits.
	for _, c := range [][3]string{{"limit-pixels", `"pixels": `, "0"}, {"limit-bytes", `"bytes": `, "0"}, {"limit-pixels", `"pixels": `, "200000000"}} {
		plan("--"+c[0], c[2], "plans/in")
		for _, of := range [][]string{{}, {"finish"}} {
			args := append(append([]string{"pack"}, of...), "-q", "--plan", "plans/plan.json", "-o", "out")
			r := call(t, args...)
			require.Equal(t, command.ExitUsage, r.status)
			require.Contains(t, r.stderr, "--"+c[0])
			r = call(t, append(args, "--"+c[0], c[2])...)
			require.Equal(t, command.ExitOK, r.status, r.stderr)
		}
		require.NoError(t, os.RemoveAll("out"))
	}

	// A changed byte.
	plan("plans/in")
	require.Equal(t, command.ExitOK, pack().status)
	b, err := os.ReadFile("out/data-00001.tar")
	require.NoError(t, err)
	b[len(b)/2] ^= 1
	require.NoError(t, os.WriteFile("out/data-00001.tar", b, 0o666))
	r := call(t, "pack", "finish", "-q", "--plan", "plans/plan.json", "-o", "out")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "shard 1 is missing: ")
	require.Equal(t, command.ExitOK, call(t, "pack", "finish", "-q", "--verify=false", "--plan", "plans/plan.json", "-o", "out").status)
}
