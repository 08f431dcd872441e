package mobile

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/tensor"
)

// The training of a linear classifier on the images of examples/classifier, as
// TrainingTest.kt has it in Kotlin. Both use additions, multiplications and
// comparisons of float32 in one order, so their weights have the same bits.
const (
	trainingEpochs = 80
	trainingBatch  = 4
	trainingRate   = float32(1) / 64
)

// linear is a linear classifier: weights for each class, the bias last.
type linear [][]float32

// scores returns the classes' scores of an image.
func (l linear) scores(x []float32) []float32 {
	out := make([]float32, len(l))
	for k, w := range l {
		s := w[len(x)]
		for i, v := range x {
			s += float32(w[i] * v)
		}
		out[k] = s
	}
	return out
}

// step trains on one image with the multiclass hinge loss (Crammer, Singer: On
// the Algorithmic Implementation of Multiclass Kernel-based Vector Machines,
// 2001): the strongest wrong class within the margin of 1 is pushed down.
func (l linear) step(x []float32, class int) {
	s := l.scores(x)
	worst := -1
	for k := range s {
		if k != class && (worst < 0 || s[k] > s[worst]) {
			worst = k
		}
	}
	if s[class]-s[worst] >= 1 {
		return
	}
	for i, v := range x {
		d := float32(trainingRate * v)
		l[class][i] += d
		l[worst][i] -= d
	}
	l[class][len(x)] += trainingRate
	l[worst][len(x)] -= trainingRate
}

func (l linear) digest() string {
	h := sha256.New()
	for _, w := range l {
		for _, v := range w {
			_ = binary.Write(h, binary.LittleEndian, math.Float32bits(v))
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// trainingData returns the images of examples/classifier and their classes.
func trainingData(t *testing.T) (files []string, classes []int) {
	b, err := os.ReadFile("../examples/classifier/labels.txt")
	require.NoError(t, err)
	labels := strings.Split(strings.TrimSpace(string(b)), "\n")
	b, err = os.ReadFile("../examples/classifier/expected.json")
	require.NoError(t, err)
	var drawn map[string]struct{ Drawn string }
	require.NoError(t, json.Unmarshal(b, &drawn))
	for i := range len(drawn) {
		name := fmt.Sprintf("%02d.jpg", i)
		files = append(files, filepath.Join("../examples/classifier/images", name))
		classes = append(classes, slices.Index(labels, drawn[name].Drawn))
	}
	require.NotContains(t, classes, -1)
	return files, classes
}

// trainingPipe returns a Pipe of the training, and the classes of its images.
func trainingPipe(t *testing.T) (*Pipe, []int) {
	g, err := os.ReadFile("testdata/training.graph.json")
	require.NoError(t, err)
	files, classes := trainingData(t)
	p, err := OpenGraph(g)
	require.NoError(t, err)
	c := NewPipeConfig()
	for _, f := range files {
		require.NoError(t, c.AddFile(f))
	}
	c.BatchSize, c.Shuffle, c.Seed = trainingBatch, true, 5
	q, err := p.NewPipe(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, q.Close()); require.NoError(t, p.Close()) })
	return q, classes
}

// trainingDigest is the SHA-256 of the trained weights, which TrainingTest.kt
// compares too.
func trainingDigest(t *testing.T) string {
	b, err := os.ReadFile("testdata/training.sha256")
	require.NoError(t, err)
	return strings.TrimSpace(string(b))
}

// train trains on batches, which next returns until false: images, and their
// numbers. The classifier recognises the images of the last epoch.
func train(t *testing.T, classes []int, next func() (*tensor.Tensor, []int64, bool)) linear {
	l := make(linear, 4)
	for k := range l {
		l[k] = make([]float32, 3*16*16+1)
	}
	var right []bool
	for {
		images, numbers, more := next()
		if !more {
			last := right[len(right)-len(classes):]
			require.NotContains(t, last, false)
			return l
		}
		x := tensor.View[float32](images)
		n := len(x) / len(numbers)
		require.Equal(t, len(l[0])-1, n)
		for i, number := range numbers {
			image, class := x[i*n:(i+1)*n], classes[number]
			s := l.scores(image)
			right = append(right, slices.Max(s) == s[class])
			l.step(image, class)
		}
	}
}

// TestTraining: a training on a Pipe, and one on the parallel pipeline of the
// same definition and seed, have the weights of the JVM's test.
func TestTraining(t *testing.T) {
	q, classes := trainingPipe(t)
	epoch := 0
	out := NewResult()
	l := train(t, classes, func() (*tensor.Tensor, []int64, bool) {
		more, err := q.NextInto(out)
		require.NoError(t, err)
		if !more {
			if epoch++; epoch == trainingEpochs {
				return nil, nil, false
			}
			require.NoError(t, q.NextEpoch())
			more, err = q.NextInto(out)
			require.NoError(t, err)
			require.True(t, more)
		}
		var numbers []int64
		for _, n := range out.images {
			numbers = append(numbers, int64(n))
		}
		x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(len(numbers), 3, 16, 16)})
		require.NoError(t, err)
		copy(x.Data, out.outputs[0].data)
		return x, numbers, true
	})
	require.Equal(t, trainingDigest(t), l.digest())

	q, classes = trainingPipe(t)
	p, err := pipeline.New(q.built, pipeline.Options{Workers: 3}, nil)
	require.NoError(t, err)
	defer p.Close()
	l = train(t, classes, func() (*tensor.Tensor, []int64, bool) {
		s, err := p.Next(context.Background())
		for err == io.EOF {
			if p.Epoch()+1 == trainingEpochs {
				return nil, nil, false
			}
			require.NoError(t, p.NextEpoch())
			s, err = p.Next(context.Background())
		}
		require.NoError(t, err)
		return &s.Column("image").Tensor, slices.Clone(tensor.View[int64](&s.Column("index").Tensor)), true
	})
	require.Equal(t, trainingDigest(t), l.digest())
}
