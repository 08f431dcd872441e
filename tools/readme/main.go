// Command readme writes the version of internal/version into the files that
// repeat it. Where a page says how to install, it writes whether the version is
// published, as the heading of CHANGELOG.md says.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/infer-prep/infer-prep/internal/version"
)

//go:generate go run . ../..

// repeated lists the files that repeat the version. The first group of a
// pattern is the version.
var repeated = []struct{ file, pattern string }{
	{"wasm/package.json", `(?m)^  "version": "(.*)",$`},
	{"wasm/package-lock.json", `(?m)^ +"name": "infer-prep",\n +"version": "(.*)",$`},
	{"mobile/pom.xml", `<revision>(.*)</revision>`},
	{"mobile/README.md", `infer-prep(?:-android)?[-:](\d+\.\d+\.\d+)`},
	{"capi/infer_prep.h", `(?m)^#define IP_VERSION "(.*)"$`},
	{"rust/infer-prep-sys/Cargo.toml", `(?m)^version = "(.*)"$`},
	{"rust/infer-prep/Cargo.toml", `(?m)^(?:infer-prep-sys = \{ )?version = "(\d+\.\d+\.\d+)"`},
	{"rust/Cargo.lock", `name = "infer-prep(?:-sys)?"\nversion = "(.*)"`},
	{"rust/examples/Cargo.lock", `name = "infer-prep(?:-sys)?"\nversion = "(.*)"`},
	{"examples/spark/pom.xml", `<artifactId>infer-prep(?:-spark)?</artifactId>\n +<version>(.*)</version>`},
	{"examples/spark/README.md", `infer-prep(?:-spark)?-(\d+\.\d+\.\d+)`},
	{"README.md", `github\.com/infer-prep/infer-prep@v(\d+\.\d+\.\d+)`},
}

// installing lists the pages that say how to install a published version.
var installing = []string{"README.md", "docs/python.md", "mobile/README.md", "python/README.md", "wasm/README.md"}

// published matches the start of their sentence, in both of its forms.
var published = regexp.MustCompile(`\d+\.\d+\.\d+ (?:is not published yet\. Once it is,|is published:)`)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: readme ROOT")
		os.Exit(2)
	}
	root := os.Args[1]
	changed, err := rewrite(root, strings.TrimPrefix(version.Release(), "v"))
	for file, text := range changed {
		if err == nil {
			err = os.WriteFile(filepath.Join(root, file), []byte(text), 0o666)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "readme:", err)
		os.Exit(1)
	}
}

// rewrite returns the new texts of the files of a repository that change with
// the version.
func rewrite(root, release string) (map[string]string, error) {
	notes, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	m := regexp.MustCompile(`(?m)^## (\d\S*)( \(unreleased\))?`).FindStringSubmatch(string(notes))
	if m == nil || m[1] != release {
		return nil, fmt.Errorf("CHANGELOG.md: its newest version is not %s, that of internal/version", release)
	}
	sentence := release + " is published:"
	if m[2] != "" {
		sentence = release + " is not published yet. Once it is,"
	}
	texts, changed := map[string]string{}, map[string]string{}
	edit := func(file string, pattern *regexp.Regexp, to func(groups []string) string) error {
		text, ok := texts[file]
		if !ok {
			b, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				return err
			}
			text = string(b)
		}
		if !pattern.MatchString(text) {
			return fmt.Errorf("%s: nothing matches %s", file, pattern)
		}
		texts[file] = pattern.ReplaceAllStringFunc(text, func(s string) string { return to(pattern.FindStringSubmatch(s)) })
		if texts[file] != text {
			changed[file] = texts[file]
		}
		return nil
	}
	for _, r := range repeated {
		err := edit(r.file, regexp.MustCompile(r.pattern), func(groups []string) string {
			i := strings.LastIndex(groups[0], groups[1])
			return groups[0][:i] + release + groups[0][i+len(groups[1]):]
		})
		if err != nil {
			return nil, err
		}
	}
	for _, file := range installing {
		if err := edit(file, published, func([]string) string { return sentence }); err != nil {
			return nil, err
		}
	}
	return changed, nil
}
