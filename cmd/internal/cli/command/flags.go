package command

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/infer-prep/infer-prep/internal/registry"
)

// Must panics on an error of a registration, which fails only for a flag that
// does not exist.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

// Complete registers the values that a shell completes for a flag.
func Complete(cmd *cobra.Command, flag string, values ...string) {
	Must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// CommandName returns a command's path without the program, as errors name it.
func CommandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), Program+" ")
}

// NoArgs accepts no argument.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UsageErr("%s: unexpected argument %q", CommandName(cmd), args[0])
	}
	return nil
}

// OneOfCommands refuses the arguments of a command that only has subcommands.
func OneOfCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var l []string
	for _, c := range cmd.Commands() {
		l = append(l, c.Name())
	}
	return UsageErr("unknown command %q: want %s%s", args[0], OrList(l), registry.DidYouMean(args[0], l))
}

// OrList joins names as in "a, b or c".
func OrList(l []string) string {
	if len(l) < 2 {
		return strings.Join(l, "")
	}
	return strings.Join(l[:len(l)-1], ", ") + " or " + l[len(l)-1]
}

// OneOf returns a usage error unless the flag's value is one of the choices.
func OneOf(flag, value string, choices ...string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	return UsageErr("--%s %q: want %s%s", flag, value, OrList(choices), registry.DidYouMean(value, choices))
}

// FirstChanged returns the first of the flags that the user gave, or "".
func FirstChanged(cmd *cobra.Command, names ...string) string {
	for _, n := range names {
		if cmd.Flags().Changed(n) {
			return n
		}
	}
	return ""
}

// OtherThan returns the first flag that was given and is none of names, or "".
func OtherThan(cmd *cobra.Command, names ...string) (other string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if other == "" && !slices.Contains(names, f.Name) {
			other = f.Name
		}
	})
	return other
}

// Pairs parses the values NAME=VALUE of a repeated flag.
func Pairs(flag string, l []string) (map[string]string, error) {
	m := map[string]string{}
	for _, s := range l {
		k, v, ok := strings.Cut(s, "=")
		if _, twice := m[k]; !ok || k == "" || twice {
			return nil, UsageErr("--%s %q: want NAME=VALUE with each name once", flag, s)
		}
		m[k] = v
	}
	return m, nil
}

// Count is a flag's number with an optional unit: k, M and G are powers of
// 1000, Ki, Mi and Gi powers of 1024.
type Count int64

// units are the units of count, the longest first.
var units = []struct {
	suffix string
	factor int64
}{{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}}

func (c *Count) Set(s string) error {
	factor := int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(s, u.suffix); ok {
			s, factor = rest, u.factor
			break
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/factor {
		return errors.New("want a number of at least 0, such as 400000000, 400M or 2Gi")
	}
	*c = Count(n * factor)
	return nil
}

func (c *Count) String() string {
	for _, u := range units {
		if n := int64(*c); n > 0 && n%u.factor == 0 && n/u.factor < 1000 {
			return strconv.FormatInt(n/u.factor, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(*c), 10)
}

func (c *Count) Type() string { return "N" }

// Limit is a count in which 0 means no limit, which codec.Limits writes as -1.
type Limit Count

func (l *Limit) Set(s string) error {
	err := (*Count)(l).Set(s)
	if err == nil && *l == 0 {
		*l = -1
	}
	return err
}

func (l *Limit) String() string {
	c := Count(max(0, *l))
	return c.String()
}

func (l *Limit) Type() string { return "N" }
