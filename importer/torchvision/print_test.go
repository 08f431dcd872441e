package torchvision

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

// TestNotPrinted imports prints without an argument that changes the bytes. The
// error names it, and with it the text is imported.
func TestNotPrinted(t *testing.T) {
	both := []func([]byte) (*datagraph.Graph, error){Import, ImportTensor}
	missing := regexp.MustCompile(`(?s)«.*»`)
	for _, c := range []struct {
		text string // «» marks what Python does not print
		key  string
		need []func([]byte) (*datagraph.Graph, error)
	}{
		{"Compose(\n      ToImage()\n      ToDtype(«dtype=torch.float32, »scale=True)\n)", "ToDtype.dtype", both},
		{"Compose(\n      ToImage()\n      ToDtype(«dtype=torch.int64, »scale=False)\n)", "ToDtype.dtype", both},
		{"Compose(\n      ToImage()\n      ToDtype(«dtype=torch.uint8, »scale=True)\n)", "ToDtype.dtype", both},
		{"Compose(\n    PILToTensor()\n    ConvertImageDtype(«dtype=torch.float»)\n)", "ConvertImageDtype.dtype", both[:1]},
		{"Compose(\n      ToImage()\n      Pad(padding=4, «fill=127, »padding_mode=constant)\n)", "Pad.fill", both},
		{"Compose(\n      ToImage()\n      Grayscale(«num_output_channels=3»)\n)", "Grayscale.num_output_channels", both},
		{"Compose(\n      Resize(size=[16], interpolation=InterpolationMode.BILINEAR«, antialias=False»)\n      ToImage()\n)", "Resize.antialias", both[1:]},
		{"Compose(\n      Resize(size=[16], interpolation=3«, antialias=True»)\n      ToImage()\n)", "Resize.antialias", both[1:]},
		{"Compose(\n    Resize(size=(16, 9), interpolation=PIL.Image.BICUBIC«, antialias=False»)\n    CenterCrop(size=(8, 8))\n)", "Resize.antialias", both[1:]},
		{"ImageClassification(\n    crop_size=[16]\n    resize_size=[20]\n    interpolation=InterpolationMode.BILINEAR\n«    antialias=True\n»)", "ImageClassification.antialias", both[1:]},
		{"SemanticSegmentation(\n    resize_size=[20]\n    interpolation=InterpolationMode.BILINEAR\n«    antialias=False\n»)", "SemanticSegmentation.antialias", both[1:]},
	} {
		printed := missing.ReplaceAllString(c.text, "")
		for _, parse := range c.need {
			_, err := parse([]byte(printed))
			require.ErrorIs(t, err, importer.ErrMissing, printed)
			require.ErrorContains(t, err, c.key+": ")
			_, err = parse([]byte(strings.NewReplacer("«", "", "»", "").Replace(c.text)))
			require.NoError(t, err, c.text)
		}
	}
}

// TestNotPrintedInert imports prints without an argument that cannot change the
// bytes. The graph is equal for each value that Python does not print, or whose
// print is no value.
func TestNotPrintedInert(t *testing.T) {
	for _, c := range []struct {
		text   string // «» marks the argument
		values []string
		parse  func([]byte) (*datagraph.Graph, error)
	}{
		// Pillow always antialiases.
		{"Compose(\n      Resize(size=[16], interpolation=bilinear«»)\n      ToImage()\n)", []string{"", ", antialias=True", ", antialias=False", ", antialias=None", ", antialias=warn"}, Import},
		{"ImageClassification(\n    crop_size=[16]\n    interpolation=bicubic«»\n)", []string{"", "\n    antialias=True", "\n    antialias=False", "\n    antialias=warn"}, Import},
		// Of tensors, these filters never do.
		{"Compose(\n      Resize(size=[16], interpolation=nearest«»)\n      ToImage()\n)", []string{"", ", antialias=True", ", antialias=False"}, ImportTensor},
		{"Compose(\n      Resize(size=[16], interpolation=InterpolationMode.NEAREST_EXACT«»)\n      ToImage()\n)", []string{"", ", antialias=True", ", antialias=False"}, ImportTensor},
		// Only constant borders have a fill.
		{"Compose(\n      ToImage()\n      Pad(padding=4, «»padding_mode=reflect)\n)", []string{"", "fill=0, ", "fill=0.0, ", "fill=None, "}, Import},
		{"Compose(\n    ToTensor()\n    Normalize(mean=[0.5], std=[0.5])\n)«»", []string{""}, Import},
		{"Compose(\n      ToImage()\n      ToDtype(dtype=torch.float32, scale=True)\n      Normalize(mean=[0.5], std=[0.5], inplace=«»)\n)", []string{"False", "True"}, Import},
	} {
		var first *datagraph.Graph
		for i, v := range c.values {
			g, err := c.parse([]byte(strings.Replace(c.text, "«»", v, 1)))
			require.NoError(t, err, c.text+v)
			if i == 0 {
				first = g
			}
			require.Equal(t, first, g, "%s %s", c.text, v)
		}
	}
	// torchvision 0.15 and 0.16 take "warn" as None: no antialias for tensors.
	g, err := ImportTensor([]byte("Compose(\n    Resize(size=16, interpolation=bicubic, max_size=None, antialias=warn)\n    CenterCrop(size=(8, 8))\n)"))
	require.NoError(t, err)
	require.True(t, g.Steps[1].Op.(*transforms.Resize).NoAntialias)
}

// TestPrintedFunctions imports CLIP's print, and refuses other functions by
// name.
func TestPrintedFunctions(t *testing.T) {
	const clip = "Compose(\n    Resize(size=24, interpolation=bicubic, max_size=None, antialias=warn)\n    CenterCrop(size=(24, 24))\n%    ToTensor()\n    Normalize(mean=(0.48145466, 0.4578275, 0.40821073), std=(0.26862954, 0.26130258, 0.27577711))\n)\n"
	plain, err := Import([]byte(strings.Replace(clip, "%", "", 1)))
	require.NoError(t, err)
	// A Pillow image that is converted after it was scaled must have been one
	// that Pillow scales as RGB.
	plain.Steps[0].Op.(*transforms.Decode).Refuse = codec.RefuseAlpha | codec.RefusePalette | codec.RefuseBilevel | codec.RefuseDepth16 | codec.RefuseCMYK
	for _, name := range []string{"_convert_image_to_rgb", "_convert_to_rgb"} {
		g, err := Import([]byte(strings.Replace(clip, "%", "    <function "+name+" at 0x7f8616295630>\n", 1)))
		require.NoError(t, err, name)
		require.Equal(t, plain, g)
	}
	for _, c := range []struct{ text, want string }{
		{"<function to_square at 0x7f8616295630>", "<function to_square at 0x7f8616295630>: it is a Python function"},
		{"<function _transform.<locals>.<lambda> at 0x7f8616295630>", "it is a Python function"},
		{"<function <lambda> at 0x7f86162956a0>", "it is a Python function"},
		{"functools.partial(<function resize at 0x7f86162956a0>, size=3)", "it is a Python function"},
		{"Lambda()", "Lambda: it is a Python function"},
		{"Lambda(to_square, types=['object'])", "Lambda: it is a Python function"},
		{"Lambda(<lambda>, types=['Image'])", "Lambda: it is a Python function"},
		{"<__main__.Squash object at 0x7f86162956a0>", "Python does not print what this object does"},
	} {
		_, err := Import([]byte(strings.Replace(clip, "%", "    "+c.text+"\n", 1)))
		require.ErrorIs(t, err, importer.ErrUnsupported, c.text)
		require.ErrorContains(t, err, c.want)
		_, err = Import([]byte("Compose(    " + c.text + ")"))
		require.ErrorContains(t, err, c.want)
	}
	for _, text := range []string{
		"Compose(\n    <function to_square at 0x7f\n    ToTensor()\n)", "Compose(\n    functools.partial(\n)",
		"Compose(Lambda(f, types=[", "Compose(\n    Normalize(mean=tensor([1., 2, std=3)\n)",
	} {
		_, err := Import([]byte(text))
		require.ErrorIs(t, err, importer.ErrFormat, text)
	}
	_, err = ImportTensor([]byte("Compose(\n    <function _convert_to_rgb at 0x7f8616295630>\n)"))
	require.ErrorContains(t, err, "the image is a tensor, want a Pillow image")
}

// TestShortNumbers refuses numbers that Python prints with fewer digits.
func TestShortNumbers(t *testing.T) {
	for mean, want := range map[string]string{
		"tensor([0.4815, 0.4578, 0.4082])":                         "four digits",
		"tensor([0.4815, 0.4578, 0.4082], dtype=torch.float64)":    "four digits",
		"[tensor(0.4815), tensor(0.4578), tensor(0.4082)]":         "four digits",
		"[0.48145466 0.4578275  0.40821073]":                       "a NumPy array",
		"[np.float64(0.5), np.float64(0.5), np.longdouble('0.5')]": "want a list of three numbers",
	} {
		_, err := Import([]byte("Compose(\n    ToTensor()\n    Normalize(mean=" + mean + ", std=[0.5, 0.5, 0.5])\n)"))
		require.ErrorContains(t, err, want, mean)
	}
	want, err := Import([]byte("Compose(\n    ToTensor()\n    Normalize(mean=[0.48145466, 0.4578275, 0.1], std=[0.5, 0.5, 0.5])\n)"))
	require.NoError(t, err)
	got, err := Import([]byte("Compose(\n    ToTensor()\n    Normalize(mean=[np.float64(0.48145466), np.float64(0.4578275), np.float32(0.1)], std=[0.5, 0.5, 0.5])\n)"))
	require.NoError(t, err)
	require.Equal(t, want, got)
}
