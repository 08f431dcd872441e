package importer_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// TestUsages compares the importers of OpenCV and Ultralytics, and graphs of
// OpenCV's functions, with what the libraries give for images of many kinds.
// An image gets the same bytes, or is refused by both; or infer-prep alone
// refuses it and says that it is unsupported.
func TestUsages(t *testing.T) {
	b, err := os.ReadFile("testdata/usages.json")
	require.NoError(t, err)
	var g struct {
		Images []string
		Cases  []struct {
			Importer, Name, Config string
			Results                []*string
		}
		Refused []struct {
			Name, Config string
			Keys         []string
		}
	}
	require.NoError(t, json.Unmarshal(b, &g))
	require.NotEmpty(t, g.Cases)
	var images [][]byte
	for _, name := range g.Images {
		b, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
		require.NoError(t, err)
		images = append(images, b)
	}
	step := short.Step(t, 7)
	var equal, both, alone int
	for i, c := range g.Cases {
		if i%step != 0 {
			continue
		}
		t.Run(c.Importer+"/"+c.Name, func(t *testing.T) {
			r := runner(t, c.Importer, c.Config)
			for j, want := range c.Results {
				got, err := run(r, images[j])
				switch {
				case err == nil && want == nil:
					t.Errorf("%s: accepted, the reference refuses it", g.Images[j])
				case err == nil && got != *want:
					t.Errorf("%s: %s, want %s", g.Images[j], got, *want)
				case err == nil:
					equal++
				case want == nil:
					both++
				case !errors.Is(err, codec.ErrUnsupported) && !errors.Is(err, transforms.ErrInput):
					t.Errorf("%s: %v", g.Images[j], err)
				default:
					alone++
				}
			}
		})
	}
	t.Logf("%d equal, %d refused by both, %d refused by infer-prep alone", equal, both, alone)
	require.NotEmpty(t, g.Refused)
	for _, c := range g.Refused {
		_, err := importAs(t, "ultralytics", []byte(c.Config))
		var l importer.Errors
		require.ErrorAs(t, err, &l, c.Name)
		var paths []string
		for _, e := range l {
			paths = append(paths, e.Path)
			require.NotEmpty(t, e.Text, c.Name)
		}
		require.ElementsMatch(t, c.Keys, paths, c.Name)
	}
}

func runner(t *testing.T, name, config string) *datagraph.Runner {
	t.Helper()
	g := new(datagraph.Graph)
	var err error
	if name == "graph" {
		err = json.Unmarshal([]byte(config), g)
	} else {
		g, err = importAs(t, name, []byte(config))
	}
	require.NoError(t, err)
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(t, err)
	return p.NewRunner()
}

// run returns the first output as usages.json has it.
func run(r *datagraph.Runner, image []byte) (string, error) {
	out, err := r.Run(tensor.FromBytes(image))
	if err != nil {
		return "", err
	}
	var shape []string
	for _, n := range shapeOf(out[0].Desc) {
		shape = append(shape, fmt.Sprint(n))
	}
	sum := sha256.Sum256(out[0].Data)
	return fmt.Sprintf("%v %s %s", out[0].DType, strings.Join(shape, "x"), hex.EncodeToString(sum[:8])), nil
}
