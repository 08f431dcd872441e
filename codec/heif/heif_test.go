package heif

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
)

const folder = "../../testdata/phone/"

type golden struct {
	Mode                               string
	Width, Height, Frames, Orientation int
	RGB, Gray, RGBA, Upright, Refused  string
}

func goldens(t *testing.T) map[string]golden {
	b, err := os.ReadFile(folder + "goldens.json")
	require.NoError(t, err)
	var g map[string]golden
	require.NoError(t, json.Unmarshal(b, &g))
	return g
}

func digest(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func need(t testing.TB) *library {
	l, err := load()
	if err != nil {
		t.Skipf("%v", err)
	}
	return l
}

func TestGoldens(t *testing.T) {
	l := need(t)
	t.Logf("libheif %s: %s", l.version, l.path)
	var d codec.Decoder
	n := 0
	for name, want := range goldens(t) {
		if !strings.HasSuffix(name, ".heic") {
			continue
		}
		n++
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(folder, name))
			require.NoError(t, err)
			decode := func(o codec.Options) (codec.Info, string) {
				i, err := d.Open(data, &o)
				require.NoError(t, err)
				info := i.Info()
				dst := make([]byte, info.Size())
				require.NoError(t, i.Decode(dst))
				return info, digest(dst)
			}
			if want.Refused != "" {
				_, err := codec.Decode(data, nil)
				require.ErrorIs(t, err, codec.ErrUnsupported)
				require.ErrorContains(t, err, want.Refused)
				return
			}
			info, rgb := decode(codec.Options{})
			require.Equal(t, want.RGB, rgb, "rgb")
			require.Equal(t, []any{want.Mode, want.Width, want.Height, want.Frames, want.Orientation}, []any{info.Mode.String(), info.Width, info.Height, info.Frames, info.Orientation})
			_, gray := decode(codec.Options{Color: codec.ToGray})
			require.Equal(t, want.Gray, gray, "gray")
			_, rgba := decode(codec.Options{Color: codec.ToRGBA})
			require.Equal(t, want.RGBA, rgba, "rgba")
			_, upright := decode(codec.Options{Orientation: codec.OrientationApply})
			require.Equal(t, want.Upright, upright, "upright")
		})
	}
	require.Greater(t, n, 70)
}
