package datagraph_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/internal/golden"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/tensor/npz"
	t "github.com/infer-prep/infer-prep/transforms"
)

// float32s and sizes describe inputs of graphs that process a model's outputs.
func float32s(name string, dims ...int) datagraph.Column {
	return datagraph.Column{Name: name, Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(dims...)}}
}

func sizes(names ...string) (l []datagraph.Column) {
	for _, n := range names {
		l = append(l, datagraph.Column{Name: n, Desc: tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(2)}})
	}
	return l
}

func names(l ...string) []string { return l }

type postprocessCase struct {
	Name    string `json:"name"`
	In, Out []struct {
		golden.Digest
		Array  string        `json:"array"`
		Layout tensor.Layout `json:"layout"`
	}
}

// unboxed returns the graph that ultralytics' predictors apply to boxes or
// points of a letterboxed image.
func unboxed(format t.CoordFormat, boxes datagraph.Column) *datagraph.Graph {
	name := boxes.Name
	g := &datagraph.Graph{
		Inputs: append([]datagraph.Column{boxes}, sizes("size", "original_size")...), Outputs: names(name),
	}
	g.Then(t.NewLetterboxGeometry(), names("size", "original_size"), names("scale", "pad"))
	g.Then(&t.ShiftCoords{Format: format, Subtract: true}, names(name, "pad"), names(name))
	g.Then(&t.ScaleCoords{Format: format, Divide: true}, names(name, "scale"), names(name))
	if format == t.CoordXY || format == t.CoordXYXY {
		g.Then(t.NewClampCoordsToSize(format), names(name, "original_size"), names(name))
	}
	return g
}

// postprocessGraphs returns the graphs of the golden cases.
func postprocessGraphs() map[string]*datagraph.Graph {
	unknown := tensor.Unknown
	bytesOf := t.NewThreshold(0)
	bytesOf.DType = tensor.Uint8
	mask := names("masks")
	planes := float32s("masks", unknown, unknown, unknown)

	detr := &datagraph.Graph{Inputs: append([]datagraph.Column{float32s("boxes", unknown, 4)}, sizes("size")...), Outputs: names("boxes")}
	detr.Add(t.NewConvertBoxes(t.CoordCXCYWH, t.CoordXYXY)).Then(t.NewScaleCoords(t.CoordXYXY), names("boxes", "size"), names("boxes"))

	reported := &datagraph.Graph{
		Inputs: append([]datagraph.Column{
			float32s("boxes", unknown, 4), float32s("scale", 2),
			{Name: "pad", Desc: tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(4)}},
		}, sizes("size")...),
		Outputs: names("boxes"),
	}
	reported.Then(&t.ShiftCoords{Format: t.CoordXYXY, Subtract: true}, names("boxes", "pad"), names("boxes"))
	reported.Then(&t.ScaleCoords{Format: t.CoordXYXY, Divide: true}, names("boxes", "scale"), names("boxes"))
	reported.Add(t.NewClampCoordsToSize(t.CoordXYXY))

	masks := &datagraph.Graph{Inputs: append([]datagraph.Column{planes, float32s("boxes", unknown, 4)}, sizes("size")...), Outputs: mask}
	masks.Then(t.NewResizeTo(), names("masks", "size"), mask).Then(bytesOf, mask, mask).Add(t.NewMaskBoxes())

	// scale_masks converts to float32 and cuts the padding off.
	scaled := &datagraph.Graph{
		Inputs:  append([]datagraph.Column{{Name: "masks", Desc: tensor.Desc{DType: tensor.Uint8, Shape: planes.Desc.Shape}}}, sizes("size", "original_size")...),
		Outputs: mask,
	}
	scaled.Then(t.NewLetterboxGeometry(), names("size", "original_size"), names("scale", "pad"))
	scaled.Then(t.NewToType(tensor.Float32), mask, mask)
	scaled.Then(t.NewCropPadding(), names("masks", "pad"), mask)
	scaled.Then(t.NewResizeTo(), names("masks", "original_size"), mask)

	native := &datagraph.Graph{
		Inputs:  append([]datagraph.Column{planes, float32s("boxes", unknown, 4)}, sizes("size", "original_size")...),
		Outputs: mask,
	}
	native.Then(t.NewResizeTo(), names("masks", "size"), mask)
	native.Then(t.NewLetterboxGeometry(), names("size", "original_size"), names("scale", "pad"))
	native.Then(t.NewCropPadding(), names("masks", "pad"), mask)
	native.Then(t.NewResizeTo(), names("masks", "original_size"), mask)
	native.Then(bytesOf, mask, mask).Add(t.NewMaskBoxes())

	sam := &datagraph.Graph{
		Inputs:  append([]datagraph.Column{float32s("masks", unknown, unknown, unknown, unknown)}, sizes("padded_size", "reshaped_input_sizes", "original_sizes")...),
		Outputs: mask,
	}
	sam.Then(t.NewResizeTo(), names("masks", "padded_size"), mask)
	sam.Then(t.NewCropToSize(), names("masks", "reshaped_input_sizes"), mask)
	sam.Then(t.NewResizeTo(), names("masks", "original_sizes"), mask)
	sam.Then(t.NewThreshold(0), mask, mask)

	logits := datagraph.Column{Name: "logits", Desc: tensor.Image(tensor.Float32, tensor.CHW, unknown, unknown, 19)}
	segmentation := &datagraph.Graph{Inputs: append([]datagraph.Column{logits}, sizes("size")...), Outputs: names("classes")}
	segmentation.Then(t.NewResizeTo(), names("logits", "size"), names("logits")).Then(t.NewArgmax(0), names("logits"), names("classes"))

	superpoint := &datagraph.Graph{Inputs: append([]datagraph.Column{float32s("keypoints", unknown, 2)}, sizes("size")...), Outputs: names("keypoints")}
	superpoint.Then(t.NewScaleCoords(t.CoordXY), names("keypoints", "size"), names("keypoints"))
	superpoint.Then(t.NewToType(tensor.Int32), names("keypoints"), names("keypoints"))

	return map[string]*datagraph.Graph{
		"detr": detr, "yolo_reported": reported, "yolo_masks": masks, "yolo_scale_masks": scaled, "yolo_masks_native": native,
		"sam": sam, "segmentation": segmentation, "superpoint": superpoint,
		"yolo_boxes":     unboxed(t.CoordXYXY, float32s("boxes", unknown, 6)),
		"yolo_rotated":   unboxed(t.CoordCXCYWH, float32s("boxes", unknown, 7)),
		"yolo_keypoints": unboxed(t.CoordXY, float32s("keypoints", unknown, 17, 3)),
	}
}

// TestPostprocess compares graphs of ops with the functions of transformers and
// ultralytics that they stand for, in both written forms and with one Runner
// for all sizes.
func TestPostprocess(x *testing.T) {
	b, err := os.ReadFile("testdata/postprocess/cases.json")
	require.NoError(x, err)
	var file struct {
		Cases []postprocessCase `json:"cases"`
	}
	require.NoError(x, json.Unmarshal(b, &file))
	b, err = os.ReadFile("testdata/postprocess/golden.npz")
	require.NoError(x, err)
	list, err := npz.Read(bytes.NewReader(b), int64(len(b)), 1<<26)
	require.NoError(x, err)
	arrays := map[string]*tensor.Tensor{}
	for _, n := range list {
		arrays[n.Name] = n.T
	}
	runners := map[string]*datagraph.Runner{}
	seen := map[string]int{}
	for name, g := range postprocessGraphs() {
		text, err := json.Marshal(g)
		require.NoError(x, err)
		back := &datagraph.Graph{}
		require.NoError(x, json.Unmarshal(text, back), name)
		packed, err := back.MarshalMsg(nil)
		require.NoError(x, err)
		back = &datagraph.Graph{}
		_, err = back.UnmarshalMsg(packed)
		require.NoError(x, err)
		plan, err := datagraph.Compile(back, datagraph.CompileOptions{})
		require.NoError(x, err, name)
		runners[name] = plan.NewRunner()
	}
	for _, c := range file.Cases {
		kind, _, _ := strings.Cut(c.Name, "/")
		require.NotNil(x, runners[kind], c.Name)
		seen[kind]++
		var in []*tensor.Tensor
		for _, a := range c.In {
			v := *arrays[a.Array]
			v.Layout = a.Layout
			in = append(in, &v)
		}
		for range 2 {
			out, err := runners[kind].Run(in...)
			require.NoError(x, err, c.Name)
			if c.Out[0].SHA256 != "" {
				require.Equal(x, c.Out[0].Layout, out[0].Layout, c.Name)
				require.Empty(x, c.Out[0].Diff(out[0]), c.Name)
				continue
			}
			want := arrays[c.Out[0].Array]
			require.Equal(x, want.Desc, out[0].Desc, c.Name)
			require.True(x, bytes.Equal(want.Data, out[0].Data), "%s differs", c.Name)
		}
	}
	require.Len(x, seen, len(runners))
	fmt.Println("cases:", seen)
}

// TestPostprocessUnwanted checks that bad data is an error of its step.
func TestPostprocessUnwanted(x *testing.T) {
	plan, err := datagraph.Compile(postprocessGraphs()["sam"], datagraph.CompileOptions{})
	require.NoError(x, err)
	masks, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(1, 3, 8, 8)})
	require.NoError(x, err)
	size := func(h, w int64) *tensor.Tensor {
		s, err := tensor.New(tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(2)})
		require.NoError(x, err)
		copy(tensor.View[int64](s), []int64{h, w})
		return s
	}
	r := plan.NewRunner()
	for text, l := range map[string][]*tensor.Tensor{
		"step 0 (resize_to)":     {masks, size(0, 8), size(8, 8), size(8, 8)},
		"step 1 (crop_to_size)":  {masks, size(8, 8), size(9, 8), size(8, 8)},
		"step 2 (resize_to)":     {masks, size(8, 8), size(8, 8), size(-1, 8)},
		"memory of 2^48 pixels,": {masks, size(8, 8), size(8, 8), size(1<<24, 1<<24)},
	} {
		_, err := r.Run(l...)
		require.Error(x, err, text)
		if strings.HasPrefix(text, "step") {
			require.ErrorContains(x, err, text)
			require.ErrorIs(x, err, t.ErrInput)
		}
	}
	_, err = r.Run(masks, size(16, 16), size(16, 8), size(5, 3))
	require.NoError(x, err)
}

// Map a YOLO model's boxes back to the image. The graph before the model also
// returns the size of the image and the padding; the graph after it takes them.
func Example_postprocess() {
	before, err := preset.Graph("yolo")
	if err != nil {
		log.Fatal(err)
	}
	size := datagraph.Step{Op: t.NewImageSize(), In: []string{"image"}, Out: []string{"original_size"}}
	before.Steps = slices.Insert(before.Steps, 1, size) // after decode
	before.SideOutputs = append(before.SideOutputs, "original_size")
	plan, err := datagraph.Compile(before, datagraph.CompileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	jpeg, err := os.ReadFile("../testdata/images/jpeg_large.jpg")
	if err != nil {
		log.Fatal(err)
	}
	tensors, err := plan.NewRunner().Run(tensor.FromBytes(jpeg))
	if err != nil {
		log.Fatal(err)
	}
	given := map[string]*tensor.Tensor{}
	after := &datagraph.Graph{Outputs: []string{"boxes"}}
	for i, c := range plan.Outputs() {
		given[c.Name] = tensors[i]
	}

	// The model's boxes: x, y, x, y of the letterboxed image, score, class.
	boxes, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(1, 6)})
	if err != nil {
		log.Fatal(err)
	}
	copy(tensor.View[float32](boxes), []float32{-5, 100, 320, 400, 0.9, 17})
	given["boxes"] = boxes

	for _, n := range []string{"boxes", "images", "original_size"} {
		d := given[n].Desc
		if n == "boxes" {
			d.Shape = tensor.Dims(tensor.Unknown, 6) // any number of boxes
		}
		after.Inputs = append(after.Inputs, datagraph.Column{Name: n, Desc: d})
	}
	after.Then(t.NewImageSize(), []string{"images"}, []string{"size"})
	after.Then(t.NewLetterboxGeometry(), []string{"size", "original_size"}, []string{"scale", "pad"})
	after.Then(&t.ShiftCoords{Format: t.CoordXYXY, Subtract: true}, []string{"boxes", "pad"}, []string{"boxes"})
	after.Then(&t.ScaleCoords{Format: t.CoordXYXY, Divide: true}, []string{"boxes", "scale"}, []string{"boxes"})
	after.Then(t.NewClampCoordsToSize(t.CoordXYXY), []string{"boxes", "original_size"}, []string{"boxes"})
	plan, err = datagraph.Compile(after, datagraph.CompileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	out, err := plan.NewRunner().Run(given["boxes"], given["images"], given["original_size"])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tensor.View[int64](given["original_size"]), tensor.View[float32](out[0]))
	// Output:
	// [310 420] [0 10.508474 210 207.54237 0.9 17]
}
