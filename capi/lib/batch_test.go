//go:build cgo

package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestCollate compares batches that stack, pad and concatenate, and one that
// cannot be formed, with those of Go.
func TestCollate(t *testing.T) {
	program := compile(t, "gcc", "../testdata/check.c", "-std=c99")
	unscaled := filepath.Join(t.TempDir(), "unscaled.json") // images of different sizes do not stack
	require.NoError(t, os.WriteFile(unscaled, []byte(`{"image_processor_type": "CLIPImageProcessor", "do_resize": false, "do_center_crop": false}`), 0o600))
	rules := map[datagraph.BatchRule]bool{}
	failed := 0
	for _, s := range []struct{ format, name string }{
		{"preset", "imagenet"},
		{"hf", root + "testdata/configs/hf/detr-resnet-50.json"},
		{"hf", root + "testdata/configs/hf/qwen2-vl-2b-instruct.json"},
		{"hf", unscaled},
	} {
		images := []string{large, root + "testdata/images/png_rgba8.png", root + "testdata/images/jpeg_gray.jpg"}
		g, err := inferprep.Source{Name: s.name, Format: s.format}.Graph(context.Background())
		require.NoError(t, err)
		plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(t, err)
		var samples [][]*tensor.Tensor
		for _, name := range images {
			b, err := os.ReadFile(name)
			require.NoError(t, err)
			out, err := plan.NewRunner().Run(tensor.FromBytes(b))
			require.NoError(t, err)
			samples = append(samples, out)
		}
		want := ""
		batch, err := plan.Collate(samples)
		if err != nil {
			failed++
			want = "error " + err.Error() + "\n"
		}
		for k, x := range batch {
			c := plan.Outputs()[k]
			rules[c.Batch.Rule] = true
			want += line(c.Name, x)
		}
		require.Equal(t, want, runProgram(t, program, append([]string{"collate", s.format, s.name}, images...)...), s.name)
	}
	require.Len(t, rules, 3)
	require.Equal(t, 1, failed)
}

// TestDamaged runs a graph whose sizes depend on the image on images whose
// headers alone can be read. The error is that of a run, however large the
// memory is.
func TestDamaged(t *testing.T) {
	program := compile(t, "gcc", "../testdata/check.c", "-std=c99")
	config := []byte(`{"image_processor_type": "CLIPImageProcessor", "do_resize": false, "do_center_crop": false}`)
	name := filepath.Join(t.TempDir(), "unscaled.json")
	require.NoError(t, os.WriteFile(name, config, 0o600))
	g, err := inferprep.Source{Name: name, Format: "hf"}.Graph(context.Background())
	require.NoError(t, err)
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(t, err)
	args, want := []string{"digest", "hf", name}, ""
	for _, f := range []string{"bmp_truncated.bmp", "gif_truncated.gif", "png_short_stream.png"} {
		f = root + "testdata/damaged/" + f
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		_, err = plan.NewRunner().Run(tensor.FromBytes(b))
		if err == nil {
			continue
		}
		args, want = append(args, f), want+"error "+err.Error()+"\n"
	}
	require.Greater(t, len(args), 4)
	require.Equal(t, want, runProgram(t, program, args...))
}
