package job

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/internal/filelock"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestCase simulates a file system that ignores case.
func TestCase(t *testing.T) {
	img := pngBytes(t, 5, 4, 7)
	enterTree(t, map[string][]byte{"a/Cat.png": img, "b/cat.png": img, "dog.PNG": img})
	for _, fold := range []bool{false, true} {
		s := &imageFiles{columns: columns{format: formats[0], names: []string{"image"}}, dir: "out", fold: fold}
		l := Find(t.Context(), store.Local, Paths("a", "b", "dog.PNG"), "out")
		l.claim(s)
		require.Len(t, l.Files, 3)
		require.NoError(t, l.Files[0].Err)
		require.NoError(t, l.Files[2].Err)
		if fold {
			require.ErrorContains(t, l.Files[1].Err, "is already the output of "+filepath.Join("a", "Cat.png")+"; KeepPath keeps them apart")
		} else {
			require.NoError(t, l.Files[1].Err)
		}
		l.Close()
	}
	_, err := os.Lstat("DOG.png")
	s := &imageFiles{dir: "."}
	require.NoError(t, s.ready(t.Context()))
	require.Equal(t, err == nil, s.fold, "what the file system does")

	g, err := preset.Graph("yolo")
	require.NoError(t, err)
	g.Rename("Scale")
	p, err := inferprep.New(g, inferprep.Options{})
	require.NoError(t, err)
	j := Job{Preprocessor: p, To: Sink{Dir: "out", SideOutputs: true}}
	_, err = j.Outputs()
	require.ErrorContains(t, err, "Scale and scale differ only in case")
	require.ErrorIs(t, err, ErrOption)
	j.To.Format = "npz"
	names, err := j.Outputs()
	require.NoError(t, err)
	require.Equal(t, []string{"Scale", "scale", "pad"}, names)
}

func TestModelOutputs(t *testing.T) {
	f32 := tensor.Desc{DType: tensor.Float32}
	outputs := func(l ...datagraph.Column) ([]string, error) {
		j := Job{Columns: l, To: Sink{Dir: "out"}}
		return j.Outputs()
	}
	l, err := outputs(datagraph.Column{Name: "logits", Desc: f32}, datagraph.Column{Name: "/head/Gemm:0", Desc: f32}, datagraph.Column{Name: "...", Desc: f32})
	require.NoError(t, err)
	require.Equal(t, []string{"logits", "_head_Gemm_0", "output"}, l)
	_, err = outputs(datagraph.Column{Name: "a:0", Desc: f32}, datagraph.Column{Name: "A/0", Desc: f32})
	require.ErrorContains(t, err, "a:0 and A/0")
	_, err = outputs(datagraph.Column{Name: "a", Desc: tensor.Desc{DType: tensor.BFloat16}})
	require.ErrorContains(t, err, "bfloat16")
}

func TestKeptPath(t *testing.T) {
	for path, want := range map[string]string{
		"a/../b/x": "b/x", "/a/b": "a/b", "../../a": "a", "..": "", ".": "", "./a": "a", "/": "", "/..": "", "../..a": "..a",
	} {
		require.Equal(t, filepath.FromSlash(want), keptPath(filepath.FromSlash(path)), path)
	}
}

// TestLeftovers: a run removes the temporary files of a killed run, unless
// another run uses the folder.
func TestLeftovers(t *testing.T) {
	enterTree(t, map[string][]byte{"a.png": pngBytes(t, 5, 4, 1)})
	left := filepath.Join("out", "s", newfile.RunPrefix+"12345678"+newfile.Suffix)
	other := filepath.Join("out", newfile.Prefix+"12345678"+newfile.Suffix) // of another command
	write := func() {
		require.NoError(t, os.MkdirAll(filepath.Dir(left), 0o777))
		for _, f := range []string{left, other} {
			require.NoError(t, os.WriteFile(f, []byte("x"), 0o666))
		}
	}
	j := Job{Preprocessor: decoder(t, 1, codec.Limits{}), Inputs: Paths("a.png"), To: Sink{Dir: "out"}}
	run := func() {
		_, err := j.Run(t.Context())
		require.NoError(t, err)
	}
	if filelock.Works {
		write()
		release := enter("out") // removes it
		require.NoFileExists(t, left)
		write()
		run()
		require.FileExists(t, left, "another run uses the folder")
		release()
		run()
		require.NoFileExists(t, left)
	} else {
		write()
		run()
		require.FileExists(t, left)
		old := time.Now().Add(-25 * time.Hour)
		require.NoError(t, os.Chtimes(left, old, old))
		run()
		require.NoFileExists(t, left)
	}
	require.FileExists(t, other)
}
