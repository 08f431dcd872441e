package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/records"
	_ "github.com/infer-prep/infer-prep/records/all" // formats of record files
	"github.com/infer-prep/infer-prep/store"
)

func (a *app) recordsCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "records",
		Short: "List, print, check, index and convert record files",
		Long: `Look into files of records, check them, and convert them into one another. What
becomes of fields and keys between formats is in docs/format/records.md.

` + recordFormats(),
		Args: oneOfCommands,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.recordsLsCmd(), a.recordsCatCmd(), a.recordsVerifyCmd(), a.recordsIndexCmd(), a.recordsConvertCmd())
	return cmd
}

// recordFormats is a paragraph of help: the formats that are linked.
func recordFormats() string {
	var b strings.Builder
	b.WriteString("Formats:\n")
	width := 0
	for _, f := range records.Formats() {
		width = max(width, len(f.Name))
	}
	for _, f := range records.Formats() {
		doc := f.Doc
		if f.Create == nil {
			doc += " (read only)"
		}
		fmt.Fprintf(&b, "  %-*s  %s\n", width, f.Name, doc)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// detection is a paragraph of help.
const detection = `The format of a file is told by its name and its first bytes: imagerecord if an
image stands in the first record where an image record has it, else recordio;
tfexample if the first record begins as one, else tfrecord. --from overrides it.`

// recordArgs wants at least one file.
func recordArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usageErr("%s wants a file of records, got no argument", commandName(cmd))
	}
	return nil
}

// fromFlag adds --from.
func fromFlag(cmd *cobra.Command, from *string) {
	cmd.Flags().StringVar(from, "from", "", "the format of the files: `FORMAT` is "+strings.Join(records.Names(), ", ")+" (default: detected)")
	complete(cmd, "from", records.Names()...)
}

// recordFormat finds the format of a file, or of from if that is not empty.
func recordFormat(ctx context.Context, o store.Opener, name, from string) (records.Format, error) {
	f, err := records.Format{}, error(nil)
	if from != "" {
		if f, err = records.Lookup(from); err != nil {
			return f, usageErr("--from %s: want one of %s", from, strings.Join(records.Names(), ", "))
		}
	} else if f, err = records.Detect(ctx, o, name); errors.Is(err, records.ErrUnknown) {
		if f, err = records.DetectByName(name); err == nil {
			return f, failErr("%s: it is not what its name says, %s, and its first bytes are of no known format; --from overrides what is detected", name, f.Name)
		}
		return f, failErr("%s: neither its name nor its first bytes are of a known format: say --from with one of %s", name, strings.Join(records.Names(), ", "))
	} else if err != nil {
		return f, failErr("%w", readable(name, err))
	}
	if f.Open == nil {
		return f, usageErr("%s: the format %s is written, not read", name, f.Name)
	}
	return f, nil
}

// eachRecordFile calls do with each file, and goes on with the next where one is of no known format, which is
// named, or do is false. It is false then; an error ends it.
func (a *app) eachRecordFile(ctx context.Context, names []string, from string, do func(name string, f records.Format) (bool, error)) (ok bool, err error) {
	ok = true
	for _, name := range names {
		f, err := recordFormat(ctx, store.Local, name, from)
		if isUsage(err) {
			return false, err
		}
		if err != nil {
			ok = false
			a.complain(err)
			continue
		}
		well, err := do(name, f)
		if err != nil {
			return false, err
		}
		ok = ok && well
	}
	return ok, nil
}

// eachRecord opens files and calls f with every record. It ends with the first
// error of either, io.EOF apart.
func eachRecord(ctx context.Context, format records.Format, o store.Opener, files []string, options records.ReadOptions, f func(*records.Record) error) error {
	r, err := format.Open(ctx, o, files, options)
	if err != nil {
		return err
	}
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

// splitFiles returns the files of arguments, each of which may be several names
// separated by semicolons.
func splitFiles(args ...string) []string {
	var l []string
	for _, arg := range args {
		for _, s := range strings.Split(arg, ";") {
			if s != "" {
				l = append(l, s)
			}
		}
	}
	return l
}

// isFile reports that a name is that of a file, and no pattern.
func isFile(ctx context.Context, o store.Opener, name string) (store.Info, bool) {
	i, err := o.Stat(ctx, name)
	return i, err == nil && !i.Folder
}

// outputs is an Opener for what is written: it refuses to replace files unless force is
// true, and files that are read, and can take back what it wrote.
type outputs struct {
	store.Opener
	force bool
	read  map[string]bool // by absolute name
	made  map[string]bool // what is begun or done, true once it has its name
}

func newOutputs(force bool) *outputs {
	return &outputs{store.Local, force, map[string]bool{}, map[string]bool{}}
}

func absolutePath(name string) string {
	if p, err := filepath.EvalSymlinks(name); err == nil {
		name = p
	}
	if p, err := filepath.Abs(name); err == nil {
		name = p
	}
	return name
}

// Open opens a file that is not one of those written.
func (o *outputs) Open(ctx context.Context, name string) (store.File, error) {
	if _, own := o.made[absolutePath(name)]; own {
		return nil, fmt.Errorf("%s: it was to be read, and has been written", name)
	}
	f, err := o.Opener.Open(ctx, name)
	if err == nil {
		o.read[absolutePath(name)] = true
	}
	return f, err
}

// errExists is the error of a file that is there.
var errExists = errors.New("it exists; --force replaces it")

// Claim refuses to write what is read, and what is there unless force is true.
func (o *outputs) CheckAccess(name string, write bool) error {
	p := absolutePath(name)
	if !write {
		o.read[p] = true
		return nil
	}
	if o.read[p] {
		return fmt.Errorf("%s: it is read: it cannot be written at the same time", name)
	}
	if _, err := os.Lstat(name); err == nil && !o.force {
		return fmt.Errorf("%s: %w", name, errExists)
	}
	return nil
}

// Create makes a file.
func (o *outputs) Create(ctx context.Context, name string) (store.NewFile, error) {
	if err := o.CheckAccess(name, true); err != nil {
		return nil, err
	}
	p := absolutePath(name)
	f, err := o.Opener.Create(ctx, name)
	if err != nil {
		return nil, plain(name, err)
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

// takeBack removes what was written.
func (o *outputs) takeBack() error {
	var errs []error
	for name, done := range o.made {
		if done {
			errs = append(errs, os.Remove(name))
		}
	}
	return errors.Join(errs...)
}
