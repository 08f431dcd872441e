package store

import (
	"context"
	"sync/atomic"
)

// Version receives the version of a file that is opened. The zero value is
// ready for use, for one call of Open. It is safe for concurrent use.
type Version struct{ v atomic.Pointer[string] }

// String returns the version that the store told, which is that of
// [Info].Version, or "".
func (v *Version) String() string {
	if s := v.v.Load(); s != nil {
		return *s
	}
	return ""
}

type versionKey struct{}

// WithVersion returns a context for Open that makes the store tell the version
// of the file that it opens. Stores without versions ignore it.
func WithVersion(ctx context.Context, v *Version) context.Context {
	return context.WithValue(ctx, versionKey{}, v)
}

// TellVersion tells the version of a file that is opened with ctx. A store
// calls it before Open returns. Later calls with the same Version, by reads of
// the open file, have no effect.
func TellVersion(ctx context.Context, version string) {
	if v, ok := ctx.Value(versionKey{}).(*Version); ok {
		v.v.CompareAndSwap(nil, &version)
	}
}
