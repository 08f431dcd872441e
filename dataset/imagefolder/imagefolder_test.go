package imagefolder

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/store"
)

const testdata = "../../testdata/datasets/imagefolder/"

func TestAsReferences(t *testing.T) {
	for _, reference := range []string{"torchvision", "mindspore", "datasets"} {
		n := sourcetest.Golden(t, testdata+reference+".json")
		t.Logf("%s: %d rows", reference, n)
	}
}

func TestOrder(t *testing.T) {
	var keys []string
	for _, s := range sourcetest.Samples(t, New(testdata+"nested")) {
		keys = append(keys, s.Key)
	}
	require.Equal(t, []string{
		"Dogs/1.JPEG", "Dogs/1.jpg", "bird s/.png", "bird s/e.bmp", "bird s/x.tar.png", "bird s/é.bmp",
		"cats/10.PNG", "cats/2.png", "cats/B.png", "cats/Z/1.png", "cats/a/1.png", "cats/a-b/1.png", "cats/a/c/1.png",
	}, keys)
}

func TestValidate(t *testing.T) {
	for _, change := range []func(o *ImageFolder){
		func(o *ImageFolder) { o.Extensions = nil },
		func(o *ImageFolder) { o.Extensions = []string{"jpg"} },
		func(o *ImageFolder) { o.Extensions = []string{".JPG"} },
		func(o *ImageFolder) { o.ClassIndexing = map[string]int32{"": 1} },
		func(o *ImageFolder) { o.ClassIndexing = map[string]int32{"..": 1} },
		func(o *ImageFolder) { o.ClassIndexing = map[string]int32{"a/b": 1} },
	} {
		o := New("x")
		require.NoError(t, o.Validate())
		change(o)
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

// tree creates files that contain their names.
func tree(t *testing.T, names ...string) string {
	dir := t.TempDir()
	for _, n := range names {
		p := filepath.Join(dir, filepath.FromSlash(n))
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o700))
		require.NoError(t, os.WriteFile(p, []byte(n), 0o600))
	}
	return dir
}

func link(t *testing.T, dir, to, from string) {
	require.NoError(t, os.Symlink(to, filepath.Join(dir, filepath.FromSlash(from))))
}

func TestLinks(t *testing.T) {
	dir := tree(t, "a/1.png", "b/2.png")
	link(t, dir, "../b", "a/more")
	link(t, dir, "../b/2.png", "a/0.png")
	link(t, dir, "a", "c")
	link(t, dir, "nowhere", "nowhere")
	link(t, dir, "y", "x") // a cycle
	link(t, dir, "x", "y")
	link(t, dir, "x.txt", "a/x.txt")
	sourcetest.Run(t, New(dir))
	var keys []string
	for _, s := range sourcetest.Samples(t, New(dir)) {
		keys = append(keys, s.Key)
	}
	require.Equal(t, []string{"a/0.png", "a/1.png", "a/more/2.png", "b/2.png", "c/0.png", "c/1.png", "c/more/2.png"}, keys)

	// A dangling link to an image fails when it is read.
	link(t, dir, "nowhere.png", "b/3.png")
	d, err := New(dir).Open(t.Context(), store.Local)
	require.NoError(t, err)
	require.EqualValues(t, 10, d.(dataset.Rows).Len())
	require.ErrorIs(t, d.(dataset.Rows).Read(t.Context(), 3, dataset.NewSample(d.Columns())), os.ErrNotExist)

	for name, to := range map[string]string{"itself": ".", "the class": "../b", "the dataset": "../.."} {
		dir := tree(t, "a/1.png", "b/sub/2.png")
		link(t, dir, to, "b/sub/loop")
		if name == "the class" {
			require.NoError(t, os.Remove(filepath.Join(dir, "b/sub/loop")))
			link(t, dir, "../../b", "b/sub/loop")
		}
		_, err := New(dir).Open(t.Context(), store.Local)
		require.ErrorIs(t, err, dataset.ErrData, name)
		require.ErrorContains(t, err, "leads back", name)
	}
}

func TestBadFolders(t *testing.T) {
	_, err := New(filepath.Join(t.TempDir(), "none")).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, os.ErrNotExist)
	for _, c := range []struct {
		dir     string
		classes map[string]int32
		want    string
	}{
		{tree(t), nil, "has no subfolders"},
		{tree(t, "1.png"), nil, "has no subfolders"},
		{tree(t, "a/1.png", "b/1.txt"), nil, "class \"b\" of"},
		{tree(t, "a/1.png"), map[string]int32{"a": 0, "b": 1}, "has no class \"b\""},
	} {
		o := New(c.dir)
		o.ClassIndexing = c.classes
		_, err := o.Open(t.Context(), store.Local)
		require.ErrorIs(t, err, dataset.ErrData)
		require.ErrorContains(t, err, c.want)
	}
}

// TestSizes reads files of very different sizes, one of them empty, into one
// sample.
func TestSizes(t *testing.T) {
	dir := tree(t, "a/1.png", "a/2.png", "a/3.png", "a/4.png")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "2.png"), make([]byte, 100_000), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "3.png"), nil, 0o600))
	sourcetest.Run(t, New(dir))
}

func TestStore(t *testing.T) {
	sourcetest.Store(t, testdata+"nested", func(dir string) dataset.Source { return New(dir) })
}
