//go:build !small

package kaldi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	importer.Register(importer.Importer{
		Name: "kaldi", Import: Import,
		Doc:      "Kaldi's options of compute-fbank-feats or compute-mfcc-feats (fbank.conf, mfcc.conf), close to Kaldi's values",
		Backends: map[string]func([]byte) (*datagraph.Graph, error){"fbank": ImportFbank, "mfcc": ImportMFCC},
		Detect: func(_ string, head []byte) bool {
			options, err := parse(head)
			return err == nil && len(options) > 0 && slices.ContainsFunc(marks, func(m string) bool { _, ok := options[m]; return ok })
		},
	})
}

// marks are options that tell a file of features from others of Kaldi.
var marks = []string{"num-mel-bins", "use-energy", "num-ceps", "sample-frequency", "frame-length", "use-log-fbank", "window-type", "snip-edges", "dither"}

// output is the name of the graphs' output.
const output = "feats"

// Import reads the options of either program; see the package.
func Import(data []byte) (*datagraph.Graph, error) {
	options, err := parse(data)
	if err != nil {
		return nil, err
	}
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { _, ok := options[n]; return ok })
	}
	fbank, mfcc := has("use-log-fbank", "use-power"), has("num-ceps", "cepstral-lifter")
	if fbank == mfcc {
		return nil, fmt.Errorf("importer: kaldi: %w", &importer.Error{
			Kind: importer.ErrMissing, Path: "--num-ceps", Text: "the options are those of fbank and of mfcc; backend fbank or mfcc chooses",
		})
	}
	return load(options, mfcc)
}

// ImportFbank reads the options of compute-fbank-feats.
func ImportFbank(data []byte) (*datagraph.Graph, error) { return importAs(data, false) }

// ImportMFCC reads the options of compute-mfcc-feats.
func ImportMFCC(data []byte) (*datagraph.Graph, error) { return importAs(data, true) }

func importAs(data []byte, mfcc bool) (*datagraph.Graph, error) {
	options, err := parse(data)
	if err != nil {
		return nil, err
	}
	return load(options, mfcc)
}

// parse returns the options by their names as Kaldi normalizes them: lower
// case, with hyphens. A later line replaces an earlier one.
func parse(data []byte) (map[string]string, error) {
	options := map[string]string{}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		text, _, _ := strings.Cut(string(line), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		name, value, found := strings.Cut(text, "=")
		plain, ok := strings.CutPrefix(name, "--")
		if !ok || plain == "" || strings.ContainsAny(plain, " \t\"") {
			return nil, fmt.Errorf("importer: kaldi: %w", &importer.Error{
				Kind: importer.ErrFormat, Text: fmt.Sprintf("line %d is %.40q, want --name=value", number, text),
			})
		}
		if !found {
			value = "true" // a switch
		}
		options[strings.ReplaceAll(strings.ToLower(plain), "_", "-")] = strings.TrimSpace(value)
	}
	return options, nil
}

// reader reads options of an Object, whose values are text.
type reader struct{ *importer.Object }

// text returns an option; ok is false if it is missing.
func (r reader) text(name string) (string, bool) {
	if !r.Has(name) {
		return "", false
	}
	return r.String(name), true
}

func (r reader) number(name string, def, low, high float64) float64 {
	s, ok := r.text(name)
	if !ok {
		return def
	}
	// Kaldi's numbers have neither hexadecimal digits nor underscores.
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || strings.ContainsAny(s, "xX_") || !(v >= low && v <= high) {
		r.Bad(name, fmt.Sprintf("a number of %v to %v", low, high))
		return def
	}
	return v
}

func (r reader) whole(name string, def, low, high int) int {
	s, ok := r.text(name)
	if !ok {
		return def
	}
	v, err := strconv.Atoi(s)
	if err != nil || v < low || v > high {
		r.Bad(name, fmt.Sprintf("a whole number of %d to %d", low, high))
		return def
	}
	return v
}

func (r reader) bool(name string, def bool) bool {
	s, ok := r.text(name)
	if !ok {
		return def
	}
	switch strings.ToLower(s) { // Kaldi's ToBool
	case "true", "t", "1", "":
		return true
	case "false", "f", "0":
		return false
	}
	r.Bad(name, "true or false")
	return def
}

// only refuses another value of an option than the one that has no effect.
func (r reader) only(name, want string, is bool) {
	if !is {
		r.Bad(name, want)
	}
}

var windows = map[string]transforms.SpectrogramWindow{
	"povey": transforms.WindowPovey, "hamming": transforms.WindowHamming, "hanning": transforms.WindowHann,
	"blackman": transforms.WindowBlackman, "rectangular": transforms.WindowBoxcar,
}

// maxMels is the largest number of filters of the ops.
const maxMels = 1024

func load(options map[string]string, mfcc bool) (*datagraph.Graph, error) {
	text, err := json.Marshal(options)
	if err != nil {
		return nil, fmt.Errorf("importer: kaldi: %w", &importer.Error{Kind: importer.ErrFormat, Text: err.Error()})
	}
	o, err := importer.Parse(text)
	if err != nil {
		return nil, err
	}
	r := reader{o}
	f := transforms.NewFbank(23)
	rate := r.number("sample-frequency", 16000, 1, importer.MaxSide)
	r.only("sample-frequency", "a whole number", rate == math.Trunc(rate))
	f.SamplingRate = int(rate)
	f.FrameLength, f.FrameShift = r.number("frame-length", 25, 0.001, 1e6), r.number("frame-shift", 10, 0.001, 1e6)
	f.SnipEdges, f.RemoveDC = r.bool("snip-edges", true), r.bool("remove-dc-offset", true)
	f.Preemphasis = r.number("preemphasis-coefficient", 0.97, 0, 1)
	dither := r.number("dither", 1, 0, 1e6)
	f.Window = window(r)
	f.PowerOfTwo = r.bool("round-to-power-of-two", true)
	f.Mels = r.whole("num-mel-bins", 23, 3, maxMels)
	f.MelLow, f.MelHigh = r.number("low-freq", 20, 0, importer.MaxSide), r.number("high-freq", 0, -importer.MaxSide, importer.MaxSide)
	f.EnergyFloor, f.RawEnergy = r.number("energy-floor", 0, 0, math.MaxFloat32), r.bool("raw-energy", true)
	energy, htk := r.bool("use-energy", mfcc), r.bool("htk-compat", false)
	mean := r.bool("subtract-mean", false)
	// These have no effect, or must not have one.
	r.Inert("vtln-low", "vtln-high", "debug-mel", "verbose", "print-args", "max-feature-vectors")
	r.only("vtln-warp", "1: warped filters are not supported", r.number("vtln-warp", 1, 0, 10) == 1)
	r.only("allow-downsample", "false: Kaldi's resampling is not supported", !r.bool("allow-downsample", false))
	r.only("allow-upsample", "false: Kaldi's resampling is not supported", !r.bool("allow-upsample", false))
	channel := r.whole("channel", -1, -1, 255)
	d := transforms.NewDCT(13)
	d.Rule = transforms.RuleKaldi
	if mfcc {
		d.Coefficients = r.whole("num-ceps", 13, 1, f.Mels)
		d.Lifter = r.number("cepstral-lifter", 22, 0, 1e6)
		r.only("cepstral-lifter", "0, or 1 or more", d.Lifter == 0 || d.Lifter >= 1)
		d.Energy, d.HTK = energy, htk
	} else {
		f.Log = r.bool("use-log-fbank", true)
		if !r.bool("use-power", true) {
			f.Power = 1
		}
	}
	switch {
	case !energy:
	case htk && !mfcc:
		f.Energy = transforms.EnergyLast
	default:
		f.Energy = transforms.EnergyFirst
	}
	if err := r.Err("kaldi"); err != nil {
		return nil, err
	}

	g := datagraph.New(transforms.NewDecodeSound(f.SamplingRate))
	sound := []string{datagraph.Sound}
	g.Then(transforms.NewSlice(strconv.Itoa(max(channel, 0))), sound, sound)
	g.Then(transforms.NewReshape(-1), sound, sound)
	g.Reference = "Kaldi 5.5 compute-fbank-feats; close, not equal: docs/exactness.md"
	if dither > 0 {
		g.Add(transforms.NewRandomDither(dither / f.Scale))
	}
	g.Add(f)
	if mfcc {
		g.Reference = strings.Replace(g.Reference, "fbank", "mfcc", 1)
		g.Add(d)
	}
	if mean {
		g.Add(&transforms.NormalizeSequence{Rule: transforms.SequenceCMVN, Mean: true})
	}
	g.Outputs = []string{output}
	g.Steps[len(g.Steps)-1].Out = g.Outputs
	return importer.Finish("kaldi", g)
}

func window(r reader) transforms.SpectrogramWindow {
	s, ok := r.text("window-type")
	w, known := windows[s]
	if ok && !known {
		r.Bad("window-type", "povey, hamming, hanning, blackman or rectangular")
	}
	if !ok {
		w = transforms.WindowPovey
	}
	c := r.number("blackman-coeff", 0.42, 0, 1)
	r.only("blackman-coeff", "0.42", w != transforms.WindowBlackman || c == 0.42)
	return w
}
