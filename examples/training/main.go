// Command training trains a small image classifier on GoMLX's pure-Go backend
// and packs it into a bundle: the path from a folder of images to a model that
// "infer-prep run --bundle" serves. A killed training resumes with the same
// bits. docs/training.md explains it.
//
//	training shapes DIR                        images to train on
//	training train -data DIR/shapes -out OUT   or -data DIR/cifar
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

const usage = `usage:
  training shapes [-train N] [-test N] DIR
      writes images of six shapes: DIR/shapes (folders of PNG files) and DIR/cifar (CIFAR-10's
      binary format); N images of each class
  training train -data DIR -out DIR [-epochs N] [-batch N] [-workers N] [-seed N] [-every N]
      trains, and resumes if OUT has a checkpoint. OUT gets checkpoint, model.bundle, model.onnx,
      predictions.json, curve.png and confusion.png
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "training:", err)
		os.Exit(1)
	}
}

// run is the program; it prints its progress to w.
func run(ctx context.Context, args []string, w io.Writer) error {
	if len(args) == 0 {
		return usageError(w, "no command")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(w)
	flags.Usage = func() { fmt.Fprint(w, usage) }
	switch args[0] {
	case "shapes":
		train, test := flags.Int("train", 500, ""), flags.Int("test", 50, "")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		if flags.NArg() != 1 || *train < 1 || *test < 1 || *train > 1e5 || *test > 1e5 {
			return usageError(w, "shapes: want one folder, and numbers of images of 1 to 100000")
		}
		return makeShapes(flags.Arg(0), *train, *test)
	case "train":
		var o options
		flags.StringVar(&o.data, "data", "", "")
		flags.StringVar(&o.out, "out", "", "")
		flags.IntVar(&o.epochs, "epochs", 14, "")
		flags.IntVar(&o.batch, "batch", 32, "")
		flags.IntVar(&o.workers, "workers", 0, "") // 0: as many as processors
		flags.IntVar(&o.every, "every", 10, "")    // steps between checkpoints
		flags.Uint64Var(&o.seed, "seed", 1, "")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		if o.data == "" || o.out == "" || flags.NArg() > 0 || o.epochs < 1 || o.every < 1 {
			return usageError(w, "train: want -data and -out, and epochs and steps above 0")
		}
		return train(ctx, o, w)
	case "help", "-h", "-help", "--help":
		fmt.Fprint(w, usage)
		return nil
	}
	return usageError(w, fmt.Sprintf("unknown command %q, want shapes or train", args[0]))
}

// usageError prints the usage and returns an error.
func usageError(w io.Writer, what string) error {
	fmt.Fprint(w, usage)
	return errors.New(what)
}
