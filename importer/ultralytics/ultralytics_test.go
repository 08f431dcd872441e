package ultralytics

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func ops(t *testing.T, config string) (*transforms.Decode, *transforms.Letterbox) {
	t.Helper()
	var g *datagraph.Graph
	g, err := Import([]byte(config))
	require.NoError(t, err, config)
	return g.Steps[0].Op.(*transforms.Decode), g.Steps[1].Op.(*transforms.Letterbox)
}

// TestPredictor checks what the metadata of various exporters say about the
// predictor: whether it stretches, and whether it pads to the stride alone.
func TestPredictor(t *testing.T) {
	for config, want := range map[string]struct{ stretch, auto bool }{
		`{"task":"detect","head":"Detect","imgsz":[64,96],"args":{"batch":1}}`:                                                    {},
		`{"task":"detect","head":"RTDETRDecoder","imgsz":[64,64],"args":{"dynamic":false}}`:                                       {stretch: true},
		`{"task":"detect","head":"RTDETRDecoder","imgsz":[640,640],"args":{"dynamic":true}}`:                                      {stretch: true},
		`{"head":"RTDETRDecoder","imgsz":[64,64],"args":{}}`:                                                                      {stretch: true},
		`{"task":"depth","head":"Depth","imgsz":[64,64],"args":{}}`:                                                               {stretch: true},
		`{"task":"depth","imgsz":[64,64],"args":{}}`:                                                                              {stretch: true},
		`{"task":"detect","head":"v10Detect","imgsz":[640,640],"args":{"dynamic":true}}`:                                          {auto: true},
		`{"task":"segment","imgsz":[640,640],"args":{"dynamic":true}}`:                                                            {auto: true},
		`{"task":"detect","description":"Ultralytics YOLOv8n model trained on a.yaml","imgsz":[64,64],"auto":false}`:              {},
		`{"task":"detect","description":"Ultralytics YOLOv5su model trained on a.yaml","imgsz":[64,64],"args":{"dynamic":false}}`: {},
		`{"task":"detect","description":"Ultralytics YOLO11x model ","imgsz":[32,64],"auto":true}`:                                {auto: true},
		`{"task":"detect","description":"Ultralytics YOLOv8s-worldv2 model ","imgsz":[32,64],"args":{}}`:                          {},
		`{"imgsz":[33,57]}`:                                          {},
		`{"imgsz":64,"scale_fill":true}`:                             {stretch: true},
		`{"task":"pose","imgsz":[64,64],"stride":64,"auto":true}`:    {auto: true},
		`{"task":"obb","imgsz":[64,64],"args":{"quantize":"w8a32"}}`: {},
	} {
		d, l := ops(t, config)
		require.Equal(t, want.stretch, l.ScaleFill, config)
		require.Equal(t, want.auto, l.Auto, config)
		// The predictor's reader.
		require.Equal(t, codec.OrientationApply, d.Orientation)
		require.Equal(t, codec.Gray16High, d.Gray16)
		require.Equal(t, codec.DamageImdecode, d.Damage)
		require.Equal(t, codec.RefuseCMYK, d.Refuse)
	}
}

// TestMissing checks that what the metadata do not say is an error that names
// it and says what would.
func TestMissing(t *testing.T) {
	const detect = `"task":"detect","head":"Detect","args":{}`
	for config, c := range map[string]struct {
		kind error
		want []string
	}{
		`{"task":"detect","imgsz":[64,64],"args":{}}`:                                                              {importer.ErrMissing, []string{"head", "Detect", "RTDETRDecoder"}},
		`{"task":"detect","description":"Ultralytics best model","imgsz":[64,64],"args":{}}`:                       {importer.ErrMissing, []string{"head"}},
		`{"task":"detect","description":"Ultralytics rtdetr-l model trained on a","imgsz":[64,64],"args":{}}`:      {importer.ErrMissing, []string{"head"}},
		`{"task":"detect","description":"Ultralytics YOLOv8-rtdetr model trained on a","imgsz":[64,64],"args":{}}`: {importer.ErrMissing, []string{"head"}},
		`{"names":{"0":"a"},"imgsz":[64,64],"args":{}}`:                                                            {importer.ErrMissing, []string{"task", "detect"}},
		`{"task":"pose","imgsz":[64,64]}`:                                                                          {importer.ErrMissing, []string{"args", "dynamic", "auto"}},
		`{"task":"pose","imgsz":[64,64],"args":null}`:                                                              {importer.ErrValue, []string{"args"}},
		`{` + detect + `}`:                                                                 {importer.ErrMissing, []string{"imgsz"}},
		`{` + detect + `,"imgsz":[60,64]}`:                                                 {importer.ErrValue, []string{"imgsz", "32"}},
		`{` + detect + `,"imgsz":[64,64],"dynamic":true}`:                                  {importer.ErrUnknownKey, []string{"dynamic"}},
		`{` + detect + `,"imgsz":[64,64],"channels":10}`:                                   {importer.ErrValue, []string{"channels", "3"}},
		`{"task":"detect","head":"Detect","args":{"dynamic":true},"imgsz":[64,640]}`:       {importer.ErrValue, []string{"imgsz", "640", "auto: true"}},
		`{"task":"detect","head":"RTDETRDecoder","args":{"dynamic":true},"imgsz":[64,64]}`: {importer.ErrValue, []string{"imgsz", "auto: false"}},
		`{"task":"detect","head":"RTDETRDecoder","args":{},"imgsz":[64,64],"auto":true}`:   {importer.ErrValue, []string{"auto"}},
		`{"task":"segment","head":"RTDETRDecoder","args":{},"imgsz":[64,64]}`:              {importer.ErrValue, []string{"task"}},
		`{"task":"classify","head":"Classify","args":{},"imgsz":[64,64]}`:                  {importer.ErrValue, []string{"task", "--torchvision", "EXIF"}},
		`{"head":"Classify","args":{},"imgsz":[64,64]}`:                                    {importer.ErrValue, []string{"task"}},
		`{"task":"pose","args":{"half":true},"imgsz":[64,64]}`:                             {importer.ErrValue, []string{"args.half"}},
		`{"task":"pose","args":{"quantize":"w8a16"},"imgsz":[64,64]}`:                      {importer.ErrValue, []string{"args.quantize"}},
	} {
		_, err := Import([]byte(config))
		require.ErrorIs(t, err, c.kind, config)
		for _, w := range c.want {
			require.ErrorContains(t, err, w, config)
		}
	}
}
