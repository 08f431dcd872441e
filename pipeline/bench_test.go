package pipeline

import (
	"fmt"
	"io"
	"testing"

	"github.com/infer-prep/infer-prep/dataset"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// BenchmarkSample measures the cost of the engine for a sample, through two
// stages.
func BenchmarkSample(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint(workers, " workers"), func(b *testing.B) {
			d := dataset.Of(&source{n: int64(b.N)}).Shuffle().MapFunc(each(func(int) error { return nil }), x, column...)
			built, err := dataset.Build(b.Context(), d, dataset.Options{})
			if err != nil {
				b.Fatal(err)
			}
			p, err := New(built, Options{Workers: workers}, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if _, err := p.Next(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			if _, err := p.Next(b.Context()); err != io.EOF {
				b.Fatal(err)
			}
			if err := p.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
