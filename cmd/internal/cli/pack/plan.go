package pack

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/pack"
	"github.com/infer-prep/infer-prep/store"
)

type packPlanFlags struct {
	packFlags
	source.GraphFlags
	out         string
	format      string
	input       string
	root, usage string
	exts        []string
	name        string
	shards      int
	perShard    int
	seed        uint64
	packLabel   bool
	json        bool
}

// inputKinds are the values of --input.
var inputKinds = []string{"images", "classes", "samples", "list", "manifest"}

func packPlanCmd(a *command.App) *cobra.Command {
	f := &packPlanFlags{}
	cmd := &cobra.Command{
		Use:                   "plan -o PLAN.json [flags] INPUT",
		Short:                 "Plan a pack that many machines do together",
		DisableFlagsInUseLine: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return command.UsageErr("%s: want one folder, list or manifest, got %s", command.CommandName(cmd), command.Plural(len(args), "argument"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return packPlan(a, cmd, f, args[0]) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "write the plan to `PLAN.json`, a path or a URI")
	fl.StringVar(&f.format, "format", "webdataset", "`FORMAT` of the shards: webdataset (tar files) or recordio")
	fl.StringVar(&f.input, "input", "", "`KIND` of INPUT: images, classes, samples, list or manifest")
	fl.Lookup("input").DefValue = "by the name"
	fl.StringVar(&f.root, "root", "", "read the images of a list or manifest from the folder `DIR`")
	fl.Lookup("root").DefValue = "its folder"
	fl.StringVar(&f.usage, "usage", "train", "take the manifest's images of this `USAGE`")
	fl.StringSliceVar(&f.exts, "exts", nil, "take files with these `EXTENSIONS`, in any case")
	fl.Lookup("exts").DefValue = "the usual ones of images, or of sounds if the graph decodes them"
	fl.StringVar(&f.name, "name", "data", "start the names of the shards with `NAME`: NAME-00000.tar")
	fl.IntVar(&f.shards, "shards", 0, "make `N` shards")
	fl.IntVar(&f.perShard, "samples-per-file", 2000, "make as many shards as `N` samples for each need, unless --shards is given")
	fl.Uint64Var(&f.seed, "seed", 0, "shuffle the samples with the seed `N`")
	fl.Lookup("seed").DefValue = "their own order"
	fl.BoolVar(&f.packLabel, "pack-label", false, "pack all labels of a list into records, not only the first")
	fl.BoolVar(&f.force, "force", false, "replace an existing plan")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print neither progress nor a summary")
	f.addImage(cmd)
	f.GraphFlags.Add(cmd)
	f.outside.Add(cmd)
	command.Must(cmd.MarkFlagFilename("output", "json"))
	command.Must(cmd.MarkFlagDirname("root"))
	command.Complete(cmd, "format", "webdataset", "recordio")
	command.Complete(cmd, "input", inputKinds...)
	return cmd
}

// plan returns the plan and the input that the flags describe.
func (f *packPlanFlags) plan(a *command.App, cmd *cobra.Command, input string) (*pack.Plan, pack.PlanInput, error) {
	in := pack.PlanInput{Name: input, Root: f.root, Usage: f.usage}
	changed := cmd.Flags().Changed
	if !changed("input") {
		f.input = "images"
		for end, kind := range map[string]string{".lst": "list", ".manifest": "manifest", ".json": "manifest", ".jsonl": "manifest"} {
			if strings.HasSuffix(store.Path(input), end) {
				f.input = kind
			}
		}
	}
	for k, name := range inputKinds {
		if name == f.input {
			in.Kind = pack.InputKind(k)
		}
	}
	for _, e := range f.exts {
		if !strings.HasPrefix(e, ".") || strings.LastIndexByte(e, '.') > 0 {
			return nil, in, command.UsageErr("--exts %q: want extensions such as .jpg", e)
		}
		in.Exts = append(in.Exts, strings.ToLower(e))
	}
	images := command.FirstChanged(cmd, imageFlags...)
	graph, err := f.checkGraph(cmd, &f.GraphFlags)
	if err != nil {
		return nil, in, err
	}
	listed := f.input == "list" || f.input == "manifest"
	switch {
	case f.out == "" || f.out == "-":
		return nil, in, command.UsageErr("no file for the plan: want -o PLAN.json")
	case changed("shards") && f.shards < 1:
		return nil, in, command.UsageErr("--shards %d: want at least 1", f.shards)
	case f.perShard < 1:
		return nil, in, command.UsageErr("--samples-per-file %d: want at least 1", f.perShard)
	case changed("shards") && changed("samples-per-file"):
		return nil, in, command.UsageErr("--shards and --samples-per-file: want only one of them")
	case f.input == "samples" && f.image.Fast:
		return nil, in, command.UsageErr("--lossless-fast applies to images: --input samples packs files unchanged")
	case f.input == "samples" && images+graph != "":
		return nil, in, command.UsageErr("--%s applies to images: --input samples packs files unchanged", images+graph)
	case f.input == "samples" && f.format == "recordio":
		return nil, in, command.UsageErr("--input samples needs --format webdataset: a record holds one image")
	case graph != "" && f.format == "recordio":
		return nil, in, command.UsageErr("--%s needs --format webdataset: image records hold no tensors", graph)
	case f.packLabel && (f.format != "recordio" || !listed):
		return nil, in, command.UsageErr("--pack-label needs a list or manifest, and --format recordio")
	case changed("root") && !listed:
		return nil, in, command.UsageErr("--root applies to a list or manifest: --input %s has paths below INPUT", f.input)
	case changed("usage") && f.input != "manifest":
		return nil, in, command.UsageErr("--usage applies to a manifest")
	case changed("exts") && f.input != "images" && f.input != "classes":
		return nil, in, command.UsageErr("--exts applies to --input images and classes")
	}
	f.jobs, f.bad = 1, "skip" // flags of other pack commands
	if err := errors.Join(command.OneOf("format", f.format, "webdataset", "recordio"), command.OneOf("input", f.input, inputKinds...)); err != nil {
		return nil, in, err
	}
	if err := f.packFlags.check(cmd); err != nil {
		return nil, in, err
	}
	p := &pack.Plan{Name: f.name, Shards: f.shards, PerShard: f.perShard, Image: f.image, PackLabels: f.packLabel}
	p.Image.Limits = f.Limits
	if f.format == "webdataset" {
		p.Output = pack.PlanShards
	}
	if changed("seed") {
		p.Seed = &f.seed
	}
	if images == "" {
		p.Image.Encoding = pack.PassThrough
	}
	if graph != "" {
		if p.Graph, err = loadGraph(a, cmd, &f.GraphFlags); err != nil {
			return nil, in, err
		}
	}
	return p, in, nil
}

func packPlan(a *command.App, cmd *cobra.Command, f *packPlanFlags, input string) error {
	p, in, err := f.plan(a, cmd, input)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	bar := command.NewProgressOf(a.Stderr, -1, "samples", f.quiet)
	l, err := pack.WritePlan(ctx, f.outside.Files(), f.out, p, in, pack.PlanWrite{Force: f.force, Progress: func(n int64) { bar.Add(n - bar.Done) }})
	bar.Clear()
	switch {
	case ctx.Err() != nil:
		return &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted: no plan was written")}
	case errors.Is(err, pack.ErrExists):
		return command.FailErr("%w; --force replaces it", err)
	case err != nil:
		return command.WrapFail(paths.ErrorOf(err))
	}
	if f.json {
		return a.PrintJSON(struct {
			Plan        string `json:"plan"`
			Listing     string `json:"listing"`
			ListingSize int64  `json:"listing_bytes"`
			Samples     int64  `json:"samples"`
			Shards      int    `json:"shards"`
			Bytes       int64  `json:"bytes"`
			LeftOut     int64  `json:"left_out"`
		}{paths.Shown(f.out), paths.Shown(l.Listing), l.Size, l.Samples, l.Shards, l.Bytes, l.LeftOut})
	}
	if f.quiet {
		return nil
	}
	say := fmt.Sprintf("%s: %s in %s", paths.Shown(f.out), command.Plural(int(l.Samples), "sample"), command.Plural(l.Shards, "shard"))
	if l.Bytes > 0 {
		say += ", " + command.ByteSize(float64(l.Bytes))
	}
	say += fmt.Sprintf("; the listing %s has %s", paths.Shown(l.Listing), command.ByteSize(float64(l.Size)))
	if l.LeftOut > 0 {
		say += fmt.Sprintf("; %s in no sample, such as %s", command.Plural(int(l.LeftOut), "file"), l.Example)
	}
	_, err = fmt.Fprintln(a.Stderr, command.Printable(say))
	return err
}
