package records

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

func recordsVerifyCmd(a *command.App) *cobra.Command {
	var from string
	var lenient bool
	var limit recordLimit
	cmd := &cobra.Command{
		Use:                   "verify [--lenient] FILE…",
		Short:                 "Check record files and the indexes and checksums beside them",
		DisableFlagsInUseLine: true,
		Args:                  recordArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			ok, err := eachRecordFile(ctx, a, args, from, func(in *recordInput) (bool, error) {
				name, f := in.name, in.format
				reported := map[string]bool{}
				damaged, failed := 0, 0
				bad := func(err error) {
					err = command.Readable(name, err)
					if reported[err.Error()] {
						return
					}
					reported[err.Error()] = true
					if errors.Is(err, records.ErrCorrupt) {
						damaged++
					} else {
						failed++
					}
					a.Complain(err)
				}
				options := records.ReadOptions{Limit: limit.max(), Lenient: lenient, OnSkip: bad, OnNote: func(s string) { note(a, s) }}
				n := 0
				if err := in.each(ctx, store.URI, options, func(*records.Record) error { n++; return nil }); err != nil && ctx.Err() == nil {
					bad(err)
				}
				var beside []string
				refused := false
				if f.Verify != nil && in.stream == nil && ctx.Err() == nil {
					var err error
					beside, err = f.Verify(ctx, store.URI, store.Split(ctx, store.URI, []string{name}), records.ReadOptions{Limit: options.Limit}, bad)
					// A query can be the signature of this file alone.
					refused = store.Path(name) != name && errors.Is(err, fs.ErrPermission)
					if err != nil && !refused && ctx.Err() == nil {
						bad(err)
					}
				}
				if err := command.Interrupted(ctx, "some files were not checked"); err != nil {
					return false, err
				}
				line := fmt.Sprintf("%s: %s, %s", command.Printable(paths.Shown(name)), f.Name, command.Plural(n, "record"))
				if refused {
					line += " (no index or checksums were compared: the query gives no access to files beside this one)"
				} else if len(beside) > 0 {
					line += ", compared with " + command.Printable(command.WithoutSecrets(strings.Join(beside, ", ")))
				}
				switch {
				case damaged+failed == 0:
					line += ": ok"
				case failed == 0:
					line += fmt.Sprintf(": damaged in %s", command.Plural(damaged, "place"))
				case damaged == 0:
					line += fmt.Sprintf(": failed with %s", command.Plural(failed, "error"))
				default:
					line += fmt.Sprintf(": damaged in %s, failed with %s", command.Plural(damaged, "place"), command.Plural(failed, "error"))
				}
				_, err := fmt.Fprintln(a.Stdout, line)
				return damaged+failed == 0, err
			})
			if err != nil {
				return err
			}
			if !ok {
				return &command.ExitError{Status: command.ExitFailed}
			}
			return nil
		},
	}
	fromFlag(cmd, &from)
	limit.flag(cmd)
	cmd.Flags().BoolVar(&lenient, "lenient", false, "continue after damage, in formats that can")
	return cmd
}

func recordsIndexCmd(a *command.App) *cobra.Command {
	var from string
	var options records.IndexOptions
	var limit recordLimit
	var force bool
	cmd := &cobra.Command{
		Use:                   "index [--sums] FILE…",
		Short:                 "Write the indexes of record files",
		DisableFlagsInUseLine: true,
		Args:                  recordArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			options.Limit = limit.max()
			for _, name := range args {
				if pipe.Is(name) {
					return command.FailErr("%s: the index stands beside a file: want a file, not a pipe", name)
				}
				f, err := recordFormat(ctx, store.URI, name, from)
				if err != nil {
					return err
				}
				if f.Index == nil {
					return command.FailErr("%s: the format %s has no index", name, f.Name)
				}
				written, err := f.Index(ctx, newOutputs(force), store.Split(ctx, store.URI, []string{name}), options)
				for _, w := range written {
					if _, err := fmt.Fprintln(a.Stdout, command.Printable(paths.Shown(w))); err != nil {
						return err
					}
				}
				if err != nil {
					if err := command.Interrupted(ctx, "some indexes were not written"); err != nil {
						return err
					}
					if errors.Is(err, records.ErrOption) {
						return command.UsageErr("%w", err)
					}
					return command.WrapFail(command.Readable(name, err))
				}
			}
			return nil
		},
	}
	fromFlag(cmd, &from)
	limit.flag(cmd)
	fl := cmd.Flags()
	fl.BoolVar(&options.Sums, "sums", false, "also write a checksum of each record to FILE.sums (recordio, imagerecord)")
	fl.BoolVar(&force, "force", false, "replace existing indexes")
	return cmd
}
