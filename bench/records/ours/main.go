//go:build linux

// Command ours runs infer-prep for records.py. It also makes the record files
// of random bytes that the comparison reads.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	protocol "github.com/infer-prep/infer-prep/bench/internal/peer"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/records/mds"
	"github.com/infer-prep/infer-prep/records/mindrecord"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "ours: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 4 && args[0] == "make" {
		size, err := strconv.Atoi(args[2])
		count, err2 := strconv.Atoi(args[3])
		if err = errors.Join(err, err2); err != nil {
			return err
		}
		return write(args[1], size, count)
	}
	switch {
	case len(args) == 3 && args[0] == "iterate":
		return iterate(args[1], args[2])
	case len(args) > 4 && args[0] == "pack":
		return packer(args[1], args[2], args[3], args[4:])
	case len(args) == 2:
		return peer(args[0], args[1])
	}
	return fmt.Errorf("%q: want CASE FILE, make FILE SIZE COUNT, iterate FILE THREADS or pack PROGRAM FOLDER THREADS FLAG…", args)
}

// write creates FILE.rec, FILE.tar, FILE.mindrecord or the folder FILE.mds with
// the given number of records of random bytes. Records of the latter three also
// have a label.
func write(name string, size, count int) error {
	switch filepath.Ext(name) {
	case ".mindrecord":
		return writeMindRecord(name, size, count)
	case ".mds":
		return writeMDS(name, size, count)
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	b := make([]byte, size)
	random := rand.NewChaCha8([32]byte{})
	out := bufio.NewWriterSize(f, 1<<20)
	switch filepath.Ext(name) {
	case ".rec":
		var w *recordio.Writer
		if w, err = recordio.NewWriter(out, 0); err != nil {
			return err
		}
		for range count {
			_, _ = random.Read(b) // never fails
			if err := w.Write(b); err != nil {
				return err
			}
		}
	case ".tar":
		var w *webdataset.TarWriter
		if w, err = webdataset.NewTarWriter(out, webdataset.TarOptions{}); err != nil {
			return err
		}
		for i := range count {
			_, _ = random.Read(b)
			err := w.Write(&webdataset.Sample{Key: fmt.Sprintf("%08d", i), Fields: []webdataset.Field{{Ext: "jpg", Data: b}, {Ext: "cls", Data: strconv.AppendInt(nil, int64(i%1000), 10)}}})
			if err != nil {
				return err
			}
		}
		if err := w.Close(); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%s: want .rec, .tar, .mindrecord or .mds", name)
	}
	return errors.Join(out.Flush(), f.Close())
}

func writeMindRecord(name string, size, count int) error {
	label, err := tensor.New(tensor.Desc{DType: tensor.Int32})
	if err != nil {
		return err
	}
	fields := []mindrecord.Field{{Name: "data", Desc: tensor.Encoded()}, {Name: "label", Desc: label.Desc}}
	w, err := mindrecord.Create(name, mindrecord.Schema{Fields: fields}, mindrecord.WriterOptions{})
	if err != nil {
		return err
	}
	b := make([]byte, size)
	random := rand.NewChaCha8([32]byte{})
	for i := range count {
		_, _ = random.Read(b)
		tensor.View[int32](label)[0] = int32(i % 1000)
		if err := w.Write([]tensor.Tensor{*tensor.FromBytes(b), *label}); err != nil {
			return errors.Join(err, w.Abort())
		}
	}
	return w.Close()
}

func writeMDS(dir string, size, count int) error {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	f, err := records.Lookup("mds")
	if err != nil {
		return err
	}
	w, err := f.Create(context.Background(), store.Local, filepath.Join(dir, mds.Index), records.WriteOptions{})
	if err != nil {
		return err
	}
	b := make([]byte, size)
	random := rand.NewChaCha8([32]byte{})
	for i := range count {
		_, _ = random.Read(b)
		r := &records.Record{Key: strconv.Itoa(i)}
		r.AddBytes("data", b)
		r.AddInt("label", int64(i%1000))
		if err := w.Write(r); err != nil {
			return errors.Join(err, w.Abort())
		}
	}
	return w.Close()
}

// recordIO calls use with each record of a file.
func recordIO(name string, use func([]byte)) (n int, err error) {
	f, err := store.Local.Open(context.Background(), name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r := recordio.NewReader(io.NewSectionReader(f, 0, f.Size()), recordio.Options{Name: name})
	if b := store.MappedBytes(f); b != nil {
		r = recordio.NewBytes(b, recordio.Options{Name: name})
	}
	for ; ; n++ {
		b, err := r.Next()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		use(b)
	}
}

// shard calls use with each field of a shard's samples.
func shard(name string, use func([]byte)) (n int, err error) {
	r, err := webdataset.Open(context.Background(), store.Local, name, webdataset.Options{})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for ; ; n++ {
		s, err := r.Next()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		for _, f := range s.Fields {
			use(f.Data)
		}
	}
}

// mindRecord calls use with field data of each row, in order.
func mindRecord(name string, use func([]byte)) (n int, err error) {
	s, err := mindrecord.Open([]string{name})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	data := slices.IndexFunc(s.Columns(), func(f mindrecord.Field) bool { return f.Name == "data" })
	var r mindrecord.Row
	for ; n < int(s.Len()); n++ {
		if err := s.Read(int64(n), &r); err != nil {
			return n, err
		}
		use(r.Values[data].Data)
	}
	return n, nil
}

// mosaic calls use with field data of each sample, in order.
func mosaic(name string, use func([]byte)) (n int, err error) {
	s, err := mds.Open(context.Background(), store.Local, name)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	data := slices.IndexFunc(s.Columns(), func(c mds.Column) bool { return c.Name == "data" })
	var r mds.Row
	for ; n < int(s.Len()); n++ {
		if err := s.Read(int64(n), &r); err != nil {
			return n, err
		}
		use(r.Values[data].Data)
	}
	return n, nil
}

// sum reads every byte, as eight-byte numbers.
func sum(b []byte) {
	var x, y uint64
	for ; len(b) >= 16; b = b[16:] {
		x += binary.LittleEndian.Uint64(b)
		y += binary.LittleEndian.Uint64(b[8:])
	}
	for _, c := range b {
		x += uint64(c)
	}
	runtime.KeepAlive(x + y)
}

func peer(name, file string) error {
	each := recordIO
	switch filepath.Ext(file) {
	case ".tar":
		each = shard
	case ".mindrecord":
		each = mindRecord
	case ".mds":
		each = mosaic
	}
	use := func([]byte) {}
	switch name {
	case "hand":
	case "read":
		use = sum
	default:
		return fmt.Errorf("case %q, want hand or read", name)
	}
	if _, err := each(file, use); err != nil {
		return err
	}
	return protocol.Serve("this commit", protocol.Answers{Go: func() (int, error) { return each(file, use) }, Check: func(w io.Writer) error {
		_, err := each(file, func(b []byte) { _, _ = w.Write(b) }) // a hash never fails
		return err
	}})
}
