//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/dataset/manifest"
	"github.com/infer-prep/infer-prep/dataset/metadatafolder"
	"github.com/infer-prep/infer-prep/dataset/sets/celeba"
	"github.com/infer-prep/infer-prep/dataset/sets/coco"
	"github.com/infer-prep/infer-prep/dataset/sets/voc"
)

// badPath is a path of a list, or an entry of a folder, that must be refused.
type badPath struct {
	name, path string
	// make makes the file. Its argument is the folder that path is relative to.
	make func(t *testing.T, dir string)
	want string // on standard error; a regular expression
	// allowed is what --allow-outside makes of it: success if empty.
	allowed string
	entry   bool // a walk of the folder finds it
	image   bool // it is a link to an image, which commands that decode images follow
}

const outsideText = "outside the folder .*: want a file in it that is not reached through a link to elsewhere; --allow-outside permits it"

// badPaths returns the paths. Two folders above the one that they are relative
// to is the folder at, with secret.jpg and secret.png.
func badPaths(at string) []badPath {
	link := func(to, name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { require.NoError(t, os.Symlink(to, filepath.Join(dir, name))) }
	}
	const missing = "no such file or directory"
	return []badPath{
		{name: "..", path: "../../secret.jpg", want: outsideText},
		// Some formats put the folder in front of an absolute path.
		{name: "absolute", path: filepath.Join(at, "secret.jpg"), want: outsideText + "|" + missing, allowed: "$|" + missing},
		{name: "link to a file", path: "x.jpg", make: link("../../secret.jpg", "x.jpg"), want: outsideText, entry: true, image: true},
		{name: "absolute link to a file", path: "x.jpg", make: link(filepath.Join(at, "secret.jpg"), "x.jpg"), want: outsideText, entry: true, image: true},
		{name: "link to a folder", path: "x/secret.jpg", make: link("../..", "x"), want: outsideText},
		{name: "link to a device", path: "x.jpg", make: link("/dev/zero", "x.jpg"), want: outsideText + "|is a device: want a regular file", allowed: "is a device: want a regular file"},
		{name: "named pipe", path: "x.jpg", want: "is a named pipe: want a regular file", allowed: "is a named pipe", make: func(t *testing.T, dir string) {
			require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "x.jpg"), 0o600))
		}},
		{name: "folder", path: "x.jpg", want: "is a folder: want a regular file", allowed: "is a folder", make: func(t *testing.T, dir string) {
			require.NoError(t, os.Mkdir(filepath.Join(dir, "x.jpg"), 0o700))
		}},
		{name: "link to itself", path: "x.jpg", make: link("x.jpg", "x.jpg"), want: "too many levels of symbolic links|too many links", allowed: "too many levels of symbolic links"},
		{name: "very long name", path: strings.Repeat("x", 300) + ".jpg", want: "file name too long", allowed: "file name too long"},
		{name: "very long path", path: strings.Repeat("x/", 3000) + "x.jpg", want: missing + "|file name too long", allowed: missing + "|file name too long"},
		{name: "NUL", path: "x\x00.jpg", want: "invalid argument", allowed: "invalid argument"},
		{name: "other case", path: "GOOD.jpg", want: missing, allowed: missing},
	}
}

// listed is a command that reads the images of a list. list makes the list with
// one path in the folder dir and returns the arguments of the command. images
// is the folder in dir that the path is relative to.
var listed = []struct {
	name, images string
	list         func(t *testing.T, dir, path string) []string
}{
	{"dataset/manifest", "", func(t *testing.T, dir, path string) []string {
		line := marshal(t, map[string]any{"source": path, "usage": "train", "annotation": []any{map[string]any{"name": "a"}}})
		write(t, filepath.Join(dir, "list.manifest"), line)
		return sourceFile(t, manifest.New(filepath.Join(dir, "list.manifest")))
	}},
	{"dataset/metadatafolder", "", func(t *testing.T, dir, path string) []string {
		write(t, filepath.Join(dir, "metadata.jsonl"), append(marshal(t, map[string]any{"file_name": path}), '\n'))
		return sourceFile(t, metadatafolder.New(dir))
	}},
	{"dataset/sets/coco", "", func(t *testing.T, dir, path string) []string {
		write(t, filepath.Join(dir, "a.json"), marshal(t, map[string]any{
			"images":      []any{map[string]any{"id": 1, "file_name": path}},
			"annotations": []any{map[string]any{"id": 1, "image_id": 1, "category_id": 1, "bbox": []int{0, 0, 1, 1}}},
			"categories":  []any{map[string]any{"id": 1, "name": "a"}},
		}))
		return sourceFile(t, coco.New(dir, filepath.Join(dir, "a.json")))
	}},
	{"dataset/sets/voc", "JPEGImages", func(t *testing.T, dir, path string) []string {
		write(t, filepath.Join(dir, "ImageSets", "Segmentation", "train.txt"), []byte(strings.TrimSuffix(path, ".jpg")+"\n"))
		require.NoError(t, os.Symlink("JPEGImages", filepath.Join(dir, "SegmentationClass")))
		if to, err := os.Readlink(filepath.Join(dir, "JPEGImages", path)); err == nil { // the mask likewise
			mask := strings.NewReplacer(".jpg", ".png").Replace
			require.NoError(t, os.Symlink(mask(to), filepath.Join(dir, "JPEGImages", mask(path))))
		}
		o := voc.New(dir, "train")
		o.Task = voc.Segmentation
		return sourceFile(t, o)
	}},
	{"dataset/sets/celeba", "images", func(t *testing.T, dir, path string) []string {
		write(t, filepath.Join(dir, "list_attr_celeba.txt"), []byte("1\nBald\n"+path+" 1\n"))
		return sourceFile(t, &celeba.CelebA{Dir: dir, Images: "images", Usage: "all"})
	}},
	{"pack recordio --lst", "", func(t *testing.T, dir, path string) []string {
		write(t, "list.lst", []byte("0\t1\t"+path+"\n"))
		return []string{"pack", "recordio", "--pass-through", "--lst", "list.lst", filepath.Join(t.TempDir(), "out"), dir}
	}},
	{"pack shards --root", "", func(t *testing.T, dir, path string) []string {
		write(t, "list.lst", []byte("0\t1\t"+path+"\n"))
		return []string{"pack", "shards", "-o", t.TempDir(), "--root", dir, "list.lst"}
	}},
}

// walked is a command that walks a folder of classes.
var walked = []struct {
	name string
	args func(t *testing.T, dir string) []string
}{
	{"dataset/imagefolder", func(t *testing.T, dir string) []string {
		return sourceFile(t, imagefolder.New(dir))
	}},
	{"train-bench --folder", func(_ *testing.T, dir string) []string {
		return []string{"train-bench", "--preset", "imagenet", "--epochs", "1", "--folder", filepath.Join(dir, "images")}
	}},
	{"run", func(t *testing.T, dir string) []string {
		return []string{"run", "--preset", "imagenet", "-o", t.TempDir(), dir}
	}},
	{"bundle create --golden", func(t *testing.T, dir string) []string {
		return []string{"bundle", "create", "--preset", "imagenet", "-o", filepath.Join(t.TempDir(), "x.bundle"), "--golden", dir}
	}},
	{"pack recordio", func(t *testing.T, dir string) []string {
		return []string{"pack", "recordio", "--pass-through", "--recursive", filepath.Join(t.TempDir(), "out"), dir}
	}},
	{"pack shards", func(t *testing.T, dir string) []string { return []string{"pack", "shards", "-o", t.TempDir(), dir} }},
	{"pack shards --classes", func(t *testing.T, dir string) []string {
		return []string{"pack", "shards", "--classes", "-o", t.TempDir(), dir}
	}},
}

func marshal(t *testing.T, v any) []byte {
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}

func write(t *testing.T, name string, b []byte) {
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
	require.NoError(t, os.WriteFile(name, b, 0o600))
}

// sourceFile returns a command that reads an epoch of a source.
func sourceFile(t *testing.T, o dataset.Source) []string {
	name := filepath.Join(t.TempDir(), "dataset.json")
	write(t, name, marshal(t, dataset.From(o)))
	return []string{"train-bench", "--epochs", "1", name}
}

// TestPaths tries paths that lead out of the folder, and other unusual ones,
// with every source and command that takes paths from files.
// docs/datasets.md has the table.
func TestPaths(t *testing.T) {
	at := t.TempDir()
	write(t, filepath.Join(at, "secret.jpg"), pngBytes(t, 5, 4, 7))
	write(t, filepath.Join(at, "secret.png"), pngBytes(t, 5, 4, 7))
	n := 0
	try := func(t *testing.T, b badPath, args []string) {
		r := call(t, args...)
		t.Logf("%d %s", r.status, r.stderr)
		if b.image && args[0] != "pack" {
			require.Equal(t, command.ExitOK, r.status, r.stderr)
			return
		}
		require.Equal(t, command.ExitFailed, r.status, r.stderr)
		require.Regexp(t, b.want, r.stderr)
		require.NotContains(t, r.stderr, "panic")
		r = call(t, append([]string{args[0]}, allow(args[1:])...)...)
		if b.allowed == "" {
			require.Equal(t, command.ExitOK, r.status, r.stderr)
			return
		}
		require.Regexp(t, b.allowed, r.stderr)
	}
	for _, b := range badPaths(at) {
		for _, c := range listed {
			t.Run(c.name+"/"+b.name, func(t *testing.T) {
				n++
				t.Chdir(t.TempDir())
				dir := filepath.Join(at, fmt.Sprint(n), "in")
				if c.images != "" { // one folder less above
					dir = filepath.Join(at, fmt.Sprint(n))
				}
				images := filepath.Join(dir, c.images)
				for _, f := range []string{"good.jpg", "good.png"} {
					write(t, filepath.Join(images, f), pngBytes(t, 5, 4, 7))
				}
				if b.make != nil {
					b.make(t, images)
				}
				try(t, b, c.list(t, dir, b.path))
			})
		}
		if !b.entry {
			continue
		}
		for _, c := range walked {
			t.Run(c.name+"/"+b.name, func(t *testing.T) {
				n++
				dir := filepath.Join(at, fmt.Sprint(n))
				images := filepath.Join(dir, "images")
				write(t, filepath.Join(images, "good.jpg"), pngBytes(t, 5, 4, 7))
				b.make(t, images)
				try(t, b, c.args(t, dir))
			})
		}
	}
}

// allow adds --allow-outside, and --force for the second pack.
func allow(args []string) []string {
	l := append([]string{}, args...)
	if args[0] == "recordio" || args[0] == "shards" {
		l = append(l, "--force")
	}
	return append(l, "--allow-outside")
}
