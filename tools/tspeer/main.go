// Command tspeer prints Go's results for the tests of the npm package, which
// compare them with TypeScript's. Run it in the root of the module.
//
//	tspeer graphs
//
// prints known graphs: the presets, the imports of testdata/configs and of the
// goldens of package importer, and one graph for each op. Every graph is three
// frames: its name, its JSON form, its msgp form. A frame is its length as a
// little-endian uint32, and its bytes.
//
//	tspeer bundles
//
// reads bundles as frames from standard input and prints a line for each: "ok",
// "open" if it is refused, "compile" if its graph exceeds the default limits,
// or "digest" and the names of corrupt sections.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	_ "github.com/infer-prep/infer-prep/importer/all"
	"github.com/infer-prep/infer-prep/importer/hf"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/importer/torchvision"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

func main() {
	w := bufio.NewWriter(os.Stdout)
	err := fmt.Errorf("want graphs or bundles")
	switch {
	case len(os.Args) == 2 && os.Args[1] == "graphs":
		err = graphs(w)
	case len(os.Args) == 2 && os.Args[1] == "bundles":
		err = bundles(w, bufio.NewReader(os.Stdin))
	}
	if err = errors.Join(err, w.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, "tspeer:", err)
		os.Exit(1)
	}
}

func graphs(w io.Writer) error {
	for _, n := range preset.Names() {
		g, err := preset.Graph(n)
		if err = errors.Join(err, write(w, "preset/"+n, g)); err != nil {
			return err
		}
	}
	files, err := filepath.Glob("testdata/configs/*/*")
	if err != nil {
		return err
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		g, err := importAs(filepath.Base(filepath.Dir(f)), b)
		if err == nil {
			err = write(w, f, g)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
	}
	if err := importerGoldens(w); err != nil {
		return err
	}
	for _, i := range transforms.Ops() {
		for _, op := range []transforms.Op{i.New(), transforms.NewCompose(transforms.NewCompose(i.New()))} {
			g := (&datagraph.Graph{Inputs: []datagraph.Column{{Name: "a", Desc: tensor.Encoded()}}, Outputs: []string{"b"}}).Then(op, i.In, i.Out)
			if err := write(w, "op/"+i.Name, g); err != nil {
				return err
			}
		}
	}
	return nil
}

// importerGoldens writes the graphs of the goldens of package importer.
func importerGoldens(w io.Writer) error {
	files, err := filepath.Glob("importer/testdata/goldens*.json")
	if err != nil {
		return err
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		var all struct {
			Cases []struct {
				Importer, Name string
				Config         json.RawMessage
			}
		}
		if err := json.Unmarshal(b, &all); err != nil {
			return err
		}
		for _, c := range all.Cases {
			config := []byte(c.Config)
			var text string
			if json.Unmarshal(config, &text) == nil {
				config = []byte(text)
			}
			g, err := importAs(c.Importer, config)
			if err == nil {
				err = write(w, c.Importer+"/"+c.Name, g)
			}
			if err != nil {
				return fmt.Errorf("%s: %s: %w", f, c.Name, err)
			}
		}
	}
	return nil
}

func importAs(name string, config []byte) (*datagraph.Graph, error) {
	switch name {
	case "hf-pil":
		return hf.ImportPIL(config)
	case "torchvision-tensor":
		return torchvision.ImportTensor(config)
	}
	i, err := importer.Lookup(name)
	if err != nil {
		return nil, err
	}
	return i.Import(config)
}

func write(w io.Writer, name string, g *datagraph.Graph) error {
	text, err := json.Marshal(g)
	if err != nil {
		return err
	}
	msg, err := g.MarshalMsg(nil)
	if err != nil {
		return err
	}
	for _, b := range [][]byte{[]byte(name), text, msg} {
		if _, err := w.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)); err != nil {
			return err
		}
	}
	return nil
}

func bundles(w io.Writer, r io.Reader) error {
	for {
		var n uint32
		err := binary.Read(r, binary.LittleEndian, &n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		b := make([]byte, n)
		if _, err := io.ReadFull(r, b); err != nil {
			return err
		}
		fmt.Fprintln(w, verdict(b))
	}
}

func verdict(raw []byte) string {
	b, err := modelbundle.Open(raw, modelbundle.DefaultLimits())
	if err != nil {
		return "open"
	}
	if _, err := datagraph.Compile(b.Graph(), datagraph.CompileOptions{}); err != nil {
		return "compile"
	}
	if b.VerifyDigests(context.Background()) == nil {
		return "ok"
	}
	l := []string{"digest"}
	for _, s := range b.Sections() {
		if _, err := b.Section(s.Name); err != nil {
			l = append(l, s.Name)
		}
	}
	return strings.Join(l, " ")
}
