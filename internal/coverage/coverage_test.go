package coverage_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/coverage"
	"github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
	_ "github.com/infer-prep/infer-prep/transforms/plugin"
)

// maxNotHere is the largest number of classes that this project leaves out, of
// the packages of sounds and of all others.
var maxNotHere = map[string]int{"mindspore.dataset.audio": 43, "torchaudio.transforms": 25, "": 8}

// own lists the ops whose reference is one of the packages, but which no class
// is: functions, and parts of classes.
var own = map[string]string{
	"feedback_policy":      "random_choice with weights that a training changes",
	"decode_native":        "decode_image of torchvision.io, which is no class, and tifffile",
	"map_window":           "what bounding_box_augment draws",
	"mix_chains":           "what aug_mix draws",
	"cutmix":               "what random_cutmix draws",
	"mixup":                "what random_mixup draws",
	"object_crop":          "what random_iou_crop and random_object_crop draw",
	"project_boxes":        "moves boxes that are fractions of an image's sides, as MXNet's augmenters",
	"adjust_hls":           "random_h, random_l and random_s of MXNet's ImageRecordIter",
	"affine_coords":        "affine and rotate of boxes and points",
	"antialias_blur":       "gaussian_blur with deviations by the size, for OWLv2 of transformers",
	"channel_permutation":  "what random_channel_permutation draws",
	"color_matrix":         "what hue_jitter and random_grayscale draw",
	"crop_coords":          "crop and pad of boxes and points",
	"elastic":              "random_elastic with its displacement as an input",
	"elastic_noise_coords": "elastic_noise of boxes and points",
	"elastic_noise":        "what random_elastic draws",
	"fbank":                "compliance.kaldi of torchaudio, which has functions",
	"flip_coords":          "horizontal_flip and vertical_flip of boxes and points",
	"gaussian_noise":       "what random_gaussian_noise draws",
	"jpeg":                 "what random_jpeg draws",
	"lighting_noise":       "what random_lighting_noise draws",
	"luma":                 "grayscale of float images",
	"perspective_coords":   "perspective of boxes and points",
	"random_hls":           "random_h, random_l and random_s of MXNet's ImageRecordIter",
	"random_relative_crop": "rand_crop_prob and others of MXNet's ImageDetRecordIter",
	"random_relative_pad":  "rand_pad_prob of MXNet's ImageDetRecordIter",
	"relative_window":      "what random_relative_crop and random_relative_pad draw",
	"random_warp":          "max_rotate_angle and others of MXNet's ImageRecordIter",
	"resize_coords":        "resize of boxes and points",
	"resize_to":            "resize to a size in a column",
	"tokenize":             "MindSpore's package text, which the table does not have",
}

func lookup(name string) (coverage.Op, bool) {
	i, err := transforms.Lookup(name)
	return coverage.Op{Reference: i.Reference, Exactness: i.Exactness}, err == nil
}

// TestClasses compares the table with the classes that the packages have
// (testdata/gen/importers/transform_classes.py).
func TestClasses(t *testing.T) {
	var want, have []string
	for name, version := range coverage.Version {
		b, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		require.NoError(t, err)
		lines := strings.Fields(strings.Replace(string(b), " ", "-", 1))
		require.Equal(t, name+"-"+version, lines[0])
		want = append(want, lines[1:]...)
	}
	for _, c := range coverage.Classes(lookup) {
		have = append(have, c.Package+"."+c.Name)
	}
	slices.Sort(want)
	slices.Sort(have)
	require.Equal(t, want, have)
}

// TestRows checks what each row states against the registry.
func TestRows(t *testing.T) {
	b, err := os.ReadFile("coverage.tsv")
	require.NoError(t, err)
	for line := range strings.Lines(string(b)) {
		require.Len(t, strings.Split(line, "\t"), 5, line)
	}
	form := regexp.MustCompile(`^[a-z0-9_]+(\([a-z0-9_]+=[^,()]+(,[a-z0-9_]+=[^,()]+)*\))?$`)
	notHere := map[string]int{}
	for _, c := range coverage.Classes(lookup) {
		if c.State == coverage.NotHere {
			of := c.Package
			if maxNotHere[of] == 0 {
				of = ""
			}
			notHere[of]++
		}
		name := c.Package + "." + c.Name
		require.Contains(t, []string{coverage.Covered, coverage.NotHere}, c.State, name)
		require.True(t, len(c.Ops) > 0 || c.Note != "", "%s: no op and no note", name)
		if c.State == coverage.Covered {
			require.NotEmpty(t, c.Difference, name)
		}
		for _, u := range c.Ops {
			require.Regexp(t, form, u.String(), name)
			i, err := transforms.Lookup(u.Op)
			require.NoError(t, err, name)
			if strings.HasPrefix(c.Difference, "0") {
				require.Regexp(t, "^0", i.Exactness, "%s: %s", name, u.Op)
			}
			op := i.New()
			for _, p := range u.Params {
				set(t, op, p[0], p[1])
			}
			require.NoError(t, op.Validate(), "%s: %v", name, u)
		}
	}
	for of, n := range notHere {
		require.LessOrEqual(t, n, maxNotHere[of], "not here, of package %q", of)
	}
}

// set sets a parameter through the op's JSON form.
func set(t *testing.T, op transforms.Op, name, value string) {
	b, err := json.Marshal(op)
	require.NoError(t, err)
	m := map[string]any{}
	require.NoError(t, json.Unmarshal(b, &m))
	require.Contains(t, m, name, "%T", op)
	m[name] = value
	b, err = json.Marshal(m)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, op), "%T: %s=%s", op, name, value)
}

// TestOptional checks the registrations that the package repeats.
func TestOptional(t *testing.T) {
	none := func(string) (coverage.Op, bool) { return coverage.Op{}, false }
	with, without := coverage.Classes(lookup), coverage.Classes(none)
	n := 0
	for i, c := range without {
		if c.State == coverage.Covered && len(c.Ops) > 0 && c.Ops[0].Op == "plugin" {
			require.Equal(t, with[i], c)
			n++
		}
	}
	require.Equal(t, 1, n)
}

// TestOps checks that each op with one of the packages as its reference is in
// the table.
func TestOps(t *testing.T) {
	named := map[string]bool{}
	for _, c := range coverage.Classes(lookup) {
		for _, u := range c.Ops {
			named[u.Op] = true
		}
	}
	for op := range own {
		require.False(t, named[op], "%s is in the table", op)
	}
	for _, i := range transforms.Ops() {
		of := slices.ContainsFunc([]string{"torchvision", "torchaudio", "MindSpore", "MXNet"}, func(p string) bool { return strings.Contains(i.Reference, p) })
		require.True(t, !of || named[i.Name] || own[i.Name] != "", "%s: name its class in coverage.tsv, or the reason in this test", i.Name)
	}
}
