package jpeg

import "github.com/infer-prep/infer-prep/codec"

// entropy decodes the entropy-coded data of a scan to coefficients, or to
// differences if the file is lossless.
type entropy struct {
	in    *input
	head  *header
	coefs *coefStore
	bits  bitReader

	restartsToGo int
	nextRestart  int // number of the next restart marker, 0 to 7
	eobrun       int
	lastDC       [maxScan]int32

	dcTables, acTables [numTables]huffTable
	dcCur, acCur       [maxMCU]*huffTable // the tables of each block of an MCU
	quick              quickReader
	arith              arithReader

	to        [maxMCU]target     // where the MCUs of a sequential scan go
	blockPtrs [maxMCU]*[64]int16 // where the next MCU goes
	lastK     [maxMCU]int        // upper bound of the zigzag index of each block's last coefficient
	mask      *uint64            // of the block of the next AC scan's MCU

	segMCUs   int         // MCUs in a segment
	segBlocks [][64]int16 // the segment's coefficients
	segLast   []uint8
	runs      []run // MCUs in memory, which precede those of the input
	notes     noter

	exact [maxComps]losslessPlane
}

// start prepares for the scan whose header was read.
func (e *entropy) start() error {
	h := e.head
	e.begin(0)
	if h.scans == 1 {
		e.coefs.lastGoodRow = 0
		if !h.arithmetic && !h.progressive && !h.lossless {
			h.defaultTables()
		}
	}
	switch {
	case h.lossless:
		return e.startLossless()
	case h.progressive:
		if err := e.startProgression(); err != nil {
			return err
		}
	case h.ss != 0 || h.se != 63 || h.ah != 0 || h.al != 0:
		e.in.warn("spectral selection or successive approximation in a sequential scan")
	}
	if h.arithmetic {
		return e.startArith()
	}
	for i := range h.nScan {
		c := h.scan[i]
		if h.hasDC() {
			if err := e.buildTable(&e.dcTables, &h.dcSpec, c.dcTab, 15); err != nil {
				return err
			}
		}
		if h.hasAC() {
			if err := e.buildTable(&e.acTables, &h.acSpec, c.acTab, 255); err != nil {
				return err
			}
		}
	}
	if !h.progressive {
		for b := range h.blocksInMCU {
			c := h.scan[h.member[b]]
			e.dcCur[b], e.acCur[b] = &e.dcTables[c.dcTab], &e.acTables[c.acTab]
		}
	}
	e.startQuick()
	return nil
}

func (e *entropy) buildTable(t *[numTables]huffTable, s *[numTables]huffSpec, i, maxSym int) error {
	if i >= numTables || !s[i].set {
		return e.in.errorf(codec.ErrFormat, "Huffman table %d is not defined", i)
	}
	return t[i].build(&s[i], maxSym)
}

// begin sets the state at the start of a segment, before which a restart marker
// of number next-1 stands or the scan begins.
func (e *entropy) begin(next int) {
	e.bits.acc, e.bits.nbits, e.bits.insufficient = 0, 0, false
	e.quick.on, e.quick.tried = false, false
	e.eobrun = 0
	e.lastDC = [maxScan]int32{}
	e.restartsToGo = e.head.restartInterval
	e.nextRestart = next
}

// restart skips a restart marker. If the marker is missing, libjpeg's
// jpeg_resync_to_restart decides what to do.
func (e *entropy) restart() error {
	e.checkScanEnd()
	e.bits.nbits = 0
	if e.in.marker == 0 {
		if err := e.in.nextMarker(); err != nil {
			return err
		}
	}
	if e.in.marker == byte(mRST0+e.nextRestart) {
		e.in.marker = 0
	} else if err := e.resync(); err != nil {
		return err
	}
	e.nextRestart = (e.nextRestart + 1) & 7
	e.lastDC = [maxScan]int32{}
	e.eobrun = 0
	e.restartsToGo = e.head.restartInterval
	e.quick.tried = false
	// If a marker is still pending, the segment is empty.
	if e.in.marker == 0 {
		e.bits.insufficient = false
	}
	return nil
}

// resync accepts the marker as the expected one, searches further, or leaves it
// for later.
func (e *entropy) resync() error {
	e.in.warn("wrong or missing restart marker")
	for {
		m := int(e.in.marker)
		switch {
		case m < mSOF0: // not a marker: search further
		case m < mRST0 || m > mRST7:
			return nil // the marker of a later segment: this segment is empty
		default:
			switch (m - mRST0 - e.nextRestart) & 7 {
			case 1, 2:
				return nil // one or two markers were lost
			case 7, 6: // an old marker: search further
			default:
				e.in.marker = 0
				return nil
			}
		}
		if err := e.in.nextMarker(); err != nil {
			return err
		}
	}
}

// checkScanEnd warns if the entropy-coded segment has more whole bytes than
// needed. libjpeg drops them silently if a marker follows.
func (e *entropy) checkScanEnd() {
	if e.in.warns() && !e.head.arithmetic && !e.bits.insufficient && e.bits.nbits >= 8 {
		e.in.warn("more entropy-coded data than the scan needs")
	}
}
