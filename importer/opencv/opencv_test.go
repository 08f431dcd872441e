package opencv_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/internal/golden"
	"github.com/infer-prep/infer-prep/importer/opencv"
)

func TestGoldens(t *testing.T) {
	golden.Run(t, func(c golden.Case) []byte { return c.Config }, opencv.Import)
}

func TestRefusals(t *testing.T) {
	for in, c := range map[string]struct {
		kind error
		want string
	}{
		`[]`:                            {importer.ErrJSON, "object"},
		`{"opencv":1}`:                  {importer.ErrValue, "opencv"},
		`{"opencv":{},"size":[1,1]}`:    {importer.ErrUnknownKey, "size"},
		`{"swap_rb":true}`:              {importer.ErrUnknownKey, "swap_rb"},
		`{"size":224}`:                  {importer.ErrValue, "[width, height]"},
		`{"size":[0,1]}`:                {importer.ErrValue, "size"},
		`{"size":[1,16777217]}`:         {importer.ErrValue, "size"},
		`{"mean":127.5}`:                {importer.ErrValue, "mean"},
		`{"mean":[1,2]}`:                {importer.ErrValue, "mean"},
		`{"scalefactor":"1/255"}`:       {importer.ErrValue, "scalefactor"},
		`{"scalefactor":1e60}`:          {importer.ErrValue, "factor"},
		`{"ddepth":6}`:                  {importer.ErrValue, "ddepth"},
		`{"ddepth":1}`:                  {importer.ErrValue, "ddepth"},
		`{"ddepth":"CV_16F"}`:           {importer.ErrValue, "ddepth"},
		`{"paddingmode":3}`:             {importer.ErrValue, "paddingmode"},
		`{"paddingmode":2,"crop":true}`: {importer.ErrValue, "crop"},
		`{"borderValue":[1,2,3]}`:       {importer.ErrValue, "borderValue"},
		`{"datalayout":"NCDHW"}`:        {importer.ErrValue, "datalayout"},
		`{"datalayout":4,"scalefactor":[0.1,0.2,0.3]}`:           {importer.ErrValue, "scalefactor"},
		`{"size":[9,9],"paddingmode":2,"borderValue":[1,2,999]}`: {importer.ErrValue, "fill"},
	} {
		_, err := opencv.Import([]byte(in))
		require.ErrorIs(t, err, c.kind, in)
		require.ErrorContains(t, err, c.want, in)
	}
}
