package gomlx

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlcontext "github.com/gomlx/gomlx/pkg/ml/context"
	"github.com/gomlx/gomlx/pkg/ml/train"
	"github.com/gomlx/gomlx/pkg/ml/train/metrics"

	"github.com/infer-prep/infer-prep/dataset"
)

// ErrCheckpoint reports a file that is not a checkpoint, or a damaged one.
var ErrCheckpoint = errors.New("gomlx: not an intact checkpoint")

// A checkpoint is the magic, the length of the header as 8 bytes in little
// endian, the header as JSON, the variables' elements in the header's order,
// and the SHA-256 of all of it. (GoMLX's own checkpoints are two files that are
// written in place: a kill can leave half of one as the newest.)
const (
	magic     = "infer-prep gomlx checkpoint 1\n"
	maxHeader = 64 << 20
	maxFile   = math.MaxInt32 // 2 GiB, also for 32 bits
)

type header struct {
	State     *dataset.State       `json:"state"`
	Feedback  map[string]feedSaved `json:"feedback"`
	Variables []variable           `json:"variables"`
}

// feedSaved is the part of an epoch that a Feedback has seen.
type feedSaved struct {
	Sums   []float64 `json:"sums"`
	Counts []float64 `json:"counts"`
}

type variable struct {
	Scope string       `json:"scope"`
	Name  string       `json:"name"`
	DType dtypes.DType `json:"dtype"`
	Shape []int        `json:"shape"`
	Bytes int          `json:"bytes"`
}

// Checkpoint is a saved training. It is immutable, except that the first
// context of Restore takes its variables.
type Checkpoint struct {
	// State is the place in the data. New resumes there.
	State    *dataset.State
	feedback map[string]feedSaved
	values   map[string]*tensors.Tensor // by scope and name
}

// key is the key of a variable.
func key(scope, name string) string { return scope + "\x00" + name }

// temporary reports whether a variable does not belong into a checkpoint: those
// of metrics, which a Loop resets when it starts, and the Loop's own last step.
func temporary(v *mlcontext.Variable) bool {
	return slices.Contains(strings.Split(v.Scope(), mlcontext.ScopeSeparator), metrics.Scope) || v.Name() == train.TrainLastStepVarName
}

// Save writes a checkpoint: the variables of ctx, the weights and moments of
// the optimizer among them, and the place after the last batch that Yield
// returned. Call it between steps, for example in Loop.OnStep with a priority
// above 0, or in Options.EpochEnd. It replaces path when the file is complete
// and on the disk. Equal trainings write equal bytes. Elements have the byte
// order of the machine.
//
// Metrics are not saved. Variables of an earlier checkpoint that ctx has not
// yet used are saved again.
func (d *Dataset) Save(path string, ctx *mlcontext.Context) error {
	h := header{State: d.run.State(), Feedback: map[string]feedSaved{}}
	for _, f := range d.feedback {
		h.Feedback[f.policy] = feedSaved{f.sums, f.counts}
	}
	values := map[string]*tensors.Tensor{}
	if c := d.o.From; c != nil {
		for k, t := range c.values {
			values[k] = t
		}
	}
	for v := range ctx.IterVariables() {
		if temporary(v) {
			continue
		}
		t, err := v.Value()
		if err != nil {
			return fmt.Errorf("gomlx: checkpoint: variable %s: %w", v.ScopeAndName(), err)
		}
		values[key(v.Scope(), v.Name())] = t
	}
	var data bytes.Buffer
	keys := make([]string, 0, len(values))
	for k := range values {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		t := values[k]
		scope, name, _ := strings.Cut(k, "\x00")
		before := data.Len()
		if err := t.ConstBytes(func(b []byte) { data.Write(b) }); err != nil {
			return fmt.Errorf("gomlx: checkpoint: variable %s/%s: %w", scope, name, err)
		}
		h.Variables = append(h.Variables, variable{scope, name, t.DType(), t.Shape().Dimensions, data.Len() - before})
	}
	head, err := json.Marshal(&h)
	if err != nil {
		return fmt.Errorf("gomlx: checkpoint: %w", err)
	}
	if n := int64(len(head)) + int64(data.Len()); len(head) > maxHeader || n > maxFile-1024 {
		return fmt.Errorf("gomlx: checkpoint: %d bytes, %d of them in the header: want at most %d and %d", n, len(head), maxFile-1024, maxHeader)
	}
	sum := sha256.New()
	return replaceFile(path, func(f *os.File) error {
		w := io.MultiWriter(f, sum)
		for _, b := range [][]byte{[]byte(magic), binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head, data.Bytes()} {
			if _, err := w.Write(b); err != nil {
				return err
			}
		}
		_, err := f.Write(sum.Sum(nil))
		return err
	})
}

// replaceFile writes a temporary file and renames it to path.
func replaceFile(path string, write func(f *os.File) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".checkpoint-*.tmp")
	if err != nil {
		return fmt.Errorf("gomlx: checkpoint %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("gomlx: checkpoint %s: %w", path, errors.Join(err, os.Remove(f.Name())))
		}
	}()
	if err := cmp.Or(write(f), f.Sync()); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Open reads a checkpoint. It returns nil without an error if the file does not
// exist: then Options.From and Restore start anew. A damaged file is
// ErrCheckpoint. It may have up to 2 GiB.
func Open(path string) (*Checkpoint, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("gomlx: checkpoint: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("gomlx: checkpoint: %w", err)
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return nil, fmt.Errorf("%w: %s has %d bytes (%s), want a regular file of at most %d", ErrCheckpoint, path, info.Size(), info.Mode(), maxFile)
	}
	b := make([]byte, info.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, fmt.Errorf("gomlx: checkpoint: %w", err)
	}
	c, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %v", ErrCheckpoint, path, err)
	}
	return c, nil
}

// parse reads a checkpoint's bytes.
func parse(b []byte) (*Checkpoint, error) {
	const start = len(magic) + 8
	if len(b) < start+sha256.Size || string(b[:len(magic)]) != magic {
		return nil, errors.New("the first bytes are not those of a checkpoint")
	}
	b, sum := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if got := sha256.Sum256(b); !bytes.Equal(got[:], sum) {
		return nil, errors.New("the checksum differs")
	}
	n := binary.LittleEndian.Uint64(b[len(magic):])
	if n > maxHeader || n > uint64(len(b)-start) {
		return nil, fmt.Errorf("a header of %d bytes, want at most %d", n, min(maxHeader, len(b)-start))
	}
	var h header
	if err := json.Unmarshal(b[start:start+int(n)], &h); err != nil {
		return nil, err
	}
	if h.State == nil {
		return nil, errors.New("no state")
	}
	b = b[start+int(n):]
	c := &Checkpoint{State: h.State, feedback: h.Feedback, values: map[string]*tensors.Tensor{}}
	for _, v := range h.Variables {
		t, err := v.tensor(b)
		if err != nil {
			return nil, fmt.Errorf("variable %s/%s: %w", v.Scope, v.Name, err)
		}
		b = b[v.Bytes:]
		c.values[key(v.Scope, v.Name)] = t
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("%d bytes after the last variable", len(b))
	}
	return c, nil
}

// saved are the dtypes of variables.
var saved = []dtypes.DType{
	dtypes.Bool, dtypes.Int8, dtypes.Int16, dtypes.Int32, dtypes.Int64, dtypes.Uint8, dtypes.Uint16, dtypes.Uint32, dtypes.Uint64,
	dtypes.Float16, dtypes.BFloat16, dtypes.Float32, dtypes.Float64, dtypes.Complex64, dtypes.Complex128,
}

// tensor returns a variable whose elements start b.
func (v *variable) tensor(b []byte) (t *tensors.Tensor, err error) {
	if v.Bytes < 0 || v.Bytes > len(b) {
		return nil, fmt.Errorf("%d bytes, %d are left", v.Bytes, len(b))
	}
	// GoMLX panics for shapes that it does not allow.
	size := int64(1)
	for _, n := range v.Shape {
		if n < 0 || n > maxFile || size*int64(n) > maxFile {
			return nil, fmt.Errorf("shape %v, want at most %d elements", v.Shape, maxFile)
		}
		size *= int64(n)
	}
	if !slices.Contains(saved, v.DType) || size*int64(v.DType.Size()) != int64(v.Bytes) {
		return nil, fmt.Errorf("%d bytes for the shape %v of %s", v.Bytes, v.Shape, v.DType)
	}
	t = tensors.FromShape(shapes.Make(v.DType, v.Shape...))
	err = t.MutableBytes(func(to []byte) { copy(to, b) })
	return t, err
}

// Restore makes ctx take its variables from the checkpoint when a graph first
// uses them, and returns the context to train with. Its model must have the
// variables of the checkpoint: one that is missing is an error of the first
// step. Call it before train.NewTrainer. If c is nil, it returns ctx as it is.
func (c *Checkpoint) Restore(ctx *mlcontext.Context) *mlcontext.Context {
	if c == nil {
		return ctx
	}
	ctx.SetLoader((*loader)(c))
	return ctx.Reuse() // GoMLX's word for a model whose variables exist
}

// loader is a context.Loader.
type loader Checkpoint

func (l *loader) LoadVariable(_ *mlcontext.Context, scope, name string) (*tensors.Tensor, bool) {
	t, ok := l.values[key(scope, name)]
	delete(l.values, key(scope, name)) // it belongs to the context now
	return t, ok
}

func (l *loader) DeleteVariable(_ *mlcontext.Context, scope, name string) error {
	delete(l.values, key(scope, name))
	return nil
}
