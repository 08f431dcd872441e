package pack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/manifest"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestPlanOfManifest: a plan of a manifest has the images, labels and classes
// of dataset/manifest, in its order.
func TestPlanOfManifest(t *testing.T) {
	dir, paths := classPhotos(t, 2, 5)
	var b strings.Builder
	for i, p := range paths {
		usage := []string{"train", "TRAIN", "eval"}[i%3]
		fmt.Fprintf(&b, `{"source": %q, "usage": %q, "extra": {"a": [1]}, "annotation": [{"name": "class %c", "type": "x"}]}`+"\n\n", p, usage, "zyxw"[i%4])
	}
	b.WriteString(`{"source": "none", "usage": "train", "annotation": []}`)
	name := filepath.Join(dir, "m.manifest")
	require.NoError(t, os.WriteFile(name, []byte(b.String()), 0o666))

	data, err := manifest.New(name).Open(t.Context(), store.Local)
	require.NoError(t, err)
	rows := data.(dataset.Rows)
	defer data.Close()
	p := writePlan(t, &Plan{Output: PlanShards, Shards: 1, Image: ImageOptions{Encoding: PassThrough}}, PlanInput{Kind: InputManifest, Name: name})
	require.Equal(t, rows.Len(), p.Count)
	for name, i := range data.(interface{ ClassIndex() map[string]int32 }).ClassIndex() {
		require.Equal(t, name, p.ClassNames[i])
	}
	i := int64(0)
	for e, err := range p.Entries(t.Context(), 0) {
		require.NoError(t, err)
		s := dataset.NewSample(rows.Columns())
		require.NoError(t, rows.Read(t.Context(), i, s))
		require.Equal(t, s.Key, e.Files[0].Path)
		require.Equal(t, []float32{float32(tensor.View[int32](&s.Column("label").Tensor)[0])}, e.Labels)
		r, err := p.Record(t.Context(), &e)
		require.NoError(t, err)
		require.Contains(t, string(r.Data), string(s.Column("image").Data))
		i++
	}
	require.Equal(t, p.Count, i)
}
