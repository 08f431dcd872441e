package dataset

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
)

// ErrState is the error of a state that is damaged, of another version, or of
// another definition.
var ErrState = errors.New("dataset: invalid state")

// State is where a run stands: after which sample, which is all that a resumed
// run must know. It is small: a few numbers for each node that has any, and one
// for every sample that waits in a buffer.
type State struct {
	Version     int     `json:"infer_prep_state"` // names the format
	Fingerprint uint32  `json:"fingerprint"`      // of the definition and the seed
	Epoch       uint64  `json:"epoch"`
	Step        int64   `json:"step"` // samples or batches of the epoch that were delivered
	Rank        int     `json:"rank"`
	World       int     `json:"world"`
	Merged      bool    `json:"merged"` // it is of all ranks; Rank is 0, and World 1
	Words       []int64 `json:"words"`
}

const stateVersion = 1

// stateMagic begins the binary form: "IPst".
const stateMagic = 0x74735049

// MarshalBinary is the compact form: a magic, the numbers as varints, and a CRC-32 of all.
func (s *State) MarshalBinary() ([]byte, error) {
	b := binary.LittleEndian.AppendUint32(nil, stateMagic)
	merged := uint64(0)
	if s.Merged {
		merged = 1
	}
	for _, n := range []uint64{uint64(s.Version), uint64(s.Fingerprint), s.Epoch, uint64(s.Step), uint64(s.Rank), uint64(s.World), merged, uint64(len(s.Words))} {
		b = binary.AppendUvarint(b, n)
	}
	for _, w := range s.Words {
		b = binary.AppendVarint(b, w)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b)), nil
}

// UnmarshalBinary reads the compact form. Its error wraps ErrState.
func (s *State) UnmarshalBinary(b []byte) error {
	bad := func(what string) error { return fmt.Errorf("%w: %s", ErrState, what) }
	if len(b) < 8 || binary.LittleEndian.Uint32(b) != stateMagic {
		return bad("no state")
	}
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.ChecksumIEEE(body) != sum {
		return bad("wrong checksum")
	}
	body = body[4:]
	var head [8]uint64
	for i := range head {
		v, n := binary.Uvarint(body)
		if n <= 0 {
			return bad("it ends too early")
		}
		head[i], body = v, body[n:]
	}
	if head[7] > uint64(len(body)) {
		return bad("it ends too early")
	}
	if head[6] > 1 {
		return bad("neither merged nor not")
	}
	words := make([]int64, head[7])
	for i := range words {
		v, n := binary.Varint(body)
		if n <= 0 {
			return bad("it ends too early")
		}
		words[i], body = v, body[n:]
	}
	if len(body) > 0 {
		return bad("data after it")
	}
	*s = State{int(head[0]), uint32(head[1]), head[2], int64(head[3]), int(head[4]), int(head[5]), head[6] == 1, words}
	return nil
}

// fingerprint tells definitions apart. Functions count by their names.
func fingerprint(d *Dataset, seed uint64) uint32 {
	h := crc32.NewIEEE()
	var walk func(d *Dataset)
	walk = func(d *Dataset) {
		p, err := json.Marshal(d.Node)
		if err != nil {
			p = nil // a node that is not written: its kind counts
		}
		fmt.Fprintf(h, "%s %d %s %d\n", InfoOf(d.Node).Name, InfoOf(d.Node).Version, p, len(d.In))
		for _, in := range d.In {
			walk(in)
		}
	}
	walk(d)
	fmt.Fprintf(h, "%d", seed)
	return h.Sum32()
}
