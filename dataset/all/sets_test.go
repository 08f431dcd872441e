package all

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
)

// row is a row of the tables in docs/datasets.md.
type row struct {
	cells []string
	of    map[string]bool // the libraries with a class of this row
}

// aliases are classes whose row has another name, both as plain returns them.
var aliases = map[string]string{
	"cocodetection": "coco", "flickr": "flickr8k", "kitti": "kittidetection", "lfw": "lfwpeopleandpairs", "lfwpairs": "lfwpeopleandpairs",
	"lfwpeople": "lfwpeopleandpairs", "sbu": "sbucaptions", "vocdetection": "voc", "vocsegmentation": "voc",
}

var other = regexp.MustCompile(`[^a-z0-9]`)

func plain(name string) string { return other.ReplaceAllString(strings.ToLower(name), "") }

// tables reads the table of sets and that of sets that are left out.
func tables(t *testing.T) (sets, out []*row, items map[string]*row) {
	b, err := os.ReadFile("../../docs/datasets.md")
	require.NoError(t, err)
	_, text, ok := strings.Cut(string(b), "\n## The sets of torchvision and MindSpore\n")
	require.True(t, ok)
	text, _, _ = strings.Cut(text, "\n## ")
	items = map[string]*row{}
	var table *[]*row
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "| set | torchvision | MindSpore | here as |":
			table = &sets
		case line == "| set | reason |":
			table = &out
		case !strings.HasPrefix(line, "|"):
			table = nil
		case table != nil && !strings.HasPrefix(line, "|--"):
			r := &row{strings.Split(strings.Trim(line, "| "), " | "), map[string]bool{}}
			*table = append(*table, r)
			for _, name := range strings.Split(r.cells[0], ", ") {
				require.NotContains(t, items, plain(name), "a second row of %s", name)
				items[plain(name)] = r
			}
		}
	}
	return sets, out, items
}

// TestTableOfSets requires a row for every set of torchvision and MindSpore,
// whose lists testdata/gen/datasets/movingmnist_phototour.py and
// movingmnist_phototour_mindspore.py write.
func TestTableOfSets(t *testing.T) {
	sets, out, items := tables(t)
	for _, library := range []string{"torchvision", "mindspore"} {
		b, err := os.ReadFile("../../testdata/datasets/" + library + ".txt")
		require.NoError(t, err)
		names := strings.Fields(string(b))
		require.Greater(t, len(names), 30)
		for _, name := range names {
			var r *row
			for _, n := range []string{plain(name), strings.TrimSuffix(plain(name), "dataset")} {
				if a, ok := aliases[n]; ok {
					n = a
				}
				if r = items[n]; r != nil {
					break
				}
			}
			require.NotNil(t, r, "docs/datasets.md: %s of %s is in neither table", name, library)
			r.of[library] = true
		}
	}
	registered := map[string]bool{}
	for _, n := range dataset.Nodes() {
		registered[n.Name] = true
	}
	yes := map[string]bool{"yes": true, "no": false}
	source := regexp.MustCompile("`([a-z0-9_]+)`")
	for _, r := range sets {
		require.Len(t, r.cells, 4, "%q", r.cells)
		for i, library := range []string{"torchvision", "mindspore"} {
			has, ok := yes[r.cells[i+1]]
			require.True(t, ok, "%q: want yes or no", r.cells)
			require.Equal(t, r.of[library], has, "%q: is it a set of %s?", r.cells, library)
		}
		names := source.FindAllStringSubmatch(r.cells[3], -1)
		require.NotEmpty(t, names, "%q", r.cells)
		for _, n := range names {
			require.True(t, registered[n[1]], "%q: no source %q", r.cells, n[1])
		}
	}
	for _, r := range out {
		require.NotEmpty(t, r.of, "%q is a set of neither library", r.cells)
	}
}
