package cli

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/infer-prep/infer-prep/internal/registry"
)

// noErr panics on an error of a registration, which fails only for a flag that
// does not exist.
func noErr(err error) {
	if err != nil {
		panic(err)
	}
}

// complete registers the values that a shell completes for a flag.
func complete(cmd *cobra.Command, flag string, values ...string) {
	noErr(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// commandName returns a command's path without the program, as errors name it.
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), Program+" ")
}

// noArgs accepts no argument.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageErr("%s: unexpected argument %q", commandName(cmd), args[0])
	}
	return nil
}

// oneOfCommands refuses the arguments of a command that only has subcommands.
func oneOfCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var l []string
	for _, c := range cmd.Commands() {
		l = append(l, c.Name())
	}
	return usageErr("unknown command %q: want %s%s", args[0], orList(l), registry.DidYouMean(args[0], l))
}

// orList joins names as in "a, b or c".
func orList(l []string) string {
	if len(l) < 2 {
		return strings.Join(l, "")
	}
	return strings.Join(l[:len(l)-1], ", ") + " or " + l[len(l)-1]
}

// oneOf returns a usage error unless the flag's value is one of the choices.
func oneOf(flag, value string, choices ...string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	return usageErr("--%s %q: want %s%s", flag, value, orList(choices), registry.DidYouMean(value, choices))
}

// firstChanged returns the first of the flags that the user gave, or "".
func firstChanged(cmd *cobra.Command, names ...string) string {
	for _, n := range names {
		if cmd.Flags().Changed(n) {
			return n
		}
	}
	return ""
}

// otherThan returns the first flag that was given and is none of names, or "".
func otherThan(cmd *cobra.Command, names ...string) (other string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if other == "" && !slices.Contains(names, f.Name) {
			other = f.Name
		}
	})
	return other
}

// pairs parses the values NAME=VALUE of a repeated flag.
func pairs(flag string, l []string) (map[string]string, error) {
	m := map[string]string{}
	for _, s := range l {
		k, v, ok := strings.Cut(s, "=")
		if _, twice := m[k]; !ok || k == "" || twice {
			return nil, usageErr("--%s %q: want NAME=VALUE with each name once", flag, s)
		}
		m[k] = v
	}
	return m, nil
}

// count is a flag's number with an optional unit: k, M and G are powers of
// 1000, Ki, Mi and Gi powers of 1024.
type count int64

// units are the units of count, the longest first.
var units = []struct {
	suffix string
	factor int64
}{{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}}

func (c *count) Set(s string) error {
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
	*c = count(n * factor)
	return nil
}

func (c *count) String() string {
	for _, u := range units {
		if n := int64(*c); n > 0 && n%u.factor == 0 && n/u.factor < 1000 {
			return strconv.FormatInt(n/u.factor, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(*c), 10)
}

func (c *count) Type() string { return "N" }

// limit is a count in which 0 means no limit, which codec.Limits writes as -1.
type limit count

func (l *limit) Set(s string) error {
	err := (*count)(l).Set(s)
	if err == nil && *l == 0 {
		*l = -1
	}
	return err
}

func (l *limit) String() string {
	c := count(max(0, *l))
	return c.String()
}

func (l *limit) Type() string { return "N" }
