package tensor

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPool(t *testing.T) {
	p := NewPool(1 << 20)
	d := Image(Float32, CHW, 10, 12, 3)
	a, err := p.Get(d)
	require.NoError(t, err)
	require.Equal(t, d, a.Desc)
	require.True(t, a.Dense())
	require.Len(t, a.Data, 1440)
	require.Len(t, View[float32](a), 360)
	require.Zero(t, p.Idle())

	// Views, copies and strangers are refused, and change nothing.
	v, err := a.Slice(0, 0, 3)
	require.NoError(t, err)
	whole, err := a.Transposed()
	require.NoError(t, err)
	copied := *a
	foreign, err := New(d)
	require.NoError(t, err)
	for name, x := range map[string]*Tensor{"slice": v, "transposed": whole, "copy": &copied, "foreign": foreign, "clone": a.Clone(), "nil": nil} {
		require.False(t, p.Put(x), name)
	}
	require.False(t, NewPool(1<<20).Put(a), "another pool")
	require.Zero(t, p.Idle())

	require.True(t, p.Put(a))
	require.False(t, p.Put(a), "twice")
	require.Equal(t, int64(1536), p.Idle())

	// The memory comes back for any description of its class, and only one of them.
	data := &a.Data[0]
	b, err := p.Get(Desc{DType: Uint8, Shape: Dims(1500)})
	require.NoError(t, err)
	require.Same(t, data, &b.Data[0])
	require.Zero(t, p.Idle())
	c, err := p.Get(d)
	require.NoError(t, err)
	require.False(t, b.Overlaps(c))

	// A tensor that grew out of its memory gives back what it was given.
	require.NoError(t, b.Reset(Desc{DType: Uint8, Shape: Dims(5000)}))
	require.True(t, p.Put(b))
	require.Equal(t, int64(1536), p.Idle())
	b, err = p.Get(Desc{DType: Float64, Shape: Dims(190)})
	require.NoError(t, err)
	require.Same(t, data, &b.Data[0])

	for _, bad := range []Desc{{}, Encoded(), Image(Uint8, HWC, Unknown, 1, 1), {DType: Uint8, Shape: Dims(1<<31, 1<<31)}} {
		_, err := p.Get(bad)
		require.ErrorIs(t, err, ErrDesc, bad.String())
	}
	e, err := p.Get(Desc{DType: Uint8, Shape: Dims(0, 3)})
	require.NoError(t, err)
	require.Empty(t, e.Data)
	require.True(t, p.Put(e))

	small := NewPool(200)
	x, err := small.Get(Desc{DType: Uint8, Shape: Dims(150)})
	require.NoError(t, err)
	y, err := small.Get(Desc{DType: Uint8, Shape: Dims(150)})
	require.NoError(t, err)
	require.True(t, small.Put(x))
	require.True(t, small.Put(y), "taken and let go")
	require.False(t, small.Put(y))
	require.Equal(t, int64(160), small.Idle())
}

func TestPoolClasses(t *testing.T) {
	last, lastSize := -1, int64(0)
	for n := int64(0); n < 1<<13; n++ {
		class, size := poolClass(n)
		require.GreaterOrEqual(t, size, n)
		require.True(t, n <= poolMin || size*4 < (n+1)*5+4, "%d in %d", n, size)
		if class != last {
			require.Equal(t, last+1, class)
			require.Greater(t, size, lastSize)
			require.Equal(t, lastSize+1, max(n, 1))
			last, lastSize = class, size
		}
		again, same := poolClass(size)
		require.Equal(t, class, again)
		require.Equal(t, size, same)
	}
	class, size := poolClass(1 << 60)
	require.Less(t, class, poolClasses)
	require.Equal(t, int64(1<<60), size)
}

func TestPoolConcurrent(t *testing.T) {
	p := NewPool(1 << 16)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 500 {
				x, err := p.Get(Desc{DType: Uint8, Shape: Dims(i%7*100 + 1)})
				if err != nil {
					t.Error(err)
					return
				}
				for k := range x.Data {
					x.Data[k] = byte(g)
				}
				for k, v := range x.Data {
					if v != byte(g) {
						t.Errorf("at %d: got %d, want %d: shared", k, v, g)
						return
					}
				}
				if !p.Put(x) {
					t.Error("not taken")
				}
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, p.Idle(), int64(1<<16))
}

func TestPoolDoesNotAllocate(t *testing.T) {
	p := NewPool(1 << 20)
	d := Image(Uint8, HWC, 100, 100, 3)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		x, err := p.Get(d)
		if err != nil || !p.Put(x) {
			t.Error("pool")
		}
	}))
}
