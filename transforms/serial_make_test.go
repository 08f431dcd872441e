package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMakeOp(t *testing.T) {
	for _, i := range Ops() {
		op, err := MakeOp(i.Name, nil)
		if err != nil { // some have no default that is valid alone
			require.ErrorIs(t, err, ErrParam, i.Name)
			continue
		}
		require.Equal(t, i.New(), op, i.Name)
	}
	op, err := MakeOp("resize", []byte(`{"fit": "shortest", "edge": 256, "interpolation": "bicubic"}`))
	require.NoError(t, err)
	want := NewResizeShortest(256)
	want.Interpolation = Bicubic
	require.Equal(t, want, op)
	op, err = MakeOp("resize", []byte(`{"height": 32}`))
	require.NoError(t, err)
	require.Equal(t, NewResize(32, 224), op)

	_, err = MakeOp("resize", []byte(`{"fit": "shortest", "edge": 256, "width": 3}`))
	require.ErrorContains(t, err, "width 3 is not used with fit shortest")
	_, err = MakeOp("resise", nil)
	require.ErrorIs(t, err, ErrUnknownOp)
	_, err = MakeOp("resize", []byte(`{"widht": 3}`))
	require.ErrorContains(t, err, `transforms: resize: invalid parameter: unknown parameter "widht"; did you mean "width"?`)
	_, err = MakeOp("resize", []byte(`{"height": 0}`))
	require.ErrorIs(t, err, ErrParam)
}
