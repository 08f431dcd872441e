package mobile

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzRun runs any bytes as an image, and as a graph: there is a tensor or an
// error that is no bug.
func FuzzRun(f *testing.F) {
	for _, name := range []string{"images/bmp_16.bmp", "damaged/bmp_rle_short.bmp"} {
		b, err := os.ReadFile("../testdata/" + name)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Add([]byte(thumbnail))
	p, err := OpenGraph([]byte(thumbnail))
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := p.RunJPEG(b)
		require.NotEqual(t, "internal", Code(err), "%v", err)
		require.Equal(t, err == nil, r != nil && r.Size(0) == 8*6*3)
		if q, err := OpenGraph(b); err == nil {
			_, err = q.RunJPEG(b)
			require.NotEqual(t, "internal", Code(err), "%v", err)
		} else {
			require.NotEqual(t, "internal", Code(err), "%v", err)
		}
	})
}

// FuzzOpen opens any bytes as a bundle, and uses what opens.
func FuzzOpen(f *testing.F) {
	b, jpeg, key := bundle(f)
	f.Add(b)
	f.Add(b[:100])
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Open(b)
		if err != nil {
			require.NotEqual(t, "internal", Code(err), "%v", err)
			return
		}
		for _, err := range []error{p.Verify(nil), p.VerifySignature(key)} {
			require.NotEqual(t, "internal", Code(err), "%v", err)
		}
		_, err = p.RunJPEG(jpeg)
		require.NotEqual(t, "internal", Code(err), "%v", err)
		require.NoError(t, p.Close())
	})
}

// FuzzRestore restores any bytes as a state: the Pipe goes on from there, or
// from where it was.
func FuzzRestore(f *testing.F) {
	_, q := newPipe(f, thumbnail, pictures(f, 5), func(c *PipeConfig) { c.BatchSize, c.Shuffle = 2, true })
	for range 3 {
		s, err := q.State()
		require.NoError(f, err)
		f.Add(s)
		_, err = q.Next()
		require.NoError(f, err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := q.Restore(b); err != nil {
			require.Equal(t, "state", Code(err), "%v", err)
		}
		require.LessOrEqual(t, len(rest(t, q)), 3)
		require.NoError(t, q.NextEpoch())
	})
}

// FuzzFrame describes frames in any way.
func FuzzFrame(f *testing.F) {
	f.Add(4, 4, 4, 2, 1, 0, 0, 0, 0, 90, []byte("0123456789abcdef"), []byte("0123"))
	f.Add(4, 4, 16, 4, 2, 1, 1, 3, 3, 270, make([]byte, 64), make([]byte, 8))
	p, err := OpenGraph([]byte(thumbnail))
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, w, h, stride, chroma, step, left, top, right, bottom, rotation int, y, uv []byte) {
		frame := &Frame{w, h, stride, chroma, step, left, top, right, bottom, rotation}
		for _, run := range []func() (*Result, error){
			func() (*Result, error) { return p.RunRGBA(y, frame) },
			func() (*Result, error) { return p.RunYUV420(y, uv, uv, frame) },
		} {
			r, err := run()
			require.NotEqual(t, "internal", Code(err), "%v", err)
			require.Equal(t, err == nil, r != nil && r.Size(0) == 8*6*3)
		}
	})
}
