package cli

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// noErr is for registrations that fail only if the flag does not exist, which the first test finds.
func noErr(err error) {
	if err != nil {
		panic(err)
	}
}

func complete(cmd *cobra.Command, flag string, values ...string) {
	noErr(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// commandName is a command's name without the program's, with which errors begin.
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), program+" ")
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageErr("%s takes no argument, got %q", commandName(cmd), args[0])
	}
	return nil
}

// oneOfCommands refuses arguments of a command that has commands only.
func oneOfCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var l []string
	for _, c := range cmd.Commands() {
		l = append(l, c.Name())
	}
	return usageErr("unknown command %q, want one of %s", args[0], strings.Join(l, ", "))
}

// pairs are the values NAME=VALUE of a flag.
func pairs(flag string, l []string) (map[string]string, error) {
	m := map[string]string{}
	for _, s := range l {
		k, v, ok := strings.Cut(s, "=")
		if _, twice := m[k]; !ok || k == "" || twice {
			return nil, usageErr("--%s %q: want NAME=VALUE, each name once", flag, s)
		}
		m[k] = v
	}
	return m, nil
}

// count is a flag's number, with an optional unit: k, M and G are powers of
// 1000, Ki, Mi and Gi of 1024.
type count int64

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
		return errors.New("want a number of 0 or more, such as 400000000, 400M or 2Gi")
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
