//go:build linux

// Command tiles reads windows of a TIFF file for bench/tiles.py.
//
// It reads requests from the standard input until its end. A request is a line
// of JSON: the file, the windows, the goroutines that read them, and the bytes
// of the cache. The answer is a line of JSON: the processor's seconds, those of
// the clock, and the SHA-256 of each window if the request asks for them.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/tiff"
)

// request is what the script asks for.
type request struct {
	File    string   `json:"file"`
	Windows [][2]int `json:"windows"` // left and top
	Size    int      `json:"size"`
	Threads int      `json:"threads"`
	Cache   int64    `json:"cache"` // bytes, 0 for none
	Sums    bool     `json:"sums"`
}

// answer is the answer.
type answer struct {
	CPU  float64  `json:"cpu"`
	Wall float64  `json:"wall"`
	Sums []string `json:"sums,omitempty"`
}

func main() {
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for {
		var q request
		if err := in.Decode(&q); err != nil {
			return
		}
		a, err := read(&q)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := out.Encode(a); err != nil {
			os.Exit(1)
		}
	}
}

// read reads the windows. It opens the file anew, so that nothing is cached.
func read(q *request) (*answer, error) {
	runtime.GOMAXPROCS(q.Threads)
	f, err := os.Open(q.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	o := &tiff.Options{}
	if q.Cache > 0 {
		if o.Cache, err = tiff.NewCache(q.Cache); err != nil {
			return nil, err
		}
	}
	a := &answer{}
	if q.Sums {
		a.Sums = make([]string, len(q.Windows))
	}
	cpu, wall := processor(), time.Now()
	r, err := tiff.NewReader(f, info.Size(), o)
	if err != nil {
		return nil, err
	}
	image, err := r.Image(0)
	if err != nil {
		return nil, err
	}
	errs := make([]error, q.Threads)
	var next atomic.Int64
	var all sync.WaitGroup
	for t := range q.Threads {
		all.Go(func() {
			var buf []byte
			for {
				k := int(next.Add(1) - 1)
				if k >= len(q.Windows) {
					return
				}
				w := codec.Region{Left: q.Windows[k][0], Top: q.Windows[k][1], Width: q.Size, Height: q.Size}
				n, err := image.Size(w)
				if err == nil {
					if len(buf) != n {
						buf = make([]byte, n)
					}
					err = image.Read(buf, w)
				}
				if err != nil {
					errs[t] = err
					return
				}
				if q.Sums {
					sum := sha256.Sum256(buf)
					a.Sums[k] = hex.EncodeToString(sum[:])
				}
			}
		})
	}
	all.Wait()
	a.CPU, a.Wall = processor()-cpu, time.Since(wall).Seconds()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return a, nil
}

// processor returns the seconds that the processors spent on this process.
func processor() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it does not fail for the process itself
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
