package arch

import (
	"bytes"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNothingFuses checks that every product of floating-point numbers is
// rounded. The compiler may compute x*y + z with a single rounding if the
// processor can. It may do so even through variables and inlined functions.
// Only an explicit conversion of the product forbids it. So each product must
// be converted where it is computed. A product that is divided, compared, or
// passed to package math, min or max is exempt, since it is not added there. A
// division by a constant power of two is a product to the compiler.
func TestNothingFuses(t *testing.T) {
	const format = `{{.ImportPath}}|{{.Dir}}|{{.Export}}|{{if .Module}}{{if .Module.Main}}{{join .GoFiles ","}}{{end}}{{end}}`
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", format,
		module+"eager", module+"pipeline", module+"pullpipe", module+"importer/all", module+"importer/preset", module+"codec/all", module+"modelbundle")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	exports, sources := map[string]string{}, map[string][]string{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		exports[f[0]] = f[2]
		if f[3] != "" {
			for _, name := range strings.Split(f[3], ",") {
				sources[f[0]] = append(sources[f[0]], filepath.Join(f[1], name))
			}
		}
	}
	require.Greater(t, len(sources), 15, "packages looked at")
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		b, err := os.ReadFile(exports[path])
		return io.NopCloser(bytes.NewReader(b)), err
	})
	products := 0
	for path, names := range sources {
		var files []*ast.File
		for _, name := range names {
			f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			files = append(files, f)
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		_, err := (&types.Config{Importer: imports}).Check(path, fset, files, info)
		require.NoError(t, err)
		for _, f := range files {
			ast.PreorderStack(f, nil, func(n ast.Node, stack []ast.Node) bool {
				p, product := n.(*ast.BinaryExpr)
				if a, ok := n.(*ast.AssignStmt); ok && isFloat(info.Types[a.Lhs[0]]) && (a.Tok == token.MUL_ASSIGN || a.Tok == token.QUO_ASSIGN && isPowerOfTwo(info.Types[a.Rhs[0]])) {
					t.Errorf("%v: write x = T(x * y) or T(x / y), so that the product is rounded", fset.Position(n.Pos()))
				}
				if product && (p.Op == token.MUL || p.Op == token.QUO && isPowerOfTwo(info.Types[p.Y])) && isFloat(info.Types[p]) {
					products++
					if !rounded(info, stack, p) {
						t.Errorf("%v: the product may be fused into an addition", fset.Position(p.OpPos))
					}
				}
				return true
			})
		}
	}
	require.Greater(t, products, 50, "products looked at")
}

// isPowerOfTwo reports whether v is a constant whose reciprocal is exact.
func isPowerOfTwo(v types.TypeAndValue) bool {
	if v.Value == nil {
		return false
	}
	c, _ := constant.Float64Val(constant.ToFloat(v.Value))
	m, _ := math.Frexp(math.Abs(c))
	return m == 0.5
}

// isFloat reports whether v is a floating-point number, or of a type parameter
// that may be one.
func isFloat(v types.TypeAndValue) bool {
	if v.Type == nil || v.Value != nil && v.Value.Kind() != constant.Unknown {
		return false // a constant is exact until it is used
	}
	if p, ok := v.Type.(*types.TypeParam); ok {
		found := false
		u := p.Constraint().Underlying().(*types.Interface)
		for i := range u.NumEmbeddeds() {
			if union, ok := u.EmbeddedType(i).(*types.Union); ok {
				for j := range union.Len() {
					found = found || isFloat(types.TypeAndValue{Type: union.Term(j).Type()})
				}
			}
		}
		return found
	}
	b, ok := v.Type.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsFloat != 0
}

// rounded reports whether the expressions around the product, the stack, round
// it.
func rounded(info *types.Info, stack []ast.Node, product ast.Expr) bool {
	for i := len(stack) - 1; i >= 0; i-- {
		switch p := stack[i].(type) {
		case *ast.ParenExpr, *ast.UnaryExpr:
		case *ast.BinaryExpr:
			switch p.Op {
			case token.MUL: // the outer product is checked separately
				return true
			case token.QUO, token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
				return true
			}
			return false
		case *ast.CallExpr:
			f := types.ExprString(p.Fun)
			return info.Types[p.Fun].IsType() || f == "min" || f == "max" || strings.HasPrefix(f, "math.")
		default:
			return false
		}
	}
	return false
}
