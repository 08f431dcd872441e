package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/tensor"
)

// maxNamed is the largest number of files left out that messages name.
const maxNamed = 20

// runPrinter prints the results of a run.
type runPrinter struct {
	app   *command.App
	flags *runFlags
	bar   *command.Progress
	start time.Time // after the inputs were found
	made  tally
	noun  string // of an input: job.Noun
	named int    // files left out that could be expected to be images
	// folders counts links to folders; folder is the first.
	folders int
	folder  string
	full    bool // a message says that the disk is full
}

// runJob runs the job and prints its results in the order of the inputs. Then
// it calls also with them, if that is not nil.
func runJob(ctx context.Context, a *command.App, f *runFlags, j *job.Job, also func(job.Result) error) error {
	p := &runPrinter{app: a, flags: f, noun: job.Noun(j.Preprocessor.Pool().Plan().Graph())}
	j.OnResult, j.Progress = p.result, p.progress
	if also != nil {
		j.OnResult = func(x job.Result) error { return errors.Join(p.result(x), also(x)) }
	}
	sum, err := j.Run(ctx)
	p.clear()
	p.sayLeftOut()
	if errors.Is(err, job.ErrImages) {
		err = nil
	}
	full := command.DiskFull(err)
	if full && !p.full {
		a.Complain(err)
	}
	of := ""
	if sum.Total > 0 {
		of = " of " + command.Plural(sum.Total, "file")
	}
	switch {
	case errors.Is(err, job.ErrNoImages):
		return command.NoImages(p.noun, sum.Failed, sum.Skipped)
	case full:
		return command.FailErr("the disk is full: %d%s done", sum.Done, of)
	case err != nil && !errors.Is(err, context.Canceled):
		return jobErr(err)
	case ctx.Err() != nil && sum.Total == 0:
		return &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted: nothing was done" + goOn(a, j))}
	case ctx.Err() != nil:
		return &command.ExitError{Status: command.ExitInterrupted, Err: fmt.Errorf("interrupted: %d%s done%s", sum.Done, of, goOn(a, j))}
	}
	return p.sayEnd(sum)
}

// jobErr adds the exit status to an error of a job.
func jobErr(err error) error {
	if errors.Is(err, job.ErrOption) {
		return command.UsageErr("%w", err)
	}
	return command.WrapFail(err)
}

// progress draws the bar.
func (p *runPrinter) progress(done, total int) {
	if p.bar == nil {
		p.start = time.Now()
		p.bar = command.NewProgress(p.app.Stderr, total, p.flags.quiet)
		return
	}
	p.bar.Step()
}

// clear removes the bar from the screen.
func (p *runPrinter) clear() {
	if p.bar != nil {
		p.bar.Clear()
	}
}

// runLine is a line of --json.
type runLine struct {
	Input   string       `json:"input"`
	Dropped bool         `json:"dropped,omitempty"` // in no batch
	Outputs []job.Output `json:"outputs"`
	Labels  []job.Label  `json:"labels,omitempty"` // the best ones
}

// result prints what became of an input.
func (p *runPrinter) result(x job.Result) error {
	a, asJSON := p.app, p.flags.json
	if p.flags.out == "" {
		x.Outputs = []job.Output{}
	}
	switch x.Status {
	case job.Skipped:
		p.skipped(x)
	case job.Failed:
		p.full = p.full || command.DiskFull(x.Err)
		p.clear()
		return a.Failed(x.Path, x.Err, asJSON)
	case job.Present:
		if asJSON {
			return a.PrintLine(struct {
				Input   string `json:"input"`
				Existed bool   `json:"existed"`
			}{x.Path, true})
		}
	case job.Dropped:
		if asJSON {
			return a.PrintLine(runLine{Input: x.Path, Dropped: true, Outputs: x.Outputs})
		}
	case job.Done:
		p.made.add(x.Outputs)
		if asJSON {
			return a.PrintLine(runLine{Input: x.Path, Outputs: x.Outputs, Labels: x.Labels})
		}
		if x.Labels != nil {
			p.clear()
			return printBest(a, x.Path, x.Labels)
		}
	}
	return nil
}

// skipped names a file that was left out, if a user could expect it to be an
// image.
func (p *runPrinter) skipped(x job.Result) {
	switch {
	case x.Why == job.LinkToFolder:
		if p.folders++; p.folders == 1 {
			p.folder = x.Path
		}
	case x.Suspect:
		if p.named++; p.named <= maxNamed {
			p.clear()
			p.app.Complain(fmt.Errorf("%s: left out: %s", x.Path, x.Why))
		}
	}
}

// sayLeftOut prints the number of files that were left out and not named.
func (p *runPrinter) sayLeftOut() {
	if p.named > maxNamed {
		p.app.Complain(fmt.Errorf("%s more were left out: --report lists them", command.Plural(p.named-maxNamed, "file")))
	}
	if p.folders > 0 {
		more := ""
		if p.folders > 1 {
			more = fmt.Sprintf(", and so are %s more", command.Plural(p.folders-1, "link"))
		}
		p.app.Complain(fmt.Errorf("%s: left out: %s%s: name the folder to walk it", p.folder, job.LinkToFolder, more))
	}
}

// sayEnd prints the counts of a run, and returns its exit status.
func (p *runPrinter) sayEnd(s job.Summary) error {
	a, f := p.app, p.flags
	if s.Dropped > 0 && !f.quiet {
		a.Complain(fmt.Errorf("%s left out: the last batch is not full", command.Plural(s.Dropped, p.noun)))
	}
	before := ""
	if s.Present > 0 {
		before = fmt.Sprintf(", %d done before", s.Present)
	}
	if took := time.Since(p.start); !f.quiet && !f.json {
		fmt.Fprintf(a.Stderr, "%s, %d failed, %d skipped%s, %.1f s, %.0f %ss/s\n",
			command.Plural(s.Done+s.Failed, p.noun), s.Failed, s.Skipped, before, took.Seconds(), float64(s.Done)/max(took.Seconds(), 1e-9), p.noun)
		p.made.write(a.Stderr, f.place())
		a.SayStore()
	} else if s.Failed > 0 {
		a.Complain(fmt.Errorf("%d of %s failed", s.Failed, command.Plural(s.Done+s.Failed, p.noun)))
	}
	if stats := a.StoreStats(); f.json && stats.Requests > 0 {
		if err := a.PrintLine(map[string]command.StoreStats{"store": stats}); err != nil {
			return err
		}
	}
	if s.Failed > 0 || f.strict && p.named+p.folders > 0 {
		return &command.ExitError{Status: command.ExitFailed}
	}
	return nil
}

// place says where a run writes its tensors.
func (f *runFlags) place() string {
	switch {
	case f.out == "-":
		return "on standard output"
	case f.to.BatchSize > 0:
		return "in batches in " + paths.Shown(f.out)
	}
	return "in " + paths.Shown(f.out)
}

// tally describes the tensors of a run.
type tally []tensors

// tensors are those of one output.
type tensors struct {
	name  string
	n     int
	dtype tensor.DType
	shape tensor.Shape // sizes that differ are unknown
	ranks bool         // the numbers of axes differ
}

func (t *tally) add(results []job.Output) {
	for _, r := range results {
		i := slices.IndexFunc(*t, func(x tensors) bool { return x.name == r.Name })
		if i < 0 {
			*t = append(*t, tensors{name: r.Name, n: 1, dtype: r.DType, shape: r.Shape})
			continue
		}
		x := &(*t)[i]
		x.n++
		if x.ranks = x.ranks || x.shape.Rank() != r.Shape.Rank(); x.ranks {
			continue
		}
		for j := range x.shape.Rank() {
			if x.shape.At(j) != r.Shape.At(j) {
				x.shape = x.shape.With(j, tensor.Unknown)
			}
		}
	}
}

// write writes a line for each output.
func (t tally) write(w io.Writer, place string) {
	for _, x := range t {
		name, shape := "", x.shape.String()
		if len(t) > 1 {
			name = x.name + ": "
		}
		if x.ranks {
			shape = "of several ranks"
		}
		fmt.Fprintf(w, "%s%s of %v %s %s\n", name, command.Plural(x.n, "tensor"), x.dtype, shape, place)
	}
}

// goOn returns the end of a message: the command that goes on with an
// interrupted run, if there is one.
func goOn(a *command.App, j *job.Job) string {
	flag := ""
	if j.Existing == "" {
		again := *j
		again.Existing, again.To.Force = job.ByName, false
		if again.Validate() != nil {
			return ""
		}
		flag = "--skip-existing"
	}
	stream := func(arg string) bool {
		return arg == "-" || strings.HasSuffix(arg, "=-") || strings.Contains(arg, "/dev/stdin") || strings.Contains(arg, "/dev/fd/")
	}
	if slices.ContainsFunc(a.Args, stream) { // they are used up
		return ""
	}
	var words []string
	for i, arg := range a.Args {
		if arg == "--force" { // it would remove what there is
			continue
		}
		if paths.Shown(arg) != arg { // it grants access
			return ""
		}
		words = append(words, command.ShellQuoted(arg))
		if i == 0 && flag != "" {
			words = append(words, flag)
		}
	}
	return "; to go on: " + command.Program + " " + strings.Join(words, " ")
}
