package graph

import (
	"encoding"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/opdoc"
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/transforms"
)

func OpsCommand(a *command.App) *cobra.Command {
	var asJSON, classes bool
	var sheet, picture string
	var cell int
	cmd := &cobra.Command{
		Use:   "ops [NAME]",
		Short: "List the ops, or describe one",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case classes && len(args) > 0:
				return command.UsageErr("ops: --coverage: want no name, got %q", args[0])
			case sheet != "" && len(args) > 0:
				return command.UsageErr("ops: --sheet: want no name, got %q", args[0])
			case sheet != "" && (classes || asJSON):
				return command.UsageErr("ops: --sheet: want neither --coverage nor --json")
			case sheet == "" && (picture != "" || cell != OpsSheetCell):
				return command.UsageErr("ops: --image and --cell need --sheet")
			}
			if len(args) > 1 {
				return command.UsageErr("ops: want at most one name, got %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var l []string
			if len(args) == 0 {
				for _, i := range transforms.Ops() {
					l = append(l, i.Name)
				}
			}
			return l, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if sheet != "" {
				return opsSheet(cmd.Context(), a, sheet, picture, cell)
			}
			if classes {
				return listClasses(a, asJSON)
			}
			if len(args) == 0 {
				return listOps(a, asJSON)
			}
			i, err := transforms.Lookup(args[0])
			if err != nil {
				return command.UsageErr("unknown op %q%s", args[0], suggestOps(args[0]))
			}
			d := DescribeOp(i)
			if asJSON {
				return a.PrintJSON(d)
			}
			return printOp(a, d)
		},
	}
	cmd.Flags().BoolVar(&classes, "coverage", false, "list the classes of other packages, with the ops that return their values")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&sheet, "sheet", "", "draw a tile for each op that takes an image to the PNG `FILE`")
	cmd.Flags().StringVar(&picture, "image", "", "with --sheet, use the image `FILE` in place of the built-in picture")
	cmd.Flags().IntVar(&cell, "cell", OpsSheetCell, "with --sheet, reduce the image to a square of `N` pixels: 16 to 1024")
	command.Must(cmd.MarkFlagFilename("sheet", "png"))
	return cmd
}

// opJSON is an op as --json prints it.
type opJSON struct {
	Name       string      `json:"name"`
	Version    int         `json:"version"`
	Summary    string      `json:"summary,omitempty"`
	Doc        string      `json:"doc,omitempty"`
	In         []string    `json:"in"`
	Out        []string    `json:"out"`
	Reference  string      `json:"reference"`
	Exactness  string      `json:"exactness"`
	Parameters []paramJSON `json:"parameters"`
}

type paramJSON struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Choices []string `json:"choices,omitempty"`
	Default any      `json:"default"`
	Doc     string   `json:"doc,omitempty"`
}

func DescribeOp(i transforms.Info) opJSON {
	d := opJSON{Name: i.Name, Version: i.Version, In: i.In, Out: i.Out, Reference: i.Reference, Exactness: i.Exactness, Parameters: []paramJSON{}}
	doc, ok := opdoc.Lookup(i.Name)
	if ok {
		d.Summary, d.Doc = doc.Summary, strings.TrimSpace(doc.Doc)
	}
	if v := reflect.Indirect(reflect.ValueOf(i.New())); v.Kind() == reflect.Struct {
		d.Parameters = describeParams(v, doc.Fields)
	}
	return d
}

// describeParams describes the parameters of an op or a node with its usual
// values.
func describeParams(v reflect.Value, docs []opdoc.Field) []paramJSON {
	l := []paramJSON{}
	for j := range v.NumField() {
		f := v.Type().Field(j)
		name := paramName(f)
		if name == "" {
			continue
		}
		p := paramJSON{Name: name, Type: paramType(f.Type), Choices: choices(f.Type), Default: v.Field(j).Interface()}
		for _, d := range docs {
			if d.Name == name {
				p.Doc = d.Doc
			}
		}
		l = append(l, p)
	}
	return l
}

// paramType names the JSON type of a parameter.
func paramType(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[codec.Refuse]():
		return "list of names"
	case t == reflect.TypeFor[transforms.Range]():
		return "list of 2 numbers"
	case t == reflect.TypeFor[*datagraph.Graph]():
		return "graph"
	case t.Kind() == reflect.Map || t.Kind() == reflect.Struct:
		return "object"
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		elem := paramType(t.Elem())
		if inner, ok := strings.CutPrefix(elem, "list of "); ok {
			return "list of lists of " + inner
		}
		return "list of " + elem + "s"
	case t.Kind() == reflect.Interface:
		return "op"
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return "name"
	case t.Kind() == reflect.Bool:
		return "bool"
	case t.Kind() == reflect.String:
		return "string"
	case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64:
		return "number"
	}
	return "integer"
}

// choices lists the values of a parameter whose type is a set of names, else
// nil.
func choices(t reflect.Type) []string {
	if t == reflect.TypeFor[codec.Refuse]() {
		return codec.Refuse(0xff).Names()
	}
	if t.Kind() != reflect.Uint8 || !t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return nil
	}
	var l []string
	v := reflect.New(t).Elem()
	for i := range uint64(256) {
		v.SetUint(i)
		if b, err := v.Interface().(encoding.TextMarshaler).MarshalText(); err == nil {
			l = append(l, string(b))
		}
	}
	return l
}

func listOps(a *command.App, asJSON bool) error {
	if asJSON {
		l := []opJSON{}
		for _, i := range transforms.Ops() {
			l = append(l, DescribeOp(i))
		}
		return a.PrintJSON(l)
	}
	t := command.Table{}
	t.Row("OP", "COLUMNS", "DIFFERENCE", "REFERENCE")
	for _, i := range transforms.Ops() {
		t.Row(i.Name, strings.Join(i.In, ", ")+" -> "+strings.Join(i.Out, ", "), command.Shorten(i.Exactness, 24), i.Reference)
	}
	return t.Write(a.Stdout)
}

func printOp(a *command.App, d opJSON) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, version %d: %s -> %s\n", d.Name, d.Version, strings.Join(d.In, ", "), strings.Join(d.Out, ", "))
	if d.Doc != "" {
		fmt.Fprintf(&b, "\n%s\n", d.Doc)
	}
	if !strings.Contains(d.Doc, "\nReference: ") { // unless the doc has a longer one
		fmt.Fprintf(&b, "\nReference: %s\n", d.Reference)
	}
	fmt.Fprintf(&b, "\nLargest difference measured: %s\n", d.Exactness)
	if err := printParams(&b, d.Parameters); err != nil {
		return err
	}
	_, err := io.WriteString(a.Stdout, b.String())
	return err
}

// printParams writes a table of parameters.
func printParams(b *strings.Builder, l []paramJSON) error {
	b.WriteString("\n")
	if len(l) == 0 {
		b.WriteString("No parameters.\n")
		return nil
	}
	t := command.Table{}
	t.Row("PARAMETER", "DEFAULT", "TYPE")
	for _, p := range l {
		kind := p.Type
		if len(p.Choices) > 0 {
			kind += ": " + strings.Join(p.Choices, ", ")
		}
		lines := command.Wrap(kind, opWidth)
		if p.Doc != "" {
			lines = append(lines, command.Wrap(p.Doc, opWidth)...)
		}
		t.Row(p.Name, paramValue(p.Default), lines[0])
		for _, l := range lines[1:] {
			t.Row("", "", l)
		}
	}
	return t.Write(b)
}

// opWidth is the width of the text beside a parameter's name.
const opWidth = 72

// suggestOps returns a hint at the op with the closest name or, if none is
// close, at the ops whose names contain it.
func suggestOps(name string) string {
	var all, parts []string
	for _, i := range transforms.Ops() {
		all = append(all, i.Name)
		if len(name) > 2 && strings.Contains(i.Name, strings.ToLower(name)) {
			parts = append(parts, strconv.Quote(i.Name))
		}
	}
	if hint := registry.DidYouMean(name, all); hint != "" {
		return hint
	}
	if len(parts) == 0 {
		return "; \"" + command.Program + " ops\" lists the ops"
	}
	return "; did you mean " + command.OrList(parts) + "?"
}
