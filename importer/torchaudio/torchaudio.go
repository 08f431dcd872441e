//go:build !small

package torchaudio

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/internal/sounds"
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/transforms"
)

const (
	name   = "torchaudio"
	prefix = "torchaudio.transforms."
)

func init() {
	importer.Register(importer.Importer{
		Name: name, Import: Import,
		Doc:      "a list of torchaudio.transforms as JSON, as torchaudio 2.11.0 applies it",
		Detect:   func(_ string, head []byte) bool { return strings.Contains(string(head), `"`+prefix) },
		Backends: map[string]func([]byte) (*datagraph.Graph, error){"audio": Import, "samples": ImportSamples},
	})
}

// Import reads the list for a graph whose input is a sound file at the sampling
// rate of the first transform that states one. Its channels are averaged.
func Import(data []byte) (*datagraph.Graph, error) { return load(data, true) }

// ImportSamples reads the list for a graph whose input is the column samples,
// float32 (samples) of one channel.
func ImportSamples(data []byte) (*datagraph.Graph, error) { return load(data, false) }

const (
	samples  = sounds.Samples
	features = sounds.Features
)

type builder struct {
	*datagraph.Graph
	rate     int                     // samples a second of the input; 0 if unknown
	pending  *transforms.Spectrogram // not yet a step
	finished bool                    // the values are features, and no spectrogram is pending
	bounded  bool                    // the graph has a spectrogram
}

// known has the transforms that are supported.
var known = map[string]func(b *builder, o *importer.Object){
	"Resample":       (*builder).resample,
	"Speed":          (*builder).speed,
	"Preemphasis":    (*builder).preemphasis,
	"Spectrogram":    func(b *builder, o *importer.Object) { b.spectrogram(o) },
	"MelSpectrogram": (*builder).melSpectrogram,
	"MelScale":       func(b *builder, o *importer.Object) { b.melScale(o, "n_stft", o.Side("sample_rate", 16000)) },
	"AmplitudeToDB":  (*builder).amplitudeToDB,
	"MFCC":           (*builder).mfcc,
	"ComputeDeltas":  (*builder).computeDeltas,
}

func load(data []byte, decode bool) (*datagraph.Graph, error) {
	file, err := importer.Parse(data)
	if err != nil {
		return nil, err
	}
	b := &builder{Graph: &datagraph.Graph{}}
	list := file.Objects("transforms")
	if file.Has("transforms") && len(list) == 0 || !file.Has("transforms") {
		file.Bad("transforms", "a list of one transform or more, such as torchaudio.transforms.MelSpectrogram")
	}
	for _, o := range list {
		class, ok := strings.CutPrefix(o.String("type"), prefix)
		build := known[class]
		if !ok || build == nil {
			text := importer.Describe(o.Peek("type")) + ", want " + prefix + "Resample, Speed, Preemphasis, Spectrogram, MelSpectrogram, MelScale, AmplitudeToDB, MFCC or ComputeDeltas"
			if near := registry.Suggest(class, slices.Collect(maps.Keys(known))); near != "" {
				text += fmt.Sprintf("; did you mean %q?", prefix+near)
			}
			o.InertAll()
			o.Fail(importer.ErrUnsupported, "type", text)
			continue
		}
		build(b, o)
	}
	b.flush()
	if err := file.Err(name); err != nil {
		return nil, err
	}
	b.Reference = "torchaudio 2.11.0, torch 2.15.0"
	if b.rate > 0 {
		b.Reference += fmt.Sprintf(", samples at %d Hz", b.rate)
	}
	if b.bounded {
		b.Reference += "; bounded, not equal: docs/exactness.md"
	}
	b.Outputs = []string{b.at()}
	if len(b.Steps) == 0 { // Resample of equal rates
		b.Then(transforms.NewResampleSinc(1, 1), []string{samples}, []string{samples})
	}
	if decode && b.rate == 0 {
		return nil, fmt.Errorf("importer: %s: %w", name, &importer.Error{
			Kind: importer.ErrMissing, Path: "transforms", Text: "no transform states the sampling rate of a file; the backend samples needs none",
		})
	}
	sounds.Input(b.Graph, b.rate, decode)
	return importer.Finish(name, b.Graph)
}

// at returns the column of the last values.
func (b *builder) at() string {
	if b.finished {
		return features
	}
	return samples
}

// flush makes the pending spectrogram a step.
func (b *builder) flush() {
	if b.pending != nil {
		b.Then(b.pending, []string{samples}, []string{features})
		b.pending, b.finished = nil, true
	}
}

// wants reports whether the values are samples, which a transform takes.
func (b *builder) wants(o *importer.Object) bool {
	if b.pending != nil || b.finished {
		o.Bad("type", "no transform of samples after a spectrogram")
		o.InertAll()
		return false
	}
	return true
}

// sampled keeps the first sampling rate.
func (b *builder) sampled(rate int) {
	if b.rate == 0 {
		b.rate = rate
	}
}

func (b *builder) resample(o *importer.Object) {
	if !b.wants(o) {
		return
	}
	op := transforms.NewResampleSinc(o.Side("orig_freq", 16000), o.Side("new_freq", 16000))
	op.Width, op.Rolloff = o.Int("lowpass_filter_width", 6, 1, 1024), o.Number("rolloff", 0.99, 1e-6, 1)
	if m := o.String("resampling_method"); m != "" && m != "sinc_interp_hann" {
		o.Bad("resampling_method", `"sinc_interp_hann"`)
	}
	null(o, "beta")
	null(o, "dtype")
	b.sampled(op.FromRate)
	if op.FromRate != op.ToRate {
		b.Then(op, []string{samples}, []string{samples})
	}
}

// speed resamples from factor times the rate, rounded down, to the rate.
func (b *builder) speed(o *importer.Object) {
	if !b.wants(o) {
		return
	}
	if !o.Has("orig_freq") || !o.Has("factor") {
		o.Fail(importer.ErrMissing, "", "Speed without orig_freq or factor")
	}
	rate := o.Side("orig_freq", 16000)
	from := float64(o.Number("factor", 1, 1e-6, 1e6) * float64(rate))
	if !(from >= 1 && from <= importer.MaxSide) {
		o.Bad("factor", fmt.Sprintf("a rate times factor of 1 to %d", importer.MaxSide))
		return
	}
	b.sampled(rate)
	if int(from) != rate {
		b.Then(transforms.NewResampleSinc(int(from), rate), []string{samples}, []string{samples})
	}
}

func (b *builder) preemphasis(o *importer.Object) {
	if b.wants(o) {
		b.Then(transforms.NewPreemphasis(o.Number("coeff", 0.97, -1e30, 1e30)), []string{samples}, []string{samples})
	}
}

// spectrogram sets the pending spectrogram. ok is false after a problem.
func (b *builder) spectrogram(o *importer.Object) (ok bool) {
	if !b.wants(o) {
		return false
	}
	b.bounded = true
	size := o.Int("n_fft", 400, 1, 1<<16)
	win, ok := sounds.WinLength(o, size)
	hop := max(1, win/2)
	if !o.Null("hop_length") {
		hop = o.Side("hop_length", hop)
	}
	o.Inert("hop_length", "return_complex")
	if !ok {
		return false
	}
	s := transforms.NewSpectrogram(win, hop)
	s.FFTLength, s.Rule, s.Pad, s.Floor = size, transforms.SpectrogramTorch, 0, 0
	switch o.String("window_fn") {
	case "", "torch.hann_window":
	case "torch.hamming_window":
		s.Window = transforms.WindowHamming
	case "torch.ones":
		s.Window = transforms.WindowBoxcar
	default:
		o.Bad("window_fn", `"torch.hann_window", "torch.hamming_window" or "torch.ones"`)
	}
	s.Power = sounds.Power(o)
	if o.Has("normalized") && o.Peek("normalized") != false {
		o.Bad("normalized", "false")
	}
	o.Inert("normalized")
	if !o.Null("onesided") && !o.Bool("onesided", true) {
		o.Bad("onesided", "true")
	}
	o.Inert("onesided")
	null(o, "wkwargs")
	around := o.Int("pad", 0, 0, importer.MaxSide) // zeros at each end
	edge := (size - win) / 2                       // of each frame, outside of the window
	mode := o.String("pad_mode")
	switch {
	case !o.Bool("center", true):
		around -= edge
	case mode == "" || mode == "reflect":
		s.Pad = size/2 - edge
	case mode == "constant":
		around += size/2 - edge
	default:
		o.Bad("pad_mode", `"reflect" or "constant"`)
	}
	sounds.Around(b.Graph, around)
	b.pending = s
	return true
}

func (b *builder) melSpectrogram(o *importer.Object) {
	if b.spectrogram(o) {
		b.melScale(o, "", o.Side("sample_rate", 16000))
	}
}

// melScale adds filters for sounds of rate samples a second to the pending
// spectrogram. bins is the key of its number of rows, or empty.
func (b *builder) melScale(o *importer.Object, bins string, rate int) {
	s := b.pending
	if s == nil || s.Mels > 0 || s.Log != transforms.LogNone {
		o.Bad("type", "a Spectrogram before MelScale")
		o.InertAll()
		return
	}
	s.Mels, s.SamplingRate, s.MelNorm = o.Int("n_mels", 128, 1, 1024), rate, false
	b.sampled(s.SamplingRate)
	s.MelLow, s.MelHigh = o.Number("f_min", 0, 0, importer.MaxSide), float64(s.SamplingRate/2)
	if !o.Null("f_max") {
		s.MelHigh = o.Number("f_max", s.MelHigh, 1e-3, importer.MaxSide)
	}
	o.Inert("f_max")
	if bins != "" && o.Int(bins, 201, 1, 1<<16) != s.FFTLength/2+1 {
		o.Bad(bins, fmt.Sprintf("the rows of the Spectrogram, %d", s.FFTLength/2+1))
	}
	if !o.Null("norm") && o.Has("norm") {
		if o.String("norm") != "slaney" {
			o.Bad("norm", `null or "slaney"`)
		}
		s.MelNorm = true
	}
	o.Inert("norm")
	switch o.String("mel_scale") {
	case "", "htk":
		s.MelScale = transforms.MelTorchHTK
	case "slaney":
		s.MelScale = transforms.MelTorchSlaney
	default:
		o.Bad("mel_scale", `"htk" or "slaney"`)
	}
}

func (b *builder) amplitudeToDB(o *importer.Object) {
	s := b.pending
	if s == nil || s.Log != transforms.LogNone {
		o.Bad("type", "a Spectrogram or MelSpectrogram before AmplitudeToDB")
		o.InertAll()
		return
	}
	want := map[int]string{1: "magnitude", 2: "power"}[s.Power]
	if stype := o.String("stype"); stype != want && (stype != "" || want != "power") {
		o.Bad("stype", fmt.Sprintf("%q, for power %d", want, s.Power))
	}
	top := 0.0
	if o.Has("top_db") && !o.Null("top_db") {
		top = o.Number("top_db", 80, 1e-3, 1e6)
	}
	o.Inert("top_db")
	b.decibels(top)
}

// decibels makes the pending spectrogram a step that returns decibels. top is
// their range below the largest one, 0 for all.
func (b *builder) decibels(top float64) {
	b.pending.Floor, b.pending.Log = 1e-10, transforms.LogDecibel
	b.flush()
	if top > 0 {
		scale := transforms.NewScaleFeatures(0, 1)
		scale.Range = top
		b.feature(scale)
	}
}

// feature appends an op of features.
func (b *builder) feature(op transforms.Op) {
	b.Then(op, []string{features}, []string{features})
}

func (b *builder) mfcc(o *importer.Object) {
	if !b.wants(o) {
		return
	}
	dct := transforms.NewDCT(o.Int("n_mfcc", 40, 1, 1024))
	dct.FramesFirst, dct.Rule = false, transforms.RuleTorchaudio
	if norm := o.String("norm"); norm != "" && norm != "ortho" {
		o.Bad("norm", `"ortho" or null`)
	}
	dct.Ortho = !o.Null("norm")
	o.Int("dct_type", 2, 2, 2)
	rate, natural := o.Side("sample_rate", 16000), o.Bool("log_mels", false)
	mel := o.Object("melkwargs")
	if mel == nil {
		mel, _ = importer.Parse([]byte("{}"))
	}
	if !b.spectrogram(mel) {
		return
	}
	if b.melScale(mel, "", rate); dct.Coefficients > b.pending.Mels {
		o.Bad("n_mfcc", fmt.Sprintf("at most n_mels, %d", b.pending.Mels))
	}
	if natural {
		b.pending.Floor, b.pending.AddFloor, b.pending.Log = 1e-6, true, transforms.LogNatural
		b.flush()
	} else {
		if b.pending.Power != 2 { // AmplitudeToDB("power") of amplitudes
			mel.Bad("power", "2 without log_mels")
		}
		b.decibels(80)
	}
	b.feature(dct)
}

func (b *builder) computeDeltas(o *importer.Object) {
	b.flush()
	if !b.finished {
		o.Bad("type", "a Spectrogram, MelSpectrogram or MFCC before ComputeDeltas")
		o.InertAll()
		return
	}
	d := transforms.NewDeltas()
	d.Order, d.Append, d.FramesFirst = 1, false, false
	if win := o.Int("win_length", 5, 3, 201); win%2 == 0 {
		o.Bad("win_length", "an odd number")
	} else {
		d.Window = win / 2
	}
	if m := o.String("mode"); m != "" && m != "replicate" {
		o.Bad("mode", `"replicate"`)
	}
	b.feature(d)
}

// null refuses a value of a key.
func null(o *importer.Object, key string) {
	if o.Has(key) && !o.Null(key) {
		o.Bad(key, "null")
	}
	o.Inert(key)
}
