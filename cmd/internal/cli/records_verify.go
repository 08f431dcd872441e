package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

func (a *app) recordsVerifyCmd() *cobra.Command {
	var from string
	var lenient bool
	cmd := &cobra.Command{
		Use:   "verify [--lenient] FILE…",
		Short: "Read files of records strictly, and compare them with what stands beside them",
		Long: `Read all records of files, strictly, and compare them with the index and the
checksums beside them, if there are any: the .idx and .sums of recordio and
imagerecord files, the .index of shards, the .scp of Kaldi's archives. What damage a
format itself can show is in docs/format. Each damage is named on standard error,
with its file and place, and the next file is looked at.

Reading a file ends at its first damage, since nothing behind it is certain. With
--lenient it goes on where the format can, and all damage is counted.

` + detection + `

Exit status: 0 all is well; 1 a file is damaged, of no known format, or could not be
read; 2 a wrong flag; 130 interrupted.`,
		Example:               `  infer-prep records verify train.rec 'shards/data-*.tar'`,
		DisableFlagsInUseLine: true,
		Args:                  recordArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			ok, err := a.eachRecordFile(ctx, args, from, func(name string, f records.Format) (bool, error) {
				told := map[string]bool{}
				bad := func(err error) {
					err = readable(name, err)
					if !told[err.Error()] {
						told[err.Error()] = true
						a.complain(err)
					}
				}
				options := records.ReadOptions{Lenient: lenient, OnSkip: bad}
				n := 0
				if err := eachRecord(ctx, f, store.Local, splitFiles(name), options, func(*records.Record) error { n++; return nil }); err != nil && ctx.Err() == nil {
					bad(err)
				}
				var beside []string
				if f.Verify != nil && ctx.Err() == nil {
					var err error
					if beside, err = f.Verify(ctx, store.Local, splitFiles(name), records.ReadOptions{}, bad); err != nil && ctx.Err() == nil {
						bad(err)
					}
				}
				if err := interrupted(ctx, "not all was checked"); err != nil {
					return false, err
				}
				line := fmt.Sprintf("%s: %s, %s", printable(name), f.Name, plural(n, "record"))
				if len(beside) > 0 {
					line += ", compared with " + printable(strings.Join(beside, ", "))
				}
				if len(told) == 0 {
					line += ": ok"
				} else {
					line += fmt.Sprintf(": damaged in %s", plural(len(told), "place"))
				}
				_, err := fmt.Fprintln(a.stdout, line)
				return len(told) == 0, err
			})
			if err != nil {
				return err
			}
			if !ok {
				return &exitError{status: exitFailed}
			}
			return nil
		},
	}
	fromFlag(cmd, &from)
	cmd.Flags().BoolVar(&lenient, "lenient", false, "go on behind damage where the format can")
	return cmd
}

func (a *app) recordsIndexCmd() *cobra.Command {
	var from string
	var options records.IndexOptions
	var force bool
	cmd := &cobra.Command{
		Use:   "index [--sums] FILE…",
		Short: "Make the indexes of record files",
		Long: `Make the index beside files of records: the .idx of recordio files, with the
records' numbers for keys, and of imagerecord files, with their ids; the .index of
uncompressed shards, which has checksums; the .scp of Kaldi's archives, in which an
archive is called as it is on the command line.

` + detection + `

Exit status: 0 done; 1 a file could not be read or written, is damaged, or of no known
format or one without an index; 2 a wrong flag; 130 interrupted.`,
		Example: `  infer-prep records index --sums train.rec
  infer-prep records index 'shards/data-{000..012}.tar'`,
		DisableFlagsInUseLine: true,
		Args:                  recordArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			for _, name := range args {
				f, err := recordFormat(ctx, store.Local, name, from)
				if err != nil {
					return err
				}
				if f.Index == nil {
					return failErr("%s: the format %s has no index", name, f.Name)
				}
				written, err := f.Index(ctx, newOutputs(force), splitFiles(name), options)
				for _, w := range written {
					if _, err := fmt.Fprintln(a.stdout, printable(w)); err != nil {
						return err
					}
				}
				if err != nil {
					if err := interrupted(ctx, "not all indexes were made"); err != nil {
						return err
					}
					if errors.Is(err, records.ErrOption) {
						return usageErr("%w", err)
					}
					return wrapFail(readable(name, err))
				}
			}
			return nil
		},
	}
	fromFlag(cmd, &from)
	fl := cmd.Flags()
	fl.BoolVar(&options.Sums, "sums", false, "write a checksum of each record too, to FILE.sums (recordio, imagerecord)")
	fl.BoolVar(&force, "force", false, "replace indexes that exist")
	return cmd
}
