package importer_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/hf"
	"github.com/infer-prep/infer-prep/internal/golden"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// TestSoundStream compares streams of 240 random chunkings with runs on the
// whole sound, five for each setting of the importers' goldens.
func TestSoundStream(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	chunkings, parted := 0, map[bool]int{}
	for _, c := range soundGoldens(t).Cases {
		g, err := hf.ImportSamples(c.Config)
		require.NoError(t, err, "%s", c.Config)
		p, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(t, err)
		rate := 0
		for _, s := range g.Steps {
			if o, ok := s.Op.(transforms.Sampled); ok && rate == 0 {
				rate = o.InputRate()
			}
		}
		rate = max(rate, 1)
		for range short.Rounds(t, 5, 1) {
			chunkings++
			n := random.IntN(30000)
			switch random.IntN(4) {
			case 0:
				n = random.IntN(2000)
			case 1:
				n = random.IntN(64)
			}
			kind := []string{"speech", "noise", "sweep"}[random.IntN(3)]
			samples := samplesOf(t, kind, n)
			want, wantErr := p.NewRunner().Run(samples)
			s, err := p.NewStream(rate, 1)
			require.NoError(t, err, "%s", c.Config)
			got, err := streamed(s, samples, func() int {
				switch random.IntN(4) {
				case 0:
					return 128
				case 1:
					return random.IntN(3)
				case 2:
					return random.IntN(10000)
				}
				return random.IntN(700)
			})
			if wantErr != nil {
				require.ErrorIs(t, err, transforms.ErrInput, "%s %d: %v\n%s", kind, n, wantErr, c.Config)
				continue
			}
			require.NoError(t, err, "%s %d\n%s", kind, n, c.Config)
			for i, w := range want {
				parted[s.Axis(i) >= 0]++
				require.Equal(t, w.Desc, got[i].Desc, "%s %d output %d\n%s", kind, n, i, c.Config)
				require.Equal(t, w.Clone().Data, got[i].Data, "%s %d output %d\n%s", kind, n, i, c.Config)
			}
		}
	}
	require.NotZero(t, parted[true])
	require.NotZero(t, parted[false])
	t.Logf("%d chunkings, %d outputs in parts, %d at the end", chunkings, parted[true], parted[false])
}

// streamed returns the outputs of a stream of samples, joined.
func streamed(s *datagraph.Stream, samples *tensor.Tensor, size func() int) ([]*tensor.Tensor, error) {
	var parts [][]*tensor.Tensor
	axis := samples.Shape.Rank() - 1
	n := samples.Shape.At(axis)
	for at := 0; at < n; {
		k := min(size(), n-at)
		part, err := samples.Slice(axis, at, at+k)
		if err != nil {
			return nil, err
		}
		out, err := s.Push(part)
		if err != nil {
			return nil, err
		}
		parts = append(parts, out)
		at += k
	}
	last, err := s.Finish()
	if err != nil {
		return nil, err
	}
	for i := range last {
		if s.Axis(i) < 0 {
			last[i] = last[i].Clone()
			continue
		}
		var l []*tensor.Tensor
		for _, p := range parts {
			l = append(l, p[i])
		}
		if last[i], err = transforms.JoinParts(s.Axis(i), append(l, last[i])...); err != nil {
			return nil, err
		}
		last[i] = last[i].Clone()
	}
	return last, nil
}

// TestStreamResampled streams a microphone of 48 kHz and two channels.
func TestStreamResampled(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, resample := range []transforms.Op{transforms.NewResampleSinc(48000, 16000), transforms.NewResamplePoly(44100, 16000), transforms.NewResampleSinc(8000, 22050), transforms.NewResamplePoly(16000, 16000)} {
		rate := resample.(transforms.Sampled).InputRate()
		s := transforms.NewSpectrogram(400, 160)
		s.Mels, s.Log = 80, transforms.LogDecimal
		g := datagraph.New(transforms.NewDecodeSound(rate), transforms.NewMixMono(), resample, s)
		p, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(t, err)
		for range 5 {
			n := random.IntN(40000) + 1000
			x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2, n)})
			require.NoError(t, err)
			copy(tensor.View[float32](x), golden.Sound("speech", 2*n))
			h := *g
			h.Inputs = []datagraph.Column{{Name: "sound", Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2, tensor.Unknown)}}}
			h.Steps = g.Steps[1:]
			q, err := datagraph.Compile(&h, datagraph.CompileOptions{})
			require.NoError(t, err)
			want, err := q.NewRunner().Run(x)
			require.NoError(t, err)
			s, err := p.NewStream(rate, 2)
			require.NoError(t, err)
			got, err := streamed(s, x, func() int { return random.IntN(2000) })
			require.NoError(t, err)
			require.Equal(t, want[0].Desc, got[0].Desc)
			require.Equal(t, want[0].Data, got[0].Data)
		}
	}
}

// TestStreamKaldi streams Kaldi's features.
func TestStreamKaldi(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	torch, energy, sparse := transforms.NewFbank(80), transforms.NewFbank(23), transforms.NewFbank(23)
	torch.Rule = transforms.RuleTorchaudio
	energy.Energy, energy.FrameShift = transforms.EnergyFirst, 12.5
	sparse.FrameShift = 40
	mirrored := transforms.NewFbank(23)
	mirrored.SnipEdges = false
	for _, op := range []transforms.Op{torch, energy, sparse, mirrored, transforms.NewPreemphasis(0.97)} {
		g := &datagraph.Graph{Inputs: []datagraph.Column{{Name: "samples", Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(tensor.Unknown)}}}}
		g.Then(transforms.NewPreemphasis(0.5), []string{"samples"}, []string{"emphasized"})
		g.Then(op, []string{"emphasized"}, []string{"out"})
		g.Outputs = []string{"out"}
		p, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(t, err)
		for range 20 {
			most := []int{4, 800, 20000}[random.IntN(3)]
			samples := samplesOf(t, "speech", random.IntN(most))
			want, wantErr := p.NewRunner().Run(samples)
			s, err := p.NewStream(16000, 1)
			require.NoError(t, err)
			require.Equal(t, op != mirrored, s.Axis(0) == 0)
			got, err := streamed(s, samples, func() int { return random.IntN([]int{3, 200, 3000}[random.IntN(3)]) })
			if wantErr != nil {
				require.ErrorIs(t, err, transforms.ErrInput)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, want[0].Desc, got[0].Desc)
			require.Equal(t, want[0].Data, got[0].Data)
		}
	}
	p, err := datagraph.Compile(datagraph.New(transforms.NewDecodeSound(16000), transforms.NewPreemphasis(0.97)), datagraph.CompileOptions{})
	require.NoError(t, err)
	x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2, 3000)})
	require.NoError(t, err)
	copy(tensor.View[float32](x), golden.Sound("speech", 6000))
	want, err := tensor.New(x.Desc)
	require.NoError(t, err)
	require.NoError(t, transforms.NewPreemphasis(0.97).Apply(&transforms.Context{}, []*tensor.Tensor{want}, []*tensor.Tensor{x}))
	s, err := p.NewStream(16000, 2)
	require.NoError(t, err)
	got, err := streamed(s, x, func() int { return random.IntN(500) })
	require.NoError(t, err)
	require.Equal(t, want.Data, got[0].Data)
}
