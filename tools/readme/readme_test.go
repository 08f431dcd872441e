package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

const root = "../.."

// read returns the README and its Go programs, in order.
func read(t *testing.T) (text string, programs []string) {
	b, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	for _, m := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(b, -1) {
		programs = append(programs, string(m[1]))
	}
	return string(b), programs
}

// run runs the go command in the module's root.
func run(t *testing.T, args ...string) string {
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Run(), "go %s: %s", strings.Join(args, " "), errs.String())
	return out.String()
}

// TestPrograms runs gofmt, go vet and the programs of the README as printed.
func TestPrograms(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("this platform cannot run the go command")
	}
	text, programs := read(t)
	require.Len(t, programs, 2)
	dir := t.TempDir()
	var files []string
	for i, p := range programs {
		file := filepath.Join(dir, []string{"prep.go", "train.go"}[i])
		require.NoError(t, os.WriteFile(file, []byte(p), 0o644))
		files = append(files, file)
		run(t, "vet", file)
	}
	out, err := exec.Command("gofmt", append([]string{"-l"}, files...)...).Output()
	require.NoError(t, err)
	require.Empty(t, string(out), "not gofmt-ed")

	printed := run(t, "run", files[0], "preset:imagenet", "testdata/images/jpeg_large.jpg")
	require.Contains(t, text, "`"+strings.TrimSpace(printed)+"`", "the README states what the program prints")

	// Two classes of 20 images: a batch of 32 and one of 8.
	photos := filepath.Join(dir, "photos")
	image, err := os.ReadFile(filepath.Join(root, "testdata/images/jpeg_large.jpg"))
	require.NoError(t, err)
	for _, class := range []string{"cat", "dog"} {
		require.NoError(t, os.MkdirAll(filepath.Join(photos, class), 0o755))
		for i := range 20 {
			require.NoError(t, os.WriteFile(filepath.Join(photos, class, string(rune('a'+i))+".jpg"), image, 0o644))
		}
	}
	run(t, "build", "-o", filepath.Join(dir, "train"), files[1])
	cmd := exec.Command(filepath.Join(dir, "train"))
	cmd.Dir = dir
	train, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", train)
	require.Equal(t, "float32 (32, 3, 224, 224) int32 (32,)\nfloat32 (8, 3, 224, 224) int32 (8,)\n", string(train))
}

// TestShape holds the README to one screen's promises: its length, the commands
// on it, and links that lead somewhere.
func TestShape(t *testing.T) {
	text, _ := read(t)
	require.LessOrEqual(t, strings.Count(text, "\n"), 150, "lines")
	first := strings.Join(strings.SplitN(text, "\n", 30)[:29], "\n")
	for _, c := range []string{"go get ", "go install ./cmd/infer-prep", "pip install $(make -s wheel)", "npm install --prefix $APP $(make -s npm)", "make jar", "make aar", "go run ./cmd/infer-prep run ", "make test"} {
		require.Contains(t, first, c, "on the first screen")
	}
	for _, file := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "examples/README.md", "bench/README.md"} {
		links(t, file)
	}
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	formats, err := filepath.Glob(filepath.Join(root, "docs", "format", "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, formats)
	for _, d := range append(docs, formats...) {
		rel, err := filepath.Rel(root, d)
		require.NoError(t, err)
		links(t, rel)
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	for _, m := range regexp.MustCompile("`make ([a-z-]+)").FindAllStringSubmatch(text, -1) {
		require.Regexp(t, "(?m)^"+m[1]+":", string(makefile))
	}
}

// TestChangelog compares the numbers of ops in the change log with those that
// there are.
func TestChangelog(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	require.NoError(t, err)
	says := func(text string) {
		require.True(t, bytes.Contains(b, []byte(text)), "the change log does not say %q", text)
	}
	says(fmt.Sprintf("- %d ops with the bytes of", len(transforms.Ops())))
	small, err := os.ReadFile(filepath.Join(root, "transforms", "classification", "ops.txt"))
	require.NoError(t, err)
	n := len(regexp.MustCompile("(?m)^[a-z]").FindAll(small, -1))
	says(fmt.Sprintf("The small WebAssembly file has %d ops", n))
}

// links requires that each relative link of a Markdown file names a file.
func links(t *testing.T, file string) {
	b, err := os.ReadFile(filepath.Join(root, file))
	require.NoError(t, err)
	b = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`").ReplaceAll(b, nil) // code has no links
	for _, m := range regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`).FindAllSubmatch(b, -1) {
		to := string(m[1])
		if strings.Contains(to, "://") {
			continue
		}
		_, err := os.Stat(filepath.Join(root, filepath.Dir(file), to))
		require.NoError(t, err, "%s links to %s", file, to)
	}
}
