//go:build !small

package diff

import (
	"encoding/binary"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	_ "github.com/infer-prep/infer-prep/sound/wav"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/tensor/npz"
	"github.com/infer-prep/infer-prep/transforms"
)

// voice returns a WAV file of two channels at 16 kHz: harmonics of a moving
// pitch, which swell and fade.
func voice(samples int) *tensor.Tensor {
	b := []byte("RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00\x02\x00\x80\x3e\x00\x00\x00\xfa\x00\x00\x04\x00\x10\x00data")
	b = binary.LittleEndian.AppendUint32(b, uint32(4*samples))
	phase, noise := 0.0, uint32(1)
	for i := range samples {
		t := float64(i) / 16000
		phase += 2 * math.Pi * (120 + 40*math.Sin(5*t)) / 16000
		v := 0.0
		for k := 1.0; k < 25; k++ {
			v += math.Sin(k*phase) / k
		}
		v *= 0.2 * (0.6 + 0.4*math.Sin(20*t))
		for c := range 2 {
			noise = noise*1664525 + 1013904223
			b = binary.LittleEndian.AppendUint16(b, uint16(int16(32767*(v*(1-0.3*float64(c))+0.02*(float64(noise>>8)/(1<<24)-0.5)+0.01))))
		}
	}
	return tensor.FromBytes(b)
}

func soundGraphs() map[string]*datagraph.Graph {
	mel := transforms.NewSpectrogram(400, 160)
	mel.Mels, mel.Log = 40, transforms.LogDecimal
	scale := transforms.NewScaleFeatures(-4, 4)
	scale.Range = 8
	kaldi := transforms.NewSpectrogram(400, 160)
	kaldi.FFTLength, kaldi.Pad, kaldi.RemoveDC, kaldi.Preemphasis = 512, 0, true, 0.97
	kaldi.Window, kaldi.Periodic, kaldi.Scale = transforms.WindowPovey, false, 1<<15
	kaldi.Mels, kaldi.MelScale, kaldi.MelLow, kaldi.MelTriangles, kaldi.MelNorm = 40, transforms.MelKaldi, 20, true, false
	kaldi.Floor, kaldi.Log, kaldi.FramesFirst = 0x1p-23, transforms.LogNatural, true
	plain := transforms.NewSpectrogram(512, 256)
	plain.Power = 1
	return map[string]*datagraph.Graph{
		"whisper": datagraph.New(transforms.NewDecodeSound(16000), transforms.NewMixMono(), mel).
			Then(transforms.NewSlice(":", ":-1"), []string{"sound"}, []string{"sound"}).Then(scale, []string{"sound"}, []string{"sound"}),
		"kaldi":     datagraph.New(transforms.NewDecodeSound(16000), transforms.NewMixMono(), kaldi, &transforms.NormalizeSequence{Rule: transforms.SequenceBins, Mean: true, Var: true}),
		"wav2vec2":  datagraph.New(transforms.NewDecodeSound(16000), transforms.NewMixMono(), transforms.NewResampleSinc(16000, 12000), transforms.NewNormalizeSequence()),
		"magnitude": datagraph.New(transforms.NewDecodeSound(16000), transforms.NewMixMono(), transforms.NewResamplePoly(16000, 8000), plain),
	}
}

// TestExplainSounds: every change alone is explained by that change, and the
// graph itself by none.
func TestExplainSounds(t *testing.T) {
	file := voice(2000)
	applied := map[string]bool{}
	for name, g := range soundGraphs() {
		before, err := g.MarshalJSON()
		require.NoError(t, err)
		e := newExplainer(t.Context(), g, "sound", file, nil, &Options{Limits: codec.DefaultLimits()})
		own, err := e.runner.run(e.graph)
		require.NoError(t, err, name)
		r, err := Explain(t.Context(), g, "sound", file, own, Options{Limits: codec.DefaultLimits()})
		require.NoError(t, err)
		require.True(t, r.Explanations[0].Equal)
		require.Empty(t, r.Explanations[0].Changes)
		l := sounding()
		for i, c := range l {
			require.Equal(t, i, position(l, c), "%s is listed twice", c.Name)
			if c.undo != nil {
				continue
			}
			x, ok := e.run([]Change{c})
			if !ok {
				continue
			}
			applied[c.Name] = true
			r, err := Explain(t.Context(), g, "sound", file, x, Options{Limits: codec.DefaultLimits()})
			require.NoError(t, err)
			require.NotEmpty(t, r.Explanations, "%s %s", name, c.Name)
			best := r.Explanations[0]
			require.True(t, best.explained(), "%s %s", name, c.Name)
			if Compare(own, x, 0).Equal {
				require.Empty(t, best.Changes)
				continue
			}
			if len(best.Changes) == 0 || best.Changes[0].Name != c.Name {
				t.Logf("%s: %s is explained by %s, largest difference %v", name, c.Name, names(best.Changes), best.Max)
			}
			require.LessOrEqual(t, len(best.Changes), 1, "%s %s", name, c.Name)
		}
		after, err := g.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, string(before), string(after), name)
	}
	for _, c := range sounding() {
		if c.undo == nil && !applied[c.Name] {
			t.Log(c.Name, "applies to no graph")
		}
	}
}

// TestSoundFaults explains features that transformers and torch computed with
// usual mistakes (testdata/gen/tensors/sound_faults.py).
func TestSoundFaults(t *testing.T) {
	f, err := os.Open("testdata/sound_faults.npz")
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	l, err := npz.Read(f, info.Size(), 1<<20)
	require.NoError(t, err)
	g := soundGraphs()["whisper"]
	g.Steps[2].Op.(*transforms.Spectrogram).Mels = 20
	sound := l[slices.IndexFunc(l, func(n tensor.Named) bool { return n.Name == "sound" })].T
	want := map[string]string{
		"none": "", "none_torch": "", "transposed": "transposed", "symmetric": "window-hann-symmetric", "symmetric_torch": "window-hann-symmetric",
		"hamming": "window-hamming", "povey": "window-povey", "natural": "log-natural", "decibel": "log-decibel", "magnitude": "magnitude",
		"int16": "int16-samples", "htk": "mel-htk", "htk_no_norm": "mel-htk mel-no-norm", "rate_22050": "mel-rate-22050", "zeros": "centered-zeros",
		"not_centered": "not-centered", "int16_natural": "int16-samples log-natural", "hamming_htk_transposed": "window-hamming mel-htk transposed", "noise": "?",
	}
	require.Len(t, l, len(want)+1)
	for _, n := range l {
		if n.Name == "sound" {
			continue
		}
		r, err := Explain(t.Context(), g, "sound", tensor.FromBytes(sound.Data), n.T, Options{Limits: codec.DefaultLimits()})
		require.NoError(t, err)
		require.NotEmpty(t, r.Explanations, n.Name)
		best := r.Explanations[0]
		var have []string
		for _, c := range best.Changes {
			have = append(have, c.Name)
		}
		t.Logf("%s: %v, equal %v, rounding %v, largest %v, of %d", n.Name, have, best.Equal, best.Rounding, best.Max, r.Tried)
		if want[n.Name] == "?" {
			require.False(t, best.explained())
			require.Empty(t, have)
			continue
		}
		require.True(t, best.explained(), n.Name)
		require.ElementsMatch(t, strings.Fields(want[n.Name]), have, n.Name)
	}
}
