package mobile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
)

// TestGoldens runs a fifth of the goldens of the references in testdata whose
// graph takes one encoded image through RunJPEG. The tests of the jar run them
// all. The command goldencases lists them.
func TestGoldens(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("no go command, as under an emulator: %v", err)
	}
	dir := t.TempDir()
	cmd := exec.Command("go", "run", "./tools/goldencases", "-out", dir)
	cmd.Dir = ".."
	cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool { // it runs here, whatever this test is built for
		return strings.HasPrefix(s, "GOOS=") || strings.HasPrefix(s, "GOARCH=")
	})
	log, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", log)
	blob, err := os.ReadFile(filepath.Join(dir, "cases.bin"))
	require.NoError(t, err)
	list, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	require.NoError(t, err)
	var cases struct {
		Graphs [][2]int
		Inputs []struct {
			Path, Type string
			At         [2]int
		}
		Cases []goldenCase
	}
	require.NoError(t, json.Unmarshal(list, &cases))

	type opened struct {
		p   *Preprocessor
		err error
	}
	graphs := map[int]opened{}
	images := map[int][]byte{}
	ran, tensors, left := 0, 0, 0
	step := 5 * short.Step(t, 4)
	for i := range cases.Cases {
		c := &cases.Cases[i]
		if len(c.In) != 1 || cases.Inputs[c.In[0]].Type != "" {
			left++
			continue
		}
		if ran++; ran%step != 0 {
			continue
		}
		g, ok := graphs[c.Graph]
		if !ok {
			at := cases.Graphs[c.Graph]
			g.p, g.err = OpenGraph(blob[at[0]:][:at[1]])
			graphs[c.Graph] = g
		}
		require.NoError(t, g.err, "%s: %s", c.Kind, c.Name)
		image, ok := images[c.In[0]]
		if in := cases.Inputs[c.In[0]]; !ok && in.Path == "" {
			image = blob[in.At[0]:][:in.At[1]]
		} else if !ok {
			image, err = os.ReadFile(filepath.Join("..", in.Path))
			require.NoError(t, err)
		}
		images[c.In[0]] = image
		n, err := c.check(g.p, image, blob)
		if err != nil {
			t.Errorf("%s: %s: %v", c.Kind, c.Name, err)
		}
		tensors += n
	}
	t.Logf("%d goldens, one in %d run, %d graphs, %d tensors; %d left out: their graphs take tensors or several inputs", ran, step, len(graphs), tensors, left)
	require.Greater(t, ran, 14_000)
}

// goldenCase is a run of a graph.
type goldenCase struct {
	Kind, Name, Error string
	Graph             int
	In                []int
	Out               []struct {
		Name, Type, Layout, SHA256 string
		Dims                       []int
		Want                       *[2]int
		Tolerance                  float64
	}
}

// check returns the number of tensors that are equal to the reference's.
func (c *goldenCase) check(p *Preprocessor, image, blob []byte) (int, error) {
	r, err := p.RunJPEG(image)
	if c.Error != "" {
		if Code(err) != c.Error {
			return 0, fmt.Errorf("error %v, want one of the code %s", err, c.Error)
		}
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if r.Outputs() != len(c.Out) {
		return 0, fmt.Errorf("%d outputs, want %d", r.Outputs(), len(c.Out))
	}
	for i, w := range c.Out {
		dims := make([]int, r.Rank(i))
		for j := range dims {
			dims[j] = r.Dim(i, j)
		}
		layout := r.Layout(i)
		if layout == "" {
			layout = "none"
		}
		if p.OutputName(i) != w.Name || r.DType(i) != w.Type || !slices.Equal(dims, w.Dims) || w.Layout != "" && w.Layout != layout {
			return i, fmt.Errorf("%s %s %v %s, want %s %s %v %s", p.OutputName(i), r.DType(i), dims, layout, w.Name, w.Type, w.Dims, w.Layout)
		}
		data := littleEndian(r.Data(i), w.Type)
		if d := sha256.Sum256(data); hex.EncodeToString(d[:]) == w.SHA256 {
			continue
		}
		if w.Want == nil || w.Type != "float32" || !near(data, blob[w.Want[0]:][:w.Want[1]], w.Tolerance) {
			return i, fmt.Errorf("%s: other bytes than the reference", w.Name)
		}
	}
	return len(c.Out), nil
}

// littleEndian returns data in the byte order of the goldens.
func littleEndian(data []byte, dtype string) []byte {
	size := map[string]int{"uint8": 1, "int8": 1, "bool": 1, "bytes": 1, "uint16": 2, "int16": 2, "float16": 2, "int64": 8, "float64": 8}[dtype]
	if size == 0 {
		size = 4
	}
	if size == 1 || binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return data
	}
	data = bytes.Clone(data)
	for i := 0; i < len(data); i += size {
		slices.Reverse(data[i:][:size])
	}
	return data
}

func near(got, want []byte, tolerance float64) bool {
	if len(got) != len(want) {
		return false
	}
	for i := 0; i < len(got); i += 4 {
		g := math.Float32frombits(binary.LittleEndian.Uint32(got[i:]))
		w := math.Float32frombits(binary.LittleEndian.Uint32(want[i:]))
		if !(math.Abs(float64(g)-float64(w)) <= tolerance) {
			return false
		}
	}
	return true
}
