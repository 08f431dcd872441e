package torchvision_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/torchvision"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
)

// digest returns what testdata/gen/importers/torchvision_programs.py records of
// a tensor.
func digest(t *tensor.Tensor) string {
	var shape []string
	for i := range t.Shape.Rank() {
		shape = append(shape, fmt.Sprint(t.Shape.At(i)))
	}
	h := sha256.New()
	fmt.Fprintf(h, "%v %s\n", t.DType, strings.Join(shape, "x"))
	h.Write(t.Data)
	return hex.EncodeToString(h.Sum(nil))[:24]
}

func runner(t *testing.T, g *datagraph.Graph) *datagraph.Runner {
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(t, err)
	return p.NewRunner()
}

// backends are the importer's functions by name, in order.
var backends = []struct {
	name  string
	parse func([]byte) (*datagraph.Graph, error)
}{{"pil", torchvision.Import}, {"tensor", torchvision.ImportTensor}}

// refused lists the programs of testdata/programs.json that are not imported,
// though the reference takes some of their images, and a part of the error.
var refused = map[string]string{
	"converted by Lambda, printed":           "Lambda: it is a Python function",
	"converted after scaling, printed":       "Lambda: it is a Python function",
	"CLIP by lambda, printed":                "<function <lambda> at 0x7f8616295630>: it is a Python function",
	"CLIP, first version, printed":           "<function _transform.<locals>.<lambda> at 0x7f8616295630>: it is a Python function",
	"inverted, printed":                      "Lambda: it is a Python function",
	"inverted, source":                       "want transforms without Python functions",
	"mirrored, printed":                      "RandomHorizontalFlip: it is random",
	"mirrored, source":                       "RandomHorizontalFlip: it is random",
	"cropped at random, printed":             "RandomCrop: it is random",
	"cropped at random, source":              "RandomCrop: it is random",
	"gray of floats, printed":                "Grayscale: of a float tensor",
	"gray of floats, source":                 "Grayscale: of a float tensor",
	"v2 half normalized, source":             "Normalize: of float16 values",
	"v2 double, source":                      "ToDtype.dtype: from uint8 to float64",
	"v2 back to bytes, source":               "ToDtype.dtype: from float32 to uint8",
	"v2 padded by type, source":              "want the value for images, not a dict",
	"v2 typed by type, source":               "want the value for images, not a dict",
	"v2 mixed, source":                       "want transforms of v1 or of v2, not of both",
	"square, tensors of statistics, printed": "Python prints only four digits of a tensor",
	"square, arrays of statistics, printed":  "only eight digits of each number, for a NumPy array",
}

// TestPrograms runs programs of the kinds that public ones have, as source and
// as Python prints them, with Pillow images and with tensors. Each returns the
// reference's bytes, or is refused by name.
func TestPrograms(t *testing.T) {
	type program struct {
		Name, Source, Printed, Of string
		Results                   map[string]map[string]string
	}
	b, err := os.ReadFile("testdata/programs.json")
	require.NoError(t, err)
	var programs []program
	require.NoError(t, json.Unmarshal(b, &programs))
	images := map[string]*tensor.Tensor{}
	step := short.Step(t, 5)
	equal, missing, others, byImage, wrong, both := 0, 0, 0, 0, 0, 0
	used := map[string]bool{}
	for i, p := range programs {
		results := p.Results
		if p.Of != "" {
			results = programs[slices.IndexFunc(programs, func(q program) bool { return q.Name == p.Of })].Results
		}
		for form, text := range map[string]string{"source": p.Source, "printed": p.Printed} {
			for _, backend := range backends {
				if text == "" {
					continue
				}
				takes := 0
				for _, d := range results[backend.name] {
					if d != "" {
						takes++
					}
				}
				g, err := backend.parse([]byte(text))
				if err != nil {
					key := p.Name + ", " + form
					switch {
					case takes == 0 && len(results) > 0: // by the reference, too
						both++
					case errors.Is(err, importer.ErrMissing) && form == "printed":
						missing += takes
					default:
						assert.Contains(t, refused, key, "%v", err)
						assert.ErrorContains(t, err, refused[key], key)
						used[key] = true
						others += takes
					}
					continue
				}
				if i%step != 0 {
					continue
				}
				r := runner(t, g)
				for name, want := range results[backend.name] {
					if images[name] == nil {
						b, err := os.ReadFile("../../" + name)
						require.NoError(t, err)
						images[name] = tensor.FromBytes(b)
					}
					out, err := r.Run(images[name])
					switch {
					case err != nil && want == "":
						both++
					case err != nil:
						require.ErrorIs(t, err, codec.ErrUnsupported, "%s: %s", p.Name, name)
						require.ErrorContains(t, err, "refused by policy")
						byImage++
					case want == digest(out[0]):
						equal++
					default:
						wrong++
						assert.Fail(t, "other bytes than the reference", "%s: %s, %s, %s", p.Name, form, backend.name, name)
					}
				}
			}
		}
	}
	for key := range refused {
		assert.True(t, used[key], "%s is not refused", key)
	}
	t.Logf("%d programs: %d results equal, %d wrong; refused: %d for what is not printed, %d for other transforms, %d for the image, %d as the reference does",
		len(programs), equal, wrong, missing, others, byImage, both)
}

// TestDecoded decodes testdata/images as decode_image does, or refuses them by
// name.
func TestDecoded(t *testing.T) {
	b, err := os.ReadFile("testdata/decoded.json")
	require.NoError(t, err)
	var want map[string]string
	require.NoError(t, json.Unmarshal(b, &want))
	g, err := torchvision.ImportTensor([]byte("Compose(\n      ToPureTensor()\n)"))
	require.NoError(t, err)
	r := runner(t, g)
	count := map[string]int{}
	for name, want := range want {
		b, err := os.ReadFile(filepath.Join("../../testdata/images", name))
		require.NoError(t, err)
		out, err := r.Run(tensor.FromBytes(b))
		kind := filepath.Ext(name)
		switch {
		case err != nil:
			require.ErrorIs(t, err, codec.ErrUnsupported, name)
			require.ErrorContains(t, err, "refused by policy", name)
			count[kind+" refused"]++
		case want == "": // by the reference alone
			count[kind+" more"]++
		default:
			require.Equal(t, want, digest(out[0]), name)
			count[kind]++
		}
	}
	require.Equal(t, map[string]int{
		".jpg": 180, ".png": 76, ".gif": 22, ".webp": 39,
		".png refused": 18, ".gif refused": 14, ".webp refused": 7, // 16 bits, frames, canvas
		".jpg more": 2, ".gif more": 1,
	}, count)
}
