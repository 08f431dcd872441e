//go:build !(js && wasm)

package webgpu

import (
	"context"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/inmemory"
	"github.com/infer-prep/infer-prep/internal/gpu"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/tensor"
)

// ring holds the device's memory of the batches on their way: two ready ones,
// the one in use and the one that is being uploaded.
type ring struct {
	d        *Device
	mem      *memory
	slots    [4]*buffer
	uploaded int
}

// upload copies a batch to the next slot and waits until it is there.
func (r *ring) upload(_ context.Context, s *dataset.Sample) error {
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	slot := &r.slots[r.uploaded%len(r.slots)]
	r.uploaded++
	data := s.Column("x").Data
	if *slot == nil {
		b, err := r.mem.get(int64(len(data)), storage)
		if err != nil {
			return err
		}
		*slot = b
	}
	if err := r.mem.write(*slot, data); err != nil {
		return err
	}
	return r.mem.wait()
}

// TestUpload uploads batches to the device with pipeline.Options.Upload. The
// bytes there are those of the batches. It logs how much of the uploads a
// training step hides.
func TestUpload(t *testing.T) {
	d := testDevice(t)
	size, batches := 32, 6
	if onGPU() {
		size, batches = 224, 60
	}
	x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(64, 3, size, size)})
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range x.Data {
		x.Data[i] = byte(r.Uint32())
	}
	def := dataset.From(inmemory.New(tensor.Named{Name: "x", T: x})).Repeat(0).Batch(32).Take(int64(batches))
	b, err := dataset.Build(t.Context(), def, dataset.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()

	// run returns the time of an epoch. use is called with the slot of every
	// batch.
	run := func(behind bool, step time.Duration, use func(r *ring, slot int, s *dataset.Sample)) time.Duration {
		r := &ring{d: d, mem: &memory{d: d}}
		o := pipeline.Options{Workers: 2}
		if behind {
			o.Upload = r.upload
		}
		p, err := pipeline.New(b, o, nil)
		require.NoError(t, err)
		begin := time.Now()
		for i := 0; ; i++ {
			s, err := p.Next(t.Context())
			if err == io.EOF {
				require.Equal(t, batches, i)
				break
			}
			require.NoError(t, err)
			if !behind {
				require.NoError(t, r.upload(t.Context(), s))
			}
			if use != nil {
				use(r, i%len(r.slots), s)
			}
			time.Sleep(step)
		}
		took := time.Since(begin)
		require.NoError(t, p.Close())
		d.mu.Lock()
		defer d.mu.Unlock()
		require.NoError(t, r.mem.close())
		return took
	}

	run(true, 0, func(r *ring, slot int, s *dataset.Sample) {
		d.mu.Lock()
		defer d.mu.Unlock()
		back := make([]byte, len(s.Column("x").Data))
		require.NoError(t, r.mem.Read([]gpu.Fetch{{From: r.slots[slot], To: back}}))
		require.Equal(t, s.Column("x").Data, back, "batch at slot %d", slot)
	})

	// A step as long as an upload and the making of a batch can hide both.
	alone := run(false, 0, nil)
	step := alone/time.Duration(batches) + time.Millisecond
	before, behind := run(false, step, nil), run(true, step, nil)
	t.Logf("measured: %d batches of %.1f MB on %v: %v without steps; with steps of %v: %v in all, uploads before each step %v, behind the steps %v",
		batches, float64(x.Size())/2e6, d.Adapter(), alone.Round(time.Millisecond), step.Round(100*time.Microsecond),
		(step * time.Duration(batches)).Round(time.Millisecond), before.Round(time.Millisecond), behind.Round(time.Millisecond))
}
