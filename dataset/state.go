package dataset

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// ErrState reports a state that is damaged, or made by another version, another
// definition or other data.
var ErrState = errors.New("dataset: invalid state")

// State is the place of a run, from which another run resumes. It is small: a
// few numbers for each node with a state, five for each sample in a buffer, and
// up to 38 for each source.
type State struct {
	Version     int     `json:"infer_prep_state"` // names the format
	Fingerprint uint32  `json:"fingerprint"`      // of the definition and the seed
	Epoch       uint64  `json:"epoch"`
	Step        int64   `json:"step"` // samples or batches of the epoch that Next returned
	Rank        int     `json:"rank"`
	World       int     `json:"world"`
	Merged      bool    `json:"merged"` // it is the state of all ranks; Rank is 0 and World is 1
	Words       []int64 `json:"words"`
	// Sources has the number of rows and a digest of the keys of each source;
	// see Keyed.
	Sources []int64 `json:"sources"`
	// Weights has the weights of the feedback policies, by name. A state
	// without them has those of the definition.
	Weights []PolicyWeights `json:"weights,omitempty"`
}

// Version 2 added Sources. Version 3 added Weights; states of definitions
// without feedback policies are still version 2.
const (
	stateVersion   = 2
	weightsVersion = 3
)

func knownVersion(v uint64) bool { return v == stateVersion || v == weightsVersion }

func versionError(v uint64) error {
	return fmt.Errorf("%w: version %d, want version %d or %d: resume with the release that wrote it, or start the epoch anew", ErrState, v, stateVersion, weightsVersion)
}

// stateMagic starts the binary form: "IPst".
const stateMagic = 0x74735049

// MarshalBinary returns the binary form: a magic number, the fields as varints,
// and a CRC-32 of all.
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
	b = binary.AppendUvarint(b, uint64(len(s.Sources)))
	for _, w := range s.Sources {
		b = binary.AppendVarint(b, w)
	}
	if s.Version == weightsVersion {
		b = appendWeights(b, s.Weights)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b)), nil
}

// UnmarshalBinary reads the binary form. Its error wraps ErrState.
func (s *State) UnmarshalBinary(b []byte) error {
	bad := func(what string) error { return fmt.Errorf("%w: %s", ErrState, what) }
	if len(b) < 8 || binary.LittleEndian.Uint32(b) != stateMagic {
		return bad("no magic number")
	}
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.ChecksumIEEE(body) != sum {
		return bad("wrong checksum")
	}
	body = body[4:]
	if v, n := binary.Uvarint(body); n > 0 && !knownVersion(v) {
		return versionError(v)
	}
	var head [8]uint64
	for i := range head {
		v, n := binary.Uvarint(body)
		if n <= 0 {
			return bad("truncated")
		}
		head[i], body = v, body[n:]
	}
	switch {
	case head[1] > math.MaxUint32 || head[3] > math.MaxInt64 || head[4] > math.MaxInt32 || head[5] > math.MaxInt32:
		return bad("a number is too large")
	case head[6] > 1:
		return bad("the merged flag is not 0 or 1")
	}
	// list reads n numbers, of at least a byte each.
	list := func(n uint64) ([]int64, bool) {
		if n > uint64(len(body)) {
			return nil, false
		}
		l := make([]int64, n)
		for i := range l {
			v, n := binary.Varint(body)
			if n <= 0 {
				return nil, false
			}
			l[i], body = v, body[n:]
		}
		return l, true
	}
	words, ok := list(head[7])
	if !ok {
		return bad("truncated")
	}
	n, size := binary.Uvarint(body)
	if size <= 0 {
		return bad("truncated")
	}
	body = body[size:]
	sources, ok := list(n)
	if !ok {
		return bad("truncated")
	}
	var weights []PolicyWeights
	if head[0] == weightsVersion {
		if weights, body, ok = readWeights(body); !ok {
			return bad("truncated")
		}
	}
	if len(body) > 0 {
		return bad("trailing data")
	}
	*s = State{int(head[0]), uint32(head[1]), head[2], int64(head[3]), int(head[4]), int(head[5]), head[6] == 1, words, sources, weights}
	return nil
}

// Fingerprint returns a hash of the definition, without the seed, and of the
// name of Options.Device. A function counts by its name.
func (b *Built) Fingerprint() uint32 { return b.unseeded }

// fingerprint returns a hash of a definition and a seed. A function counts by
// its name.
func fingerprint(d *Dataset, seed uint64) uint32 {
	h := crc32.NewIEEE()
	var walk func(d *Dataset)
	walk = func(d *Dataset) {
		p, err := json.Marshal(d.Node)
		if err != nil {
			p = nil // a node without a written form counts by its kind
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
