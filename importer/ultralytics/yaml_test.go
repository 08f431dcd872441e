package ultralytics

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/importer"
)

// metadata is what PyYAML 6.0.3 writes, as ultralytics 8.4.190 calls it, for an
// exported model.
const metadata = `description: Ultralytics YOLO11n model trained on /usr/src/ultralytics/ultralytics/cfg/datasets/coco.yaml
  with more
author: Ultralytics
date: '2026-01-01T00:00:00.1'
version: 8.4.190
license: AGPL-3.0 License (https://ultralytics.com/license)
docs: https://docs.ultralytics.com
stride: 32
task: pose
head: Pose
batch: 1
imgsz:
- 320
- 640
names:
  0: person
  1: fire hydrant
  2: 'it''s: a # thing'
  3: 'no'
  4: é
args:
  batch: 1
  half: false
  int8: false
  nms: false
  quantize: null
  fraction: 1.0
channels: 3
end2end: false
kpt_shape:
- 17
- 3
`

// TestYAML imports metadata.yaml, and the same as JSON and as a Python dict.
func TestYAML(t *testing.T) {
	want, err := Import([]byte(`{"ultralytics":{"imgsz":[320,640],"stride":32}}`))
	require.NoError(t, err)
	for name, in := range map[string]string{
		"yaml": metadata, "yaml with a mark": "\ufeff" + metadata, "Windows": strings.ReplaceAll(metadata, "\n", "\r\n"),
		"json":   `{"imgsz":[320,640],"stride":32,"task":"pose","names":{"0":"person"},"args":{"half":false}}`,
		"python": `{'imgsz': [320, 640], 'stride': 32, 'task': 'obb', 'names': {0: 'person'}, 'args': {'half': False, 'quantize': None}}`,
		"onnx":   `{"imgsz":"[320, 640]","stride":"32","task":"detect","head":"Detect","names":"{0: 'person'}","args":"{'half': False, 'nms': False}"}`,
		"tuple":  `{"imgsz":"(320, 640)","stride":"32"}`,
	} {
		g, err := Import([]byte(in))
		require.NoError(t, err, name)
		require.Equal(t, want, g, name)
	}
}

// TestYAMLErrors checks that errors name what is wrong, and that no anchor is
// expanded.
func TestYAMLErrors(t *testing.T) {
	for in, want := range map[string]error{
		"imgsz:\n- 320\n- 640\nzz: 1\n":                   importer.ErrUnknownKey,
		"stride: 32\n":                                    importer.ErrMissing,
		"imgsz: &a [1, 2]\nargs: *a\n":                    importer.ErrJSON,
		"a: &a [x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n":       importer.ErrJSON,
		"a: {b: {c: {d: {e: {f: {g: {h: {i: {}}}}}}}}}\n": importer.ErrJSON,
		"- 1\n":                             importer.ErrJSON,
		"? [a]\n: b\n":                      importer.ErrJSON,
		"a: b: c\n":                         importer.ErrJSON,
		"imgsz: 320\nimgsz: 640\n":          importer.ErrJSON,
		"imgsz: 0x20\n":                     importer.ErrValue,
		"args:\n  half: true\nimgsz: 320\n": importer.ErrValue,
	} {
		_, err := Import([]byte(in))
		require.ErrorIs(t, err, want, in)
	}
}

func FuzzImport(f *testing.F) {
	f.Add([]byte(metadata))
	f.Add([]byte("imgsz: [320, 640]\nargs: {half: no}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := Import(b)
		require.Equal(t, err == nil, g != nil)
	})
}

// TestLargeYAML refuses YAML that would take a gigabyte of memory.
func TestLargeYAML(t *testing.T) {
	for _, value := range []string{"1,", "[],", "{},"} {
		b := []byte("imgsz: [640, 640]\nnames: [" + strings.Repeat(value, maxText/len(value)) + "]")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Import(b)
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, importer.ErrValue)
		require.ErrorContains(t, err, "want at most 1048576")
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(20<<20))
	}
}
