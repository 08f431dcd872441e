package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
)

const installs = ".ci/install runs it"

// excepted are the lines of shell blocks that are not run, by how they start.
var excepted = map[string]string{
	"go install ./cmd/infer-prep": installs,
	"pip install ":                installs,
	"npm install ":                installs,
	"make jar":                    installs,
	"make aar":                    installs,
	"go -C $APP ":                 installs,
	"make test":                   "it runs this test",
}

// fragments is the code around blocks of Go that are no programs, by file.
var fragments = map[string]string{
	"docs/datasets.md": `package fragment

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/save"
	t "github.com/infer-prep/infer-prep/transforms"
)

var _ = save.New

var _, _ = datagraph.New, t.NewDecode

func _(d *dataset.Dataset, run *dataset.Run, weights, losses []float64, err error) {
`,
	"docs/graphs.md": `package fragment

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	t "github.com/infer-prep/infer-prep/transforms"
)

var _ tensor.Desc

func _(after *datagraph.Graph) {
`,
}

// marked matches the line before a block that is not run. Readers see it.
var marked = regexp.MustCompile(`^\*Not run by the tests: (.*)\.\*$`)

// listening is where infer-prep serve listens without --listen.
const listening = "127.0.0.1:8000"

// block is a fenced block of a Markdown file.
type block struct {
	line     int // of the fence
	language string
	text     string
	skip     string // why it is not run; "" for most
}

// blocks reads the fenced blocks of a file.
func blocks(t *testing.T, file string) (l []block) {
	b, err := os.ReadFile(filepath.Join(root, file))
	require.NoError(t, err)
	var open *block
	before := "" // the last line with text
	for i, line := range strings.Split(string(b), "\n") {
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open == nil:
			open = &block{line: i + 1, language: language}
			if m := marked.FindStringSubmatch(before); m != nil {
				open.skip = m[1]
			}
		case fence:
			l, open = append(l, *open), nil
		case open != nil:
			open.text += line + "\n"
		}
		if strings.TrimSpace(line) != "" {
			before = line
		}
	}
	require.Nil(t, open, "%s: a block without end", file)
	return l
}

// clone copies the files of the repository, as a fresh clone has them. Those of
// test data, half of them, which no page changes, are hard links if possible.
func clone(t *testing.T) string {
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Skipf("this is no clone of the repository: git ls-files: %v", err)
	}
	dir := t.TempDir()
	for _, name := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		from, to := filepath.Join(root, name), filepath.Join(dir, name)
		info, err := os.Lstat(from)
		if os.IsNotExist(err) {
			continue // removed, but not committed
		}
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o777))
		if strings.Contains(name, "testdata/") && os.Link(from, to) == nil {
			continue
		}
		b, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to, b, info.Mode().Perm()))
	}
	return dir
}

// TestBlocks runs every shell block of the README and of docs as printed, in a
// fresh clone for each page, one block after another, and compiles every block
// of Go. Pages that are read together also run in one clone.
func TestBlocks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("blocks are for a shell with the tools of Linux")
	}
	if short.Step(t, 2) > 1 {
		t.Skip("emulated platforms do not run the blocks")
	}
	bin := t.TempDir()
	run(t, "build", "-o", filepath.Join(bin, "infer-prep"), "./cmd/infer-prep")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	pages := []string{"README.md"}
	for _, pattern := range []string{"docs/*.md", "docs/format/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		for _, f := range found {
			rel, err := filepath.Rel(root, f)
			require.NoError(t, err)
			pages = append(pages, rel)
		}
	}
	// A reader of both stays in one folder. The first page is alone there.
	t.Run("together", func(t *testing.T) { runPages(t, "docs/records.md", "docs/run.md") })
	pages = slices.DeleteFunc(pages, func(p string) bool { return p == filepath.FromSlash("docs/records.md") })
	for _, page := range pages {
		t.Run(page, func(t *testing.T) { runPages(t, page) })
	}
}

// runPages runs the blocks of pages, one page after another in one clone.
func runPages(t *testing.T, pages ...string) {
	dir := ""
	for _, page := range pages {
		dir = runPage(t, page, dir)
	}
}

// runPage runs the blocks of a page in the folder, or in a clone if it is
// empty. It returns the folder.
func runPage(t *testing.T, page, dir string) string {
	for _, b := range blocks(t, page) {
		if b.skip != "" {
			t.Logf("%s:%d is not run: %s", page, b.line, b.skip)
			continue
		}
		switch b.language {
		case "sh":
			if dir == "" {
				dir = clone(t)
			}
			runShell(t, dir, page, b)
		case "go":
			compile(t, page, b)
		case "python":
			t.Logf("%s:%d is not run: Python has its own tests", page, b.line)
		default: // an output, or the bytes of a file
		}
	}
	return dir
}

// runShell runs a block in the folder.
func runShell(t *testing.T, dir, page string, b block) {
	var script []string
	for _, line := range strings.Split(b.text, "\n") {
		reason := ""
		for start, r := range excepted {
			if strings.HasPrefix(line, start) {
				reason = r
			}
		}
		if reason != "" {
			t.Logf("%s:%d: %s is not run: %s", page, b.line, line, reason)
			continue
		}
		script = append(script, line)
	}
	text := strings.TrimSpace(strings.Join(script, "\n"))
	if text == "" {
		return
	}
	for _, tool := range []string{"curl", "jq", "python3", "base64", "tar"} {
		if _, err := exec.LookPath(tool); err != nil && regexp.MustCompile(`(?m)(^|[|$( ])`+tool+` `).MatchString(text) {
			t.Logf("%s:%d is not run: %s is not installed", page, b.line, tool)
			return
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	cmd := exec.CommandContext(ctx, "bash", "-e", "-c", text)
	cmd.Dir = dir
	if !strings.HasPrefix(text, "infer-prep serve") {
		defer stop()
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s:%d:\n%s\nprints:\n%s", page, b.line, text, tail(out))
		return
	}
	// A server runs until the page ends.
	listening := listening
	if m := regexp.MustCompile(`--listen (\S+)`).FindStringSubmatch(text); m != nil {
		listening = m[1]
	}
	if c, err := net.Dial("tcp", listening); err == nil {
		stop()
		require.NoError(t, c.Close())
		t.Skipf("%s:%d and the rest of the page are not run: another program listens on %s", page, b.line, listening)
	}
	cmd.Args[len(cmd.Args)-1] = "exec " + text // so that the signal reaches it
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // it was killed
	})
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", listening)
		return err == nil && c.Close() == nil
	}, time.Minute, 50*time.Millisecond, "%s:%d does not listen", page, b.line)
}

// tail returns the end of an output.
func tail(out []byte) string { return string(out[max(0, len(out)-2000):]) }

// compile compiles a block of Go.
func compile(t *testing.T, page string, b block) {
	text := b.text
	if !strings.HasPrefix(text, "package ") {
		require.Contains(t, fragments, page, "%s:%d is no program", page, b.line)
		text = fragments[page] + text + "}\n"
	}
	file := filepath.Join(t.TempDir(), "block.go")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	run(t, "vet", file)
}

// shown matches a test that a row of docs/seeds.md names.
var shown = regexp.MustCompile("`([a-z0-9_/.]+) ([Tt]est[A-Za-z_0-9]+)`")

// TestSeeds requires of each of the 22 claims of docs/seeds.md a block of that
// page, or tests that exist.
func TestSeeds(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root, "docs", "seeds.md"))
	require.NoError(t, err)
	headings := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(string(b), -1) {
		headings["#"+strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(m[1]), ",", ""), " ", "-")] = true
	}
	rows := 0
	for line := range strings.Lines(string(b)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 4 || strings.HasPrefix(line, "| claim") {
			continue
		}
		rows++
		by := strings.TrimSuffix(cells[3], " |")
		named := by == "above"
		for _, m := range regexp.MustCompile(`\[below\]\((#[a-z-]+)\)`).FindAllStringSubmatch(by, -1) {
			require.True(t, headings[m[1]], "%s: no heading %s", cells[0], m[1])
			named = true
		}
		for _, m := range shown.FindAllStringSubmatch(by, -1) {
			files, define := []string{filepath.Join(root, m[1])}, "def "+m[2]+"("
			if !strings.HasSuffix(m[1], ".py") {
				if files, err = filepath.Glob(filepath.Join(root, m[1], "*_test.go")); err != nil {
					require.NoError(t, err)
				}
				define = "func " + m[2] + "("
			}
			require.True(t, slices.ContainsFunc(files, func(name string) bool {
				b, err := os.ReadFile(name)
				return err == nil && strings.Contains(string(b), define)
			}), "%s: no %s in %s", cells[0], m[2], m[1])
			named = true
		}
		require.True(t, named, "%s: shown by %q, want a block or tests", cells[0], by)
	}
	require.Equal(t, 22, rows)
}
