// Package digest has one test: it runs every preset and example configuration
// over every test image, and prints a digest of all the tensors, which must be
// the same on every platform.
package digest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	_ "github.com/infer-prep/infer-prep/importer/all"
	"github.com/infer-prep/infer-prep/preset"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestDigest(t *testing.T) {
	graphs := map[string]*datagraph.Graph{}
	var names []string
	for _, n := range preset.Names() {
		g, err := preset.Graph(n)
		require.NoError(t, err)
		graphs[n] = g
		names = append(names, n)
	}
	configs, err := filepath.Glob("../../testdata/configs/*/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, configs)
	for _, c := range configs {
		i, ok := importer.Lookup(filepath.Base(filepath.Dir(c)))
		require.True(t, ok, c)
		b, err := os.ReadFile(c)
		require.NoError(t, err)
		graphs[c], err = i.Import(b)
		require.NoError(t, err, c)
		names = append(names, c)
	}
	images, err := filepath.Glob("../../testdata/images/*")
	require.NoError(t, err)
	require.NotEmpty(t, images)

	// Every image is decoded; the other graphs run on one image in forty, since
	// this runs under emulation too.
	var some []string
	for i := 0; i < len(images); i += 40 {
		some = append(some, images[i])
	}
	all := sha256.New()
	for _, n := range names {
		plan, err := datagraph.Compile(graphs[n], codec.DefaultLimits())
		require.NoError(t, err, n)
		r := plan.NewRunner()
		h := sha256.New()
		use := some
		if n == "decode" {
			use = images
		}
		for _, f := range use {
			b, err := os.ReadFile(f)
			require.NoError(t, err)
			out, err := r.Run(tensor.FromBytes(b))
			if err != nil {
				fmt.Fprintf(h, "%s: %v\n", filepath.Base(f), err) // a refusal must be the same too
				continue
			}
			for _, o := range out {
				fmt.Fprintf(h, "%s: %v\n", filepath.Base(f), o.Desc)
				require.NoError(t, tensor.WriteRaw(h, o))
			}
		}
		sum := h.Sum(nil)
		t.Logf("%x %s", sum, n)
		all.Write(sum)
	}
	t.Logf("all tensors: %x", all.Sum(nil))
}
