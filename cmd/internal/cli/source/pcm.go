package source

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/transforms"
)

// changePCM applies --pcm: the graph reads samples without a header in place of
// sound files.
func (f *GraphFlags) changePCM(g *datagraph.Graph) error {
	op, rate, err := parsePCM(f.pcm)
	if err != nil {
		return fmt.Errorf("--pcm %q: %w", f.pcm, err)
	}
	found := false
	for i, s := range g.Steps {
		d, ok := s.Op.(*transforms.DecodeSound)
		if !ok {
			continue
		}
		if d.SamplingRate != rate {
			return fmt.Errorf("--pcm %q: the sampling rate is %d Hz, the graph wants %d Hz", f.pcm, rate, d.SamplingRate)
		}
		g.Steps[i].Op = op
		found = true
	}
	if !found {
		return fmt.Errorf("--pcm %q: the graph has no step decode_sound", f.pcm)
	}
	return nil
}

// parsePCM parses ENCODING:RATE or ENCODING:RATE:CHANNELS.
func parsePCM(form string) (*transforms.DecodePCM, int, error) {
	words := strings.Split(form, ":")
	if len(words) < 2 || len(words) > 3 {
		return nil, 0, fmt.Errorf("want ENCODING:RATE or ENCODING:RATE:CHANNELS, such as s16le:16000:1")
	}
	op := transforms.NewDecodePCM(0, 1)
	if err := op.Encoding.UnmarshalText([]byte(words[0])); err != nil {
		return nil, 0, err
	}
	rate, err := strconv.Atoi(words[1])
	if err != nil {
		return nil, 0, fmt.Errorf("rate %q: want a number of Hz", words[1])
	}
	if len(words) == 3 {
		if op.Channels, err = strconv.Atoi(words[2]); err != nil {
			return nil, 0, fmt.Errorf("channels %q: want a number", words[2])
		}
	}
	return op, rate, op.Validate()
}
