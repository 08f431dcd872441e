package mobile

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// speech returns the samples of testdata/speech/sounds/speech.wav, 16 kHz, as
// s16le, and the file.
func speech(t testing.TB) (pcm, file []byte) {
	t.Helper()
	file, err := os.ReadFile("../testdata/speech/sounds/speech.wav")
	require.NoError(t, err)
	return file[44:], file
}

// TestSamples: files, samples and streams of a sound have the same tensors.
func TestSamples(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pcm, file := speech(t)
	floats := make([]byte, 0, 2*len(pcm))
	for i := 0; i < len(pcm); i += 2 {
		v := float32(int16(binary.LittleEndian.Uint16(pcm[i:]))) / 32768
		floats = binary.LittleEndian.AppendUint32(floats, math.Float32bits(v))
	}
	for _, name := range []string{"wav2vec2", "whisper"} {
		p, err := OpenFile("../testdata/bundle/" + name + ".bundle")
		require.NoError(t, err)
		require.NoError(t, p.Verify(nil))
		want, err := p.RunJPEG(file)
		require.NoError(t, err)
		for encoding, data := range map[string][]byte{"s16le": pcm, "f32le": floats} {
			in, out := NewInput(), NewResult()
			require.NoError(t, in.SetSamples(&Buffer{data}, 0, len(data), encoding, 16000, 1))
			require.NoError(t, p.RunInto(in, out))
			require.Equal(t, want.Data(0), out.Data(0), name)
			for range 3 {
				s, err := p.NewStream(16000, 1)
				require.NoError(t, err)
				require.Equal(t, -1, s.Axis(0))
				for at := 0; at < len(data); {
					n := min(4*random.IntN(500), len(data)-at)
					require.NoError(t, s.Push(&Buffer{data}, at, n, encoding, out))
					require.Equal(t, 0, out.Size(0))
					at += n
				}
				require.NoError(t, s.Finish(out))
				require.Equal(t, want.Data(0), out.Data(0), name)
				require.Equal(t, want.Dim(0, 0), out.Dim(0, 0))
				require.Equal(t, "input", Code(s.Finish(out)))
				s.Close()
				s.Close()
				require.Equal(t, "closed", Code(s.Finish(out)))
			}
		}
		in := NewInput()
		require.NoError(t, in.SetSamples(&Buffer{pcm}, 0, len(pcm), "s16le", 8000, 1))
		require.Equal(t, "unsupported", Code(p.RunInto(in, NewResult())))
		_, err = p.NewStream(8000, 1)
		require.Equal(t, "input", Code(err))
		require.ErrorContains(t, err, "a sampling rate of 8000 Hz, want 16000 Hz")
		require.NoError(t, p.Close())
	}
}

// TestStreamParts: features that do not need the whole sound arrive at once.
func TestStreamParts(t *testing.T) {
	p, err := OpenGraph([]byte(melGraph))
	require.NoError(t, err)
	pcm, file := speech(t)
	want, err := p.RunJPEG(file)
	require.NoError(t, err)
	s, err := p.NewStream(16000, 1)
	require.NoError(t, err)
	require.NoError(t, p.Close()) // the stream goes on
	require.Equal(t, 0, s.Axis(0))
	out := NewResult()
	var got []byte
	parts := 0
	for at := 0; at < len(pcm); at += 256 {
		require.NoError(t, s.Push(&Buffer{pcm}, at, min(256, len(pcm)-at), "s16le", out))
		got = append(got, out.Data(0)...)
		if out.Size(0) > 0 {
			parts++
		}
	}
	require.NoError(t, s.Finish(out))
	got = append(got, out.Data(0)...)
	require.Equal(t, want.Data(0), got)
	require.Greater(t, parts, 15)
}

// melGraph is the log-mel spectrogram of a sound of 16 kHz, frame by frame.
const melGraph = `{"infer_prep_graph": 1,
 "inputs": [{"name": "sound", "dtype": "bytes", "layout": "none", "shape": []}],
 "steps": [
  {"op": "decode_sound", "version": 1, "in": ["sound"], "out": ["sound"], "params": {"sampling_rate": 16000}},
  {"op": "mix_mono", "version": 1, "in": ["sound"], "out": ["samples"], "params": {}},
  {"op": "spectrogram", "version": 1, "in": ["samples"], "out": ["features"], "params": {
   "frame_length": 400, "hop_length": 160, "fft_length": 400, "pad": 200, "scale": 1, "remove_dc": false, "preemphasis": 0,
   "window": "hann", "periodic": true, "rule": "complex64", "power": 2, "root": 0, "sampling_rate": 16000, "mels": 80,
   "mel_scale": "slaney", "mel_low": 0, "mel_high": 8000, "mel_triangles": false, "mel_norm": true, "floor": 1e-10, "add_floor": false,
   "log": "log10", "mean": [], "std": [], "frames_first": true}}],
 "outputs": ["features"]}`

// TestWrongSamples checks the codes of errors.
func TestWrongSamples(t *testing.T) {
	p, err := OpenGraph([]byte(melGraph))
	require.NoError(t, err)
	in, b := NewInput(), &Buffer{make([]byte, 64)}
	for _, err := range []error{
		in.SetSamples(b, 0, 3, "s16le", 16000, 1), in.SetSamples(b, 0, 6, "s16le", 16000, 2), in.SetSamples(b, 0, 65, "s16le", 16000, 1),
		in.SetSamples(b, 0, 4, "s24le", 16000, 1), in.SetSamples(b, 0, 4, "s16le", 0, 1), in.SetSamples(b, 0, 4, "s16le", 16000, 1025),
	} {
		require.Equal(t, "input", Code(err), "%v", err)
	}
	for _, f := range [][2]int{{0, 1}, {16000, 0}, {16000, 1025}, {44100, 1}} {
		_, err := p.NewStream(f[0], f[1])
		require.Equal(t, "input", Code(err), "%v", err)
	}
	q, _ := openBundle(t)
	_, err = q.NewStream(16000, 1)
	require.Equal(t, "unsupported", Code(err))
	s, err := p.NewStream(16000, 2)
	require.NoError(t, err)
	out := NewResult()
	require.Equal(t, "input", Code(s.Push(b, 0, 6, "s16le", out)))
	require.Equal(t, "input", Code(s.Push(b, 0, 6, "mp3", out)))
}
