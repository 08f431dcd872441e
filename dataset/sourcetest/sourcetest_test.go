package sourcetest_test

import (
	"testing"

	"github.com/infer-prep/infer-prep/dataset/fakeimage"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
)

func ExampleRun() {
	// In a test of package fakeimage.
	_ = func(t *testing.T) {
		src := fakeimage.New()
		sourcetest.Spec(t, src)
		sourcetest.Run(t, src)
		if n := sourcetest.Allocs(t, src); n != 0 {
			t.Errorf("reading a row allocates %v times, want 0", n)
		}
	}
}
