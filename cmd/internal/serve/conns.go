package serve

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// pace bounds the time that clients take to send.
type pace struct {
	idle   time.Duration // without a byte of a body
	ending time.Duration // for headers and bodies once the server ends
	linger time.Duration // for the rest of the body of a refused request
}

var usualPace = pace{idle: 10 * time.Second, ending: time.Second, linger: time.Second}

// lingerBytes is the number of bytes of a refused body that are read. A client
// that is still writing when its connection closes may not see the response.
const lingerBytes = 4 << 20

// conns counts connections. Its method state is a hook of http.Server.
type conns struct {
	places chan struct{} // one for each open connection
	ended  chan struct{}

	mu   sync.Mutex
	open map[net.Conn]bool // true until its first request has a header
}

func newConns(most int) *conns {
	return &conns{places: make(chan struct{}, most), ended: make(chan struct{}), open: map[net.Conn]bool{}}
}

// state follows a connection. For a new one beyond the limit it waits, and with
// it http.Server, which accepts no others meanwhile.
func (c *conns) state(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		select {
		case c.places <- struct{}{}:
		case <-c.ended: // the server closes it
			return
		}
		c.set(conn, true)
	case http.StateClosed, http.StateHijacked:
		c.mu.Lock()
		_, ok := c.open[conn]
		delete(c.open, conn)
		c.mu.Unlock()
		if ok {
			<-c.places
		}
	default:
		c.set(conn, false)
	}
}

func (c *conns) set(conn net.Conn, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[conn] = first
}

// end closes the connections that have not sent the header of a first request
// after wait. http.Server.Shutdown waits for them for five seconds.
func (c *conns) end(wait time.Duration) {
	close(c.ended)
	time.AfterFunc(wait, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for conn, first := range c.open {
			if first {
				_ = conn.Close()
			}
		}
	})
}

// arriving reads the body of a request and keeps its deadlines: one for the
// whole body, one for each read, and one that begins when the server ends.
type arriving struct {
	body    io.Reader
	control *http.ResponseController
	pace    pace
	stop    func() bool // ends the hook of the server's end

	mu    sync.Mutex
	last  time.Time // when the whole body must have arrived
	ended bool      // last is that of the server's end
	done  bool
}

// arrive returns a reader of r's body until last. The caller must close it.
func (s *Server) arrive(body io.Reader, control *http.ResponseController, last time.Time) *arriving {
	a := &arriving{body: body, control: control, pace: s.pace, last: last}
	a.stop = context.AfterFunc(s.ending, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if end := time.Now().Add(a.pace.ending); !a.done && end.Before(a.last) {
			a.last, a.ended = end, true
			_ = control.SetReadDeadline(end)
		}
	})
	return a
}

func (a *arriving) Read(b []byte) (int, error) {
	a.mu.Lock()
	end := time.Now().Add(a.pace.idle)
	if a.last.Before(end) {
		end = a.last
	}
	_ = a.control.SetReadDeadline(end)
	a.mu.Unlock()
	return a.body.Read(b)
}

// late returns the error of a deadline that has passed.
func (a *arriving) late(start time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch now := time.Now(); {
	case a.ended && !now.Before(a.last):
		return fail(http.StatusServiceUnavailable, "the server ends, and the body has not arrived; try again elsewhere")
	case now.Before(a.last):
		return fail(http.StatusRequestTimeout, "no byte of the body arrived for %v", a.pace.idle)
	}
	return fail(http.StatusRequestTimeout, "the body did not arrive within %v", a.last.Sub(start))
}

// close ends the deadlines. From then on the server reads only to see whether
// the client has gone.
func (a *arriving) close() {
	a.stop()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done = true
	_ = a.control.SetReadDeadline(time.Time{})
}
