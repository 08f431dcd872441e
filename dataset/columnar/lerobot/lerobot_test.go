package lerobot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

const golden = "../testdata/"

func TestReferences(t *testing.T) {
	require.Equal(t, 5+5, sourcetest.Golden(t, golden+"datasets_lerobot.json"))
}

func TestStore(t *testing.T) {
	sourcetest.Store(t, golden+"lerobot/v2.1", func(dir string) dataset.Source { return New(dir) })
}

func open(t *testing.T, o *LeRobot) (dataset.Rows, error) {
	d, err := o.Open(t.Context(), store.Local)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d.(dataset.Rows), nil
}

// TestColumns: shapes of info.json, and the task without the column of its
// number.
func TestColumns(t *testing.T) {
	for _, v := range []string{"v2.1", "v3.0"} {
		d, err := open(t, &LeRobot{golden + "lerobot/" + v, []string{"task", "action"}})
		require.NoError(t, err)
		require.Equal(t, []dataset.Column{
			{Name: "task", Desc: tensor.Encoded()}, {Name: "action", Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2, 3)}},
		}, d.Columns())
		s := dataset.NewSample(d.Columns())
		require.NoError(t, d.Read(t.Context(), 4, s))
		require.Equal(t, "pick it up", string(s.Values[0].Data))
	}
}

func TestErrors(t *testing.T) {
	for _, o := range []*LeRobot{{Columns: []string{""}}, {Columns: []string{"a", "a"}}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam)
	}
	_, err := open(t, &LeRobot{golden + "lerobot/v2.1", []string{"observation.images.top"}})
	require.ErrorIs(t, err, dataset.ErrParam)
	require.ErrorContains(t, err, `column "observation.images.top" is a video, and videos are not read`)
	_, err = open(t, &LeRobot{golden + "lerobot/v2.1", []string{"none"}})
	require.ErrorContains(t, err, `column "none", want one of`)
	for _, c := range []struct{ file, old, now, want string }{
		{"meta/info.json", `"v2.1"`, `"v1.6"`, `version "v1.6", want v2.0 to v3.0`},
		{"meta/info.json", `"total_frames": 5`, `"total_frames": 6`, "total_frames is 6, the tables have 5 rows"},
		{"meta/info.json", `"total_episodes": 2`, `"total_episodes": 3`, "episode_000002.parquet"},
		{"meta/info.json", `"total_episodes": 2`, `"total_episodes": 0`, "0 total_episodes"},
		{"meta/info.json", `{episode_index:06d}`, `x`, "data_path"},
		{"meta/info.json", `data/chunk`, `../data/chunk`, "data_path"},
		{"meta/info.json", "{", "", "info.json: invalid character"},
		{"meta/tasks.jsonl", `"task_index": 1`, `"task_index": 0`, "task_index 0 twice"},
		{"meta/tasks.jsonl", `"task_index": 1, `, ``, "want task_index and task"},
	} {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS(golden+"lerobot/v2.1")))
		name := filepath.Join(dir, c.file)
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Contains(t, string(b), c.old)
		require.NoError(t, os.WriteFile(name, []byte(strings.Replace(string(b), c.old, c.now, 1)), 0o600))
		_, err = open(t, New(dir))
		require.ErrorContains(t, err, c.want)
	}

	// A row with another shape, and one with an unknown task, leave the others.
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(golden+"lerobot/v2.1")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "meta/tasks.jsonl"), []byte(`{"task_index": 0, "task": "a"}`), 0o600))
	d, err := open(t, New(dir))
	require.NoError(t, err)
	s := dataset.NewSample(d.Columns())
	require.ErrorContains(t, d.Read(t.Context(), 0, s), "task 1 has no text in meta/tasks")
	require.NoError(t, d.Read(t.Context(), 3, s))
	b, err := os.ReadFile(filepath.Join(dir, "meta/info.json"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "meta/info.json"), []byte(strings.Replace(string(b), "6\n", "7\n", 1)), 0o600))
	d, err = open(t, New(dir))
	require.NoError(t, err)
	require.ErrorContains(t, d.Read(t.Context(), 3, s), `column "observation.state" is float32 (6,), want float32 (7,) as in info.json`)
}
