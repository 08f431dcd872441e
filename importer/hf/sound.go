//go:build !small

package hf

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// sound is one of transformers' feature extractors, feature_extraction_*.py.
type sound struct {
	// refused is the reason why the class is not supported.
	refused string
	// bounded says that the reference's own bits depend on the processor, so
	// that the graph is close to them, not equal.
	bounded bool
	// build reads the class's keys and adds the steps.
	build func(b *soundBuilder)
}

// sounds has the classes by their names. Files add theirs in init functions.
var sounds = map[string]sound{}

// samples is the column of a graph's input: the samples of one channel,
// float32, -1 to 1.
const samples = "samples"

// soundBuilder adds the steps of a feature extractor.
type soundBuilder struct {
	*datagraph.Graph
	*importer.Object
	rate int // samples a second
}

// ImportAudio reads the feature extractor of a preprocessor_config.json or a
// processor_config.json, in place of its image processor.
//
// The reference is the class of transformers 5.23.0 with NumPy 2.4.6, called
// with the samples of one sound and their sampling rate, and no other argument.
// It is the class without torch's or torchaudio's transform, where it has both:
// WhisperFeatureExtractor without torch, ASTFeatureExtractor and
// Speech2TextFeatureExtractor without torchaudio. CohereAsrFeatureExtractor
// needs a dither of 0; its default adds random numbers. Classes whose own bits
// depend on the processor are bounded, not equal: Reference says so, and
// docs/exactness.md has the distances. Every other class is an ErrUnsupported
// that says why. UnivNet's noise_sequence, which is random, is not part of the
// graph. The outputs have the reference's names and no batch axis.
//
// The graph's input is a sound file at the sampling rate of the
// configuration, whose channels are averaged, if the ops decode_sound and
// mix_mono are registered. Else it is that of ImportSamples.
func ImportAudio(data []byte) (*datagraph.Graph, error) { return loadSound(data, true) }

// ImportSamples is ImportAudio for a graph whose input is the column samples:
// float32 (samples) of one channel at the sampling rate that Reference states.
func ImportSamples(data []byte) (*datagraph.Graph, error) { return loadSound(data, false) }

// soundBackends adds the backends of sound.
func soundBackends(l map[string]func([]byte) (*datagraph.Graph, error)) map[string]func([]byte) (*datagraph.Graph, error) {
	l["audio"], l["samples"] = ImportAudio, ImportSamples
	return l
}

// importIfSound imports a file with a feature extractor of sound; ok reports
// whether it has one.
func importIfSound(file *importer.Object) (g *datagraph.Graph, ok bool, err error) {
	part, name, ok := soundPart(file)
	if !ok {
		return nil, false, nil
	}
	g, err = importSound(file, part, name, true)
	return g, true, err
}

func loadSound(data []byte, decode bool) (*datagraph.Graph, error) {
	file, err := importer.Parse(data)
	if err != nil {
		return nil, err
	}
	part, name, ok := soundPart(file)
	if !ok {
		text := "missing, want a feature extractor of sound, such as WhisperFeatureExtractor"
		if name != "" {
			text = importer.Describe(name) + ", want a feature extractor of sound"
			if near := registry.Suggest(name, slices.Collect(maps.Keys(sounds))); near != "" {
				text += fmt.Sprintf("; did you mean %q?", near)
			}
		}
		return nil, fmt.Errorf("importer: hf: %w", &importer.Error{Kind: importer.ErrUnknownClass, Path: "feature_extractor_type", Text: text})
	}
	return importSound(file, part, name, decode)
}

// soundPart returns the object and the class of a file's feature extractor. ok
// is false if it is none of sound.
func soundPart(file *importer.Object) (part *importer.Object, name string, ok bool) {
	part = file
	if inner, nested := file.Peek("feature_extractor").(*importer.Object); nested {
		part = inner
	}
	name, _ = part.Peek("feature_extractor_type").(string)
	_, ok = sounds[name]
	return part, name, ok
}

// importSound builds the graph of a class. With decode it starts from a file if
// it can.
func importSound(file, o *importer.Object, name string, decode bool) (*datagraph.Graph, error) {
	if o != file {
		file.InertAll() // of other processors
		o = file.Object("feature_extractor")
	}
	c := sounds[name]
	if c.refused != "" {
		return nil, fmt.Errorf("importer: hf: %w", &importer.Error{
			Kind: importer.ErrUnsupported, Path: "feature_extractor_type", Text: name + ": " + c.refused,
		})
	}
	b := &soundBuilder{Object: o, Graph: &datagraph.Graph{Inputs: []datagraph.Column{{
		Name: samples, Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(tensor.Unknown)},
	}}}}
	o.Inert("feature_extractor_type", "processor_class", "transformers_version", "auto_map", "return_tensors")
	if v := o.String("padding_side"); v != "" && v != "right" && name != "EncodecFeatureExtractor" {
		o.Bad("padding_side", `"right"`)
	}
	if o.Has("image_processor_type") { // both in one file
		o.Inert(append(strings.Fields(common), inert...)...)
		o.Inert(strings.Fields(reads[baseName(o.String("image_processor_type"))])...)
	}
	c.build(b)
	b.Reference = fmt.Sprintf("transformers %s %s, NumPy 2.4.6, samples at %d Hz", Version, name, b.rate)
	if c.bounded {
		b.Reference = fmt.Sprintf("transformers %s %s, torch 2.15.0, samples at %d Hz; bounded, not equal: docs/exactness.md", Version, name, b.rate)
	}
	if err := file.Err("hf"); err != nil {
		return nil, err
	}
	if decode {
		b.decodes()
	}
	return importer.Finish("hf", b.Graph)
}

// decodes lets the graph start from a sound file, if the program has the ops.
func (b *soundBuilder) decodes() {
	read, err := transforms.UnmarshalParams("decode_sound", 1, fmt.Appendf(nil, `{"sampling_rate": %d}`, b.rate))
	if err != nil {
		return
	}
	mix, err := transforms.UnmarshalParams("mix_mono", 1, []byte("{}"))
	if err != nil {
		return
	}
	b.Inputs = []datagraph.Column{{Name: datagraph.Sound, Desc: tensor.Encoded()}}
	b.Steps = append([]datagraph.Step{
		{Op: read, In: []string{datagraph.Sound}, Out: []string{"channels"}},
		{Op: mix, In: []string{"channels"}, Out: []string{samples}},
	}, b.Steps...)
}

// step adds an op with an input and an output.
func (b *soundBuilder) step(op transforms.Op, in, out string) {
	b.Then(op, []string{in}, []string{out})
}

// fit adds a FitSequence and the column of its mask.
func (b *soundBuilder) fit(op *transforms.FitSequence, in, out, mask string) {
	b.Then(op, []string{in}, []string{out, mask})
}

// readRate reads sampling_rate.
func (b *soundBuilder) readRate(def int) { b.rate = b.Int("sampling_rate", def, 1, importer.MaxSide) }

// whole reads a whole number of 1 to most.
func (b *soundBuilder) whole(key string, def, most int) int { return b.Int(key, def, 1, most) }

// optional reads a number as Number does; ok is false for null, the default.
func (b *soundBuilder) optional(key string, low, high float64) (f float64, ok bool) {
	if !b.Has(key) || b.Null(key) {
		b.Inert(key)
		return 0, false
	}
	return b.Number(key, low, low, high), true
}

// list reads a list of n numbers; null, the default, is none.
func (b *soundBuilder) list(key string, n int) []float64 {
	v, _ := b.Get(key)
	if v == nil {
		return nil
	}
	l, ok := importer.Floats(v, n)
	if !ok {
		b.Bad(key, fmt.Sprintf("null or %d numbers", n))
	}
	return l
}

// largest bounds numbers whose size matters to float32 alone.
const largest = 1e30

// fill reads padding_value.
func (b *soundBuilder) fill() float64 { return b.Number("padding_value", 0, -largest, largest) }

// noDither refuses random noise.
func (b *soundBuilder) noDither() {
	if b.Number("dither", 0, -largest, largest) != 0 {
		b.Bad("dither", "0: the noise is random")
	}
}

// mono reads feature_size and refuses several channels.
func (b *soundBuilder) mono() {
	if b.Int("feature_size", 1, 1, importer.MaxSide) != 1 {
		b.Bad("feature_size", "1: sound of several channels is not supported")
	}
}

// seconds returns a time in samples, rounded down as Python's int. A time of
// more than MaxSide samples is an error.
func (b *soundBuilder) seconds(key string, s float64) int {
	n := float64(s * float64(b.rate))
	if !(n >= 0 && n <= importer.MaxSide) {
		b.Bad(key, fmt.Sprintf("a time of 0 to %d samples", importer.MaxSide))
		return 0
	}
	return int(n)
}

// duration reads a time in whole seconds and returns it in samples.
func (b *soundBuilder) duration(key string, def int) int {
	s := b.whole(key, def, importer.MaxSide)
	if s > importer.MaxSide/b.rate {
		b.Bad(key, fmt.Sprintf("a time of at most %d samples", importer.MaxSide))
		return 1
	}
	return s * b.rate
}

// features adds a spectrogram.
func (b *soundBuilder) features(s *transforms.Spectrogram, in, out string) {
	s.SamplingRate = b.rate
	b.step(s, in, out)
}

// padsTo says that a batch of the columns is padded to its longest sound.
func (b *soundBuilder) padsTo(fill float64, column string, masks ...string) {
	b.SetBatch(column, datagraph.Batching{Rule: datagraph.BatchPad, Value: fill})
	for _, m := range masks {
		b.SetBatch(m, datagraph.Batching{Rule: datagraph.BatchPad})
	}
}

// powerOf2 returns the least power of 2 that is at least n: transformers'
// optimal_fft_length.
func powerOf2(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

// soundFile reports whether a feature_extractor is that of a sound.
func soundFile(inner []byte) bool {
	var t typed
	_ = json.Unmarshal(inner, &t)
	name, _ := t.FeatureExtractorType.(string)
	_, ok := sounds[name]
	return ok
}
