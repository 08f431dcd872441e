package recordio

import (
	"errors"
	"io"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("runtime.handleEvent")) // the js runtime starts it
}

// counting produces the numbers below n.
type counting struct{ i, n int }

func (c *counting) next(x *int) error {
	if c.i == c.n {
		return io.EOF
	}
	*x = c.i
	c.i++
	return nil
}

func (c *counting) rewind() error {
	c.i = 0
	return nil
}

// TestPrefetch repeats dmlc-core's test, also with several consumers.
func TestPrefetch(t *testing.T) {
	for _, ahead := range []int{1, 3, 20} {
		c := &counting{n: 10}
		p := NewPrefetch(ahead, c.next, c.rewind)
		all := func(recycle bool) {
			for i := range 10 {
				x, err := p.Next()
				require.NoError(t, err)
				require.Equal(t, i, *x)
				if recycle {
					p.Recycle(x)
				}
			}
			for range 2 {
				_, err := p.Next()
				require.Equal(t, io.EOF, err)
			}
		}
		all(false)
		for range 3 {
			require.NoError(t, p.Rewind())
		}
		_, err := p.Next()
		require.NoError(t, err)
		require.NoError(t, p.Rewind())
		require.NoError(t, p.Rewind())
		all(true)
		require.NoError(t, p.Rewind())
		all(true)
		require.LessOrEqual(t, len(p.free), 10+1+ahead+2)

		c.n = 1000
		require.NoError(t, p.Rewind())
		seen := make([]bool, c.n)
		var mu sync.Mutex
		var work sync.WaitGroup
		for range 4 {
			work.Go(func() {
				for {
					x, err := p.Next()
					if err != nil {
						return
					}
					mu.Lock()
					seen[*x] = true
					mu.Unlock()
					p.Recycle(x)
				}
			})
		}
		work.Wait()
		for i := range seen {
			require.True(t, seen[i], i)
		}
		p.Close()
		_, err = p.Next()
		require.Equal(t, io.EOF, err)
	}
}

func TestPrefetchErrors(t *testing.T) {
	gone := errors.New("gone")
	for _, c := range []struct {
		fail func() error
		want string
	}{
		{func() error { return gone }, "gone"},
		{func() error { panic("boom") }, "panic: boom"},
		{func() error { runtime.Goexit(); return nil }, "ended its goroutine"},
	} {
		n := 0
		p := NewPrefetch(2, func(x *int) error {
			if n++; n > 3 {
				return c.fail()
			}
			return nil
		}, func() error {
			if n = 0; c.want == "gone" {
				return nil
			}
			return gone
		})
		for range 3 {
			_, err := p.Next()
			require.NoError(t, err)
		}
		for range 2 {
			_, err := p.Next()
			require.ErrorContains(t, err, c.want)
		}
		if err := p.Rewind(); c.want == "gone" {
			require.NoError(t, err)
			_, err = p.Next()
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, gone)
			_, err = p.Next()
			require.ErrorIs(t, err, gone, "until it rewinds")
		}
		p.Close()
	}
}
