package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/diff"
	"github.com/infer-prep/infer-prep/tensor"
)

// faultFolders returns a folder with images and theirs: for each image its file
// and the tensor of faultFile.
func faultFolders(t *testing.T, l map[string][2]string) string {
	files := map[string][]byte{"images/": nil, "theirs/": nil}
	for name, c := range l {
		image, err := os.ReadFile(c[0])
		require.NoError(t, err)
		files["images/"+name] = image
		if c[1] == "" {
			continue
		}
		x, err := diff.LoadTensors(t.Context(), faultFile+":"+c[1], nil, 1<<20)
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, tensor.WriteNPY(&b, x[0].T))
		files["theirs/"+name+".npy"] = b.Bytes()
	}
	return tree(t, files)
}

// TestDiffFolders: a folder of images gets one diagnosis if there is one, and
// every image and tensor is counted.
func TestDiffFolders(t *testing.T) {
	photo, exif, small := testImage("jpeg_base_420.jpg"), filepath.Join("testdata", "diff", "exif6.jpg"), testImage("webp_lossy_q100.webp")
	const base, turned, web = "tv.jpeg_base_420.jpg.", "tv.exif6.jpg.", "tv.webp_lossy_q100.webp."
	for name, c := range map[string]struct {
		images map[string][2]string
		want   [][]string // the changes of each diagnosis
		by     []int      // the diagnosis of each image, in the order of names
	}{
		"one":        {map[string][2]string{"a.jpg": {photo, base + "cv_linear_bgr"}, "b.jpg": {photo, base + "cv_linear_bgr"}}, [][]string{{"bgr", "opencv-bilinear"}}, []int{0, 0}},
		"no effect":  {map[string][2]string{"a.jpg": {photo, base + "cv_linear_bgr"}, "sub/b.jpg": {exif, turned + "exif_cv_bgr"}}, [][]string{{"bgr", "exif-applied", "opencv-bilinear"}}, []int{0, 0}},
		"joined":     {map[string][2]string{"a.jpg": {photo, base + "bgr"}, "b.webp": {small, web + "sides_rounded_bgr"}}, [][]string{{"bgr", "size-half-even"}}, []int{0, 0}},
		"two":        {map[string][2]string{"a.jpg": {photo, base + "bgr"}, "b.jpg": {photo, base + "bgr"}, "c.jpg": {exif, turned + "exif"}}, [][]string{{"bgr"}, {"exif-applied"}}, []int{0, 0, 1}},
		"rounding":   {map[string][2]string{"a.jpg": {photo, base + "float64"}, "b.jpg": {photo, base + "fused"}}, [][]string{{}}, []int{0, 0}},
		"unexplains": {map[string][2]string{"a.jpg": {photo, base + "noise"}, "b.jpg": {photo, base + "no255"}, "c.jpg": {photo, base + "two_images"}}, [][]string{{"not-rescaled"}}, []int{-1, 0, -1}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := faultFolders(t, c.images)
			r := call(t, slices.Concat([]string{"diff"}, faultGraphs(t)["tv"], []string{filepath.Join(dir, "images"), "--against", filepath.Join(dir, "theirs"), "--json"})...)
			require.Equal(t, command.ExitFailed, r.status, r.stderr)
			var have struct {
				Images []struct {
					Name    string
					Verdict struct{ Diagnosis int }
				}
				Diagnoses [][]struct{ Name string }
			}
			require.NoError(t, json.Unmarshal([]byte(r.stdout), &have), r.stdout)
			require.Len(t, have.Diagnoses, len(c.want), r.stdout)
			for i, l := range have.Diagnoses {
				names := []string{}
				for _, x := range l {
					names = append(names, x.Name)
				}
				require.ElementsMatch(t, c.want[i], names)
			}
			for i, x := range have.Images {
				require.Equal(t, c.by[i], x.Verdict.Diagnosis, x.Name)
			}
		})
	}
}

func TestDiffFoldersInWords(t *testing.T) {
	photo := testImage("jpeg_base_420.jpg")
	const base = "tv.jpeg_base_420.jpg."
	dir := faultFolders(t, map[string][2]string{
		"a.jpg": {photo, base + "no255"}, "sub/b.jpg": {photo, base + "decoder_no255"}, "c.jpg": {photo, ""}, "d.jpg": {photo, base + "no255"},
		"e.jpg": {photo, base + "another_image"}, "f.jpg": {photo, base + "two_images"},
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.Rename(at("theirs/a.jpg.npy"), at("theirs/a.npy"))) // the other usual name
	require.NoError(t, os.Truncate(at("theirs/d.jpg.npy"), 500))
	require.NoError(t, os.WriteFile(at("theirs/orphan.npy"), nil, 0o666))
	require.NoError(t, os.WriteFile(at("images/notes.txt"), []byte("text"), 0o666))
	require.NoError(t, os.WriteFile(at("images/g.jpg"), []byte("\xff\xd8\xff\xe0 no more"), 0o666))
	require.NoError(t, os.Rename(at("theirs/f.jpg.npy"), at("theirs/g.npy")))
	graph := faultGraphs(t)["tv"]
	t.Chdir(dir)
	r := call(t, slices.Concat([]string{"diff"}, graph, []string{"images", "--against", "theirs"})...)
	require.Equal(t, command.ExitFailed, r.status, r.stderr)
	for _, w := range []string{
		"IMAGE      LARGEST DIFFERENCE  EQUAL   EXPLAINED BY\n",
		"\na.jpg      1045                0 %     1\n",
		"\nc.jpg      -                   -       no tensor\n",
		"\nd.jpg      -                   -       damaged: theirs/d.jpg.npy: tensor: npy: malformed",
		"\ne.jpg      3.625               0.65 %  unexplained\n",
		"\nf.jpg      -                   -       no tensor\n",
		"\ng.jpg      -                   -       damaged: jpeg: offset 6: ",
		"\nsub/b.jpg  1085                0 %     1, 95 % of the difference\n",
		"\n0 of 7 images equal\n1 explains 2 images:\n  - the values are 0 to 255 instead of 0 to 1: they are not divided by 255 (not-rescaled)\n",
		"1 image unexplained\n2 images damaged\n2 images without a tensor\n1 tensor without an image: orphan.npy\n1 other file left out: no image\n",
	} {
		require.Contains(t, r.stdout, w)
	}

	require.NoError(t, os.Mkdir("ours", 0o777))
	require.Zero(t, call(t, slices.Concat([]string{"run"}, graph, []string{"-o", "ours", "images/a.jpg", "images/c.jpg"})...).status)
	require.NoError(t, os.Mkdir("few", 0o777))
	for _, n := range []string{"a.jpg", "c.jpg"} {
		require.NoError(t, os.Rename("images/"+n, "few/"+n))
	}
	r = call(t, slices.Concat([]string{"diff"}, graph, []string{"few", "--against", "ours"})...)
	require.Zero(t, r.status, r.stdout)
	require.Contains(t, r.stdout, "\nequal: all 2\n")

	require.NoError(t, os.Mkdir("empty", 0o777))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"few", "--against", "ours/a.jpg.npy"}, "is no folder, want a folder of tensors for the images of few"},
		{[]string{"few", "--against", "none"}, "--against none: is no folder"},
		{[]string{"few", "ours"}, "few is a folder of images: compare it with --against DIR"},
		{[]string{"few/a.jpg", "--against", "ours"}, "is a folder, want a file for one image"},
		{[]string{"few", "--against", "empty"}, "empty: the folder has no tensor files, such as cat.jpg.npy or cat.npy"},
		{[]string{"empty", "--against", "ours"}, "empty: the folder has no images"},
		{[]string{"few", "--against", "ours", "--png", "x.png"}, "--png applies to one image, not to the folder few"},
		{[]string{"few", "--against", "ours", "--column", "x"}, `--column "x": want one of image`},
	} {
		r := call(t, slices.Concat([]string{"diff"}, graph, c.args)...)
		require.Equal(t, command.ExitUsage, r.status, c.args)
		require.Contains(t, r.stderr, c.want)
	}
}
