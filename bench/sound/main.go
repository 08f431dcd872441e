//go:build linux

// Command sound runs graphs of sounds for bench/sound.py.
//
// It reads requests from the standard input until its end. A request is a line
// of JSON: a graph, the file of its input and the number of runs. The answer is
// a line of JSON: the processor's seconds of a run, and the output if the
// request names a file for it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	_ "github.com/infer-prep/infer-prep/sound/all"
	"github.com/infer-prep/infer-prep/tensor"
	_ "github.com/infer-prep/infer-prep/transforms/all"
)

// request is what the script asks for.
type request struct {
	Graph string `json:"graph"` // a file
	// Input is a file: a sound, or float32 samples if the graph takes those.
	Input  string `json:"input"`
	Count  int    `json:"count"`  // runs
	Output string `json:"output"` // the file of the first output; empty for none
}

// answer is the answer.
type answer struct {
	CPU float64 `json:"cpu"` // seconds of a run
}

func main() {
	runtime.GOMAXPROCS(1)
	runners := map[string]*job{}
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for {
		var q request
		if err := in.Decode(&q); err != nil {
			return
		}
		a, err := answerTo(runners, &q)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := out.Encode(a); err != nil {
			os.Exit(1)
		}
	}
}

// job is a graph with its input. It is kept, as a program keeps its graph.
type job struct {
	runner *datagraph.Runner
	input  *tensor.Tensor
}

func newJob(q *request) (*job, error) {
	text, err := os.ReadFile(q.Graph)
	if err != nil {
		return nil, err
	}
	g, err := datagraph.Parse(text)
	if err != nil {
		return nil, err
	}
	p, err := datagraph.Compile(g, datagraph.CompileOptions{Limits: codec.DefaultLimits()})
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(q.Input)
	if err != nil {
		return nil, err
	}
	j := &job{p.NewRunner(), tensor.FromBytes(b)}
	if d := g.Inputs[0].Desc; d.DType != tensor.Bytes {
		d.Shape = d.Shape.With(d.Shape.Rank()-1, len(b)/4)
		if j.input, err = tensor.New(d); err != nil {
			return nil, err
		}
		copy(j.input.Data, b)
	}
	return j, nil
}

func answerTo(jobs map[string]*job, q *request) (*answer, error) {
	j := jobs[q.Graph]
	if j == nil {
		var err error
		if j, err = newJob(q); err != nil {
			return nil, fmt.Errorf("%s: %w", q.Graph, err)
		}
		jobs[q.Graph] = j
	}
	before := seconds()
	var out []*tensor.Tensor
	for range max(q.Count, 1) {
		var err error
		if out, err = j.runner.Run(j.input); err != nil {
			return nil, fmt.Errorf("%s: %w", q.Graph, err)
		}
	}
	a := &answer{(seconds() - before) / float64(max(q.Count, 1))}
	if q.Output == "" {
		return a, nil
	}
	f, err := os.Create(q.Output)
	if err != nil {
		return nil, err
	}
	if err := tensor.WriteNPY(f, out[0]); err != nil {
		return nil, err
	}
	return a, f.Close()
}

// seconds returns the processor's seconds of this process.
func seconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
