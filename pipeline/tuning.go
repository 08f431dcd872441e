package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/infer-prep/infer-prep/dataset"
)

// Tuning holds the workers and queues of a run's stages, so that another run
// starts with the choices of AutoTune. Its JSON form is an object of its
// fields:
//
//	{"version": 1, "definition": 2774613041, "cores": 8, "platform": "linux/amd64",
//	 "stages": [{"path": "batch/map", "workers": 6, "queue": 14}]}
type Tuning struct {
	// Version is the version of the JSON form, 1.
	Version int `json:"version"`
	// Definition is dataset.Built.Fingerprint.
	Definition uint32 `json:"definition"`
	// Cores is GOMAXPROCS, and Platform is GOOS/GOARCH.
	Cores    int    `json:"cores"`
	Platform string `json:"platform"`
	// Stages are the stages from the sources up, without "sending".
	Stages []StageTuning `json:"stages"`
}

// StageTuning holds the sizes of a stage: 1 to 4,096 workers, and a queue of at
// least one sample for each worker, at most 65,536.
type StageTuning struct {
	Path    string `json:"path"`
	Workers int    `json:"workers"`
	Queue   int    `json:"queue"`
}

// ErrTuning reports a Tuning that is invalid or of another definition or
// device.
var ErrTuning = errors.New("unusable tuning")

const (
	tuningVersion = 1
	maxTuned      = 1 << 12 // stages, against mistaken files
)

func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }

// UnmarshalJSON reads a Tuning and checks its bounds. An invalid one is
// ErrTuning.
func (t *Tuning) UnmarshalJSON(b []byte) error {
	type plain Tuning
	var x plain
	if err := json.Unmarshal(b, &x); err != nil {
		return fmt.Errorf("pipeline: %w: %w", ErrTuning, err)
	}
	if err := (*Tuning)(&x).validate(); err != nil {
		return err
	}
	*t = Tuning(x)
	return nil
}

func (t *Tuning) validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("pipeline: %w: %s", ErrTuning, fmt.Sprintf(format, args...))
	}
	switch {
	case t.Version != tuningVersion:
		return bad("version %d, want %d", t.Version, tuningVersion)
	case t.Cores < 1:
		return bad("%d cores, want at least 1", t.Cores)
	case len(t.Stages) > maxTuned:
		return bad("%d stages, want at most %d", len(t.Stages), maxTuned)
	}
	for i, s := range t.Stages {
		switch {
		case s.Path == "" || s.Path == sending || slices.ContainsFunc(t.Stages[:i], func(o StageTuning) bool { return o.Path == s.Path }):
			return bad("stage %d has the path %q, want a unique path of a stage", i, s.Path)
		case s.Workers < 1 || s.Workers > maxWorkers:
			return bad("%d workers for %s, want 1 to %d", s.Workers, s.Path, maxWorkers)
		case s.Queue < s.Workers || s.Queue > maxQueue:
			return bad("a queue of %d for %s, want %d to %d", s.Queue, s.Path, s.Workers, maxQueue)
		}
	}
	return nil
}

// use returns the stages of a Tuning for b by path. It returns none, and why,
// for a Tuning of another machine.
func (t *Tuning) use(b *dataset.Built) (stages map[string]StageTuning, why string, err error) {
	if err := t.validate(); err != nil {
		return nil, "", err
	}
	if d := b.Fingerprint(); t.Definition != d {
		return nil, "", fmt.Errorf("pipeline: %w: it was made for another definition or device: its fingerprint is %08x, want %08x", ErrTuning, t.Definition, d)
	}
	if cores := runtime.GOMAXPROCS(0); t.Cores != cores || t.Platform != platform() {
		return nil, fmt.Sprintf("it was made on %s with %d cores, this is %s with %d", t.Platform, t.Cores, platform(), cores), nil
	}
	stages = map[string]StageTuning{}
	known := stagesOf(b)
	for _, s := range t.Stages {
		if !slices.Contains(known, s.Path) {
			return nil, "", fmt.Errorf("pipeline: %w: %w", ErrTuning, unknownStage(s.Path, known))
		}
		stages[s.Path] = s
	}
	return stages, "", nil
}

// Tuning returns the present sizes of the stages that have run. It is safe for
// concurrent use, also after Close.
func (p *Pipeline) Tuning() *Tuning {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &Tuning{Version: tuningVersion, Definition: p.built.Fingerprint(), Cores: runtime.GOMAXPROCS(0), Platform: platform(), Stages: []StageTuning{}}
	for _, path := range p.order {
		c := p.past[path]
		if n := c.chosenWorkers.Load(); n > 0 && path != sending && len(t.Stages) < maxTuned {
			t.Stages = append(t.Stages, StageTuning{path, int(n), int(c.chosenQueue.Load())})
		}
	}
	return t
}
