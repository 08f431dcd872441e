package kaldi_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/kaldi"
	_ "github.com/infer-prep/infer-prep/sound/all"
	"github.com/infer-prep/infer-prep/transforms"
)

// features returns the op fbank and the op dct, or nil, of a graph.
func features(t *testing.T, g *datagraph.Graph) (f *transforms.Fbank, d *transforms.DCT, names []string) {
	for _, s := range g.Steps {
		names = append(names, transforms.InfoOf(s.Op).Name)
		switch op := s.Op.(type) {
		case *transforms.Fbank:
			f = op
		case *transforms.DCT:
			d = op
		}
	}
	require.NotNil(t, f)
	return f, d, names
}

func TestImport(t *testing.T) {
	g, err := kaldi.ImportFbank(nil) // the defaults of Kaldi
	require.NoError(t, err)
	f, _, names := features(t, g)
	require.Equal(t, transforms.NewFbank(23), f)
	require.Equal(t, []string{"decode_sound", "slice", "reshape", "random_dither", "fbank"}, names)
	require.Equal(t, []string{"feats"}, g.Outputs)

	g, err = kaldi.Import([]byte("# WeNet's\n--sample_frequency=8000\n--num-mel-bins=80 # bins\n\n--dither=0\n--use-log-fbank\n--high-freq=-400\n" +
		"--window-type=hamming\n--snip-edges=f\n--use-energy=true\n--htk-compat=true\n--use-power=false\n--subtract-mean=true\n--frame-length=32\n"))
	require.NoError(t, err)
	f, d, names := features(t, g)
	want := transforms.NewFbank(80)
	want.SamplingRate, want.MelHigh, want.Window, want.SnipEdges, want.Energy, want.Power, want.FrameLength =
		8000, -400, transforms.WindowHamming, false, transforms.EnergyLast, 1, 32
	require.Equal(t, want, f)
	require.Nil(t, d)
	require.Equal(t, []string{"decode_sound", "slice", "reshape", "fbank", "normalize_sequence"}, names)

	g, err = kaldi.ImportMFCC([]byte("--use-energy=false   # only non-default option.\n--dither=0.0\n"))
	require.NoError(t, err)
	f, d, names = features(t, g)
	require.Equal(t, transforms.NewFbank(23), f)
	require.Equal(t, &transforms.DCT{Coefficients: 13, Ortho: true, Lifter: 22, FramesFirst: true}, d)
	require.Equal(t, []string{"decode_sound", "slice", "reshape", "fbank", "dct"}, names)
	require.Contains(t, g.Reference, "compute-mfcc-feats; close, not equal")

	g, err = kaldi.Import([]byte("--num-ceps=20\n--htk-compat=1\n--channel=1\n"))
	require.NoError(t, err)
	f, d, _ = features(t, g)
	require.Equal(t, transforms.EnergyFirst, f.Energy) // MFCC's default
	require.True(t, d.Energy && d.HTK)
	require.Equal(t, transforms.NewSlice("1"), g.Steps[1].Op)
}

func TestRefusals(t *testing.T) {
	for in, c := range map[string]struct {
		kind error
		want string
	}{
		"":                                                          {importer.ErrMissing, "backend fbank or mfcc"},
		"--use-energy=false":                                        {importer.ErrMissing, "backend fbank or mfcc"},
		"--num-ceps=13\n--use-power=true":                           {importer.ErrMissing, "backend fbank or mfcc"},
		"num-ceps=13":                                               {importer.ErrFormat, `line 1 is "num-ceps=13", want --name=value`},
		"#\n--num-ceps=13 --dither=0":                               {importer.ErrValue, "num-ceps"},
		"--num-ceps=13\n-- x=1":                                     {importer.ErrFormat, "line 2"},
		"--num-ceps=13\n--num-mel-bin=80":                           {importer.ErrUnknownKey, "num-mel-bin"},
		"--num-ceps=24":                                             {importer.ErrValue, "num-ceps"},
		"--num-ceps=1e1":                                            {importer.ErrValue, "num-ceps"},
		"--num-ceps=13\n--use-log-fbank-x=1":                        {importer.ErrUnknownKey, "use-log-fbank-x"},
		"--num-ceps=9\n--window-type=sine":                          {importer.ErrValue, "window-type"},
		"--num-ceps=9\n--allow-downsample":                          {importer.ErrValue, "allow-downsample"},
		"--num-ceps=9\n--vtln-warp=1.1":                             {importer.ErrValue, "vtln-warp"},
		"--num-ceps=9\n--dither=x":                                  {importer.ErrValue, "dither"},
		"--num-ceps=9\n--snip-edges=yes":                            {importer.ErrValue, "snip-edges"},
		"--num-ceps=9\n--high-freq=9000":                            {importer.ErrValue, "half of sampling_rate"},
		"--num-ceps=9\n--sample-frequency=.5":                       {importer.ErrValue, "sample-frequency"},
		"--num-ceps=9\n--cepstral-lifter=0.5":                       {importer.ErrValue, "cepstral-lifter"},
		"--use-power=1\n--cepstral_liftr=22":                        {importer.ErrUnknownKey, "cepstral-liftr"},
		"--use-power\n--blackman-coeff=0.3\n--window-type=blackman": {importer.ErrValue, "blackman-coeff"},
	} {
		_, err := kaldi.Import([]byte(in))
		require.ErrorIs(t, err, c.kind, in)
		require.ErrorContains(t, err, c.want, in)
	}
}

func FuzzImport(f *testing.F) {
	f.Add([]byte("--num-ceps=20\n--htk-compat=1 # x\n"))
	f.Add([]byte("--use_log_fbank\n--dither=0\n--frame-length=1e6\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, i := range []func([]byte) (*datagraph.Graph, error){kaldi.Import, kaldi.ImportFbank, kaldi.ImportMFCC} {
			if g, err := i(data); err == nil {
				_, err = g.Infer()
				require.NoError(t, err)
			}
		}
	})
}
