package clevr

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "clevr", func(dir string) dataset.Source { return New(dir) }, "torchvision")
}

func TestValidate(t *testing.T) {
	for _, o := range []*CLEVR{{"x", "valid"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, "clevr", "scenes/CLEVR_train_scenes.json", func(dir string) dataset.Source { return New(dir) })
}

func TestBadLists(t *testing.T) {
	for _, c := range []struct {
		source              func(dir string) dataset.Source
		file, content, want string
	}{
		{func(dir string) dataset.Source { return New(dir) }, "scenes/CLEVR_train_scenes.json", "{}", "no scenes"},
		{func(dir string) dataset.Source { return New(dir) }, "scenes/CLEVR_train_scenes.json", "{\"scenes\": [{\"image_filename\": \"a\"}]}", "scene of image \"a\""},
		{func(dir string) dataset.Source { return New(dir) }, "scenes/CLEVR_train_scenes.json", "{\"scenes\": []}", "has no scene of image \"CLEVR_train_000000.png\""},
	} {
		settest.Refuses(t, "clevr", c.file, c.content, c.want, c.source)
	}
}

func FuzzCLEVRTrainScenesJson(f *testing.F) {
	settest.Fuzz(f, "clevr", "scenes/CLEVR_train_scenes.json", func(dir string) dataset.Source { return New(dir) })
}
