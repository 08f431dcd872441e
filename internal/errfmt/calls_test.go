package errfmt

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var directive = regexp.MustCompile(`%[#0]*[0-9]*(?:\.[0-9]+)?(?:\[([0-9]+)\])?(.)`)

// basics are the arguments that a verb takes, besides errors and Stringers for
// v, s and q.
var basics = map[string]func(types.Type) bool{
	"d": isInteger,
	"x": func(t types.Type) bool { return isInteger(t) || isBytes(t) || isBasic(t, types.IsString) },
	"s": func(t types.Type) bool { return isBytes(t) || isBasic(t, types.IsString) || isList(t, types.IsString) },
	"q": func(t types.Type) bool {
		return isInteger(t) || isBytes(t) || isBasic(t, types.IsString) || isList(t, types.IsString)
	},
	"f": func(t types.Type) bool { return isBasic(t, types.IsFloat) },
	"v": func(t types.Type) bool {
		return isBasic(t, types.IsInteger|types.IsFloat|types.IsString|types.IsBoolean) || isBytes(t) ||
			isList(t, types.IsString) || isList(t, types.IsFloat) || isList(t, types.IsInteger)
	},
	"w": func(types.Type) bool { return false },
}

// isBasic reports whether t is a basic type itself: the type switch of this
// package does not see through names.
func isBasic(t types.Type, info types.BasicInfo) bool {
	b, ok := types.Unalias(t).(*types.Basic)
	return ok && b.Info()&info != 0 && b.Info()&types.IsComplex == 0
}

func isInteger(t types.Type) bool { return isBasic(t, types.IsInteger) }

func isBytes(t types.Type) bool {
	s, ok := types.Unalias(t).(*types.Slice)
	return ok && types.Identical(s.Elem(), types.Typ[types.Byte])
}

func isList(t types.Type, info types.BasicInfo) bool {
	s, ok := types.Unalias(t).(*types.Slice)
	if !ok || !isBasic(s.Elem(), info) {
		return false
	}
	return slices.Contains([]types.BasicKind{types.String, types.Int, types.Int64, types.Float64}, s.Elem().(*types.Basic).Kind())
}

func has(t types.Type, method string) bool {
	o, _, _ := types.LookupFieldOrMethod(t, false, nil, method)
	_, ok := o.(*types.Func)
	return ok
}

// TestCalls checks the arguments of every call, in all packages that link this
// one, of a function with a format and a list of arguments.
func TestCalls(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command: the calls are checked where there is one")
	}
	type pkg struct {
		ImportPath, Dir, Export string
		GoFiles, Imports        []string
		ImportMap               map[string]string
	}
	exports := map[string]string{}
	var users []pkg
	c := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Imports,ImportMap", "./...")
	c.Dir = filepath.Join("..", "..")
	c.Stderr = os.Stderr
	out, err := c.Output()
	require.NoError(t, err)
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		}
		exports[p.ImportPath] = p.Export
		if slices.ContainsFunc(p.Imports, func(i string) bool { return strings.HasSuffix(i, "/internal/errfmt") }) {
			users = append(users, p)
		}
	}
	require.Greater(t, len(users), 8)

	calls := 0
	for _, p := range users {
		fset := token.NewFileSet()
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			files = append(files, f)
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
		conf := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
			if exports[path] == "" {
				return nil, fmt.Errorf("no export data of %s", path)
			}
			return os.Open(exports[path])
		})}
		_, err := conf.Check(p.ImportPath, fset, files, info)
		require.NoError(t, err)
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				if c, ok := n.(*ast.CallExpr); ok && c.Ellipsis == token.NoPos {
					if problem := checkCall(info, c); problem != "" {
						t.Errorf("%s: %s", fset.Position(c.Pos()), problem)
					}
					calls++
				}
				return true
			})
		}
	}
	t.Logf("%d calls in %d packages", calls, len(users))
}

// checkCall returns what is wrong with a call, "" if it has no format.
func checkCall(info *types.Info, c *ast.CallExpr) string {
	sig, ok := info.TypeOf(c.Fun).(*types.Signature)
	if !ok || !sig.Variadic() || sig.Params().Len() < 2 {
		return ""
	}
	last := sig.Params().Len() - 1
	if s := sig.Params().At(last).Type().String(); s != "[]any" && s != "[]interface{}" {
		return ""
	}
	format := info.Types[c.Args[last-1]].Value
	if format == nil || format.Kind() != constant.String {
		return ""
	}
	next := last
	for _, m := range directive.FindAllStringSubmatch(constant.StringVal(format), -1) {
		verb := m[2]
		if verb == "%" {
			continue
		}
		if m[1] != "" {
			i, _ := strconv.Atoi(m[1])
			next = last + i - 1
		}
		fits, ok := basics[verb]
		if !ok {
			return fmt.Sprintf("%s is not a directive of this package", m[0])
		}
		if next >= len(c.Args) {
			return fmt.Sprintf("%s has no argument", m[0])
		}
		a := info.TypeOf(c.Args[next])
		next++
		text := (verb == "v" || verb == "s" || verb == "q") && (has(a, "Error") || has(a, "String")) || verb == "w" && has(a, "Error")
		if i, ok := a.Underlying().(*types.Interface); ok && i.Empty() && verb == "v" {
			continue // what encoding/json or a panic gives: a basic type, an error or a Stringer
		}
		if !text && !fits(types.Default(a)) {
			return fmt.Sprintf("%s prints a %s, which this package does not know", m[0], a)
		}
	}
	return ""
}
