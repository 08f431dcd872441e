package jpeg

import "github.com/infer-prep/infer-prep/codec"

// entropy is the state of the entropy decoder.
type entropy struct {
	acc   uint64
	nbits int
	// insufficient reports that a segment of entropy-coded data ended too
	// early. The decoder skips its remaining MCUs.
	insufficient bool
	restartsToGo int
	eobrun       int
	lastDC       [maxScan]int32

	dcTables, acTables [numTables]huffTable
	quick              quickState

	arith arithState

	// The layout of an MCU of the scan.
	mcusPerRow  int
	blocksInMCU int
	member      [maxMCU]int // the scan's component of each block
	dcCur       [maxMCU]*huffTable
	acCur       [maxMCU]*huffTable

	to        [maxMCU]target     // where the MCUs of a sequential scan go
	blockPtrs [maxMCU]*[64]int16 // where the next MCU goes
	lastK     [maxMCU]int        // upper bound of the zigzag index of each block's last coefficient

	mask *uint64 // of the block of the next AC scan's MCU

	segMCUs   int         // MCUs in a segment
	segBlocks [][64]int16 // the segment's coefficients
	segLast   []uint8

	// lastGoodRow is the last row of MCUs for which there was data.
	lastGoodRow int
}

// startEntropy prepares the entropy decoder for a scan.
func (d *decoder) startEntropy() error {
	d.acc, d.nbits, d.insufficient = 0, 0, false
	d.quick.on = false
	d.eobrun = 0
	d.restartsToGo = d.restartInterval
	d.lastDC = [maxScan]int32{}
	if d.scans == 1 {
		d.lastGoodRow = 0
		if !d.arithmetic && !d.progressive && !d.lossless {
			d.defaultTables()
		}
	}
	switch {
	case d.lossless:
		return d.startLossless()
	case d.progressive:
		if err := d.startProgression(); err != nil {
			return err
		}
	case d.ss != 0 || d.se != 63 || d.ah != 0 || d.al != 0:
		d.warn("spectral selection or successive approximation in a sequential scan")
	}
	if d.arithmetic {
		return d.startArith()
	}
	for i := range d.nScan {
		c := d.scan[i]
		if !d.progressive || d.ss == 0 && d.ah == 0 {
			if err := d.buildTable(&d.dcTables, &d.dcSpec, c.dcTab, 15); err != nil {
				return err
			}
		}
		if !d.progressive || d.ss != 0 {
			if err := d.buildTable(&d.acTables, &d.acSpec, c.acTab, 255); err != nil {
				return err
			}
		}
	}
	if !d.progressive {
		for b := range d.blocksInMCU {
			c := d.scan[d.member[b]]
			d.dcCur[b], d.acCur[b] = &d.dcTables[c.dcTab], &d.acTables[c.acTab]
		}
	}
	d.startQuick()
	return nil
}

func (d *decoder) buildTable(t *[numTables]huffTable, s *[numTables]huffSpec, i, maxSym int) error {
	if i >= numTables || !s[i].set {
		return d.errorf(codec.ErrFormat, "Huffman table %d is not defined", i)
	}
	return t[i].build(&s[i], maxSym)
}

// restart skips a restart marker. If the marker is missing, libjpeg's
// jpeg_resync_to_restart decides what to do.
func (d *decoder) restart() error {
	d.checkScanEnd()
	d.nbits = 0
	if d.marker == 0 {
		if err := d.nextMarker(); err != nil {
			return err
		}
	}
	if d.marker == byte(mRST0+d.nextRestart) {
		d.marker = 0
	} else if err := d.resync(); err != nil {
		return err
	}
	d.nextRestart = (d.nextRestart + 1) & 7
	d.lastDC = [maxScan]int32{}
	d.eobrun = 0
	d.restartsToGo = d.restartInterval
	d.quick.tried = false
	// If a marker is still pending, the segment is empty.
	if d.marker == 0 {
		d.insufficient = false
	}
	return nil
}

// resync accepts the marker as the expected one, searches further, or leaves it
// for later.
func (d *decoder) resync() error {
	d.warn("wrong or missing restart marker")
	for {
		m := int(d.marker)
		switch {
		case m < mSOF0: // not a marker: search further
		case m < mRST0 || m > mRST7:
			return nil // the marker of a later segment: this segment is empty
		default:
			switch (m - mRST0 - d.nextRestart) & 7 {
			case 1, 2:
				return nil // one or two markers were lost
			case 7, 6: // an old marker: search further
			default:
				d.marker = 0
				return nil
			}
		}
		if err := d.nextMarker(); err != nil {
			return err
		}
	}
}

// checkScanEnd warns if the entropy-coded segment has more whole bytes than
// needed. libjpeg drops them silently if a marker follows.
func (d *decoder) checkScanEnd() {
	if d.warns() && !d.arithmetic && !d.insufficient && d.nbits >= 8 {
		d.warn("more entropy-coded data than the scan needs")
	}
}
