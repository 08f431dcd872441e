// Command newop writes the files of a new op, with failing tests: the op and
// its test in transforms/, and the script of its goldens in testdata/gen/. Then
// it runs the generators that read the ops. Run it by make new-op NAME=soften.
package main

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"
)

//go:embed templates
var templates embed.FS

// outputs maps the templates to the files that they become.
var outputs = map[string]string{
	"op.go.tmpl":      "transforms/%s.go",
	"op_test.go.tmpl": "transforms/%s_test.go",
	"golden.py.tmpl":  "testdata/gen/ops/op_%s.py",
}

// generators are the packages whose go generate reads the ops.
var generators = []string{"./transforms", "./internal/opdoc"}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: newop NAME, from the root of the module")
		os.Exit(2)
	}
	files, err := write(".", os.Args[1])
	if err == nil {
		err = generate(".", ".")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "newop:", err)
		os.Exit(1)
	}
	fmt.Printf("Written, for you to fill in: %s.\n", strings.Join(files, ", "))
	fmt.Println("go test ./transforms fails until they hold the op, its values and its goldens.")
}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// write writes the files of an op below root and returns their names. It
// replaces none.
func write(root, name string) ([]string, error) {
	if !nameForm.MatchString(name) {
		return nil, fmt.Errorf("name %q, want lower-case words joined by underscores", name)
	}
	parsed, err := template.ParseFS(templates, "templates/*.tmpl")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range parsed.Templates() {
		var b bytes.Buffer
		if err := t.Execute(&b, struct{ Name, Type string }{name, typeName(name)}); err != nil {
			return names, err
		}
		file := fmt.Sprintf(outputs[t.Name()], name)
		f, err := os.OpenFile(filepath.Join(root, filepath.FromSlash(file)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return names, err
		}
		if _, err := f.Write(b.Bytes()); err != nil {
			return names, err
		}
		if err := f.Close(); err != nil {
			return names, err
		}
		names = append(names, file)
	}
	return names, nil
}

// typeName returns the Go name of an op: "GiftSepia" of "gift_sepia".
func typeName(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// generate runs the generators whose command matches the pattern.
func generate(root, pattern string) error {
	c := exec.Command("go", append([]string{"generate", "-run", pattern}, generators...)...)
	c.Dir, c.Stdout, c.Stderr = root, os.Stdout, os.Stderr
	return c.Run()
}
