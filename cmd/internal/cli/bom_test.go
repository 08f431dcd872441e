package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
)

const mark = "\ufeff"

// utf16Text returns a text as PowerShell's > writes it.
func utf16Text(s string) []byte {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return b
}

// TestByteOrderMarks: text files may begin with a byte order mark wherever a
// command reads them. UTF-16 gets a message that says so.
func TestByteOrderMarks(t *testing.T) {
	definition, err := json.Marshal(dataset.From(imagefolder.New("in")))
	require.NoError(t, err)
	line := `{"source": "in/a/a.png", "usage": "train", "annotation": [{"name": "a"}]}` + "\n"
	texts := map[string]struct {
		text string
		args []string // FILE is the text file
	}{
		"list of files":      {"in/a/a.png\n", []string{"run", "--preset", "decode", "-o", "OUT", "--files-from", "FILE"}},
		"definition":         {string(definition), []string{"train-bench", "--epochs", "1", "FILE"}},
		"definition shown":   {string(definition), []string{"graph", "show", "--dataset", "FILE"}},
		"graph":              {`{"version":1,"inputs":[{"name":"image","dtype":"bytes","shape":[]}],"steps":[]`, nil},
		"labels":             {"cat\ndog\n", []string{"bundle", "create", "--preset", "imagenet", "--labels", "FILE", "-o", "OUT"}},
		"im2rec's list":      {"0\t1\ta.png\n", []string{"pack", "recordio", "--lst", "FILE", "OUT", "in/a"}},
		"manifest of a plan": {line, []string{"pack", "plan", "--input", "manifest", "--root", ".", "-o", "OUT", "FILE"}},
		"parameter":          {`["in/a.txt"]`, []string{"dataset", "make", "text_file", "files=@FILE", "-o", "OUT"}},
	}
	delete(texts, "graph") // importer.Text reads it
	for name, c := range texts {
		t.Run(name, func(t *testing.T) {
			t.Chdir(tree(t, map[string][]byte{
				"in/a/a.png": pngBytes(t, 5, 4, 1), "plain": []byte(c.text), "mark": []byte(mark + c.text), "wide": utf16Text(c.text),
			}))
			for _, file := range []string{"plain", "mark", "wide"} {
				args := make([]string, len(c.args))
				for i, a := range c.args {
					args[i] = strings.NewReplacer("FILE", file, "OUT", "out-"+file).Replace(a)
				}
				r := call(t, args...)
				if file == "wide" {
					require.NotEqual(t, command.ExitOK, r.status)
					require.Contains(t, r.stderr, "UTF-16")
					continue
				}
				require.Equal(t, command.ExitOK, r.status, "%s: %s", file, r.stderr)
			}
		})
	}
	t.Chdir(tree(t, map[string][]byte{"a.png": pngBytes(t, 5, 4, 1)}))
	r := callIn(t, mark+"a.png\n", "run", "--preset", "decode", "--lines")
	require.Equal(t, command.ExitOK, r.status)
	require.Contains(t, r.stdout, `"input":"a.png","outputs"`)
}

// TestBraces: a pattern with braces that no shell expanded names files as
// webdataset's braceexpand expands it.
func TestBraces(t *testing.T) {
	archive := tarBytes(t, tarEntry{"x.png", pngBytes(t, 5, 4, 1)})
	t.Chdir(tree(t, map[string][]byte{"a.tar": archive, "b.tar": archive, "c1.tar": archive, "{x,y}.tar": archive, "p1.png": pngBytes(t, 5, 4, 1), "p2.png": pngBytes(t, 5, 4, 2)}))
	r := call(t, "run", "--preset", "decode", "-o", "out", "{a.tar,b.tar}", "c{1..1}.tar", "p{1..2}.png", "{x,y}.tar")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Equal(t, []string{"a.tar/x.png.npy", "b.tar/x.png.npy", "c1.tar/x.png.npy", "p1.png.npy", "p2.png.npy", "{x,y}.tar/x.png.npy"}, listFiles(t, "out"))
	for _, name := range []string{"{a.tar,b.tar}", "{a,b}.tar", "a.tar::b.tar"} {
		r = call(t, "records", "ls", name)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		require.Equal(t, 3, strings.Count(r.stdout, "\n"), r.stdout)
	}
	r = call(t, "run", "--preset", "decode", "-o", "out2", "{a,none}.tar")
	require.Contains(t, r.stderr, "infer-prep: none.tar: no such file or folder\n")
}
