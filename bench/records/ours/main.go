//go:build linux

// Command ours is infer-prep in the comparison of records.py, and makes its files.
package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/records/webdataset"
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
	if len(args) != 2 {
		return fmt.Errorf("%q: want CASE FILE, or make FILE SIZE COUNT", args)
	}
	return peer(args[0], args[1])
}

// write makes FILE.rec or FILE.tar with so many records, or samples of that and a label, of random bytes.
func write(name string, size, count int) error {
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
			_, _ = random.Read(b) // which never fails
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
		return fmt.Errorf("%s: want .rec or .tar", name)
	}
	return errors.Join(out.Flush(), f.Close())
}

// recordIO gives use the records of a file.
func recordIO(name string, use func([]byte)) (n int, err error) {
	f, err := recordio.Local.Open(context.Background(), name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r := recordio.NewReader(io.NewSectionReader(f, 0, f.Size()), recordio.Options{Name: name})
	if m, ok := f.(recordio.Mapped); ok && m.Bytes() != nil {
		r = recordio.NewBytes(m.Bytes(), recordio.Options{Name: name})
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

// shard gives use the fields of a shard's samples.
func shard(name string, use func([]byte)) (n int, err error) {
	r, err := webdataset.Open(context.Background(), recordio.Local, name, webdataset.Options{})
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

var sink uint64

// sum reads every byte.
func sum(b []byte) {
	var x, y uint64
	for ; len(b) >= 16; b = b[16:] {
		x += binary.LittleEndian.Uint64(b)
		y += binary.LittleEndian.Uint64(b[8:])
	}
	for _, c := range b {
		x += uint64(c)
	}
	sink += x + y
}

func peer(name, file string) error {
	each := recordIO
	if filepath.Ext(file) == ".tar" {
		each = shard
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
	fmt.Println("ready this commit")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		switch in.Text() {
		case "go":
			cpu, start := cpuTime(), time.Now()
			n, err := each(file, use)
			if err != nil {
				return err
			}
			fmt.Printf("%d %.9f %.9f\n", n, time.Since(start).Seconds(), (cpuTime() - cpu).Seconds())
		case "check":
			h := sha256.New()
			if _, err := each(file, func(b []byte) { h.Write(b) }); err != nil {
				return err
			}
			fmt.Printf("%x\n", h.Sum(nil))
		case "quit":
			return nil
		default:
			return fmt.Errorf("%q: want go, check or quit", in.Text())
		}
	}
	return in.Err()
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // which cannot fail with this argument
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
