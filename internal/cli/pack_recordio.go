package cli

import (
	"errors"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/pack"
)

type packRecordIOFlags struct {
	pack.ListOptions
	list bool
	jobs int
}

func (a *app) packRecordIOCmd() *cobra.Command {
	f := &packRecordIOFlags{jobs: runtime.GOMAXPROCS(0)}
	cmd := &cobra.Command{
		Use:   "recordio [flags] PREFIX ROOT",
		Short: "Pack a folder of images into RecordIO files, as im2rec does",
		Long: `List the images below the folder ROOT in PREFIX.lst, as MXNet's im2rec does: the
lists are the same, byte for byte.`,
		Example:               `  infer-prep pack recordio --list --recursive --train-ratio 0.9 data/cats photos/`,
		DisableFlagsInUseLine: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageErr("%s wants a prefix and a folder, got %s", cmd.CommandPath(), plural(len(args), "argument"))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			lists, _, left, err := pack.Lists(args[1], f.ListOptions)
			if err != nil {
				return failErr("%w", err)
			}
			if left > 0 {
				a.complain(errors.New(plural(left, "image") + " on no list"))
			}
			for _, l := range lists {
				if err := writeFile(args[0]+l.Suffix+".lst", func(w io.Writer) error {
					var b []byte
					for _, i := range l.Items {
						b = i.Append(b)
					}
					_, err := w.Write(b)
					return err
				}); err != nil {
					return err
				}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.list, "list", false, "write lists, and no records")
	flags.StringSliceVar(&f.Exts, "exts", []string{".jpeg", ".jpg", ".png"}, "take files with these `endings`")
	flags.BoolVar(&f.Recursive, "recursive", false, "walk the folders below ROOT too; each one with images is a label")
	flags.BoolVar(&f.NoShuffle, "no-shuffle", false, "keep the order of the folders")
	flags.Uint64Var(&f.Seed, "seed", 100, "seed of the shuffle, Python's random.shuffle")
	flags.IntVar(&f.Chunks, "chunks", 1, "divide the images into so many lists")
	flags.Float64Var(&f.TrainRatio, "train-ratio", 1, "part of the images that is for training")
	flags.Float64Var(&f.TestRatio, "test-ratio", 0, "part of the images that is for testing")
	return cmd
}
