package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRun compares the frames with the digests of the committed part of the
// pack.
func TestRun(t *testing.T) {
	f, err := os.Open("../../testdata/small.tar.gz")
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	done := 0
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if h.Name != "pack/cases.jsonl" {
			continue
		}
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var c struct {
				ID      string
				Area    string
				Task    json.RawMessage
				Outputs []struct{ SHA256 string }
			}
			require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
			if c.Area != "video sampling" {
				continue
			}
			var out bytes.Buffer
			require.NoError(t, run(bytes.NewReader(c.Task), &out), c.ID)
			var indices []int64
			require.NoError(t, json.Unmarshal(out.Bytes(), &indices))
			var b bytes.Buffer
			require.NoError(t, binary.Write(&b, binary.LittleEndian, indices))
			sum := sha256.Sum256(b.Bytes())
			require.Equal(t, c.Outputs[0].SHA256, hex.EncodeToString(sum[:]), c.ID)
			done++
		}
		require.NoError(t, lines.Err())
	}
	require.Equal(t, 2, done)
}

func TestRunErrors(t *testing.T) {
	for task, want := range map[string]string{
		"{": "unexpected EOF",
		`{"processor": "NoVideoProcessor", "frames": 3}`:                                "NoVideoProcessor",
		`{"processor": "Qwen2VLVideoProcessor", "settings": {"fps": "x"}, "frames": 3}`: "fps",
	} {
		err := run(strings.NewReader(task), io.Discard)
		require.ErrorContains(t, err, want, task)
	}
}
