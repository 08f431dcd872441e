package keras_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/internal/golden"
	"github.com/infer-prep/infer-prep/importer/keras"
)

func TestGoldens(t *testing.T) {
	golden.Run(t, func(c golden.Case) []byte { return c.Config }, keras.Import)
}

func TestRefusals(t *testing.T) {
	for in, c := range map[string]struct {
		kind error
		want string
	}{
		`[]`:                         {importer.ErrJSON, "object"},
		`{}`:                         {importer.ErrMissing, "mode"},
		`{"keras":null}`:             {importer.ErrValue, "keras"},
		`{"mode":7}`:                 {importer.ErrValue, "mode"},
		`{"mode":"tf","sise":[1,1]}`: {importer.ErrUnknownKey, "sise"},
		`{"mode":"tf","size":224}`:   {importer.ErrValue, "size"},
		`{"mode":"tf","size":[1,0]}`: {importer.ErrValue, "size"},
		`{"mode":"tf","size":[1,1],"target_size":[1,1]}`: {importer.ErrValue, "size"},
		`{"mode":"tf","interpolation":null}`:             {importer.ErrValue, "interpolation"},
		`{"mode":"tf","keep_aspect_ratio":true}`:         {importer.ErrValue, "keep_aspect_ratio"},
		`{"mode":"tf","color_mode":"grayscale"}`:         {importer.ErrValue, "color_mode"},
		`{"mode":"tf","data_format":"NHWC"}`:             {importer.ErrValue, "data_format"},
		`{"mode":"tf","data_format":""}`:                 {importer.ErrValue, "data_format"},
	} {
		_, err := keras.Import([]byte(in))
		require.ErrorIs(t, err, c.kind, in)
		require.ErrorContains(t, err, c.want, in)
	}
}
