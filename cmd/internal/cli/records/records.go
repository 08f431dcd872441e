// Package records implements the commands of record files.
package records

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/records"
	_ "github.com/infer-prep/infer-prep/records/all" // formats of record files
	"github.com/infer-prep/infer-prep/store"
)

func Command(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "records",
		Short: "List, print, check, index and convert record files",
		Args:  command.OneOfCommands,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(recordsLsCmd(a), recordsCatCmd(a), recordsVerifyCmd(a), recordsIndexCmd(a), recordsConvertCmd(a))
	return cmd
}

// recordArgs requires at least one file.
func recordArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return command.UsageErr("%s: no files: want at least one record file", command.CommandName(cmd))
	}
	return nil
}

// fromFlag adds --from.
func fromFlag(cmd *cobra.Command, from *string) {
	cmd.Flags().StringVar(from, "from", "", "read files of this `FORMAT`: "+command.OrList(records.Names())+" (default: detected)")
	command.Complete(cmd, "from", records.Names()...)
}

// recordLimit is the value of --limit-bytes: 0 for the format's own limit, -1
// for none.
type recordLimit command.Limit

func (l *recordLimit) flag(cmd *cobra.Command) {
	cmd.Flags().Var((*command.Limit)(l), "limit-bytes", "refuse records of more `BYTES`; 0 means no limit (default: 1Gi, less in formats that hold less)")
}

// max returns the limit as package records has it.
func (l recordLimit) max() int64 {
	if l < 0 {
		return math.MaxInt64
	}
	return int64(l)
}

// recordFormat returns the format from or, if that is empty, detects a file's
// format.
func recordFormat(ctx context.Context, o store.Opener, name, from string) (records.Format, error) {
	f, err := records.Format{}, error(nil)
	if from != "" {
		if f, err = records.Lookup(from); err != nil {
			return f, command.OneOf("from", from, records.Names()...)
		}
	} else if f, err = records.Detect(ctx, o, name); errors.Is(err, records.ErrUnknown) {
		if f, err = records.DetectByName(name); err == nil {
			return f, command.FailErr("%s: the name suggests the format %s, but the content does not match; --from sets the format", name, f.Name)
		}
		hint := ""
		if strings.HasSuffix(name, ".parquet") {
			hint = command.InFull("Parquet")
		}
		return f, command.FailErr("%s: unknown format: set --from to %s%s", name, command.OrList(records.Names()), hint)
	} else if err != nil {
		return f, command.FailErr("%w", command.Readable(name, err))
	}
	if f.Open == nil {
		return f, command.UsageErr("%s: the format %s is write-only", name, f.Name)
	}
	return f, nil
}

// note prints what a file holds besides its records.
func note(a *command.App, s string) { a.Complain(errors.New(s)) }

// eachRecordFile calls do with each file or stream. It reports one of unknown
// format and continues. ok is false if there was such a file or do
// returned false. An error of do ends the loop.
func eachRecordFile(ctx context.Context, a *command.App, names []string, from string, do func(in *recordInput) (bool, error)) (ok bool, err error) {
	ok = true
	for _, name := range names {
		in, err := openRecords(ctx, a, store.URI, name, from)
		if err != nil && (command.IsUsage(err) || ctx.Err() != nil) {
			return false, err
		}
		if err != nil {
			ok = false
			a.Complain(err)
			continue
		}
		well, err := do(in)
		in.close()
		if err != nil {
			return false, err
		}
		ok = ok && well
	}
	return ok, nil
}

// eachRecord opens files and calls f with every record, until the first error.
func eachRecord(ctx context.Context, format records.Format, o store.Opener, files []string, options records.ReadOptions, f func(*records.Record) error) error {
	r, err := format.Open(ctx, o, files, options)
	if err != nil {
		return err
	}
	return readRecords(ctx, r, f)
}

// readRecords calls f with every record of r, until the first error, and closes
// r.
func readRecords(ctx context.Context, r records.Reader, f func(*records.Record) error) (err error) {
	var x records.Record
	for err == nil {
		if err = ctx.Err(); err == nil {
			if err = r.Next(&x); err == nil {
				err = f(&x)
			}
		}
	}
	if err == io.EOF {
		err = nil
	}
	return errors.Join(err, r.Close())
}

// isFile reports whether name is an existing file rather than a pattern.
func isFile(ctx context.Context, o store.Opener, name string) (store.Info, bool) {
	i, err := o.Stat(ctx, name)
	return i, err == nil && !i.Folder
}

// outputs is an Opener that creates files. It refuses to write a file that is
// read and, unless force is true, one that exists. It can remove what it wrote.
type outputs struct {
	store.Opener
	force bool
	read  map[string]bool // absolute names of files that are read
	made  map[string]bool // absolute names of created files; true once complete
}

func newOutputs(force bool) *outputs {
	return &outputs{store.URI, force, map[string]bool{}, map[string]bool{}}
}

// Unwrap returns the store below, for code that needs files of this machine.
func (o *outputs) Unwrap() store.Opener { return o.Opener }

func absolutePath(name string) string {
	if paths.IsURI(name) {
		return name
	}
	if p, err := filepath.EvalSymlinks(name); err == nil {
		name = p
	}
	if p, err := filepath.Abs(name); err == nil {
		name = p
	}
	return name
}

// Open opens a file. It refuses files that o created.
func (o *outputs) Open(ctx context.Context, name string) (store.File, error) {
	if _, own := o.made[absolutePath(name)]; own {
		return nil, fmt.Errorf("%s: the file is both input and output", name)
	}
	f, err := o.Opener.Open(ctx, name)
	if err == nil {
		o.read[absolutePath(name)] = true
	}
	return f, err
}

// CheckAccess refuses to write a file that is read or, unless force is true,
// exists. It refuses files that are not of this machine.
func (o *outputs) CheckAccess(name string, write bool) error {
	if name = paths.TrimFile(name); paths.IsURI(name) {
		return fmt.Errorf("%s: %w: this format reads and writes files of this machine", name, errors.ErrUnsupported)
	}
	return o.check(context.Background(), name, write)
}

// check is CheckAccess for files of any store.
func (o *outputs) check(ctx context.Context, name string, write bool) error {
	p := absolutePath(name)
	if !write {
		o.read[p] = true
		return nil
	}
	if o.read[p] {
		return fmt.Errorf("%s: the file is both input and output", name)
	}
	if paths.IsURI(name) {
		// Creating a file can replace a folder nowhere: in an object store both
		// can have one name.
		if o.force {
			return nil
		}
		there, err := paths.Exists(ctx, name)
		if err == nil && there {
			err = fmt.Errorf("%s: %w", name, command.ErrExists)
		}
		return err
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return fmt.Errorf("%s: is a folder: want a regular file", name)
	}
	if _, err := os.Lstat(name); err == nil && !o.force {
		return fmt.Errorf("%s: %w", name, command.ErrExists)
	}
	return nil
}

// Create creates a file.
func (o *outputs) Create(ctx context.Context, name string) (store.NewFile, error) {
	if err := o.check(ctx, name, true); err != nil {
		return nil, err
	}
	p := absolutePath(name)
	f, err := o.Opener.Create(ctx, name)
	if err != nil {
		return nil, paths.Error(name, err)
	}
	o.made[p] = false
	return &madeFile{f, o, p}, nil
}

type madeFile struct {
	store.NewFile
	o    *outputs
	name string
}

func (f *madeFile) Close() error {
	err := f.NewFile.Close()
	f.o.made[f.name] = err == nil
	return err
}

// remove removes the complete files that o created. A store keeps them, which
// is an error.
func (o *outputs) remove() error {
	var errs []error
	for name, done := range o.made {
		switch {
		case done && paths.IsURI(name):
			errs = append(errs, fmt.Errorf("%s: the file is complete and stays in the store", name))
		case done:
			errs = append(errs, os.Remove(name))
		}
	}
	return errors.Join(errs...)
}
