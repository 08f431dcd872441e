//go:build linux

package main

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"

	protocol "github.com/infer-prep/infer-prep/bench/internal/peer"
	"github.com/infer-prep/infer-prep/compat/mxnet"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
)

// iterate runs ImageRecordIter over a file of image records with the given
// number of threads.
func iterate(name, threads string) error {
	open := func(random string) (*mxnet.ImageRecordIter, error) {
		p, err := mxnet.ParseImageRecordParams(map[string]string{ // as in mxnet_iter.py
			"path_imgrec": name, "data_shape": "(3,224,224)", "batch_size": "32", "resize": "256", "rand_crop": random, "rand_mirror": random,
			"mean_r": "123.68", "mean_g": "116.779", "mean_b": "103.939", "std_r": "58.393", "std_g": "57.12", "std_b": "57.375",
			"preprocess_threads": threads,
		})
		if err != nil {
			return nil, err
		}
		return mxnet.NewImageRecordIter(context.Background(), p)
	}
	epoch := func(it *mxnet.ImageRecordIter, use func(*mxnet.DataBatch)) (n int, err error) {
		for {
			b, err := it.Next(context.Background())
			if err == io.EOF {
				return n, nil
			}
			if err != nil {
				return n, err
			}
			n += b.Data[0].Shape.At(0) - b.Pad
			use(b)
		}
	}
	use := func(*mxnet.DataBatch) {}
	it, err := open("True")
	if err != nil {
		return err
	}
	defer it.Close()
	if _, err := epoch(it, use); err != nil {
		return err
	}
	return protocol.Serve("this commit", protocol.Answers{Go: func() (int, error) {
		if err := it.Reset(); err != nil { // here, as in mxnet_iter.py
			return 0, err
		}
		return epoch(it, use)
	}, Check: func(w io.Writer) error {
		it, err := open("False")
		if err != nil {
			return err
		}
		_, err = epoch(it, func(b *mxnet.DataBatch) {
			_, _ = w.Write(b.Label[0].Data) // a hash never fails
			_, _ = w.Write(b.Data[0].Data)
		})
		return errors.Join(err, it.Close())
	}})
}

// packer packs the images of a folder with the program infer-prep at PROGRAM
// and the given number of jobs. It makes the list beforehand, beside the
// output.
func packer(program, folder, jobs string, flags []string) error {
	d, err := os.MkdirTemp(filepath.Dir(folder), "pack-")
	if err != nil {
		return err
	}
	prefix := filepath.Join(d, "x")
	pack := func(args ...string) error {
		c := exec.Command(program, append([]string{"pack", "recordio", "--quiet", "--force", prefix, folder}, args...)...)
		c.Stderr = os.Stderr
		return c.Run()
	}
	if err := pack("--list", "--recursive"); err != nil {
		return err
	}
	each := func(use func(*imagerecord.Record) error) (n int, err error) {
		var bad error
		_, err = recordIO(prefix+".rec", func(b []byte) {
			var r imagerecord.Record
			n++
			e := r.Parse(b)
			if e == nil {
				e = use(&r)
			}
			bad = errors.Join(bad, e)
		})
		return n, errors.Join(err, bad)
	}
	args := append([]string{"--jobs", jobs}, flags...)
	if err := pack(args...); err != nil {
		return err
	}
	n, err := each(func(*imagerecord.Record) error { return nil })
	if err != nil {
		return err
	}
	return protocol.Serve("this commit", protocol.Answers{Go: func() (int, error) { return n, pack(args...) }, Check: func(w io.Writer) error {
		_, err := each(func(r *imagerecord.Record) error {
			var b [12]byte
			binary.LittleEndian.PutUint32(b[:], math.Float32bits(r.Labels[0]))
			binary.LittleEndian.PutUint64(b[4:], r.ID)
			_, _ = w.Write(b[:])
			_, _ = w.Write(r.Content)
			return nil
		})
		return err
	}})
}
