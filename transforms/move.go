package transforms

import (
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
)

// RoleKind is what a column is to the image that it belongs to.
type RoleKind uint8

// The kinds of roles.
const (
	RoleImage     RoleKind = iota // another image of the same size, such as depth; moved as the image is, with its interpolation and fill
	RoleMask                      // a segmentation mask or several, an image of one channel for each; moved with nearest, filled with 0
	RoleBoxes                     // boxes in pixels of the image, or relative to its sides
	RoleKeypoints                 // points in pixels of the image
)

var roleKindNames = []string{"image", "mask", "boxes", "keypoints"}

func (k RoleKind) String() string { return enum.String("role", roleKindNames, k) }

// MarshalText returns the name.
func (k RoleKind) MarshalText() ([]byte, error) { return enum.Format("role", roleKindNames, k) }

// UnmarshalText parses the name.
func (k *RoleKind) UnmarshalText(t []byte) error { return enum.Parse(k, "role", roleKindNames, t) }

// Clamping says how an op that moves boxes clamps them to the image afterwards.
type Clamping uint8

// The ways of clamping, which are torchvision's.
const (
	ClampSoft Clamping = iota // to the image; a rotated box may reach outside it to keep its angle
	ClampHard                 // to the image; a rotated box too
	ClampNone                 // not at all
)

var clampingNames = []string{"soft", "hard", "none"}

func (c Clamping) String() string { return enum.String("clamping", clampingNames, c) }

// MarshalText returns the name.
func (c Clamping) MarshalText() ([]byte, error) { return enum.Format("clamping", clampingNames, c) }

// UnmarshalText parses the name.
func (c *Clamping) UnmarshalText(t []byte) error { return enum.Parse(c, "clamping", clampingNames, t) }

// Role says how a column of a sample moves with an image.
type Role struct {
	Kind     RoleKind
	Format   CoordFormat // of boxes and keypoints; CoordXY for keypoints, else the zero value
	Clamping Clamping    // of boxes; else the zero value
}

// Validate checks that the fields belong together. Its error wraps ErrParam.
func (r Role) Validate() error {
	if err := checkEnum("role", r.Kind, roleKindNames); err != nil {
		return err
	}
	if err := checkEnum("format", r.Format, coordFormatNames); err != nil {
		return err
	}
	if err := checkEnum("clamping", r.Clamping, clampingNames); err != nil {
		return err
	}
	if r.Kind == RoleBoxes {
		if r.Format == CoordXY {
			return paramErr("format is xy, a point, want a format of boxes")
		}
		return nil
	}
	if r.Format != CoordXY || r.Clamping != ClampSoft {
		return paramErr("a column of role %v has format %v and clamping %v, which only boxes have", r.Kind, r.Format, r.Clamping)
	}
	return nil
}

// ValidateDesc returns an error, which wraps ErrInput, unless a column with
// this description can have the role.
func (r Role) ValidateDesc(d tensor.Desc) error {
	switch r.Kind {
	case RoleBoxes, RoleKeypoints:
		return wantCoords(d, r.Format)
	}
	return wantImage(d)
}

// Mover is an Op with an image as its first input and its first output, which
// moves pixels: those of a crop, a flip, a resize, a rotation. Other columns of
// a sample move with the image.
type Mover interface {
	Op
	// Move calls d.Emit for each op that moves a column with role r as this op
	// moves an image described by from, in order. The result belongs to an
	// image described by to. All sizes of images are known. d.In describes the
	// column and does not change except by Emit. If Move emits nothing, the
	// column stays. The number of boxes or points must not change. Move must
	// not draw. What the op cannot move is an ErrInput.
	Move(d *Draw, r Role, from, to tensor.Desc) error
}

// cannotMove is the error of a Mover that does not support a role.
func cannotMove(op Op, r Role, why string) error {
	return inputErr("%s cannot move a column of role %s: %s", InfoOf(op).Name, r.Kind, why)
}

// MoveColumn returns the ops that move a column described by in, with role r,
// as m moves an image from from to to. They are valid until Begin. It
// overwrites in with the description of the result.
func (d *Draw) MoveColumn(m Mover, r Role, in []tensor.Desc, from, to tensor.Desc) ([]Op, error) {
	for _, img := range [2]tensor.Desc{from, to} {
		if err := wantImage(img); err != nil {
			return nil, err
		}
		if img.Height() == tensor.Unknown || img.Width() == tensor.Unknown {
			return nil, inputErr("%v, want an image of known size to move other columns with", img)
		}
	}
	if err := r.ValidateDesc(in[0]); err != nil {
		return nil, err
	}
	if r.Kind <= RoleMask {
		if h, w := in[0].Height(), in[0].Width(); h != from.Height() || w != from.Width() {
			return nil, inputErr("a column of role %v is %v, want the size of the image, %d x %d (height x width)", r.Kind, in[0], from.Height(), from.Width())
		}
	}
	d.In, d.Src, d.outs = in, nil, 1
	n := len(d.ops)
	if err := m.Move(d, r, from, to); err != nil {
		return nil, errfmt.Errorf("move: %w", err)
	}
	return d.ops[n:len(d.ops):len(d.ops)], nil
}
