package voc

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/golden"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/store"
)

const testdata = "../../../testdata/datasets/voc/"

func TestMindSpore(t *testing.T) {
	for _, c := range golden.Load(t, testdata+"mindspore.json") {
		t.Run(c.Name, func(t *testing.T) {
			s := c.Specs(t, func() dataset.Node { return New("", "") }).(*VOC)
			s.Dir = testdata + s.Dir
			c.Compare(t, s)
		})
	}
}

const box = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>5</ymax></bndbox>"

func TestParse(t *testing.T) {
	plain := object{name: "dog", box: [4]float32{1, 2, 3, 5}}
	for x, want := range map[string]object{
		"<name>dog</name>" + box:                                                      plain,
		"<name>dog</name>" + box + "<name>cat</name><name/>" + box:                    plain,
		"<name><!-- a --> <!-- b -->dog<!-- c -->s</name>" + box:                      plain,
		"<name>d&#111;g<x>s</x></name>" + box:                                         plain,
		"<part><name>head</name></part><x:name>x</x:name><name>dog</name>" + box:      plain,
		"<name xmlns='y'>dog</name>" + strings.ReplaceAll(box, "3", "\n 3e0<z>4</z>"): plain,
		"<name><x/>dog</name>" + box:                                                  {box: plain.box},
		"<difficult/><truncated> </truncated><name>dog</name>" + box:                  plain,
		"<difficult>-1</difficult><truncated>2.9</truncated><name>dog</name>" + box:   {name: "dog", box: plain.box, difficult: -1, truncated: 2},
	} {
		got, err := parse(strings.NewReader("\ufeff<?xml version='1.0' encoding='GBK'?>\n<!DOCTYPE a>\n<a xmlns='z'><name>no</name><object>" + x + "</object></a>\n"))
		require.NoError(t, err, x)
		require.Equal(t, []object{want}, got, x)
	}
}

func TestErrors(t *testing.T) {
	for x, want := range map[string]string{
		"":                                  "no element",
		"<a/>":                              "no object",
		"<object>" + box + "</object>":      "no object",
		"<a><b><object/></b></a>":           "no object",
		"<a>\n<object></object></a>":        "line 2: an object without bndbox",
		"<a><object><bndbox/></object></a>": "want it to start above 0",
		"<a><object><bndbox><xmin>1px</xmin></bndbox></object></a>":           `xmin is "1px", want a number`,
		"<a><object>" + strings.Replace(box, "3", "1", 1) + "</object></a>":   "box (1, 2) to (1, 5)",
		"<a><object>" + strings.Replace(box, "3", "inf", 1) + "</object></a>": "want a number",
		"<a><object><difficult>1e10</difficult></object></a>":                 "difficult is 1e+10, want an int32",
		"<a><object>" + box:              "the file ends within <object>",
		"<a><object>" + box + "</b></a>": "</b> does not match an open element",
		"<a></a></a>":                    "</a> does not match an open element",
		"<a/><a/>":                       "a second element",
		"x<a/>":                          "text outside",
		"<a>&unknown;</a>":               "entity",
		"<a>\xff</a>":                    "UTF-8",
		strings.Repeat("<a>", 65):        "nested deeper than 64",
		"<a>" + strings.Repeat(" ", maxAnnotation):                                          "more than 16777216 bytes",
		"<a><object><name>" + strings.Repeat("x", maxAnnotation) + "</name></object></a>\n": "more than 16777216 bytes",
	} {
		_, err := parse(strings.NewReader(x))
		require.ErrorIs(t, err, dataset.ErrData)
		require.ErrorContains(t, err, want)
	}
	for want, o := range map[string]*VOC{
		`task "boxes"`:    {Task: "boxes", Usage: "train"},
		`usage ""`:        {Task: Detection},
		`usage "../x"`:    {Task: Detection, Usage: "../x"},
		"class_indexing,": {Task: Segmentation, Usage: "train", ClassIndexing: map[string]int32{"a": 1}},
	} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam)
		require.ErrorContains(t, o.Validate(), want)
		_, err := o.Open(t.Context(), store.Local)
		require.ErrorIs(t, err, dataset.ErrParam)
	}

	dir := t.TempDir()
	_, err := New(dir, "train").Open(t.Context(), store.Local)
	require.ErrorIs(t, err, os.ErrNotExist)
	write := func(name, text string) {
		p := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o700))
		require.NoError(t, os.WriteFile(p, []byte(text), 0o600))
	}
	write("ImageSets/Main/train.txt", "\r\n\n")
	_, err = New(dir, "train").Open(t.Context(), store.Local)
	require.ErrorContains(t, err, "no images for detection")
	require.ErrorIs(t, err, dataset.ErrData)
	write("ImageSets/Main/train.txt", "a\n"+strings.Repeat("x", 1<<17))
	_, err = New(dir, "train").Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrData)
	write("ImageSets/Main/train.txt", "a\n\n")
	_, err = New(dir, "train").Open(t.Context(), store.Local)
	require.ErrorIs(t, err, os.ErrNotExist)
	write("Annotations/a.xml", "<a>\n\n<object/></a>")
	_, err = New(dir, "train").Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrData)
	require.ErrorContains(t, err, "a.xml: invalid data: line 3: an object without bndbox")
	write("Annotations/a.xml", "<a><object><name>dog</name>"+box+"</object></a>")
	o := New(dir, "train")
	o.ClassIndexing["cat"] = 1
	_, err = o.Open(t.Context(), store.Local)
	require.ErrorContains(t, err, "no images for detection")
	o.ClassIndexing = nil
	data, err := o.Open(t.Context(), store.Local)
	require.NoError(t, err)
	s := dataset.NewSample(data.Columns())
	require.ErrorIs(t, data.(dataset.Rows).Read(t.Context(), 0, s), os.ErrNotExist)
	require.Equal(t, "a", s.Key)
}

func FuzzParse(f *testing.F) {
	names, err := filepath.Glob(testdata + "VOCdevkit/VOC2012/Annotations/*.xml")
	require.NoError(f, err)
	require.NotEmpty(f, names)
	for _, n := range names {
		b, err := os.ReadFile(n)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Add([]byte("<a><object><bndbox><xmin>x"))
	f.Add([]byte(`<?xml version="0"?>`))
	f.Fuzz(func(t *testing.T, b []byte) {
		objects, err := parse(strings.NewReader(string(b)))
		if err != nil {
			require.ErrorIs(t, err, dataset.ErrData)
			return
		}
		require.NotEmpty(t, objects)
		for _, o := range objects {
			require.True(t, o.box[0] > 0 && o.box[2] > o.box[0] && o.box[1] > 0 && o.box[3] > o.box[1])
		}
	})
}

// TestTorchvision compares with torchvision's VOCDetection and VOCSegmentation,
// in their order. Their boxes have right and lower edges, and their classes
// have no numbers.
func TestTorchvision(t *testing.T) {
	var file struct {
		Cases []struct {
			Name   string
			Images []struct {
				File, Target string
				Objects      []struct {
					Name                 string
					Box                  [4]float32
					Difficult, Truncated int32
				}
			}
		}
	}
	b, err := os.ReadFile(testdata + "torchvision.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &file))
	require.Len(t, file.Cases, 4)
	for _, c := range file.Cases {
		o := New(testdata+"VOCdevkit/VOC2012", c.Name)
		if c.Name == "segmentation" {
			o.Task, o.Usage = Segmentation, "train"
		}
		data, err := o.Open(t.Context(), store.Local)
		require.NoError(t, err)
		d := data.(*rows)
		require.EqualValues(t, len(c.Images), d.Len())
		for i, im := range c.Images {
			require.Equal(t, im.File, d.ids[i])
			if o.Task == Segmentation {
				require.Equal(t, im.Target, d.ids[i])
				continue
			}
			require.Equal(t, len(im.Objects), d.start[i+1]-d.start[i])
			for k, w := range im.Objects {
				j := d.start[i] + k
				require.Equal(t, d.classes[w.Name], d.ints[0][j])
				require.Equal(t, [2]int32{w.Difficult, w.Truncated}, [2]int32{d.ints[1][j], d.ints[2][j]})
				require.Equal(t, []float32{w.Box[0], w.Box[1], w.Box[2] - w.Box[0], w.Box[3] - w.Box[1]}, d.boxes[4*j:4*j+4])
			}
		}
	}
}

func TestStore(t *testing.T) {
	for task, usage := range map[Task]string{Detection: "train", Segmentation: "train"} {
		sourcetest.Store(t, testdata+"VOCdevkit/VOC2012", func(dir string) dataset.Source {
			o := New(dir, usage)
			o.Task = task
			return o
		})
	}
}

// TestTooLarge: the sizes of lists are bounded before they are read.
func TestTooLarge(t *testing.T) {
	settest.TooLarge(t, "voc", ".xml", 400<<20, func(dir string) dataset.Source { return New(dir+"/VOCdevkit/VOC2012", "train") })
}
