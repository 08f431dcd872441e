//go:build unix

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// asProgram makes the test program run main, so that tests can start it.
const asProgram = "INFER_PREP_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestShellPipes: the program reads a shell's pipes, as a whole process, and
// ends quietly if nobody reads its answers.
func TestShellPipes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed, whose <(…) the test needs")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	photo, err := os.ReadFile("../../examples/classifier/images/00.jpg")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("in", 0o777))
	require.NoError(t, os.WriteFile("in/a.jpg", photo, 0o666))
	require.NoError(t, os.WriteFile("in/note.txt", []byte("no image"), 0o666))
	cmd := exec.Command(bash, "-e", "-o", "pipefail", "-c", `
		ip() { "$SELF" "$@"; }
		ip run -q --preset imagenet -o ref in/a.jpg
		same() { cmp ref/a.jpg.npy "$1"; }

		ip run -q --preset imagenet -o out - < in/a.jpg;                 same out/stdin.npy;           rm -r out
		cat in/a.jpg | ip run -q --preset imagenet -o out -;             same out/stdin.npy;           rm -r out
		cat in/a.jpg | ip run -q --preset imagenet -o out /dev/stdin;    same out/stdin.npy;           rm -r out
		ip run -q --preset imagenet -o out /dev/stdin < in/a.jpg;        same out/stdin.npy;           rm -r out
		ip run -q --preset imagenet -o out <(cat in/a.jpg);              same out/*.npy;               rm -r out
		ip run -q --preset imagenet -o out <(cat in/a.jpg) <(tar c in);  same out/*/in/a.jpg.npy;      rm -r out
		tar cz in | ip run -q --preset imagenet -o out -;                same out/stdin/in/a.jpg.npy;  rm -r out
		tar c in | ip run -q --preset imagenet -o out /dev/stdin;        same out/stdin/in/a.jpg.npy;  rm -r out
		cat in/a.jpg | ip run -q --preset imagenet -o - - | cmp - ref/a.jpg.npy

		ip diff --preset imagenet <(cat in/a.jpg) --against <(cat ref/a.jpg.npy)
		ip diff <(cat ref/a.jpg.npy) <(ip run -q --preset imagenet -o - in/a.jpg)
		ip graph infer --preset imagenet <(cat in/a.jpg)

		tar cf x.tar in
		ip records cat <(cat x.tar) | sed 's#/dev/fd/[0-9]*#x.tar#' | cmp - <(ip records cat x.tar)
		cat x.tar | ip records verify /dev/stdin
		ip records convert <(gzip -c x.tar) -q --to tfexample -o y.tfrecord
		ip records convert x.tar -q --to tfexample -o z.tfrecord
		cmp y.tfrecord z.tfrecord

		for i in {1..200}; do echo in/a.jpg; done | (ip run --preset imagenet --lines || [ $? = 1 ]) | head -c 100 | head -c 9`)
	cmd.Env = append(os.Environ(), "SELF="+self, asProgram+"=1")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.NoError(t, err, "%s%s", out, errs.String())
	require.Empty(t, errs.String())
	require.Contains(t, string(out), `{"line":1`)
}
