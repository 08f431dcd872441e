package main

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// The test of whole programs is wasm/test/strip.test.mjs: it needs node.

// wasm returns a file whose data section has the given segments.
func wasm(segments ...[]byte) []byte {
	section := binary.AppendUvarint(nil, uint64(len(segments)))
	for _, s := range segments {
		section = append(section, s...)
	}
	b := append([]byte(header), 0, 2, 1, 'x') // a custom section
	b = append(b, dataSection)
	b = binary.AppendUvarint(b, uint64(len(section)))
	return append(append(b, section...), 0, 2, 1, 'y')
}

func segment(addr int, text string) []byte {
	b := append(appendSLEB([]byte{0, opI32Const}, addr), opEnd)
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// TestSegments reads and writes memories.
func TestSegments(t *testing.T) {
	for name, c := range map[string]struct{ in, out [][]byte }{
		"one":        {[][]byte{segment(5, "abc")}, [][]byte{segment(5, "abc")}},
		"far":        {[][]byte{segment(63, "a"), segment(64, "b"), segment(1<<20, "c")}, [][]byte{segment(63, "ab"), segment(1<<20, "c")}},
		"short gap":  {[][]byte{segment(8, "a"), segment(16, "b")}, [][]byte{segment(8, "a\x00\x00\x00\x00\x00\x00\x00b")}},
		"long gap":   {[][]byte{segment(8, "a\x00\x00\x00\x00\x00\x00\x00\x00b")}, [][]byte{segment(8, "a"), segment(17, "b")}},
		"outer zero": {[][]byte{segment(0, "\x00a\x00")}, [][]byte{segment(1, "a")}},
	} {
		m, err := load(wasm(c.in...))
		require.NoError(t, err, name)
		require.Equal(t, wasm(c.out...), m.file(wasm(c.in...)), name)
	}
}

// TestManySegments keeps to the number of segments that engines load.
func TestManySegments(t *testing.T) {
	b := wasm(segment(1, "a"))
	m, err := load(b)
	require.NoError(t, err)
	m.b = bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0}, maxSegments+1)
	_, count := m.encode(8)
	require.Equal(t, maxSegments+1, count)
	again, err := load(m.file(b))
	require.NoError(t, err)
	require.Equal(t, bytes.TrimRight(m.b, "\x00"), again.b)
	_, count = again.encode(16)
	require.Equal(t, 1, count)
}

// TestRefused gives files that are not stripped.
func TestRefused(t *testing.T) {
	whole := wasm(segment(5, "abc"))
	for name, c := range map[string]struct {
		b    []byte
		text string
	}{
		"empty":       {nil, "not a WebAssembly file"},
		"magic":       {[]byte("\x00asm\x02\x00\x00\x00"), "not a WebAssembly file"},
		"no data":     {[]byte(header), "no data section"},
		"not Go":      {whole, "not built by go1.27"},
		"other table": {wasm(segment(5, "go1.27.2")), "no table of functions"},
		"short table": {wasm(segment(5, "go1.27.2"+magic)), "no table of functions"},
		"bad header":  {wasm(segment(5, "go1.27.2"+magic+string(bytes.Repeat([]byte{255}, 200)))), "invalid header"},
		"passive":     {wasm([]byte{1, 3, 'a', 'b', 'c'}), "without a constant address"},
		"negative":    {wasm([]byte{0, opI32Const, 0x7f, opEnd, 1, 'a'}), "address is too large"},
		"huge":        {wasm(segment(1<<30, "abc")), "address is too large"},
		"long":        {wasm([]byte{0, opI32Const, 0, opEnd, 100, 'a'}), "longer than its section"},
	} {
		_, err := strip(c.b)
		require.ErrorContains(t, err, c.text, name)
	}
	for n := range whole {
		_, err := strip(whole[:n])
		require.Error(t, err, n)
	}
}

// TestNames shows what stays of names that package runtime compares.
func TestNames(t *testing.T) {
	for in, want := range map[string]string{
		"main.main": "", "reflect.makeFuncStub": "reflect.makeFuncStub", "reflect.Value.Call": "",
		"runtime.bgsweep": "runtime.", "runtime.(*mheap).alloc": "runtime.(*T).M", "a/b.(*c).d": "go.(*T).M",
	} {
		require.Equal(t, want, kept(in), in)
	}
}

// TestSteps reads tables of values by program counter.
func TestSteps(t *testing.T) {
	tab := &table{pcTab: []byte{0, 2, 1, 4, 5, 3, 128, 1, 0, 9}}
	b, largest, err := tab.steps(1) // values 0, 2, 0
	require.NoError(t, err)
	require.Equal(t, tab.pcTab[1:9], b)
	require.Equal(t, 2, largest)
	for _, off := range []uint32{9, 10, 1 << 31} {
		_, _, err = tab.steps(off)
		require.Error(t, err, off)
	}
}
