package coco

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/golden"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

const testdata = "../../../testdata/datasets/coco/"

func TestMindSpore(t *testing.T) {
	for _, c := range golden.Load(t, testdata+"mindspore.json") {
		t.Run(c.Name, func(t *testing.T) {
			s := c.Specs(t, func() dataset.Node { return New("", "") }).(*Coco)
			s.Dir, s.Annotations = testdata+s.Dir, testdata+s.Annotations
			c.Compare(t, s)
		})
	}
}

// read parses a file with images 1 and 2 and categories 1 and 2.
func read(t *testing.T, task Task, annotations string) (*rows, error) {
	t.Helper()
	return parse(strings.NewReader(`{"images": [{"id": 1, "file_name": "0.jpg"}, {"id": 2, "file_name": "1.jpg"}],
		"categories": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}], "annotations": `+annotations+`}`), task)
}

// TestKeyOfValue: an error of a value names its key.
func TestKeyOfValue(t *testing.T) {
	_, err := read(t, Detection, `[{"image_id": "one"}]`)
	require.ErrorContains(t, err, `a string, want a number, in "image_id" of an annotation`)
	_, err = parse(strings.NewReader(`{"images": [{"id": "000139", "file_name": "0.jpg"}]}`), Detection)
	require.ErrorContains(t, err, `a string, want a number, in "id" of an image`)
	_, err = read(t, Panoptic, `[{"image_id": 1, "segments_info": [{"category_id": "cat"}]}]`)
	require.ErrorContains(t, err, `a string, want a number, in "category_id" of a segment, in "segments_info" of an annotation`)
}

func TestUnlikeMindSpore(t *testing.T) {
	// "04" and "3" are 0, 4, 3. The rest are differences from the count two
	// before: 4+96, 3-3, 100+0.
	for _, x := range []string{`[{"image_id": 1, "segmentation": {"size": [1, 1], "counts": [0, 4, 3, 100, 0, 100]}}]`,
		`[{"image_id": 1, "segmentation": {"counts": "043P3M0"}, "iscrowd": true}]`} {
		d, err := read(t, Segmentation, x)
		require.NoError(t, err)
		require.Equal(t, []float32{0, 4, 3, 100, 0, 100}, d.vector(0))
	}
	d, err := read(t, Panoptic, `[{"segments_info": [{"area": 12.9, "bbox": [1, 2, 3, 4], "category_id": 2}], "image_id": 1.0}]`)
	require.NoError(t, err)
	require.Equal(t, [3][]int64{{2}, {0}, {12}}, d.ints)
	d, err = read(t, Captioning, `[{"image_id": 1, "caption": "a line\r\nand\nanother\n"}, {"image_id": 1, "caption": ""}]`)
	require.NoError(t, err)
	var v dataset.Value
	d.text(&v, d.vectors.of(0))
	require.Equal(t, "a line and another \n", string(v.Data))
	// Two images with one file name.
	d, err = parse(strings.NewReader(`{"images": [{"id": 1, "file_name": "0.jpg"}, {"id": 2, "file_name": "0.jpg"}], "annotations": [
		{"image_id": 2, "keypoints": [1, 2, 3], "num_keypoints": 1}, {"image_id": 1, "keypoints": [], "num_keypoints": 0}], "categories": [{"id": 5000000000, "name": "far"}]}`), Keypoints)
	require.NoError(t, err)
	require.Equal(t, []string{"0.jpg", "0.jpg"}, d.names)
	require.Equal(t, []int{1}, d.vectors.of(0))
	require.Empty(t, d.ClassIndex())
}

func TestErrors(t *testing.T) {
	box := func(more string) string {
		return `[{"image_id": 1, "bbox": [1, 2, 3, 4], "category_id": 1}, {` + more + `}]`
	}
	for _, c := range []struct {
		task        Task
		annotations string
		want        string
	}{
		{Detection, box(`"image_id": 9, "bbox": [1, 2, 3, 4], "category_id": 1`), "before offset 273: image_id 9, want one of the images"},
		{Detection, box(`"image_id": 1, "bbox": [1, 2, 3, 4], "category_id": 9`), "category_id 9, want one of the categories"},
		{Detection, box(`"image_id": 1, "bbox": [1, 2, 3], "category_id": 1`), "offset 251: a bbox of 3 numbers, want 4"},
		{Detection, box(`"image_id": 1, "category_id": 1`), `an annotation without "bbox"`},
		{Detection, box(`"image_id": 1, "image_id": 1`), `an annotation: "image_id" appears twice`},
		{Detection, box(`"image_id": 1.5`), "1.5, want a whole number"},
		{Detection, box(`"image_id": null`), "want a number"},
		{Detection, box(`"bbox": [1e39]`), "overflows float32"},
		{Detection, `[], "annotations": []`, `"annotations" appears twice`},
		{Detection, `[]`, "no image has annotations for detection"},
		{Detection, `{}`, "array begins with '{'"},
		{Detection, `[`, "object begins with '}', want '{'"},
		{Detection, `[]}x`, "after the end"},
		{Captioning, `[{"image_id": 1}]`, `an annotation without "caption"`},
		{Captioning, `[{"image_id": 1, "caption": 5}]`, "want a string"},
		{Captioning, `[]`, "no image has annotations for captioning"},
		{Keypoints, `[{"image_id": 1, "keypoints": [1]}]`, `without "num_keypoints"`},
		{Panoptic, `[{"image_id": 1, "segments_info": [{"bbox": [1, 2, 3, 4], "category_id": 1, "iscrowd": 0}]}]`, `a segment without "area"`},
		{Panoptic, `[{"image_id": 1, "segments_info": [{"area": 1e300}]}]`, "want less than 2^53"},
		{Panoptic, `[{"image_id": 1, "segments_info": []}]`, "no image has annotations for panoptic"},
		{Segmentation, `[{"image_id": 1, "iscrowd": 1, "segmentation": [[1, 2]]}]`, "iscrowd 1 with polygons"},
		{Segmentation, `[{"image_id": 1, "iscrowd": 2, "segmentation": [[1, 2]]}]`, "iscrowd 2, want 0 or 1"},
		{Segmentation, `[{"image_id": 1, "segmentation": {}}]`, `a segmentation without "counts"`},
		{Segmentation, `[{"image_id": 1, "segmentation": {"counts": "P"}}]`, "counts end within a number"},
		{Segmentation, `[{"image_id": 1, "segmentation": {"counts": "!"}}]`, "invalid counts"},
		{Segmentation, `[{"image_id": 1, "segmentation": {"counts": "oooooooo"}}]`, "invalid counts"},
		{Segmentation, `[{"image_id": 1, "segmentation": {"counts": "O"}}]`, "count 0 is -1"},
		{Segmentation, `[{"image_id": 1, "segmentation": [[[1]]]}]`, "want a number"},
	} {
		_, err := read(t, c.task, c.annotations)
		require.ErrorIs(t, err, dataset.ErrData)
		require.ErrorContains(t, err, c.want)
	}
	for text, want := range map[string]string{
		`{"annotations": []}`: `no "images"`,
		`{"images": []}`:      `no "annotations"`,
		`{"images": [{"id": 1, "file_name": "a"}, {"id": 1, "file_name": "b"}]}`: "image id 1 appears twice",
		`{"images": [{"id": 1}]}`:        `an image without "file_name"`,
		`{"categories": [{"name": ""}]}`: `a category without "id"`,
		`[]`:                             "object begins with '['",
		``:                               "the text ends",
	} {
		_, err := parse(strings.NewReader(text), Detection)
		require.ErrorIs(t, err, dataset.ErrData)
		require.ErrorContains(t, err, want)
	}
	// A few long rows among many short ones would make a matrix that does not
	// fit in memory.
	many := `[{"image_id": 1, "keypoints": [` + strings.Repeat("1,", 1<<17) + `1], "num_keypoints": 1}` + strings.Repeat(`,{"image_id": 1, "keypoints": [], "num_keypoints": 0}`, 1<<12) + `]`
	_, err := read(t, Keypoints, many)
	require.ErrorContains(t, err, "image 0.jpg: 4097 x 131073 numbers")

	s := New(testdata+"images", testdata+"instances.json")
	s.Task = "boxes"
	require.ErrorIs(t, s.Validate(), dataset.ErrParam)
	_, err = s.Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrParam)
	_, err = New("", filepath.Join(t.TempDir(), "none.json")).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, os.ErrNotExist)
	d, err := read(t, Detection, box(`"image_id": 2, "bbox": [1, 2, 3, 4], "category_id": 1`))
	require.NoError(t, err)
	d.dir = t.TempDir()
	d.folder, err = store.OpenFolder(t.Context(), store.Local, d.dir)
	require.NoError(t, err)
	defer d.Close()
	sample := dataset.NewSample(d.Columns())
	require.ErrorIs(t, d.Read(t.Context(), 1, sample), os.ErrNotExist)
	require.Equal(t, "1.jpg", sample.Key)
}

func FuzzParse(f *testing.F) {
	for i, n := range []string{"instances", "keypoints", "stuff", "panoptic"} {
		b, err := os.ReadFile(testdata + n + ".json")
		require.NoError(f, err)
		f.Add(uint8(i), b)
	}
	f.Add(uint8(2), []byte(`{"images":[{"id":1,"file_name":"a"}],"annotations":[{"image_id":1,"segmentation":{"counts":"043P3M0"}}]}`))
	tasks := []Task{Detection, Keypoints, Segmentation, Panoptic}
	dir := f.TempDir()
	require.NoError(f, os.WriteFile(filepath.Join(dir, "x"), []byte("image"), 0o600))
	folder, err := store.OpenFolder(f.Context(), store.Local, dir)
	require.NoError(f, err)
	f.Cleanup(func() { folder.Close() })
	f.Fuzz(func(t *testing.T, task uint8, b []byte) {
		d, err := parse(strings.NewReader(string(b)), tasks[task%4])
		if err != nil {
			require.ErrorIs(t, err, dataset.ErrData)
			return
		}
		d.folder, d.dir = folder, dir
		s := dataset.NewSample(d.Columns())
		for i := range d.Len() {
			d.names[i] = "x"
			require.NoError(t, d.Read(t.Context(), i, s))
			for j, c := range d.Columns() {
				require.True(t, c.Desc.Matches(s.Values[j].Desc), "%v, want %v", s.Values[j].Desc, c.Desc)
			}
			for _, x := range tensor.View[float32](&s.Values[1].Tensor) {
				require.False(t, math.IsNaN(float64(x)) || math.IsInf(float64(x), 0))
			}
		}
	})
}

// TestAllocations checks that annotations use the sample's memory.
func TestAllocations(t *testing.T) {
	data, err := New(testdata+"images", testdata+"instances.json").Open(t.Context(), store.Local)
	require.NoError(t, err)
	// Opening the file allocates; the annotations must not.
	file := golden.Allocs(t, noAnnotations{data.(*rows)})
	require.LessOrEqual(t, golden.Allocs(t, data.(dataset.Rows)), file)
}

// noAnnotations reads the images alone.
type noAnnotations struct{ *rows }

func (d noAnnotations) Read(_ context.Context, i int64, s *dataset.Sample) error {
	keep := s.Values
	s.Values = s.Values[:2]
	defer func() { s.Values = keep }()
	return d.rows.Read(context.Background(), i, s)
}

// TestTorchvision compares the annotations of each image with torchvision's
// CocoDetection. It orders images by id and includes those without annotations.
func TestTorchvision(t *testing.T) {
	type annotation struct {
		Bbox, Keypoints []float64
		NumKeypoints    int64 `json:"num_keypoints"`
		CategoryID      int64 `json:"category_id"`
		IsCrowd         int64
		Segmentation    json.RawMessage
	}
	var file struct {
		Cases []struct {
			Name   string
			Images []struct {
				File        string
				Annotations []annotation
			}
			RLE []struct {
				Counts []float32
				String string
			}
		}
	}
	b, err := os.ReadFile(testdata + "torchvision.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &file))
	tasks := map[string]Task{"instances": Detection, "keypoints": Keypoints, "stuff": Segmentation}
	for _, c := range file.Cases {
		for _, r := range c.RLE {
			d, err := read(t, Segmentation, fmt.Sprintf(`[{"image_id": 1, "segmentation": {"counts": %q}}]`, r.String))
			require.NoError(t, err)
			require.Equal(t, r.Counts, d.vector(0))
		}
		if c.RLE != nil {
			continue
		}
		o := New(testdata+"images", testdata+c.Name+".json")
		o.Task = tasks[c.Name]
		data, err := o.Open(t.Context(), store.Local)
		require.NoError(t, err)
		d := data.(*rows)
		seen := 0
		for _, im := range c.Images {
			var want [][]float32
			var ints [2][]int64
			for _, a := range im.Annotations {
				switch o.Task {
				case Detection:
					want = append(want, narrow(a.Bbox))
					ints[0], ints[1] = append(ints[0], a.CategoryID), append(ints[1], a.IsCrowd)
				case Keypoints:
					want = append(want, narrow(a.Keypoints))
					ints[0] = append(ints[0], a.NumKeypoints)
				case Segmentation:
					var polygons [][]float64
					if json.Unmarshal(a.Segmentation, &polygons) != nil {
						var rle struct{ Counts []float64 }
						require.NoError(t, json.Unmarshal(a.Segmentation, &rle))
						polygons = [][]float64{rle.Counts}
					}
					for _, p := range polygons {
						want = append(want, narrow(p))
					}
					ints[0] = append(ints[0], a.IsCrowd)
				}
			}
			i := int64(slices.Index(d.names, im.File))
			if len(want) == 0 {
				require.EqualValues(t, -1, i)
				continue
			}
			seen++
			var got [][]float32
			for _, j := range d.vectors.of(i) {
				got = append(got, append([]float32{}, d.vector(j)...))
			}
			require.Equal(t, want, got, im.File)
			for k := range ints {
				var have []int64
				if k < len(kinds[o.Task].items) {
					for _, j := range d.items.of(i) {
						have = append(have, d.ints[k][j])
					}
				}
				require.Equal(t, ints[k], have)
			}
		}
		require.EqualValues(t, seen, d.Len())
	}
}

// TestTorchvisionCaptions compares the captions of each image with
// torchvision's CocoCaptions.
func TestTorchvisionCaptions(t *testing.T) {
	var file struct {
		Cases []struct {
			Images []struct {
				File        string
				Annotations []struct{ Caption string }
			}
		}
	}
	b, err := os.ReadFile(testdata + "torchvision_captions.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &file))
	want := map[string]string{}
	for _, im := range file.Cases[0].Images {
		var l []string
		for _, a := range im.Annotations {
			l = append(l, a.Caption)
		}
		if l != nil {
			want[im.File] = strings.Join(l, "\n")
		}
	}
	require.Len(t, want, 4)
	o := New(testdata+"images", testdata+"captions.json")
	o.Task = Captioning
	got := map[string]string{}
	for _, s := range sourcetest.Samples(t, o) {
		got[s.Key] = string(s.Values[1].Data)
	}
	require.Equal(t, want, got)
	sourcetest.Run(t, o)
}

func narrow(v []float64) []float32 {
	f := make([]float32, len(v))
	for i, x := range v {
		f[i] = float32(x)
	}
	return f
}

func TestStore(t *testing.T) {
	sourcetest.Store(t, testdata, func(dir string) dataset.Source { return New(dir+"/images", dir+"/instances.json") })
}
