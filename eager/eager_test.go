package eager_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/eager"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// The input tensor of torchvision's ImageNet classifiers, from a JPEG. The
// digest is that of torchvision 0.29.2 with Pillow 13.0.0.
func Example() {
	jpeg, err := os.ReadFile("../testdata/images/jpeg_large.jpg")
	if err != nil {
		fmt.Println(err)
		return
	}
	t, err := eager.Apply(jpeg,
		transforms.NewDecode(),
		transforms.NewResizeShortest(256), // Pillow's bilinear, antialiased
		transforms.NewCenterCrop(224, 224),
		transforms.NewToTensor(),
		transforms.NewNormalize([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v, sha256 %.8x…\n", t.Desc, sha256.Sum256(t.Data))
	// Output: float32 CHW (3, 224, 224), sha256 3e090e7ed9c806b3…
}

func read(tb testing.TB, name string) []byte {
	b, err := os.ReadFile("../testdata/images/" + name)
	require.NoError(tb, err)
	return b
}

func TestApply(t *testing.T) {
	data := read(t, "jpeg_base_420.jpg")
	image, err := eager.Apply(data, transforms.NewDecode())
	require.NoError(t, err)
	direct, err := codec.Decode(data, nil)
	require.NoError(t, err)
	require.Equal(t, direct.Data, image.Data)

	// One call and two calls have the same result.
	one, err := eager.Apply(data, transforms.NewDecode(), transforms.NewResize(20, 30), transforms.NewHWC2CHW())
	require.NoError(t, err)
	two, err := eager.Apply(image, transforms.NewResize(20, 30), transforms.NewHWC2CHW())
	require.NoError(t, err)
	require.Equal(t, one, two)

	// The caller owns the result even if there are no ops.
	same, err := eager.Apply(image)
	require.NoError(t, err)
	require.Equal(t, image.Data, same.Data)
	require.False(t, image.Overlaps(same))
}

func TestApplyErrors(t *testing.T) {
	data := read(t, "jpeg_base_420.jpg")
	for _, c := range []struct {
		name string
		data []byte
		ops  []transforms.Op
		want error
	}{
		{"empty", nil, []transforms.Op{transforms.NewDecode()}, codec.ErrFormat},
		{"text", []byte("hello"), []transforms.Op{transforms.NewDecode()}, codec.ErrFormat},
		{"truncated", data[:len(data)/2], []transforms.Op{transforms.NewDecode()}, codec.ErrFormat},
		{"not decoded", data, []transforms.Op{transforms.NewResize(3, 3)}, transforms.ErrInput},
		{"parameter", data, []transforms.Op{transforms.NewDecode(), transforms.NewResize(0, 3)}, transforms.ErrParam},
		{"memory", data, []transforms.Op{transforms.NewDecode(), transforms.NewResize(1<<20, 1<<20)}, codec.ErrLimit},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := eager.Apply(c.data, c.ops...)
			require.ErrorIs(t, err, c.want)
			require.Nil(t, got)
		})
	}
	_, err := eager.Apply((*tensor.Tensor)(nil), transforms.NewDecode())
	require.ErrorIs(t, err, transforms.ErrInput)
}

func TestApplyIsConcurrent(t *testing.T) {
	data := read(t, "jpeg_prog_420.jpg")
	want, err := eager.Apply(data, transforms.NewDecode(), transforms.NewResize(50, 40))
	require.NoError(t, err)
	op, size := transforms.NewDecode(), transforms.NewResize(50, 40)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := eager.Apply(data, op, size)
			if err != nil || string(got.Data) != string(want.Data) {
				t.Error("another result", err)
			}
		})
	}
	wg.Wait()
}

// TestRandomOpsDraw checks that random ops draw new numbers at every call, the
// same for the same seed and number.
func TestRandomOpsDraw(t *testing.T) {
	image, err := eager.Apply(read(t, "jpeg_base_420.jpg"), transforms.NewDecode())
	require.NoError(t, err)
	crop := transforms.NewRandomResizedCrop(8, 8)
	run := func(at rng.Point) string {
		got, err := eager.ApplyAt(at, image, crop)
		require.NoError(t, err)
		return string(got.Data)
	}
	one, two, other := eager.Draws{Seed: 1}, eager.Draws{Seed: 1}, eager.Draws{Seed: 2}
	seen := map[string]bool{}
	for range 20 {
		a := run(one.Next())
		require.Equal(t, a, run(two.Next()), "the same seed and number")
		require.NotEqual(t, a, run(other.Next()), "another seed")
		require.False(t, seen[a], "drawn before")
		seen[a] = true
	}
	require.True(t, seen[run(rng.Point{Seed: 1, Ordinal: 19})])

	seen = map[string]bool{}
	for range 20 {
		got, err := eager.Apply(image, crop)
		require.NoError(t, err)
		require.False(t, seen[string(got.Data)], "Apply drew the same numbers twice")
		seen[string(got.Data)] = true
	}
}

// TestApplyNumbersCallsThatDraw checks that the calls of Apply that draw have
// the numbers 0, 1, … of seed 0, also from several goroutines, and that others
// take none.
func TestApplyNumbersCallsThatDraw(t *testing.T) {
	eager.Restart()
	image, err := eager.Apply(read(t, "jpeg_base_420.jpg"), transforms.NewDecode())
	require.NoError(t, err)
	crop := transforms.NewRandomResizedCrop(8, 8)
	const calls = 24
	want := map[string]int{}
	for i := range calls {
		got, err := eager.ApplyAt(rng.Point{Ordinal: uint64(i)}, image, crop)
		require.NoError(t, err)
		want[string(got.Data)]++
	}
	got := make(chan string, calls)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range calls / 4 {
				x, err := eager.Apply(image, crop)
				if err != nil {
					t.Error(err)
					return
				}
				got <- string(x.Data)
				if _, err := eager.Apply(image, transforms.NewResize(3, 3)); err != nil { // draws nothing
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	close(got)
	for x := range got {
		want[x]--
	}
	for _, n := range want {
		require.Zero(t, n, "other numbers than 0 to 23")
	}
}

func BenchmarkApply(b *testing.B) {
	data := read(b, "jpeg_large.jpg")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := eager.Apply(data, transforms.NewDecode(), transforms.NewResizeShortest(256), transforms.NewCenterCrop(224, 224), transforms.NewToTensor()); err != nil {
			b.Fatal(err)
		}
	}
}
