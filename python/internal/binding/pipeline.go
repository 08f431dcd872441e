package binding

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/infer-prep/infer-prep/dataset"
	_ "github.com/infer-prep/infer-prep/dataset/all" // every source
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/store"
	_ "github.com/infer-prep/infer-prep/store/httpstore" // http and https
	"github.com/infer-prep/infer-prep/tensor"
)

// Options are those of a Pipeline. Zeros are the defaults of the packages
// dataset and pipeline.
type Options struct {
	Seed         uint64 `json:"seed"`
	Rank         int    `json:"rank"`
	World        int    `json:"world"`
	DropUneven   bool   `json:"drop_uneven"`
	OnError      string `json:"on_error"` // fail, skip or replace; "" is fail
	MaxSkips     int64  `json:"max_skips"`
	AllowChanged bool   `json:"allow_changed"`
	AllowOutside bool   `json:"allow_outside"`
	Workers      int    `json:"workers"`
	Prefetch     int    `json:"prefetch"`
	Queue        int    `json:"queue"`
	Bytes        int64  `json:"bytes"`
	Cache        int64  `json:"cache"` // bytes of the caches that are added
	// StageWorkers and StageQueue override Workers and Queue for single stages,
	// by their paths in Stats.
	StageWorkers map[string]int `json:"stage_workers"`
	StageQueue   map[string]int `json:"stage_queue"`
	// AllDone makes Next return ErrAsk or ErrAskDone before each batch and at
	// the end of an epoch; Answer then says whether any rank is done.
	AllDone bool `json:"all_done"`
	// Device runs the last steps of the maps, and Least is the worst class of a
	// step on it. Default: no device, exact.
	Device string `json:"device"`
	Least  string `json:"least"`
	// AutoTune adapts workers and queues to the load.
	AutoTune bool `json:"autotune"`
	// Functions are the functions of Python in the definition. NextCall then
	// returns their calls.
	Functions []Function `json:"functions"`
}

var onErrors = map[string]dataset.ErrorPolicy{
	"": dataset.FailOnError, "fail": dataset.FailOnError, "skip": dataset.SkipOnError, "replace": dataset.ReplaceOnError,
}

// Pipeline runs a dataset and lends its batches. It is safe for concurrent use:
// calls wait for each other, except Close, which ends a waiting Next.
type Pipeline struct {
	built *dataset.Built
	o     pipeline.Options

	mu      sync.Mutex // of all calls but Close
	run     *pipeline.Pipeline
	waiting chan result        // of a Next that has not returned its sample
	stop    context.CancelFunc // ends that Next
	before  *dataset.State     // the state before the last sample, nil at the start of an epoch or run
	empty   *dataset.Sample    // the sample of the run, if its memory is lent
	asked   error              // ErrAsk or ErrAskDone, until Answer
	skipped int64              // of earlier runs
	asks    chan error         // from allDone
	answers chan answer        // to allDone
	device  device.Device      // nil without one
	calls   *calls
	gives   map[string]*dataset.Answers // of callbacks, by name

	guard  sync.Mutex // of the fields below
	end    context.CancelFunc
	ctx    context.Context
	closed bool
	spare  *dataset.Sample // a released batch
	lent   int
	notes  []string
	lost   int64 // notes beyond maxNotes
}

type result struct {
	s   *dataset.Sample
	err error
}

// answer is that of all ranks to a question of allDone.
type answer struct {
	any bool
	err error
}

// maxNotes bounds the messages that wait for Notes.
const maxNotes = 100

// ParseDefinition parses a dataset's definition in JSON or msgp.
func ParseDefinition(b []byte) (*dataset.Dataset, error) {
	d := &dataset.Dataset{}
	if !isMsgp(b) {
		return d, d.UnmarshalJSON(b)
	}
	rest, err := d.UnmarshalMsg(b)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("infer_prep: pipeline: %w: %d bytes after the definition", errInput, len(rest))
	}
	return d, err
}

// OpenPipeline opens a definition at the start of epoch 0.
func OpenPipeline(definition []byte, o Options) (_ *Pipeline, err error) {
	q, gives := newCalls(), map[string]*dataset.Answers{}
	var d *dataset.Dataset
	if len(o.Functions) > 0 {
		d, err = withFunctions(definition, o.Functions, q, gives)
	} else {
		d, err = ParseDefinition(definition)
	}
	if err != nil {
		return nil, err
	}
	policy, ok := onErrors[o.OnError]
	if !ok {
		names := []string{"fail", "skip", "replace"}
		return nil, fmt.Errorf("infer_prep: pipeline: %w: on_error %q, want one of %q%s", errInput, o.OnError, names, registry.DidYouMean(o.OnError, names))
	}
	p := &Pipeline{calls: q, gives: gives, asks: make(chan error), answers: make(chan answer), o: pipeline.Options{
		Workers: o.Workers, Prefetch: o.Prefetch, Queue: o.Queue, Bytes: o.Bytes, StageWorkers: o.StageWorkers, StageQueue: o.StageQueue, AutoTune: o.AutoTune,
	}}
	build := dataset.Options{
		Seed: o.Seed, Rank: o.Rank, World: o.World, DropUneven: o.DropUneven, OnError: policy, MaxSkips: o.MaxSkips, AllowChanged: o.AllowChanged,
		CacheBytes: o.Cache,
		Store:      store.URI,
		OnSkip:     func(e *dataset.SampleError) { p.note(e.Error()) },
		OnWarning:  func(err error) { p.note(err.Error()) },
	}
	if o.AllowOutside {
		build.Store = store.AllowOutside(store.URI)
	}
	if o.AllDone {
		build.AllDone = p.allDone
	}
	if p.device, build.DeviceLeast, err = openDevice(o.Device, o.Least); err != nil {
		return nil, err
	}
	build.Device = p.device
	p.ctx, p.end = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			p.end()
			err = errors.Join(err, p.closeBuilt())
		}
	}()
	if p.built, err = dataset.Build(p.ctx, d, build); err != nil {
		return nil, err
	}
	if p.run, err = pipeline.New(p.built, p.o, nil); err != nil {
		return nil, err
	}
	return p, nil
}

// closeBuilt closes the dataset and its device.
func (p *Pipeline) closeBuilt() (err error) {
	if p.built != nil {
		err = p.built.Close()
	}
	if p.device != nil {
		err = errors.Join(err, p.device.Close())
	}
	return err
}

// allDone is the AllDone of the run. It has the question answered on the thread
// that calls Next, since collective operations belong to the training's thread.
func (p *Pipeline) allDone(ctx context.Context, done bool) (bool, error) {
	ask := ErrAsk
	if done {
		ask = ErrAskDone
	}
	select {
	case p.asks <- ask:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	select {
	case a := <-p.answers:
		return a.any, a.err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// Answer answers the question of Next: any says whether any rank is done. With
// failed the run ends, and its state is the place before the batch.
func (p *Pipeline) Answer(any, failed bool) error {
	if err := p.lock(); err != nil {
		return err
	}
	defer p.mu.Unlock()
	if p.asked == nil {
		return fmt.Errorf("infer_prep: pipeline: %w: an answer without a question", errInput)
	}
	a := answer{any: any}
	if failed {
		a.err = errors.New("infer_prep: pipeline: all_done failed")
	}
	select {
	case p.answers <- a:
	case <-p.ctx.Done():
		return fmt.Errorf("infer_prep: pipeline %w", errClosed)
	}
	p.asked = nil
	if failed {
		p.drop()
	}
	return nil
}

func (p *Pipeline) note(text string) {
	p.guard.Lock()
	defer p.guard.Unlock()
	if len(p.notes) == maxNotes {
		p.lost++
		return
	}
	p.notes = append(p.notes, text)
}

// Notes returns the messages about skipped samples and caches since the last
// call, at most 100 and then how many more there were.
func (p *Pipeline) Notes() []string {
	p.guard.Lock()
	defer p.guard.Unlock()
	l := p.notes
	if p.lost > 0 {
		l = append(l, fmt.Sprintf("%d more messages", p.lost))
	}
	p.notes, p.lost = nil, 0
	return l
}

// PipelineInfo describes a pipeline.
type PipelineInfo struct {
	Columns []Column `json:"columns"`
	Len     int64    `json:"len"` // batches of an epoch; -1 if unknown, -2 if endless
}

// Info describes the batches.
func (p *Pipeline) Info() PipelineInfo {
	i := PipelineInfo{Columns: columnsOf(p.built.Columns()), Len: p.built.Len()}
	switch {
	case i.Len == dataset.Endless:
		i.Len = -2
	case i.Len < 0:
		i.Len = -1
	}
	return i
}

// lock locks p for a call.
func (p *Pipeline) lock() error {
	p.mu.Lock()
	p.guard.Lock()
	defer p.guard.Unlock()
	if p.closed {
		p.mu.Unlock()
		return fmt.Errorf("infer_prep: pipeline %w", errClosed)
	}
	return nil
}

// ErrWait reports that Next has no sample yet. ErrAsk asks whether any rank is
// done while this one has a sample, and ErrAskDone while it has none.
var (
	ErrWait    = errors.New("infer_prep: pipeline: no batch yet")
	ErrAsk     = errors.New("infer_prep: pipeline: is any rank done?")
	ErrAskDone = errors.New("infer_prep: pipeline: this rank is done")
)

// Next returns the next sample or batch. It waits no longer than wait and then
// returns ErrWait; the next call continues to wait. After ErrAsk and ErrAskDone
// it continues behind Answer. io.EOF ends the epoch.
func (p *Pipeline) Next(wait time.Duration) (*Tensors, error) {
	if err := p.lock(); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	if p.waiting == nil {
		p.giveBack()
		p.before = p.run.State()
		c := make(chan result, 1)
		ctx, stop := context.WithCancel(p.ctx)
		p.waiting, p.stop = c, stop
		go func(run *pipeline.Pipeline) {
			var r result
			defer func() { c <- r }()
			defer Guard(&r.err)
			r.s, r.err = run.Next(ctx)
		}(p.run)
	}
	if p.asked != nil {
		return nil, p.asked
	}
	var r result
	select {
	case r = <-p.waiting:
	default:
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case r = <-p.waiting:
		case p.asked = <-p.asks:
			return nil, p.asked
		case <-timer.C:
			return nil, ErrWait
		}
	}
	p.stop()
	p.waiting = nil
	if r.err != nil {
		p.before = nil
		return nil, r.err
	}
	return p.lend(r.s)
}

// lend lends the sample of a run, with its memory.
func (p *Pipeline) lend(from *dataset.Sample) (*Tensors, error) {
	p.guard.Lock()
	notes := len(p.notes) > 0
	p.lent++
	p.guard.Unlock()
	s := &dataset.Sample{}
	if err := s.Take(from); err != nil {
		return nil, err
	}
	p.empty = from
	t := &Tensors{Epoch: p.run.Epoch(), Step: p.run.Step(), Key: s.Key, Notes: notes, list: make([]tensor.Tensor, len(s.Values))}
	for i := range s.Values {
		t.list[i] = s.Values[i].Tensor
		if t.list[i].DType != tensor.Bytes && !dense(&t.list[i]) {
			t.list[i] = *t.list[i].Clone()
		}
	}
	t.release = func() { p.free(s) }
	return t, nil
}

// free keeps the memory of a released batch for a later one. Of several it
// keeps one: a loop that holds more batches allocates their memory again.
func (p *Pipeline) free(s *dataset.Sample) {
	p.guard.Lock()
	defer p.guard.Unlock()
	p.lent--
	if !p.closed {
		p.spare = s
	}
}

// giveBack gives the memory of a released batch to the sample of the run, if
// its own was lent. The run exchanges it for that of the next batch.
func (p *Pipeline) giveBack() {
	p.guard.Lock()
	defer p.guard.Unlock()
	if p.empty != nil && p.spare != nil {
		_ = p.empty.Take(p.spare) // it has memory of its own, so nothing is copied
		p.empty, p.spare = nil, nil
	}
}

// drop ends a Next that returned ErrWait, and drops its sample. It is for what
// leaves the place of the run.
func (p *Pipeline) drop() {
	if p.waiting != nil {
		p.stop()
		<-p.waiting
		p.waiting, p.asked = nil, nil
	}
	p.before = nil
}

// NextEpoch starts the next epoch, also before the end of this one.
func (p *Pipeline) NextEpoch() error {
	if err := p.lock(); err != nil {
		return err
	}
	defer p.mu.Unlock()
	p.drop()
	return p.run.NextEpoch()
}

// State returns the place after the last sample that Next returned. With before
// it returns the place before that sample, for one that did not reach Python's
// loop because of an exception.
func (p *Pipeline) State(before bool) ([]byte, error) {
	if err := p.lock(); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	if p.waiting != nil || before && p.before != nil {
		return p.before.MarshalBinary()
	}
	return p.run.State().MarshalBinary()
}

// Restore continues at a state. After an error the pipeline stays where it is.
func (p *Pipeline) Restore(state []byte) error {
	if err := p.lock(); err != nil {
		return err
	}
	defer p.mu.Unlock()
	s := &dataset.State{}
	if err := s.UnmarshalBinary(state); err != nil {
		return err
	}
	run, err := pipeline.New(p.built, p.o, s)
	if err != nil {
		return err
	}
	p.drop()
	old := p.run
	p.skipped += old.Skipped()
	p.guard.Lock()
	p.run, p.empty = run, nil
	p.guard.Unlock()
	return old.Close()
}

// open returns the run for calls that do not wait for others, so that functions
// of Python may make them.
func (p *Pipeline) open() (*pipeline.Pipeline, error) {
	p.guard.Lock()
	defer p.guard.Unlock()
	if p.closed {
		return nil, fmt.Errorf("infer_prep: pipeline %w", errClosed)
	}
	return p.run, nil
}

// Weights returns the weights of a feedback policy in this epoch.
func (p *Pipeline) Weights(name string) ([]float64, error) {
	run, err := p.open()
	if err != nil {
		return nil, err
	}
	return run.Weights(name)
}

// SetWeights sets the weights of a feedback policy from the next epoch on.
func (p *Pipeline) SetWeights(name string, weights []float64) error {
	run, err := p.open()
	if err != nil {
		return err
	}
	return run.SetWeights(name, weights)
}

// Give gives an answer, which has a number above 0, to a waited callback.
func (p *Pipeline) Give(name string, number int64) error {
	if _, err := p.open(); err != nil {
		return err
	}
	a := p.gives[name]
	if a == nil {
		return fmt.Errorf("infer_prep: pipeline: %w: %q is no waited callback", errInput, name)
	}
	a.Give(number)
	return nil
}

// Stats are the figures of a pipeline.
type Stats struct {
	Epoch   uint64                `json:"epoch"`
	Step    int64                 `json:"step"`
	Skipped int64                 `json:"skipped"`
	Lent    int                   `json:"lent"` // batches that are not released
	Heap    uint64                `json:"heap"` // bytes of Go's heap, of all pipelines and graphs
	Stages  []pipeline.StageStats `json:"stages"`
}

// Stats returns figures since OpenPipeline or Restore.
func (p *Pipeline) Stats() (Stats, error) {
	if err := p.lock(); err != nil {
		return Stats{}, err
	}
	defer p.mu.Unlock()
	s := Stats{Skipped: p.skipped + p.run.Skipped(), Stages: p.run.Stats()}
	if p.waiting == nil {
		s.Epoch, s.Step = p.run.Epoch(), p.run.Step()
	} else {
		s.Epoch, s.Step = p.before.Epoch, p.before.Step
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.Heap = m.HeapAlloc
	p.guard.Lock()
	s.Lent = p.lent
	p.guard.Unlock()
	return s, nil
}

// Close ends the run, also under a waiting Next, and waits for its goroutines.
// Batches that are lent stay valid. A second Close does nothing.
func (p *Pipeline) Close() error {
	p.guard.Lock()
	if p.closed {
		p.guard.Unlock()
		return nil
	}
	p.closed, p.spare = true, nil
	run := p.run
	p.guard.Unlock()
	p.end()
	p.calls.close() // what functions return now is dropped
	err := run.Close()
	p.mu.Lock() // a Next that was waiting has returned
	defer p.mu.Unlock()
	return errors.Join(err, p.closeBuilt())
}
