//go:build !small

package librosa

import (
	"fmt"
	"math"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/internal/sounds"
	"github.com/infer-prep/infer-prep/internal/dsp"
	"github.com/infer-prep/infer-prep/transforms"
)

const (
	name    = "librosa"
	melCall = "librosa.feature.melspectrogram"
	dbCall  = "librosa.power_to_db"
	mfcc    = "librosa.feature.mfcc"
)

func init() {
	importer.Register(importer.Importer{
		Name: name, Import: Import,
		Doc:      "calls of librosa.feature as JSON, as librosa 0.11.0 computes them",
		Detect:   func(_ string, head []byte) bool { return strings.Contains(string(head), `"librosa.`) },
		Backends: map[string]func([]byte) (*datagraph.Graph, error){"audio": Import, "samples": ImportSamples},
	})
}

// Import reads calls for a graph whose input is a sound file at the sampling
// rate sr. Its channels are averaged.
func Import(data []byte) (*datagraph.Graph, error) { return load(data, true) }

// ImportSamples reads calls for a graph whose input is the column samples,
// float32 (samples) of one channel.
func ImportSamples(data []byte) (*datagraph.Graph, error) { return load(data, false) }

const (
	samples  = sounds.Samples
	features = sounds.Features
)

type builder struct {
	*datagraph.Graph
	spectrogram *transforms.Spectrogram
}

func load(data []byte, decode bool) (*datagraph.Graph, error) {
	file, err := importer.Parse(data)
	if err != nil {
		return nil, err
	}
	b := &builder{Graph: &datagraph.Graph{Outputs: []string{features}}}
	for _, call := range []string{melCall, dbCall, mfcc} {
		if file.Null(call) {
			file.Bad(call, "an object of arguments")
		}
	}
	if o := file.Object(melCall); o != nil {
		b.mel(o, "norm")
		if db := file.Object(dbCall); db == nil {
			b.Then(b.spectrogram, []string{samples}, []string{features})
		} else {
			if b.spectrogram.Power != 2 {
				o.Bad("power", "2 before "+dbCall)
			}
			b.decibels(db.Number("amin", 1e-10, 1e-30, 1e30), db.Number("ref", 1, -1e30, 1e30), top(db))
		}
	} else if o := file.Object(mfcc); o != nil {
		b.mfcc(o)
	} else if !file.Has(melCall) && !file.Has(mfcc) {
		file.Fail(importer.ErrMissing, "", melCall+" or "+mfcc+" is required")
	}
	if err := file.Err(name); err != nil {
		return nil, err
	}
	rate := b.spectrogram.SamplingRate
	b.Reference = fmt.Sprintf("librosa 0.11.0, samples at %d Hz; bounded, not equal: docs/exactness.md", rate)
	sounds.Input(b.Graph, rate, decode)
	return importer.Finish(name, b.Graph)
}

// mel reads the arguments of melspectrogram and pads the samples. norm is the
// key of the filters' norm.
func (b *builder) mel(o *importer.Object, norm string) {
	size := o.Int("n_fft", 2048, 1, 1<<16)
	win, _ := sounds.WinLength(o, size)
	s := transforms.NewSpectrogram(win, o.Side("hop_length", 512))
	b.spectrogram = s
	s.FFTLength, s.Pad, s.Floor = size, 0, 0
	switch w := o.String("window"); w {
	case "", "hann":
	case "hamming":
		s.Window = transforms.WindowHamming
	default:
		o.Bad("window", `"hann" or "hamming"`)
	}
	s.Power = sounds.Power(o)
	s.SamplingRate, s.Mels = o.Side("sr", 22050), o.Int("n_mels", 128, 1, 1024)
	s.MelLow, s.MelHigh = o.Number("fmin", 0, 0, importer.MaxSide), float64(float64(s.SamplingRate)/2)
	if !o.Null("fmax") {
		s.MelHigh = o.Number("fmax", s.MelHigh, 1e-3, importer.MaxSide)
	}
	o.Inert("fmax")
	if o.Bool("htk", false) {
		s.MelScale = transforms.MelHTK
	}
	s.MelNorm = !o.Null(norm)
	if n := o.String(norm); n != "" && n != "slaney" {
		o.Bad(norm, `"slaney" or null`)
	}
	edge := (size - win) / 2 // of each frame, outside of the window
	around := -edge          // zeros at each end
	mode := o.String("pad_mode")
	if mode != "" && mode != "constant" && mode != "reflect" {
		o.Bad("pad_mode", `"constant" or "reflect"`)
	}
	if o.Bool("center", true) {
		if mode == "reflect" {
			s.Pad, around = size/2-edge, 0
		} else {
			around += size / 2
		}
	}
	sounds.Around(b.Graph, around)
}

// top reads top_db, 0 for null.
func top(o *importer.Object) float64 {
	if o.Null("top_db") {
		o.Inert("top_db")
		return 0
	}
	return o.Number("top_db", 80, 1e-3, 1e6)
}

// decibels appends the spectrogram in decibels of ref, at least span below the
// largest unless span is 0.
func (b *builder) decibels(amin, ref, span float64) {
	b.spectrogram.Floor, b.spectrogram.Log = amin, transforms.LogDecibel
	b.Then(b.spectrogram, []string{samples}, []string{features})
	scale := transforms.NewScaleFeatures(float64(10*dsp.Log10(max(amin, math.Abs(ref)))), 1)
	if scale.Range = span; scale.Range > 0 || scale.Sub != 0 {
		b.Then(scale, []string{features}, []string{features})
	}
}

// mfcc reads the arguments of mfcc, which has those of melspectrogram.
func (b *builder) mfcc(o *importer.Object) {
	dct := transforms.NewDCT(o.Int("n_mfcc", 20, 1, 1024))
	dct.FramesFirst, dct.LifterFrom = false, 1
	o.Int("dct_type", 2, 2, 2)
	dct.Ortho = !o.Null("norm")
	if n := o.String("norm"); n != "" && n != "ortho" {
		o.Bad("norm", `"ortho" or null`)
	}
	if dct.Lifter = o.Number("lifter", 0, 0, 1e6); dct.Lifter > 0 && dct.Lifter < 1 {
		o.Bad("lifter", "0, or 1 to 1e6")
	}
	b.mel(o, "mel_norm")
	if b.spectrogram.Power != 2 {
		o.Bad("power", "2")
	}
	if dct.Coefficients > b.spectrogram.Mels {
		o.Bad("n_mfcc", fmt.Sprintf("at most n_mels, %d", b.spectrogram.Mels))
	}
	b.decibels(1e-10, 1, 80)
	b.Then(dct, []string{features}, []string{features})
}
