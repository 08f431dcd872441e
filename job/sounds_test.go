package job

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/sound"
	_ "github.com/infer-prep/infer-prep/sound/all"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// wavFile has 8000 Hz and two samples of two channels.
const wavFile = "RIFF\x2c\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x02\x00\x40\x1f\x00\x00\x00\x7d\x00\x00\x04\x00\x10\x00" +
	"data\x08\x00\x00\x00\x00\x40\x00\x80\xff\x7f\x00\x00"

// TestSounds runs a graph that decodes sounds over a folder, an archive and a
// pipe.
func TestSounds(t *testing.T) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for name, data := range map[string]string{"x.wav": wavFile, "x.txt": "hello"} {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Size: int64(len(data)), Mode: 0o600}))
		_, err := w.Write([]byte(data))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	enterTree(t, map[string][]byte{
		"in/a.wav": []byte(wavFile), "in/b.png": pngBytes(t, 2, 2, 1), "in/c.ogg": []byte("OggShello"), "in/d.txt": []byte("hello"),
		"s.tar": archive.Bytes(), "raw.bin": []byte("\x00\x40\x00\x80"),
	})
	run := func(ops []transforms.Op, out, in string, stdin string) (Summary, []Result, error) {
		g := &datagraph.Graph{Inputs: []datagraph.Column{{Name: "sound", Desc: tensor.Encoded()}}, Outputs: []string{"sound"}}
		for _, op := range ops {
			g.Add(op)
		}
		p, err := inferprep.New(g, inferprep.Options{})
		require.NoError(t, err)
		var l []Result
		j := Job{
			Preprocessor: p, Inputs: Paths(in), To: Sink{Dir: out}, Stdin: strings.NewReader(stdin),
			OnResult: func(r Result) error { l = append(l, r); return nil },
		}
		s, err := j.Run(t.Context())
		return s, l, err
	}
	mono := []transforms.Op{transforms.NewDecodeSound(8000), transforms.NewMixMono()}
	s, l, err := run(mono, "out", "in", "")
	require.NoError(t, err)
	require.Equal(t, []int{1, 3}, []int{s.Done, s.Skipped})
	for _, r := range l {
		require.Equal(t, strings.HasSuffix(r.Path, ".ogg"), r.Suspect, r.Path)
	}
	require.Equal(t, []string{"a.wav.npy"}, listFiles(t, "out"))
	s, _, err = run(mono, "out2", "s.tar", "")
	require.NoError(t, err)
	require.Equal(t, []int{1, 1}, []int{s.Done, s.Skipped})
	s, _, err = run(mono, "out3", "-", wavFile)
	require.NoError(t, err)
	require.Equal(t, 1, s.Done)

	// Samples without a header, in a file and in a pipe longer than its head.
	pcm := []transforms.Op{transforms.NewDecodePCM(sound.S16LE, 1)}
	_, _, err = run(pcm, "out4", "raw.bin", "")
	require.NoError(t, err)
	_, _, err = run(pcm, "out5", "-", strings.Repeat("\x00\x40", 100000))
	require.NoError(t, err)
	i, err := os.Stat(filepath.Join("out5", listFiles(t, "out5")[0]))
	require.NoError(t, err)
	require.Equal(t, int64(128+400000), i.Size())
}
