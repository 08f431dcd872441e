package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
)

// manCmd writes the man pages. It is hidden, since only packagers need it.
func manCmd(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the man pages to DIR", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return command.FailErr("%w", err)
			}
			return command.WrapFail(writePages(root, args[0]))
		},
	}
}

// writePages writes the page of a command and those of the commands below it.
func writePages(cmd *cobra.Command, dir string) error {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			if err := writePages(c, dir); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(dir, pageName(cmd)+".1"), []byte(manPage(cmd)), 0o666)
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage returns a command's page for man (man-pages(7)). Help texts have
// their own line breaks, which the page keeps.
func manPage(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	var b strings.Builder
	name := pageName(cmd)
	fmt.Fprintf(&b, ".TH %q 1 %q %q %q\n", strings.ToUpper(name), sourceDate().Format("2006-01-02"), command.Program+" "+command.ModuleVersion(), command.Program)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n\\fB%s\\fP\n", roff(cmd.UseLine()))
	section := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, ".SH %s\n.nf\n%s\n.fi\n", title, roff(text))
		}
	}
	section("DESCRIPTION", cmd.Long)
	options := func(title string, flags *pflag.FlagSet) {
		if flags.HasAvailableFlags() {
			fmt.Fprintf(&b, ".SH %s\n", title)
		}
		flags.VisitAll(func(f *pflag.Flag) { writeOption(&b, f) })
	}
	options("OPTIONS", cmd.NonInheritedFlags())
	options("OPTIONS INHERITED FROM PARENT COMMANDS", cmd.InheritedFlags())
	section("EXAMPLES", cmd.Example)
	var also []string
	if cmd.HasParent() {
		also = append(also, pageName(cmd.Parent()))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			also = append(also, pageName(c))
		}
	}
	for i, page := range also {
		also[i] = "\\fB" + roff(page) + "\\fP(1)"
	}
	if len(also) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(also, ", "))
	}
	return b.String()
}

// writeOption writes a flag, its value's name, its default and its description.
func writeOption(b *strings.Builder, f *pflag.Flag) {
	if f.Hidden || f.Deprecated != "" {
		return
	}
	value, usage := pflag.UnquoteUsage(f)
	b.WriteString(".TP\n")
	if f.Shorthand != "" {
		b.WriteString("\\fB\\-" + f.Shorthand + "\\fP, ")
	}
	b.WriteString("\\fB" + roff("--"+f.Name) + "\\fP")
	switch {
	case value == "":
	case f.NoOptDefVal != "":
		b.WriteString("[=\\fI" + roff(value) + "\\fP]")
	default:
		b.WriteString(" \\fI" + roff(value) + "\\fP")
	}
	if d := f.DefValue; d != "" && d != "false" && d != "0" && d != "[]" {
		usage += " (default " + d + ")"
	}
	b.WriteString("\n" + roff(usage) + "\n")
}

// roff escapes text for a man page (groff(7)).
func roff(s string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") { // else a request
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
