package transforms

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// inexact lists the functions of package math whose last bits depend on the
// platform: some platforms implement them in assembly or fuse multiplications
// into additions. Floor, Trunc, RoundToEven, Sqrt, Abs, FMA and similar
// functions are exact.
var inexact = strings.Fields(`Exp Exp2 Expm1 Log Log2 Log10 Log1p Logb Sin Cos Sincos Tan Asin Acos Atan Atan2 Sinh Cosh Tanh
	Asinh Acosh Atanh Pow Cbrt Hypot Gamma Lgamma Erf Erfc Erfinv Erfcinv J0 J1 Jn Y0 Y1 Yn`)

// TestNoInexactMath checks that no code that can reach a tensor uses these
// functions. Commands and benchmarks may, and so may the model of
// examples/training, whose weights are those of one platform.
func TestNoInexactMath(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the source is the same on every platform")
	}
	forbidden := map[string]bool{}
	for _, n := range inexact {
		forbidden[n] = true
	}
	root, count := "..", 0
	require.FileExists(t, filepath.Join(root, "go.mod"))
	skip := map[string]bool{"bench": true, "cmd": true, "testdata": true, "_gen": true, ".git": true, "out": true, "bin": true}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skip[d.Name()] || path == filepath.Join(root, "examples", "training") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		count++
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name := ""
		for _, i := range f.Imports {
			if i.Path.Value == `"math"` {
				name = "math"
				if i.Name != nil {
					name = i.Name.Name
				}
				require.NotEqual(t, ".", name, "%s: a dot import of math hides what is used", path)
			}
		}
		if name == "" {
			return nil
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == name && forbidden[s.Sel.Name] {
					t.Errorf("%v: math.%s gives other bits on other platforms", fset.Position(n.Pos()), s.Sel.Name)
				}
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, count, 20, "files looked at")
}
