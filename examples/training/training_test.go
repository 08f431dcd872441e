package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// child is set in a process that is the program itself, to be killed. If pause
// is set too, the process waits after printing a line that contains its value:
// short trainings could end before they are killed.
const (
	child = "TRAINING_TEST_CHILD"
	pause = "TRAINING_TEST_PAUSE"
)

// pauser passes on what is printed and waits after a line.
type pauser struct{ at string }

func (p pauser) Write(b []byte) (int, error) {
	n, err := os.Stderr.Write(b)
	if p.at != "" && bytes.Contains(b, []byte(p.at)) {
		time.Sleep(time.Minute)
	}
	return n, err
}

func TestMain(m *testing.M) {
	if os.Getenv(child) != "" {
		if err := run(context.Background(), os.Args[1:], pauser{os.Getenv(pause)}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// results are the files that every training of the same data and options
// writes, byte for byte.
var results = []string{"checkpoint", "model.onnx", "model.bundle", "curve.json", "predictions.json", "curve.png", "confusion.png"}

func digests(t *testing.T, dir string) map[string]string {
	t.Helper()
	m := map[string]string{}
	for _, name := range results {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		m[name] = fmt.Sprintf("%x", sha256.Sum256(b))
	}
	return m
}

// trained runs a training to its end and returns what it prints.
func trained(t *testing.T, data, out string, args ...string) string {
	t.Helper()
	var w bytes.Buffer
	require.NoError(t, run(t.Context(), append([]string{"train", "-data", data, "-out", out}, args...), &w))
	return w.String()
}

// killed starts a training in a process of its own and kills it (SIGKILL on
// Unix) after it has printed a line that contains at. env is one more variable
// of its environment.
func killed(t *testing.T, env, at, data, out string, args ...string) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	c := exec.Command(exe, append([]string{"train", "-data", data, "-out", out}, args...)...)
	c.Env = append(os.Environ(), child+"=1", env)
	r, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	var seen []byte
	b := make([]byte, 4096)
	for !bytes.Contains(seen, []byte(at)) {
		n, err := r.Read(b)
		seen = append(seen, b[:n]...)
		require.NoError(t, err, "%s", seen)
	}
	require.NoError(t, c.Process.Kill())
	rest, _ := io.ReadAll(r)
	require.Error(t, c.Wait())
	require.NotContains(t, string(rest), "are recognised", "the training ended before it was killed")
}

// TestResume: a small training has the same files for any number of workers,
// and after two kills, for images in folders and in CIFAR-10's format.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, run(t.Context(), []string{"shapes", "-train", "40", "-test", "3", dir}, io.Discard))
	for _, kind := range []string{"shapes", "cifar"} {
		t.Run(kind, func(t *testing.T) {
			data := filepath.Join(dir, kind)
			out := func(name string) string { // equal paths in the files: they are relative to it
				return filepath.Join(t.TempDir(), name)
			}
			options := []string{"-epochs", "3", "-batch", "8", "-every", "3"}
			whole := out("whole")
			trained(t, data, whole, append(options, "-workers", "1")...)
			cut := out("cut")
			killed(t, pause+"=epoch 1/3, step 20", "epoch 1/3, step 20", data, cut, append(options, "-workers", "2")...)
			killed(t, pause+"=epoch 2/3, step 20", "epoch 2/3, step 20", data, cut, append(options, "-workers", "3")...)
			require.Contains(t, trained(t, data, cut, append(options, "-workers", "4")...), "resumed in epoch")
			want, got := digests(t, whole), digests(t, cut)
			if kind == "cifar" { // the paths of its test images are below out
				delete(want, "predictions.json")
				delete(got, "predictions.json")
			}
			require.Equal(t, want, got)
		})
	}
}

// TestCommands: wrong use.
func TestCommands(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ args, want string }{
		{"", "no command"}, {"tran", "unknown command"}, {"shapes", "want one folder"}, {"shapes -train 0 x", "1 to 100000"},
		{"train", "want -data and -out"}, {"train -data x -out y -epochs 0", "above 0"},
		{"train -data " + dir + " -out " + dir, "test"}, {"train -batc 3", "flag provided but not defined"},
	} {
		require.ErrorContains(t, run(t.Context(), strings.Fields(c.args), io.Discard), c.want, c.args)
	}
	require.NoError(t, run(t.Context(), []string{"help"}, io.Discard))
}

// TestInterrupt: an interrupted training saves a checkpoint and says so. It
// ends with the files of one that was not interrupted, and running it again
// changes none.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, makeShapes(dir, 40, 1))
	ctx, cancel := context.WithCancel(t.Context())
	w := &canceller{cancel: cancel}
	data, cut, whole := filepath.Join(dir, "shapes"), filepath.Join(dir, "cut"), filepath.Join(dir, "whole")
	options := []string{"-epochs", "2", "-batch", "8", "-every", "1000"}
	err := run(ctx, append([]string{"train", "-data", data, "-out", cut}, options...), w)
	require.ErrorContains(t, err, "interrupted in epoch 1; the same command resumes")
	require.Contains(t, trained(t, data, cut, options...), "resumed in epoch 1, after step 1")
	trained(t, data, whole, options...)
	want := digests(t, whole)
	require.Equal(t, want, digests(t, cut))
	trained(t, data, whole, options...)
	require.Equal(t, want, digests(t, whole))
}

// canceller cancels after the first line of progress.
type canceller struct{ cancel func() }

func (c *canceller) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("step 10")) {
		c.cancel()
	}
	return len(b), nil
}

// accuracy is the share of the test images that the whole training must reach.
const accuracy = 0.95

// TestTraining is make train-test: the training of the example with its
// defaults reaches its accuracy, is killed and resumed with equal files, and
// its predictions are those of ONNX Runtime through infer-prep and in Python.
func TestTraining(t *testing.T) {
	program, python := os.Getenv("TRAINING_INFER_PREP"), os.Getenv("TRAINING_PYTHON")
	if program == "" || python == "" || os.Getenv("INFER_PREP_ORT") == "" {
		t.Skip("TRAINING_INFER_PREP, TRAINING_PYTHON or INFER_PREP_ORT is not set: make train-test sets them")
	}
	dir := t.TempDir()
	require.NoError(t, run(t.Context(), []string{"shapes", dir}, io.Discard))
	t.Run("shapes", func(t *testing.T) {
		out := filepath.Join(dir, "out")
		t.Log(lastLine(trained(t, filepath.Join(dir, "shapes"), out)))
		cut := filepath.Join(dir, "cut")
		killed(t, pause+"=", "epoch 4/14, step 40", filepath.Join(dir, "shapes"), cut, "-workers", "1")
		resumed := trained(t, filepath.Join(dir, "shapes"), cut, "-workers", "3")
		require.Regexp(t, `resumed in epoch 4, after step [1-9]`, resumed)
		require.Equal(t, digests(t, out), digests(t, cut))
		checkPredictions(t, out, program, python)
	})
	t.Run("cifar", func(t *testing.T) {
		out := filepath.Join(dir, "cifar-out")
		t.Log(lastLine(trained(t, filepath.Join(dir, "cifar"), out)))
		checkPredictions(t, out, program, python)
	})
}

var lastLineOf = regexp.MustCompile(`[^\n]*\n$`)

func lastLine(s string) string { return strings.TrimSpace(lastLineOf.FindString(s)) }

// checkPredictions compares the predictions of every test image.
func checkPredictions(t *testing.T, out, program, python string) {
	b, err := os.ReadFile(filepath.Join(out, "predictions.json"))
	require.NoError(t, err)
	var l []prediction
	require.NoError(t, json.Unmarshal(b, &l))
	require.Len(t, l, 300)
	right := 0
	files := []string{}
	for _, p := range l {
		if p.Class == p.Label {
			right++
		}
		files = append(files, p.Path)
	}
	require.GreaterOrEqual(t, float64(right)/float64(len(l)), accuracy)

	bundle := filepath.Join(out, "model.bundle")
	opened, err := modelbundle.OpenStore(t.Context(), store.Local, bundle, modelbundle.Limits{})
	require.NoError(t, err)
	labels := opened.Labels()
	require.NoError(t, opened.Close())
	command := func(args ...string) string {
		c := exec.Command(program, args...)
		b, err := c.CombinedOutput()
		require.NoError(t, err, "%s", b)
		return string(b)
	}
	require.Contains(t, command("bundle", "verify", "--device", "ort:cpu", bundle), "4 golden samples are right")
	tensors, scores := filepath.Join(out, "tensors"), filepath.Join(out, "scores")
	command(append([]string{"run", "--bundle", bundle, "--keep-path", "-q", "-o", tensors}, files...)...)
	command(append([]string{"run", "--bundle", bundle, "--device", "ort:cpu", "--infer", "--keep-path", "-q", "-o", scores}, files...)...)

	c := exec.Command(python, append([]string{"predict.py", filepath.Join(out, "model.onnx")}, files...)...)
	c.Stderr = os.Stderr
	b, err = c.Output()
	require.NoError(t, err)
	var python3 []struct {
		SHA256 string    `json:"sha256"`
		Scores []float32 `json:"scores"`
	}
	require.NoError(t, json.Unmarshal(b, &python3))
	require.Len(t, python3, len(l))

	largest := 0.0
	for i, p := range l {
		require.Equal(t, p.SHA256, digest(readNPY(t, filepath.Join(tensors, p.Path+".npy"))), "%s: infer-prep run's tensor", p.Path)
		require.Equal(t, p.SHA256, python3[i].SHA256, "%s: Pillow's and numpy's tensor", p.Path)
		for what, got := range map[string][]float32{"infer-prep run --infer": readNPY(t, filepath.Join(scores, p.Path+".npy")), "Python": python3[i].Scores} {
			require.Len(t, got, len(labels))
			require.Equal(t, p.Class, labels[best(got)], "%s: %s", p.Path, what)
			// ONNX Runtime's sums have another order.
			require.InDeltaSlice(t, p.Scores, got, 1e-3, "%s: %s", p.Path, what)
			for k, x := range got {
				largest = max(largest, float64(max(x-p.Scores[k], p.Scores[k]-x)))
			}
		}
	}
	t.Logf("%d of %d test images are recognised; tensors equal in Go, infer-prep and Python; classes equal; scores differ by at most %.1e", right, len(l), largest)
}

func readNPY(t *testing.T, path string) []float32 {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	x, err := tensor.ReadNPY(f, 1<<20)
	require.NoError(t, err)
	return tensor.View[float32](x)
}
