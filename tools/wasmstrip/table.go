package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// The format of the tables: runtime.pcHeader, runtime._func and internal/abi of
// Go 1.27 on wasm, where a pointer has 8 bytes and the byte order is little.
const (
	magic      = "\xf1\xff\xff\xff\x00\x00\x01\x08" // version, two zeros, size of an instruction and of a pointer
	headerSize = 72

	// The fields of pcHeader.
	atFuncs = 8
	atNames = 32 // offset of the names from the header
	atPCTab = 56
	atPCLn  = 64

	// The fields of _func.
	funcName      = 4
	funcPCSP      = 16
	funcPCFile    = 20
	funcPCLn      = 24
	funcPCDatas   = 28
	funcUnit      = 32
	funcStartLine = 36
	funcDatas     = 43
	funcSize      = 44

	pcdataInlTree   = 2
	pcdataArgLive   = 3
	funcdataInlTree = 3
	funcdataArgInfo = 5 // and ArgLiveInfo, WrapInfo

	noFuncdata = 1<<32 - 1

	// runtime.inlinedCall.
	inlinedSize = 16
	inlinedName = 4
	inlinedLine = 12

	// The fields of moduledata: addresses of pcHeader, of the names, and of
	// what the offsets of funcdata count from.
	moduleHeader   = 0
	moduleNames    = 8
	moduleFuncdata = 344
	moduleEnd      = 352 // of pcHeader's tables and the funcdata
)

// goVersion is the release whose tables the constants describe.
const goVersion = "go1.27"

// table is the table of functions in the memory of a program.
type table struct {
	names, cuTab, pcTab, funcs []byte // cuTab holds the files' names too
	count                      int
	funcdata                   []byte
}

var le = binary.LittleEndian

// findTable finds the table.
func findTable(memory []byte) (*table, error) {
	if !bytes.Contains(memory, []byte(goVersion)) {
		return nil, fmt.Errorf("not built by %s: update the constants of this tool from runtime/symtab.go", goVersion)
	}
	at := bytes.Index(memory, []byte(magic))
	if at < 0 || len(memory)-at < headerSize {
		return nil, errors.New("no table of functions")
	}
	b := memory[at:]
	var offsets [5]uint64 // names, units, files, pctab, pcln
	last := uint64(headerSize)
	for i := range offsets {
		offsets[i] = le.Uint64(b[atNames+8*i:])
		if offsets[i] < last || offsets[i] > uint64(len(b)) {
			return nil, errors.New("the table of functions has an invalid header")
		}
		last = offsets[i]
	}
	t := &table{names: b[offsets[0]:offsets[1]], cuTab: b[offsets[1]:offsets[3]], pcTab: b[offsets[3]:offsets[4]], funcs: b[offsets[4]:]}
	if n := le.Uint64(b[atFuncs:]); n == 0 || n > uint64(len(t.funcs))/8 {
		return nil, fmt.Errorf("the table has %d functions: too many for its size", n)
	} else {
		t.count = int(n)
	}
	for i := 0; i+moduleEnd+8 <= len(memory); i += 8 {
		if le.Uint64(memory[i+moduleHeader:]) != uint64(at) || le.Uint64(memory[i+moduleNames:]) != uint64(at)+offsets[0] {
			continue
		}
		start, end := le.Uint64(memory[i+moduleFuncdata:]), le.Uint64(memory[i+moduleEnd:])
		if start < uint64(at) || start > end || end > uint64(len(memory)) {
			break
		}
		t.funcdata = memory[start:end]
		return t, nil
	}
	return nil, errors.New("no module data")
}

// function returns function i: a runtime._func with its lists.
func (t *table) function(i int) ([]byte, error) {
	at := uint64(le.Uint32(t.funcs[8*i+4:]))
	if at+funcSize > uint64(len(t.funcs)) {
		return nil, fmt.Errorf("function %d is outside the table", i)
	}
	f := t.funcs[at:]
	n := funcSize + 4*(uint64(le.Uint32(f[funcPCDatas:]))+uint64(f[funcDatas]))
	if n > uint64(len(f)) {
		return nil, fmt.Errorf("function %d is outside the table", i)
	}
	return f[:n], nil
}

// name returns the name at an offset.
func (t *table) name(off uint32) (string, error) {
	if uint64(off) >= uint64(len(t.names)) {
		return "", errors.New("a name is outside the table")
	}
	s, _, _ := bytes.Cut(t.names[off:], []byte{0})
	return string(s), nil
}

// kept returns what stays of a function's name.
func kept(name string) string {
	switch name {
	case "reflect.makeFuncStub", "reflect.methodValueCall":
		return name // runtime.(*stkframe).argMapInternal finds their arguments
	}
	s := ""
	if strings.HasPrefix(name, "runtime.") {
		s = "runtime." // runtime.isSystemGoroutine
	}
	if strings.Contains(name, ".(*") {
		// runtime.panicwrap parses the name of a method for its message.
		s = "runtime.(*T).M"
		if !strings.HasPrefix(name, "runtime.") {
			s = "go.(*T).M"
		}
	}
	return s
}

// strip blanks names, files and lines, and compacts the tables that stay.
func (t *table) strip() error {
	names := []byte{0} // the empty name
	nameAt := map[string]uint32{"": 0}
	pcTab := []byte{0} // offset 0 means no table
	pcTabAt := map[uint32]uint32{0: 0}
	for i := range t.count {
		f, err := t.function(i)
		if err != nil {
			return err
		}
		name, err := t.name(le.Uint32(f[funcName:]))
		if err != nil {
			return err
		}
		name = kept(name)
		at, ok := nameAt[name]
		if !ok {
			at = uint32(len(names))
			nameAt[name] = at
			names = append(append(names, name...), 0)
		}
		le.PutUint32(f[funcName:], at)
		for _, at := range []int{funcPCFile, funcPCLn, funcUnit, funcStartLine} {
			le.PutUint32(f[at:], 0)
		}

		pcdata := int(le.Uint32(f[funcPCDatas:]))
		if err := t.inlined(f, pcdata); err != nil {
			return err
		}
		tables := [][]byte{f[funcPCSP:]}
		for k := range pcdata {
			p := f[funcSize+4*k:]
			if k == pcdataArgLive {
				le.PutUint32(p, 0)
			}
			tables = append(tables, p)
		}
		for _, p := range tables {
			old := le.Uint32(p)
			at, ok := pcTabAt[old]
			if !ok {
				b, _, err := t.steps(old)
				if err != nil {
					return err
				}
				at = uint32(len(pcTab))
				pcTabAt[old] = at
				pcTab = append(pcTab, b...)
			}
			le.PutUint32(p, at)
		}
		for k := funcdataArgInfo; k < int(f[funcDatas]); k++ {
			le.PutUint32(f[funcSize+4*(pcdata+k):], noFuncdata)
		}
	}
	if len(names) > len(t.names) || len(pcTab) > len(t.pcTab) {
		return errors.New("the tables overlap")
	}
	clear(t.names)
	copy(t.names, names)
	clear(t.cuTab)
	clear(t.pcTab)
	copy(t.pcTab, pcTab)
	return nil
}

// inlined blanks the names and lines of the calls that are inlined in a
// function.
func (t *table) inlined(f []byte, pcdata int) error {
	if pcdata <= pcdataInlTree || f[funcDatas] <= funcdataInlTree {
		return nil
	}
	tree := le.Uint32(f[funcSize+4*(pcdata+funcdataInlTree):])
	values := le.Uint32(f[funcSize+4*pcdataInlTree:])
	if tree == noFuncdata || values == 0 {
		return nil
	}
	// The values are the indexes of the calls, or -1.
	_, last, err := t.steps(values)
	if err != nil {
		return err
	}
	end := uint64(tree) + uint64(last+1)*inlinedSize
	if end > uint64(len(t.funcdata)) {
		return errors.New("a tree of inlined calls is outside the table")
	}
	for b := t.funcdata[tree:end]; len(b) > 0; b = b[inlinedSize:] {
		le.PutUint32(b[inlinedName:], 0)
		le.PutUint32(b[inlinedLine:], 0)
	}
	return nil
}

// steps returns the table of values by program counter at an offset, and the
// largest value: pairs of varints up to a zero (runtime.step).
func (t *table) steps(off uint32) (_ []byte, largest int, err error) {
	b := t.pcTab[min(uint64(off), uint64(len(t.pcTab))):]
	value := int32(-1)
	largest = -1
	for n := 0; ; {
		delta, k := binary.Uvarint(b[n:])
		if k <= 0 {
			break
		}
		if delta == 0 && n > 0 {
			return b[:n+k], largest, nil
		}
		value += int32(-(delta & 1) ^ (delta >> 1)) // zigzag
		largest = max(largest, int(value))
		n += k
		if _, k = binary.Uvarint(b[n:]); k <= 0 {
			break
		}
		n += k
	}
	return nil, 0, errors.New("a table of values is not terminated")
}
