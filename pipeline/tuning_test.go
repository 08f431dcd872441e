package pipeline

import (
	"encoding/json"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
)

func stageOf(t *testing.T, p *Pipeline, path string) StageStats {
	t.Helper()
	for _, s := range p.Stats() {
		if s.Path == path {
			return s
		}
	}
	t.Fatalf("no stage %s", path)
	return StageStats{}
}

// TestStageQueue checks the queue of a single stage, in Stats.
func TestStageQueue(t *testing.T) {
	b := build(t, dataset.Of(&source{n: 50}).MapFunc(each(func(int) error { return nil }), x, column...), dataset.Options{})
	read := b.Steps()[1].Path
	p := open(t, b, Options{Workers: 3, Queue: 10, StageQueue: map[string]int{read: 25, "func": 1}})
	_, err := p.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, 25, stageOf(t, p, read).Queue)
	require.Equal(t, 3, stageOf(t, p, "func").Queue, "one for each worker")
	n, err := drain(p)
	require.NoError(t, err)
	require.Equal(t, 49, n)
	require.NoError(t, p.Close())
}

// TestUnknownStages checks that paths of no stage are errors, which name the
// stages.
func TestUnknownStages(t *testing.T) {
	b := build(t, dataset.Of(&source{n: 5}).MapFunc(each(func(int) error { return nil }), x, column...).Batch(2), dataset.Options{})
	read := b.Steps()[2].Path
	for _, c := range []struct {
		o    Options
		text string
	}{
		{Options{StageQueue: map[string]int{"batch/fnc": 3}}, `StageQueue: no stage "batch/fnc": want one of batch/func, ` + read + `; did you mean "batch/func"?`},
		{Options{StageWorkers: map[string]int{"batch": 3}}, `StageWorkers: no stage "batch": want one of batch/func, ` + read},
		{Options{StageWorkers: map[string]int{"sending": 3}}, "StageWorkers of sending: it has one worker"},
		{Options{StageQueue: map[string]int{"sending": 3}}, "StageQueue of sending: want Prefetch"},
		{Options{StageQueue: map[string]int{"batch/func": 0}}, "StageQueue of batch/func is 0, want 1 to 65536"},
		{Options{StageWorkers: map[string]int{read: 5000}}, "StageWorkers of " + read + " is 5000, want 1 to 4096"},
	} {
		_, err := New(b, c.o, nil)
		require.ErrorIs(t, err, dataset.ErrParam, c.text)
		require.ErrorContains(t, err, c.text)
	}
	tuned := Tuning{Version: 1, Definition: b.Fingerprint(), Cores: runtime.GOMAXPROCS(0), Platform: platform(), Stages: []StageTuning{{"batch/funk", 1, 2}}}
	_, err := New(b, Options{Tuned: &tuned}, nil)
	require.ErrorIs(t, err, ErrTuning)
	require.ErrorContains(t, err, `no stage "batch/funk": want one of batch/func, `+read)
}

// TestTuning saves the sizes of a run, which another run starts with.
func TestTuning(t *testing.T) {
	def := func() *dataset.Dataset {
		return dataset.Of(&source{n: 50}).MapFunc(each(func(int) error { return nil }), x, column...)
	}
	b := build(t, def(), dataset.Options{Seed: 1})
	p := open(t, b, Options{Workers: 1, AutoTune: true})
	require.Empty(t, p.Tuning().Stages)
	_, err := p.Next(t.Context())
	require.NoError(t, err)
	for _, s := range p.running() { // as the tuner does
		if s.st.Path == "func" {
			require.True(t, s.resize(3, 11))
		}
	}
	require.NoError(t, p.Close())
	saved := p.Tuning()
	require.Equal(t, runtime.GOMAXPROCS(0), saved.Cores)
	require.Contains(t, saved.Stages, StageTuning{"func", 3, 11})
	require.Len(t, saved.Stages, 2, "without sending")
	text, err := json.Marshal(saved)
	require.NoError(t, err)
	var loaded Tuning
	require.NoError(t, json.Unmarshal(text, &loaded))
	require.Equal(t, saved, &loaded)

	// Another seed is the same definition.
	again := build(t, def(), dataset.Options{Seed: 2})
	var log []string
	o := Options{Workers: 7, Tuned: &loaded, Log: func(s string) { log = append(log, s) }}
	q := open(t, again, o)
	_, err = q.Next(t.Context())
	require.NoError(t, err)
	got := stageOf(t, q, "func")
	require.Equal(t, []int{3, 11}, []int{got.Workers, got.Queue})
	require.Equal(t, 1, stageOf(t, q, again.Steps()[1].Path).Workers)
	require.NoError(t, q.Close())
	require.Empty(t, log)

	// Another definition is an error, another machine a note.
	_, err = New(build(t, def().Batch(2), dataset.Options{}), o, nil)
	require.ErrorIs(t, err, ErrTuning)
	require.ErrorContains(t, err, "another definition")
	for _, other := range []Tuning{{Cores: saved.Cores + 1, Platform: saved.Platform}, {Cores: saved.Cores, Platform: "plan9/mips"}} {
		other.Version, other.Definition, other.Stages = saved.Version, saved.Definition, saved.Stages
		log, o.Tuned = nil, &other
		q := open(t, again, o)
		_, err := q.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, 7, stageOf(t, q, "func").Workers)
		require.NoError(t, q.Close())
		require.Len(t, log, 1)
		require.Contains(t, log[0], "the tuning is not used")
	}
}

// TestTuningInvalid checks that damaged files are refused.
func TestTuningInvalid(t *testing.T) {
	for _, c := range [][2]string{
		{`[]`, "cannot unmarshal"},
		{`{}`, "version 0, want 1"},
		{`{"version": 2, "cores": 1}`, "version 2, want 1"},
		{`{"version": 1}`, "0 cores"},
		{`{"version": 1, "cores": 1, "stages": [{"path": "", "workers": 1, "queue": 1}]}`, "unique path"},
		{`{"version": 1, "cores": 1, "stages": [{"path": "sending", "workers": 1, "queue": 1}]}`, "unique path"},
		{`{"version": 1, "cores": 1, "stages": [{"path": "a", "workers": 1, "queue": 1}, {"path": "a", "workers": 1, "queue": 1}]}`, "unique path"},
		{`{"version": 1, "cores": 1, "stages": [{"path": "a", "workers": 0, "queue": 1}]}`, "0 workers for a, want 1 to 4096"},
		{`{"version": 1, "cores": 1, "stages": [{"path": "a", "workers": 5000, "queue": 5000}]}`, "5000 workers for a"},
		{`{"version": 1, "cores": 1, "stages": [{"path": "a", "workers": 4, "queue": 3}]}`, "a queue of 3 for a, want 4 to 65536"},
		{`{"version": 1, "cores": 1, "stages": [{"path": "a", "workers": 4, "queue": 70000}]}`, "a queue of 70000 for a"},
	} {
		var u Tuning
		err := json.Unmarshal([]byte(c[0]), &u)
		require.ErrorIs(t, err, ErrTuning, c[0])
		require.ErrorContains(t, err, c[1], c[0])
		require.Empty(t, u)
	}
	b := build(t, dataset.Of(&source{n: 5}), dataset.Options{})
	_, err := New(b, Options{Tuned: &Tuning{}}, nil)
	require.ErrorIs(t, err, ErrTuning)
}
