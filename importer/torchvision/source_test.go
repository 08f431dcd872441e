package torchvision

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

// dtypeOf adds the dtypes that Python does not print.
var dtypeOf = strings.NewReplacer("ToDtype(", "ToDtype(dtype=torch.float32, ", "ConvertImageDtype(", "ConvertImageDtype(dtype=torch.float32")

// TestSource imports source, and what Python prints for it, with dtypes. The
// graphs are equal.
func TestSource(t *testing.T) {
	b, err := os.ReadFile("testdata/source.json")
	require.NoError(t, err)
	var cases []struct{ Source, Printed string }
	require.NoError(t, json.Unmarshal(b, &cases))
	require.NotEmpty(t, cases)
	tensors := 0
	for _, c := range cases {
		printed := dtypeOf.Replace(c.Printed)
		if printed != c.Printed {
			_, err := Import([]byte(c.Printed))
			require.ErrorIs(t, err, importer.ErrMissing, c.Printed)
		}
		for _, source := range []string{c.Source, "```python\n" + c.Source + "\n```", strings.ReplaceAll(c.Source, "\n", "\r\n")} {
			got, err := Import([]byte(source))
			want, wantErr := Import([]byte(printed))
			require.Equal(t, wantErr, err, source)
			require.Equal(t, want, got, source)

			if want, wantErr = ImportTensor([]byte(printed)); wantErr == nil {
				tensors++
				got, err = ImportTensor([]byte(source))
				require.NoError(t, err, source)
				require.Equal(t, want, got, source)
			}
		}
	}
	require.NotZero(t, tensors)
}

// TestSourceWithoutImports imports source that does not say which version it
// is.
func TestSourceWithoutImports(t *testing.T) {
	const compose = "transforms.Compose([transforms.Resize(32), transforms.CenterCrop(24), transforms.ToTensor()])"
	want, err := Import([]byte("from torchvision import transforms\n" + compose))
	require.NoError(t, err)
	for _, text := range []string{compose, "self.tf = " + compose, strings.ReplaceAll(compose, "transforms.", "T."), strings.ReplaceAll(compose, "transforms.", "")} {
		g, err := Import([]byte(text))
		require.NoError(t, err, text)
		require.Equal(t, want, g, text)
	}
	g, err := Import([]byte("from torchvision.transforms import (\n    CenterCrop,  # (both)\n    Compose, Resize as Scale, Resize,\n    ToTensor,\n)\nimport cv2\n" + strings.ReplaceAll(compose, "transforms.", "")))
	require.NoError(t, err)
	require.Equal(t, want, g)
	_, err = ImportTensor([]byte("T.Compose([T.Resize(32)])"))
	require.ErrorContains(t, err, "v1 and v2 of these transforms differ")
	g, err = ImportTensor([]byte("v2.Compose([v2.Resize(32)])"))
	require.NoError(t, err)
	require.Equal(t, transforms.TorchUint8, g.Steps[1].Op.(*transforms.Resize).Backend)
}

// TestResizeOfV2WithMaxSize checks the version of a Resize with a list of sizes
// and a max_size, which both versions print alike: v2 scales bytes.
func TestResizeOfV2WithMaxSize(t *testing.T) {
	g, err := ImportTensor([]byte("Compose(\n      Resize(size=[256], interpolation=bilinear, max_size=512, antialias=True)\n      ToImage()\n)"))
	require.NoError(t, err)
	require.Equal(t, transforms.TorchUint8, g.Steps[1].Op.(*transforms.Resize).Backend)
	g, err = ImportTensor([]byte("Compose(\n    Resize(size=[256], interpolation=bilinear, max_size=512, antialias=True)\n    CenterCrop(size=(9, 9))\n)"))
	require.NoError(t, err)
	require.Equal(t, transforms.Torch, g.Steps[1].Op.(*transforms.Resize).Backend)
}

func TestSourceErrors(t *testing.T) {
	for in, part := range map[string]string{
		"ResNet50_Weights.DEFAULT.transforms()":                                                                         "want what Python prints",
		"T.Compose([T.Resize(256 + 1), T.ToTensor()])":                                                                  "a literal, not an expression",
		"T.Compose([T.Resize(int(9)), T.ToTensor()])":                                                                   "size=int, want a literal",
		"T.Compose([T.ToTensor(), T.Normalize(mean, std)])":                                                             "variables are not known here",
		"T.Compose([T.Resize(9, 2, None, True, 5), T.ToTensor()])":                                                      "argument 5, want at most 4",
		"T.Compose([T.Resize(9, size=9), T.ToTensor()])":                                                                "got size twice",
		"T.Compose([T.ToImage(), T.ToDtype(torch.qint8)])":                                                              "dtype=torch.qint8, want a type of torch",
		"T.Compose([T.ToImage(), T.ToDtype({T.Image: torch.uint8, 'others': None})])":                                   "not a dict with one for each type",
		"T.Compose([T.ToImage(), T.Pad(4, fill={tv_tensors.Image: 127, 'others': 0})])":                                 "not a dict with one for each type",
		"T.Compose([T.ToImage(), T.ToDtype(torch.float64, scale=True)])":                                                "from uint8 to float64, want torch.float32",
		"T.Compose([T.ToTensor(), T.ConvertImageDtype(torch.uint8)])":                                                   "from float32 to uint8",
		"T.Compose([T.ToImage(), T.ToDtype(torch.float16, scale=True), T.Normalize([0.5, 0.5, 0.5], [0.5, 0.5, 0.5])])": "Normalize: of float16 values",
		"T.Compose([T.Resize(9), lambda a: a.rotate(90), T.ToTensor()])":                                                "without Python functions",
		"T.Compose([T.Resize(9), lambda a: b.convert('RGB'), T.ToTensor()])":                                            "without Python functions",
		"T.Compose([T.Resize(9), to_square, T.ToTensor()])":                                                             "to_square, a Python function or a variable",
		"T.Compose([T.Lambda(to_square), T.ToTensor()])":                                                                "Lambda: it is a Python function",
		"T.Compose([T.ToTensor(), T.Lambda(lambda i: i.convert('RGB'))])":                                               "the image is a tensor, want a Pillow image",
		"T.Compose([T.RandomHorizontalFlip(), T.ToTensor()])":                                                           "it is random",
		"T.Compose([1])":                       "want a list of transforms",
		"T.Compose([T.ToTensor()":              "a comma or ']'",
		"T.Compose([T.ToTensor()]) + 1":        "the end after the transforms",
		"T.Compose([T.Pad('x), T.ToTensor()])": "closing quotation mark",
		"T.Compose(" + strings.Repeat("[", 40): "nested at most",
		"import paddle.vision.transforms as T\nT.Compose([T.Resize(9), T.ToTensor()])":                       "transforms of torchvision, not paddle.vision.transforms",
		"from albumentations import Compose as C\nfrom torchvision import transforms as T\nC([T.Resize(9)])": "transforms of torchvision, not albumentations.Compose",
		"import monai\nmonai.transforms.Compose([monai.transforms.Resize(9)])":                               "transforms of torchvision, not monai",
		"from torchvision.transforms import (Compose,":                                                       "a parenthesis that closes the names",
		"x = [1]": "",
		"import torchvision.transforms as A\nA.Compose([A.ToImage()])":            "transforms of v1 or of v2",
		"T.Compose([T.Resize(9), T.CentreCrop(9), T.ToTensor()])":                 `did you mean "CenterCrop"?`,
		"T.Compose([T.Lambda(lambda x: x), T.ToTensor()])":                        "without Python functions, other than lambda",
		"from torchvision import transforms\ntransforms.Resize(9, 3).forward(im)": "the end after the transforms",
	} {
		_, err := Import([]byte(in))
		require.Error(t, err, in)
		require.ErrorContains(t, err, part, in)
		require.ErrorContains(t, err, "importer", in)
	}
	g, err := Import([]byte(`{'torchvision': {'crop_size': 224, 'mean': (0.5, 0.5, 0.5), 'std': (0.5, 0.5, 0.5)}}`))
	require.NoError(t, err)
	want, err := Import([]byte(`{"torchvision":{"crop_size":224,"mean":[0.5,0.5,0.5],"std":[0.5,0.5,0.5]}}`))
	require.NoError(t, err)
	require.Equal(t, want, g)
	_, err = Import([]byte("version https://git-lfs.github.com/spec/v1\n"))
	require.ErrorIs(t, err, importer.ErrJSON)
}

func FuzzSource(f *testing.F) {
	f.Add("from torchvision import transforms as T\nT.Compose([T.Resize((3, 4), 3), T.ToTensor()])")
	f.Add("v2.Compose([v2.Normalize([1.], std=(2,)), nn.Sequential(v2.RGB())])")
	f.Add("Compose(\n    Resize(size=9, interpolation=2)\n    <function _convert_to_rgb at 0x7f>\n    Lambda(f, types=['object'])\n    functools.partial(<function g at 0x0>, a=1)\n    Normalize(mean=[np.float64(1.5)], std=tensor([2.]))\n)")
	f.Add("T.Compose([lambda x: x.convert('RGB'), T.ToPILImage(), T.ToDtype(torch.half, scale=True), T.Pad(.5)])")
	f.Fuzz(func(t *testing.T, s string) {
		g, err := Import([]byte(s))
		require.Equal(t, err == nil, g != nil)
	})
}
