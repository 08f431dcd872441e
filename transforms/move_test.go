package transforms

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// moveCase is a case of testdata/moves: a column of an image that torchvision
// moved with it.
type moveCase struct {
	Op       string          `json:"op"`
	Params   json.RawMessage `json:"params"`
	Height   int             `json:"height"` // of the image
	Width    int             `json:"width"`
	ToHeight int             `json:"to_height"` // of torchvision's image afterwards
	ToWidth  int             `json:"to_width"`
	Role     RoleKind        `json:"role"`
	Format   CoordFormat     `json:"format"`
	Clamping Clamping        `json:"clamping"`
}

// movedBy returns the column x as m moves it with an image of these sizes.
func movedBy(t *testing.T, m Mover, r Role, x *tensor.Tensor, h, w int) (*tensor.Tensor, tensor.Desc, []Op) {
	t.Helper()
	require.NoError(t, m.Validate())
	require.NoError(t, r.Validate())
	from := tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(3, h, w), Layout: tensor.CHW}
	to := make([]tensor.Desc, len(InfoOf(m).Out))
	require.NoError(t, m.Infer(to, []tensor.Desc{from}))
	in := []tensor.Desc{x.Desc}
	ops, err := NewDraw(newContext()).MoveColumn(m, r, in, from, to[0])
	require.NoError(t, err)
	for _, op := range ops {
		out, err := run(newContext(), op, x)
		require.NoError(t, err)
		x = out[0]
	}
	require.Equal(t, in[0], x.Desc)
	return x, to[0], ops
}

// TestMoves compares Move with torchvision's transforms of tv_tensors.
func TestMoves(t *testing.T) {
	g, arrays := readGoldens(t, "moves")
	for _, k := range g.Cases {
		t.Run(k.Name, func(t *testing.T) {
			var c moveCase
			require.NoError(t, json.Unmarshal(k.Params, &c))
			op, err := UnmarshalParams(c.Op, 1, c.Params)
			require.NoError(t, err)
			role := Role{Kind: c.Role, Format: c.Format, Clamping: c.Clamping}
			got, to, _ := movedBy(t, op.(Mover), role, k.In[0].tensor(t, arrays), c.Height, c.Width)
			require.Equal(t, []int{c.ToHeight, c.ToWidth}, []int{to.Height(), to.Width()})
			k.requireOutput(t, k.Out[0], arrays, got)
		})
	}
}

// exceptions are the ops that change an image's size and are no Mover.
var exceptions = map[string]string{
	"blob_crop":         "scales and cuts by one filter",
	"crop_margin":       "its box depends on the pixels",
	"resize_libyuv":     "scales camera frames",
	"resize_to_crops":   "returns crops",
	"resize_to_patches": "returns patches",
	"resize_to_slices":  "returns slices",
	"resize_to_tiles":   "returns tiles",

	"warp_affine":  "no reference for boxes",
	"window_tiles": "returns windows",
}

// sameSizeMovers keep the size of the image and move its pixels.
var sameSizeMovers = []string{"horizontal_flip", "vertical_flip", "rotate", "affine", "perspective", "elastic_noise"}

// TestMovers checks that each op that moves pixels is a Mover.
func TestMovers(t *testing.T) {
	for _, name := range sameSizeMovers {
		i, err := Lookup(name)
		require.NoError(t, err)
		require.Implements(t, (*Mover)(nil), i.New(), name)
	}
	unused := maps.Clone(exceptions)
	for _, i := range applied() {
		op := i.New()
		_, mover := op.(Mover)
		if len(i.In) > 1 || mover {
			require.Empty(t, exceptions[i.Name], "%s is a Mover", i.Name)
			continue
		}
		for _, size := range [][2]int{{37, 50}, {50, 37}, {224, 224}, {400, 900}, {1000, 300}} {
			for _, dtype := range []tensor.DType{tensor.Uint8, tensor.Float32} {
				in := tensor.Desc{DType: dtype, Shape: tensor.Dims(size[0], size[1], 3), Layout: tensor.HWC}
				out := make([]tensor.Desc, len(i.Out))
				if op.Infer(out, []tensor.Desc{in}) != nil || wantImage(out[0]) != nil || sameSize(in, out[0]) {
					continue
				}
				delete(unused, i.Name)
				require.NotEmpty(t, exceptions[i.Name], "%s makes %v of %v: want method Move, or a reason in exceptions", i.Name, out[0], in)
			}
		}
	}
	require.Empty(t, unused, "exceptions without a need")
}

// opsOf returns the JSON forms of what m emits for a column.
func opsOf(t *testing.T, m Mover, r Role, in, from tensor.Desc) []string {
	t.Helper()
	require.NoError(t, m.Validate())
	to := make([]tensor.Desc, len(InfoOf(m).Out))
	require.NoError(t, m.Infer(to, []tensor.Desc{from}))
	ops, err := NewDraw(newContext()).MoveColumn(m, r, []tensor.Desc{in}, from, to[0])
	require.NoError(t, err)
	list := []string{}
	for _, op := range ops {
		b, err := json.Marshal(op)
		require.NoError(t, err)
		list = append(list, InfoOf(op).Name+" "+string(b))
	}
	return list
}

// TestMoveEmits checks the companions of ops that have no reference for them.
func TestMoveEmits(t *testing.T) {
	from := tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(480, 640, 3), Layout: tensor.HWC}
	mask := tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(480, 640, 1), Layout: tensor.HWC}
	rows := tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(3, 4)}
	points := tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(3, 2)}
	boxes, masks, image := Role{Kind: RoleBoxes, Format: CoordXYXY}, Role{Kind: RoleMask}, Role{Kind: RoleImage}
	free := Role{Kind: RoleBoxes, Format: CoordLTWH, Clamping: ClampNone}
	for _, c := range []struct {
		op   Mover
		role Role
		in   tensor.Desc
		want []string
	}{
		{NewLetterbox(320, 320), boxes, rows, []string{
			`resize_coords {"format":"xyxy","from_height":480,"from_width":640,"to_height":240,"to_width":320}`,
			`crop_coords {"format":"xyxy","top":-40,"left":0,"height":320,"width":320,"clamping":"soft","keep":"all","coverage":0}`,
		}},
		{NewLetterbox(480, 640), boxes, rows, []string{}},
		{NewLetterbox(480, 800), image, from, []string{`pad {"top":0,"bottom":0,"left":80,"right":80,"mode":"constant","fill":[114]}`}},
		{NewLetterbox(480, 800), masks, mask, []string{`crop {"top":0,"left":-80,"height":480,"width":800}`}},
		{NewCrop(0, 0, 480, 640), free, rows, []string{}},
		{NewCrop(0, 0, 480, 640), masks, mask, []string{}},
		{NewCrop(1, 0, 480, 640), image, from, []string{`crop {"top":1,"left":0,"height":480,"width":640}`}},
		{NewPadToMultiple(32), boxes, rows, []string{`crop_coords {"format":"xyxy","top":0,"left":0,"height":480,"width":640,"clamping":"soft","keep":"all","coverage":0}`}},
		{&PadToSquare{Position: TopLeft, Mode: PadEdge, Fill: []float64{0}}, masks, mask, []string{`pad_to_square {"position":"top_left","mode":"edge","fill":[0]}`}},
		{&PadWithMask{Height: 500, Position: Center, Fill: []float64{7}, MaskDType: tensor.Int64}, image, from, []string{`pad {"top":10,"bottom":10,"left":0,"right":0,"mode":"constant","fill":[7]}`}},
		{NewRotate90(1), boxes, rows, []string{`affine_coords {"format":"xyxy","matrix":[0,1,0,-1,0,640],"shift_x":0,"shift_y":0,"height":640,"width":480,"clamping":"soft"}`}},
		{NewRotate90(4), boxes, rows, []string{}},
		{NewAlignLongAxis(640, 480), Role{Kind: RoleKeypoints}, points, []string{`affine_coords {"format":"xy","matrix":[0,-1,480,1,0,0],"shift_x":0,"shift_y":0,"height":640,"width":480,"clamping":"soft"}`}},
		{NewAlignLongAxis(480, 640), masks, mask, []string{}},
		{NewResize(480, 640), image, from, []string{}},
		{&Resize{Height: 10, Width: 20, Interpolation: Bicubic, Backend: MXNet}, masks, mask, []string{
			`resize {"fit":"exact","height":10,"width":20,"edge":0,"max_edge":0,"multiple":0,"keep_aspect":false,"size_rule":"truncate","interpolation":"nearest","backend":"opencv","no_antialias":false}`,
		}},
	} {
		require.Equal(t, c.want, opsOf(t, c.op, c.role, c.in, from), "%T %v", c.op, c.role)
	}
	many := tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(480, 640, 9), Layout: tensor.HWC}
	require.Contains(t, opsOf(t, NewRotate(30), masks, many, from)[0], `"backend":"torch"`)
	require.Contains(t, opsOf(t, NewRotate(30), masks, mask, from)[0], `"interpolation":"nearest","backend":"pillow"`)
	require.Equal(t, []string{`elastic_noise_coords {"format":"xyxy","alpha_x":50,"alpha_y":50,"sigma_x":5,"sigma_y":5,"key":5,"height":480,"width":640,"clamping":"soft"}`}, opsOf(t, NewElasticNoise(5), boxes, rows, from))
	require.Contains(t, opsOf(t, NewElasticNoise(5), masks, mask, from)[0], `"key":5,"interpolation":"nearest","fill":[]`)
}

// TestCannotMove checks the roles that ops do not move.
func TestCannotMove(t *testing.T) {
	from := tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(48, 64, 3), Layout: tensor.HWC}
	rows := tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(3, 4)}
	opencv := NewAffine(15)
	opencv.Backend = OpenCV4
	for _, c := range []struct {
		op   Mover
		word string
	}{
		{&Pad{Top: 1, Mode: PadReflect, Fill: []float64{0}}, "pad cannot move a column of role boxes: the border of mode reflect"},
		{opencv, "backend opencv4"},
		{&Perspective{Coefficients: NumberList{1, 1, 0, 1, 1, 0, 0, 0}, Backend: Pillow}, "its map has no inverse"},
	} {
		require.NoError(t, c.op.Validate())
		to := []tensor.Desc{from}
		require.NoError(t, c.op.Infer(to, to))
		_, err := NewDraw(newContext()).MoveColumn(c.op, Role{Kind: RoleBoxes, Format: CoordXYXY}, []tensor.Desc{rows}, from, to[0])
		require.ErrorIs(t, err, ErrInput)
		require.ErrorContains(t, err, c.word)
	}
}

// TestInnerMoves checks ops whose inner ops may move pixels, to where no column
// can follow.
func TestInnerMoves(t *testing.T) {
	img := tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(30, 40, 3), Layout: tensor.HWC}
	mask, boxes := img.WithChannels(1), tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2, 4)}
	for _, c := range []struct {
		op    Mover
		mask  string // the error
		boxes string
	}{
		{NewMixChains(0.5).Chain(0.5, NewInvert()), "", ""},
		{NewMixChains(0.5).Chain(0.2, NewInvert()).Chain(0.3, NewRotate(5)), "mix_chains cannot move a column of role mask", "mix_chains cannot move a column of role boxes"},
		{NewMapWindow(0, 0, 9, 9, NewInvert()), "", ""},
		{NewMapWindow(0, 0, 9, 9, NewHorizontalFlip()), "map_window cannot move a column of role mask", ""},
	} {
		for text, x := range map[*string]struct {
			role Role
			in   tensor.Desc
		}{&c.mask: {Role{Kind: RoleMask}, mask}, &c.boxes: {Role{Kind: RoleBoxes, Format: CoordXYXY}, boxes}} {
			ops, err := NewDraw(newContext()).MoveColumn(c.op, x.role, []tensor.Desc{x.in}, img, img)
			require.Empty(t, ops)
			if *text == "" {
				require.NoError(t, err)
				continue
			}
			require.ErrorIs(t, err, ErrInput)
			require.ErrorContains(t, err, *text)
		}
	}
}
