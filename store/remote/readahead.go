package remote

const (
	// unit is the most bytes of one request. Larger ones gain nothing on
	// loopback, and a cut costs more.
	unit = 4 << 20
	// maxWindow is the most bytes that are read ahead of one reader.
	maxWindow = 16 << 20
	// maxAhead is the most requests of a Store that only read ahead.
	maxAhead = 32
	// maxStreams is the number of places of a file where it is read in order
	// at the same time.
	maxStreams = 8
	// certain is the number of reads in order after which more of them are
	// expected. A record that is read by its head and its content makes two.
	certain = 3
)

// streams are the places of a file where it is being read in order. Memory.mu
// guards them.
type streams struct {
	at   [maxStreams]place
	tick int64
}

// place is a reader in order.
type place struct {
	pos   int64 // the next byte
	run   int64 // bytes that were read in order
	asked int64 // end of the bytes that were requested
	reads int
	last  int64 // tick of the last read; 0 if the place is unused
	ahead bool  // counted in memory.streams
}

// start expects a reader from the beginning. asked bytes were requested.
func (s *streams) start(asked int64) {
	s.tick++
	s.at[0] = place{asked: asked, reads: certain - 1, last: s.tick}
}

// stop is called when the file is closed.
func (s *streams) stop(m *memory) {
	for i := range s.at {
		s.at[i].stop(m)
	}
}

func (p *place) stop(m *memory) {
	if p.ahead {
		p.ahead = false
		m.streams--
	}
}

// window returns how many bytes to request ahead of a reader: as many as it
// read in order, twice. All windows together take half of the memory.
func (p *place) window(m *memory) int64 {
	most := min(maxWindow, m.limit/2/int64(max(1, m.streams)))
	return max(4*m.size, min(2*p.run, most))
}

// certain reports that more reads in order are expected.
func (p *place) certain() bool { return p.reads >= certain || p.reads >= 2 && p.run >= small }

// near reports whether a read at off can be one of a reader. Readers skip
// padding, and several goroutines read parts out of order. While there is no
// reader for certain, few reads at random may seem to be one.
func (p *place) near(m *memory, off int64) bool {
	behind, before := m.size, m.size
	if p.certain() {
		behind = p.window(m)
		before = max(m.size, behind/2)
	}
	return off >= p.pos-behind && off <= p.pos+before
}

// read records a read of n bytes at off. It returns the range to request
// besides the read's first blocks; to <= from if there is none. rest reports
// that the read continues the previous one.
func (s *streams) read(m *memory, off, n, size int64, rest bool) (from, to int64, sequential bool) {
	s.tick++
	var p *place
	for i := range s.at {
		if q := &s.at[i]; q.last > 0 && q.near(m, off) {
			if p == nil || q.last > p.last {
				p = q
			}
		}
	}
	if p == nil {
		p = &s.at[0]
		for i := range s.at {
			if s.at[i].last < p.last {
				p = &s.at[i]
			}
		}
		p.stop(m)
		*p = place{pos: off, asked: off}
	}
	end := off + n
	p.last = s.tick
	if !rest {
		p.reads++
	}
	p.run += max(0, end-max(off, p.pos))
	p.pos = max(p.pos, end)
	p.asked = max(p.asked, p.pos)
	// The blocks that this read will wait for later are requested at once.
	from, to = off, min(end, off+maxWindow)
	if n <= perRead*m.size {
		from = end
	}
	if !p.certain() {
		return from, to, false
	}
	if !p.ahead {
		p.ahead = true
		m.streams++
	}
	if w := p.window(m); p.asked-p.pos <= w/2 {
		if from == end {
			from = p.asked
		}
		p.asked = min(p.pos+w, size)
		to = p.asked
	}
	return from, to, true
}

// refused is called when bytes from off on could not be requested ahead.
func (s *streams) refused(off int64) {
	for i := range s.at {
		if p := &s.at[i]; p.last == s.tick && p.asked > off {
			p.asked = max(off, p.pos)
		}
	}
}
