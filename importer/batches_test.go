package importer_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/hf"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// batchCase is a configuration with the reference's results for lists of
// images.
type batchCase struct {
	Importer string          `json:"importer"`
	Config   json.RawMessage `json:"config"`
	Results  []struct {
		Images  []string `json:"images"`
		Refused bool     `json:"refused"`
		Outputs map[string]struct {
			DType  string `json:"dtype"`
			Shape  []int  `json:"shape"`
			SHA256 string `json:"sha256"`
		} `json:"outputs"`
	} `json:"results"`
}

// TestBatches compares batches with transformers' processors on lists of images
// of different sizes.
func TestBatches(t *testing.T) {
	b, err := os.ReadFile("testdata/batches.json")
	require.NoError(t, err)
	var cases []batchCase
	require.NoError(t, json.Unmarshal(b, &cases))
	var batches, refused atomic.Int32
	step := short.Step(t, 8)
	t.Cleanup(func() {
		t.Logf("%d batches equal, %d refused", batches.Load(), refused.Load())
		require.Greater(t, batches.Load(), int32(400/step))
	})
	for i, c := range cases {
		if i%step != 0 {
			continue
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			c.run(t, &batches, &refused)
		})
	}
}

func (c *batchCase) run(t *testing.T, batches, refused *atomic.Int32) {
	g, err := importAs(t, c.Importer, c.Config)
	require.NoError(t, err, "%s", c.Config)
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(t, err)
	r := p.NewRunner()
	for _, res := range c.Results {
		what := fmt.Sprintf("%s %s %v", c.Importer, c.Config, res.Images)
		var samples [][]*tensor.Tensor
		var failed error
		for _, name := range res.Images {
			b, err := os.ReadFile(filepath.Join("testdata", name))
			require.NoError(t, err)
			out, err := r.Run(tensor.FromBytes(b))
			if err != nil {
				failed = err
				break
			}
			var own []*tensor.Tensor
			for _, x := range out {
				own = append(own, x.Clone())
			}
			samples = append(samples, own)
		}
		var batch []*tensor.Tensor
		if failed == nil {
			batch, failed = p.Collate(samples)
		}
		if res.Refused {
			require.Error(t, failed, what)
			refused.Add(1)
			continue
		}
		require.NoError(t, failed, what)
		require.Len(t, batch, len(res.Outputs), what)
		batches.Add(1)
		for j, c := range p.Outputs() {
			want, ok := res.Outputs[c.Name]
			require.True(t, ok, "%s: output %s", what, c.Name)
			require.Equal(t, want.DType, batch[j].DType.String(), what)
			require.Equal(t, want.Shape, shapeOf(batch[j].Desc), "%s: %s", what, c.Name)
			sum := sha256.Sum256(batch[j].Data)
			require.Equal(t, want.SHA256, hex.EncodeToString(sum[:]), "%s: %s", what, c.Name)
		}
	}
}

// TestSingle: outputs that transformers joins by rules of their own have no
// batch of several images.
func TestSingle(t *testing.T) {
	for file, output := range map[string]string{"minicpm-v-4.6": "pixel_values", "minicpm-ocr": "pixel_values", "molmo2-8b": "image_token_pooling"} {
		config, err := os.ReadFile("../testdata/configs/hf/" + file + ".json")
		require.NoError(t, err)
		g, err := hf.Import(config)
		require.NoError(t, err)
		plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(t, err)
		b, err := os.ReadFile("../testdata/images/png_rgb8.png")
		require.NoError(t, err)
		var samples [][]*tensor.Tensor
		for range 2 {
			out, err := plan.NewRunner().Run(tensor.FromBytes(b))
			require.NoError(t, err)
			samples = append(samples, out)
		}
		one, err := plan.Collate(samples[:1])
		require.NoError(t, err)
		for i, c := range plan.Outputs() {
			if c.Name == output {
				require.Equal(t, samples[0][i].Shape, one[i].Shape)
			}
		}
		_, err = plan.Collate(samples)
		require.ErrorContains(t, err, `output "`+output+`"`)
		require.ErrorContains(t, err, "2 samples have no batch by rule single")
	}
}
