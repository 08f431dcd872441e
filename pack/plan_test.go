package pack

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/store"
)

// planPhoto returns a small JPEG file, different for each i.
func planPhoto(t testing.TB, i int) []byte {
	m := image.NewRGBA(image.Rect(0, 0, 9+i%5, 7+i%3))
	for k := range m.Pix {
		m.Pix[k] = uint8(k*(i+3) + i)
	}
	m.Set(0, 0, color.White)
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, m, nil))
	return b.Bytes()
}

// classPhotos makes a folder of classes with n images each, and returns their
// paths in order.
func classPhotos(t testing.TB, classes, n int) (dir string, paths []string) {
	dir = t.TempDir()
	for c := range classes {
		for i := range n {
			p := fmt.Sprintf("class%d/img%03d.jpg", c, i)
			require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(p)), 0o777))
			require.NoError(t, os.WriteFile(filepath.Join(dir, p), planPhoto(t, c*n+i), 0o666))
			paths = append(paths, p)
		}
	}
	return dir, paths
}

// writePlan writes a plan into a new folder and opens it.
func writePlan(t testing.TB, p *Plan, in PlanInput) *Plan {
	t.Helper()
	name := filepath.Join(t.TempDir(), "plan.json")
	_, err := WritePlan(t.Context(), store.URI, name, p, in, PlanWrite{})
	require.NoError(t, err)
	return readPlan(t, name)
}

func readPlan(t testing.TB, name string) *Plan {
	t.Helper()
	p, err := ReadPlan(t.Context(), store.URI, name, PlanRead{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// folder returns the content of the files of a folder, by name.
func folder(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		all[e.Name()] = string(b)
	}
	return all
}

// TestPlanIsPack: the shards of a plan have the bytes of RecordIO and Shards
// for the same order, whatever the parts.
func TestPlanIsPack(t *testing.T) {
	dir, paths := classPhotos(t, 3, 9)
	for _, image := range []ImageOptions{{Encoding: PassThrough}, {Encoding: PassThrough, Fast: true}, {Resize: 6}, {Encoding: PNG, CenterCrop: true}} {
		for _, seed := range []*uint64{nil, new(uint64(7))} {
			p := writePlan(t, &Plan{Shards: 4, Image: image, Seed: seed}, PlanInput{Kind: InputClasses, Name: dir})
			order := p.order()
			at := make([]int, len(paths))
			for i := range paths {
				at[order(int64(i))] = i
			}
			if seed != nil {
				require.NotEqual(t, slices.Sorted(slices.Values(at)), at)
			}
			want := t.TempDir()
			r := &RecordIO{Root: dir, Image: image}
			for s := range 4 {
				o := RecordIOOutput{Name: filepath.Join(want, fmt.Sprintf("data-%05d", s))}
				for k := s * len(paths) / 4; k < (s+1)*len(paths)/4; k++ {
					o.Items = append(o.Items, imagerecord.Item{Index: uint64(at[k]), Labels: []float32{float32(at[k] / 9)}, Path: paths[at[k]]})
				}
				r.Outputs = append(r.Outputs, o)
			}
			_, err := r.Run(t.Context())
			require.NoError(t, err)
			for _, parts := range []int{1, 3, 4, 9} {
				out := filepath.Join(t.TempDir(), "out")
				var total PlanReport
				for i := range parts {
					r, err := (&PlanPart{Plan: p, Out: out, Part: i, Parts: parts, Workers: 1 + i}).Run(t.Context())
					require.NoError(t, err)
					total.Shards += r.Shards
					total.Records += r.Records
				}
				require.Equal(t, PlanReport{Shards: 4, Records: 27}, total)
				got := folder(t, out)
				for name, b := range folder(t, want) {
					require.Equal(t, b, got[name], name)
					delete(got, name)
				}
				for name := range got {
					require.True(t, strings.HasSuffix(name, ".json"), name)
				}
				report, err := p.Finish(t.Context(), out, PlanFinish{Verify: true})
				require.NoError(t, err)
				require.Equal(t, int64(27), report.Records)
				require.Equal(t, "class0\nclass1\nclass2\n", folder(t, out)["classes.txt"])
			}

			// The same as tar shards.
			p = writePlan(t, &Plan{Output: PlanShards, Shards: 1, Image: image}, PlanInput{Kind: InputClasses, Name: dir})
			samples, err := ClassSamples(t.Context(), store.Local, dir, "", image)
			require.NoError(t, err)
			want = t.TempDir()
			_, err = (&Shards{Samples: samples, Dir: want, Index: true}).Run(t.Context())
			require.NoError(t, errJoin(err, samples.Close()))
			out := t.TempDir()
			_, err = (&PlanPart{Plan: p, Out: out}).Run(t.Context())
			require.NoError(t, err)
			got := folder(t, out)
			for name, b := range folder(t, want) {
				if name != classesFile {
					require.Equal(t, b, got[name], name)
				}
			}
		}
	}
}

func errJoin(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// TestPlanOfFiles: groups of files are the samples of FolderSamples, in its
// order.
func TestPlanOfFiles(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []string{"a.jpg", "a.cls", "a-b.txt", "a-b.JSON", "sub/x.txt", "sub-1.txt", "sub.txt", "t.txt", ".hidden.txt", "README"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(f)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, f), []byte("content of "+f), 0o666))
	}
	p := writePlan(t, &Plan{Output: PlanShards, Shards: 1, Image: ImageOptions{Encoding: PassThrough}}, PlanInput{Kind: InputSamples, Name: dir})
	require.Equal(t, int64(6), p.Count)
	out, want := t.TempDir(), t.TempDir()
	_, err := (&PlanPart{Plan: p, Out: out}).Run(t.Context())
	require.NoError(t, err)
	samples, err := FolderSamples(t.Context(), store.Local, dir, want)
	require.NoError(t, err)
	_, err = (&Shards{Samples: samples, Dir: want}).Run(t.Context())
	require.NoError(t, errJoin(err, samples.Close()))
	require.Equal(t, folder(t, want)["data-00000.tar"], folder(t, out)["data-00000.tar"])
}

func TestPlanDivides(t *testing.T) {
	for _, c := range []struct{ count, shards int64 }{{1, 1}, {10, 3}, {1000, 7}, {12345, 12345}, {maxPlanCount, maxPlanShards}} {
		p := &Plan{Count: c.count, Shards: int(c.shards)}
		end := int64(0)
		for s := range min(p.Shards, 2000) {
			a, b := p.Range(s)
			require.Equal(t, end, a)
			require.LessOrEqual(t, max(b-a-c.count/c.shards, c.count/c.shards-(b-a)), int64(1))
			require.Equal(t, s, p.shardOf(a))
			require.Equal(t, s, p.shardOf(b-1))
			end = b
		}
		_, last := p.Range(p.Shards - 1)
		require.Equal(t, c.count, last)
		for _, n := range []int{1, 2, 5, math.MaxInt} {
			first := 0
			for i := range min(n, 5) {
				a, b, err := p.Part(i, n)
				require.NoError(t, err)
				require.Equal(t, first, a)
				require.LessOrEqual(t, a, b)
				first = b
			}
			if n <= 5 {
				require.Equal(t, p.Shards, first)
			}
		}
	}
	for _, bad := range [][2]int{{-1, 2}, {2, 2}, {0, 0}, {0, -1}} {
		_, _, err := (&Plan{Shards: 3}).Part(bad[0], bad[1])
		require.ErrorContains(t, err, "want 0 <= part < parts")
	}
}
