// Command new writes the files of a new op, source of samples, importer or
// image format, with failing tests, and names it where packages are listed.
// Then it runs the generators that read it. Run it by make new-op NAME=soften,
// new-source, new-importer or new-format.
package main

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

//go:embed templates
var templates embed.FS

// kind is a kind of thing that can be added. Texts are templates of names.
type kind struct {
	files map[string]string // the templates, and the files that they become
	lists []list
	// generators are the packages whose go generate reads the new files.
	generators []string
	test       string // the package whose tests fail now
	left       string // what else belongs to it
}

// list is a place that names all things of the kind: a line, or an element of a
// line, is added behind the first match of after.
type list struct{ file, after, add string }

const module = "github.com/infer-prep/infer-prep/"

const layers = "tools/arch/layers.go"

var kinds = map[string]kind{
	"op": {
		files: map[string]string{
			"op.go.tmpl":      "transforms/{{.Name}}.go",
			"op_test.go.tmpl": "transforms/{{.Name}}_test.go",
			"golden.py.tmpl":  "testdata/gen/ops/op_{{.Name}}.py",
		},
		generators: []string{"./transforms", "./internal/opdoc"},
		test:       "./transforms",
		left:       "name it in internal/coverage/coverage.tsv if torchvision, MindSpore or mx.image has it",
	},
	"source": {
		files: map[string]string{
			"source.go.tmpl":      "dataset/{{.Package}}/{{.Package}}.go",
			"source_test.go.tmpl": "dataset/{{.Package}}/{{.Package}}_test.go",
			"golden.py.tmpl":      "testdata/gen/datasets/{{.Name}}.py",
		},
		lists: []list{
			{"dataset/all/all.go", `import \(\n`, "\t_ \"" + module + "dataset/{{.Package}}\"\n"},
			{layers, `\{Path: "dataset/textfile".*\n`, "\t\t{Path: \"dataset/{{.Package}}\", May: source()},\n"},
			{layers, `\{Path: "dataset/all", May: \[\]string\{`, `"dataset/{{.Package}}", `},
		},
		generators: []string{"./internal/opdoc", "./tools/arch"},
		test:       "./dataset/{{.Package}}",
		left:       "a published set lies below dataset/sets; a parser has a fuzz test",
	},
	"importer": {
		files: map[string]string{
			"importer.go.tmpl":      "importer/{{.Package}}/{{.Package}}.go",
			"importer_test.go.tmpl": "importer/{{.Package}}/{{.Package}}_test.go",
			"golden.py.tmpl":        "testdata/gen/importers/importers_{{.Name}}.py",
		},
		lists: []list{
			{"importer/all/all.go", `import \(\n`, "\t_ \"" + module + "importer/{{.Package}}\"\n"},
			{layers, `\{Path: "importer/keras".*\n`, "\t\t{Path: \"importer/{{.Package}}\", May: imports()},\n"},
			{layers, `\{Path: "importer/all", May: \[\]string\{`, `"importer/{{.Package}}", `},
		},
		generators: []string{"./tools/arch"},
		test:       "./importer/{{.Package}}",
		left:       "TestOpen of the root package opens one of its files",
	},
	"format": {
		files: map[string]string{
			"format.go.tmpl":      "codec/{{.Package}}/{{.Package}}.go",
			"format_test.go.tmpl": "codec/{{.Package}}/{{.Package}}_test.go",
			"golden.py.tmpl":      "testdata/gen/codecs/{{.Name}}.py",
		},
		lists: []list{
			{"codec/all/all.go", `import \(\n`, "\t_ \"" + module + "codec/{{.Package}}\" // registers {{.Name}}\n"},
			{layers, `\{Path: "codec/bmp".*\n`, "\t\t{Path: \"codec/{{.Package}}\", May: []string{\"codec\"}},\n"},
			{layers, `var formats = \[\]string\{`, `"codec/{{.Package}}", `},
		},
		generators: []string{"./tools/arch"},
		test:       "./codec/{{.Package}}",
		left:       "images of the reference in testdata/images, damaged ones in testdata/damaged",
	},
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: new op|source|importer|format NAME, from the root of the module")
		os.Exit(2)
	}
	if err := add(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "new:", err)
		os.Exit(1)
	}
}

func add(what, name string) error {
	files, err := write(".", what, name)
	if err == nil {
		err = generate(".", what, ".")
	}
	if err != nil {
		return err
	}
	k := kinds[what]
	test, err := expand(k.test, name)
	if err != nil {
		return err
	}
	fmt.Printf("Written, for you to fill in: %s.\n", strings.Join(files, ", "))
	fmt.Printf("go test %s fails until they hold the %s, its values and its goldens.\nThen: %s.\n", test, what, k.left)
	return nil
}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// names are the names of a new thing, for templates.
type names struct {
	Name    string // "gift_sepia"
	Type    string // of Go: "GiftSepia"
	Package string // of Go: "giftsepia"
}

func namesOf(name string) names {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return names{name, b.String(), strings.ReplaceAll(name, "_", "")}
}

// expand fills a text with a name.
func expand(text, name string) (string, error) {
	t, err := template.New("").Parse(text)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = t.Execute(&b, namesOf(name))
	return b.String(), err
}

// write writes the files of a kind below root, adds its name to the lists, and
// returns the names of the files. It replaces no file.
func write(root, what, name string) ([]string, error) {
	k, ok := kinds[what]
	if !ok {
		return nil, fmt.Errorf("kind %q, want op, source, importer or format", what)
	}
	if !nameForm.MatchString(name) {
		return nil, fmt.Errorf("name %q, want lower-case words joined by underscores", name)
	}
	var written []string
	for from, to := range k.files {
		text, err := templates.ReadFile("templates/" + what + "/" + from)
		if err != nil {
			return written, err
		}
		file, err := expand(to, name)
		if err != nil {
			return written, err
		}
		content, err := expand(string(text), name)
		if err != nil {
			return written, err
		}
		if strings.HasSuffix(file, ".go") { // names change the alignment
			formatted, err := format.Source([]byte(content))
			if err != nil {
				return written, err
			}
			content = string(formatted)
		}
		if err := create(filepath.Join(root, filepath.FromSlash(file)), content); err != nil {
			return written, err
		}
		written = append(written, file)
	}
	slices.Sort(written)
	for _, l := range k.lists {
		if err := l.addTo(root, name); err != nil {
			return written, err
		}
	}
	return written, nil
}

func create(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(content); err != nil {
		return err
	}
	return f.Close()
}

// addTo adds a name to the list, and formats the file.
func (l list) addTo(root, name string) error {
	path := filepath.Join(root, filepath.FromSlash(l.file))
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	at := regexp.MustCompile(l.after).FindIndex(text)
	if at == nil {
		return fmt.Errorf("%s has no %s", l.file, l.after)
	}
	add, err := expand(l.add, name)
	if err != nil {
		return err
	}
	text, err = format.Source(slices.Concat(text[:at[1]], []byte(add), text[at[1]:]))
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// generate runs the generators of a kind whose command matches the pattern.
func generate(root, what, pattern string) error {
	c := exec.Command("go", append([]string{"generate", "-run", pattern}, kinds[what].generators...)...)
	c.Dir, c.Stdout, c.Stderr = root, os.Stdout, os.Stderr
	return c.Run()
}
