package torchvision

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/internal/lazyregexp"
)

// isSource reports whether the text is Python source, not what Python prints:
// it has imports, an assignment, a module before the first name, or a list in a
// Compose.
func isSource(text []byte) bool {
	text = bytes.TrimSpace(text)
	i := bytes.IndexByte(text, '(')
	if i < 0 || text[0] == '{' { // arguments as JSON or a dict
		return false
	}
	head := bytes.TrimSpace(text[:i])
	if bytes.ContainsAny(head, ".=#\n ") {
		return true
	}
	rest := bytes.TrimLeft(text[i+1:], " \t\r\n")
	return isName(head) && len(rest) > 0 && strings.IndexByte("['\"0123456789", rest[0]) >= 0
}

// parameters are the positional parameters of the transforms.
var parameters = map[string][]string{
	"Resize":            {"size", "interpolation", "max_size", "antialias"},
	"CenterCrop":        {"size"},
	"Pad":               {"padding", "fill", "padding_mode"},
	"Grayscale":         {"num_output_channels"},
	"Normalize":         {"mean", "std", "inplace"},
	"ToDtype":           {"dtype", "scale"},
	"ConvertImageDtype": {"dtype"},
}

// fromSource imports transforms.Compose([…]) and the like: it prints them as
// Python does, and imports that.
func fromSource(text []byte, first start) (*datagraph.Graph, error) {
	s := &source{cursor: cursor{text: text}, modules: map[string]generation{}, paths: map[string]string{}}
	root, err := s.parse()
	if err != nil {
		return nil, err
	}
	from, err := s.generationOf(root)
	if err != nil {
		return nil, err
	}
	build := func(from generation) (*datagraph.Graph, error) {
		w := &printer{from: from}
		if err := w.call(root, ""); err != nil {
			return nil, err
		}
		return load(w.out.Bytes(), first)
	}
	if from != either {
		return build(from)
	}
	one, err := build(v1)
	if err != nil {
		return nil, err
	}
	two, err := build(v2)
	if err != nil || !sameGraph(one, two) {
		return nil, formatErr("v1 and v2 of these transforms differ: want the line that imports them, such as from torchvision.transforms import v2")
	}
	return one, nil
}

func sameGraph(a, b *datagraph.Graph) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

// node is an expression of the source.
type node struct {
	at   int
	name string   // of a call or a variable, with modules; "" for a list or a literal
	call bool     // name(…)
	list []node   // the elements of a list or tuple, or the arguments of a call
	keys []string // of the arguments, "" for those by position
	text string   // of a list's or a literal's source

	toRGB bool // a function that converts to RGB
}

// lambda matches a function that converts to RGB if its two names are equal.
var lambda = lazyregexp.New(`^lambda\s+(\w+)\s*:\s*(\w+)\s*\.\s*convert\(\s*(?:"RGB"|'RGB')\s*\)`)

// source parses Python source of transforms.
type source struct {
	cursor
	modules map[string]generation // that imports name
	paths   map[string]string     // of all names that imports name
}

// wantAt is want for another place.
func (s *source) wantAt(at int, what string) error {
	return (&cursor{s.text, at}).want(what)
}

// parse reads lines of imports, and one expression that may be assigned to a
// name.
func (s *source) parse() (node, error) {
	if len(s.text) > maxText {
		return node{}, formatErr("%d bytes, want at most %d", len(s.text), maxText)
	}
	for {
		s.space()
		line, _, _ := bytes.Cut(s.text[s.at:], []byte("\n"))
		words := strings.Fields(string(line))
		if len(words) == 0 || words[0] != "import" && words[0] != "from" {
			break
		}
		if opens().Match(line) {
			if line = statement().Find(s.text[s.at:]); line == nil {
				return node{}, s.want("a parenthesis that closes the names")
			}
		}
		s.imports(string(line))
		s.at += len(line)
	}
	start := s.at
	s.name()
	if s.space(); s.peek() == '=' {
		s.at++
		s.space()
	} else {
		s.at = start
	}
	n, err := s.expression(0)
	if err != nil {
		return n, err
	}
	if s.space(); s.at < len(s.text) {
		return n, s.want("the end after the transforms")
	}
	if !n.call {
		return n, s.wantAt(n.at, "transforms such as transforms.Compose([…])")
	}
	return n, nil
}

// opens matches an import statement with a parenthesis, which may have several
// lines, statement a whole one, and comments its comments and other separators.
var (
	opens     = lazyregexp.New(`^[^()#]*\(`)
	statement = lazyregexp.New(`^[^()#\n]*\((?:[^)#]|#[^\n]*)*\)`)
	comments  = lazyregexp.New(`#[^\n]*|[()\\]`)
)

// imports records what the names of an import statement mean.
func (s *source) imports(text string) {
	words := strings.Fields(strings.ReplaceAll(comments().ReplaceAllString(text, " "), ",", " , "))
	module, rest := words[1:], []string(nil)
	if words[0] == "from" && len(words) > 3 {
		module, rest = words[1:2], words[3:]
	}
	bind := func(path, name string) {
		switch s.paths[name] = path; path {
		case "torchvision.transforms":
			s.modules[name] = v1
		case "torchvision.transforms.v2":
			s.modules[name] = v2
		}
	}
	if rest == nil { // import a.b as c
		if len(module) == 3 && module[1] == "as" {
			bind(module[0], module[2])
		} else if len(module) == 1 {
			bind(module[0], module[0])
		}
		return
	}
	for i := 0; i < len(rest); i++ { // from a import b as c, d
		if rest[i] == "," {
			continue
		}
		path, name := module[0]+"."+rest[i], rest[i]
		if i+2 < len(rest) && rest[i+1] == "as" {
			name = rest[i+2]
			i += 2
		}
		bind(path, name)
		if base, ok := map[string]generation{"torchvision.transforms": v1, "torchvision.transforms.v2": v2}[module[0]]; ok && path != "torchvision.transforms.v2" {
			s.modules[name] = base // a transform without its module
		}
	}
}

// foreign returns the library that the source imports a name from, if it is not
// one of those whose transforms are known. Other libraries have transforms of
// the same names.
func (s *source) foreign(name string) string {
	for part := name; ; part = part[:strings.LastIndexByte(part, '.')] {
		if path, ok := s.paths[part]; ok {
			root, _, _ := strings.Cut(path, ".")
			if slices.Contains([]string{"torchvision", "torch", "timm"}, root) {
				return ""
			}
			return path
		}
		if strings.IndexByte(part, '.') < 0 {
			return ""
		}
	}
}

// space skips white space, comments and continued lines.
func (s *source) space() {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case strings.IndexByte(" \t\r\n\\", c) >= 0:
			s.at++
		case c == '#':
			for s.at < len(s.text) && s.text[s.at] != '\n' {
				s.at++
			}
		default:
			return
		}
	}
}

// name reads a name with its modules.
func (s *source) name() string {
	start := s.at
	for s.at < len(s.text) && (s.text[s.at] == '.' || isName([]byte{'a', s.text[s.at]})) {
		s.at++
	}
	return string(s.text[start:s.at])
}

func (s *source) expression(depth int) (node, error) {
	if depth > maxDepth {
		return node{}, s.want(fmt.Sprintf("transforms nested at most %d deep", maxDepth))
	}
	n := node{at: s.at}
	switch c := s.peek(); {
	case c == '[' || c == '(':
		s.at++
		err := s.elements(&n, map[byte]byte{'[': ']', '(': ')'}[c], false, depth)
		n.text = string(s.text[n.at:s.at])
		return n, err
	case c == '\'' || c == '"':
		end := bytes.IndexByte(s.text[s.at+1:], c)
		if end < 0 {
			return n, s.want("a closing quotation mark")
		}
		s.at += end + 2
	case c == '-' || c == '+' || c == '.' || c >= '0' && c <= '9':
		for s.at < len(s.text) && strings.IndexByte("+-.eE0123456789", s.text[s.at]) >= 0 {
			s.at++
		}
	default:
		n.name = s.name()
		switch {
		case n.name == "lambda":
			if m := lambda().FindSubmatch(s.text[n.at:]); m != nil && bytes.Equal(m[1], m[2]) {
				s.at = n.at + len(m[0])
				n.toRGB = true
				return n, nil
			}
			return n, s.wantAt(n.at, "transforms without Python functions, other than lambda x: x.convert(\"RGB\")")
		case c == '{':
			return n, s.wantAt(n.at, "the value for images, not a dict with one for each type")
		case n.name == "":
			return n, s.want("a transform or a value")
		}
		s.space()
		if s.peek() == '(' {
			s.at++
			n.call = true
			return n, s.elements(&n, ')', true, depth)
		}
	}
	n.text = string(s.text[n.at:s.at])
	s.space()
	if c := s.peek(); c != 0 && strings.IndexByte(",)]=", c) < 0 {
		return n, s.wantAt(n.at, "a literal, not an expression")
	}
	return n, nil
}

// elements reads values up to the closing bracket, with keywords in a call.
func (s *source) elements(n *node, end byte, call bool, depth int) error {
	for {
		s.space()
		if s.peek() == end {
			s.at++
			return nil
		}
		key, start := "", s.at
		if call {
			key = s.name()
			if s.space(); s.peek() == '=' && isName([]byte(key)) {
				s.at++
				s.space()
			} else {
				key, s.at = "", start
			}
		}
		e, err := s.expression(depth + 1)
		if err != nil {
			return err
		}
		n.list, n.keys = append(n.list, e), append(n.keys, key)
		s.space()
		switch s.peek() {
		case ',':
			s.at++
		case end:
		default:
			return s.want(fmt.Sprintf("a comma or %q", end))
		}
	}
}

// base returns the last part of a name with modules.
func base(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// generationOf finds the version of the transforms: that of the imports, of a
// module named v2, or of a transform that only v2 has.
func (s *source) generationOf(n node) (generation, error) {
	found := either
	var walk func(node) error
	walk = func(n node) error {
		if path := s.foreign(n.name); path != "" && n.call {
			return s.wantAt(n.at, fmt.Sprintf("transforms of torchvision, not %s", path))
		}
		from := either
		module, _, _ := strings.Cut(n.name, ".")
		outer := strings.TrimSuffix(strings.TrimSuffix(n.name, base(n.name)), ".")
		switch name := base(n.name); {
		case !n.call:
		case strings.HasSuffix("."+outer, ".v2"), slices.Contains([]string{"ToImage", "ToDtype", "ToPureTensor", "RGB"}, name):
			from = v2
		case s.modules[outer] != either:
			from = s.modules[outer]
		case s.modules[module] != either && outer == "":
			from = s.modules[module]
		}
		if from != either && found != either && from != found {
			return s.wantAt(n.at, "transforms of v1 or of v2, not of both")
		}
		if from != either {
			found = from
		}
		for _, e := range n.list {
			if err := walk(e); err != nil {
				return err
			}
		}
		return nil
	}
	return found, walk(n)
}

// printer prints transforms as torchvision does.
type printer struct {
	from generation
	out  bytes.Buffer
}

func (p *printer) call(n node, indent string) error {
	name := base(n.name)
	if name == "transforms" {
		return formatErr("%s(): want what Python prints for it: python -c 'from torchvision.models import *; print(%s())'", n.name, n.name)
	}
	if slices.Contains(containers, name) {
		steps := n.list
		if len(steps) == 1 && !steps[0].call { // a list of transforms
			steps = steps[0].list
		}
		gap := indent + map[generation]string{v1: "    ", v2: "      "}[p.from]
		fmt.Fprintf(&p.out, "%s(\n", name)
		for _, e := range steps {
			p.out.WriteString(gap)
			if e = asFunction(e); e.toRGB {
				p.out.WriteString("<function " + toRGB[0] + " at 0x0>\n")
				continue
			}
			if e.name != "" && !e.call {
				return formatErr("%s of %s, a Python function or a variable, which is not known here: want a list of transforms", name, e.name)
			}
			if !e.call {
				return formatErr("%s of %q, want a list of transforms", name, e.text)
			}
			if err := p.call(e, gap); err != nil {
				return err
			}
			p.out.WriteByte('\n')
		}
		p.out.WriteString(indent + ")")
		return nil
	}
	if _, ok := known[name]; !ok { // an error of what imports the printed text
		fmt.Fprintf(&p.out, "%s()", name)
		return nil
	}
	args := map[string]string{}
	for i, e := range n.list {
		key := n.keys[i]
		if key == "" {
			if i >= len(parameters[name]) {
				return formatErr("%s: argument %d, want at most %d by position", name, i+1, len(parameters[name]))
			}
			key = parameters[name][i]
		}
		if _, twice := args[key]; twice {
			return formatErr("%s: each argument once, got %s twice", name, key)
		}
		text, err := value(name, key, e)
		if err != nil {
			return err
		}
		args[key] = text
	}
	p.defaults(name, args)
	var list []string
	for _, key := range slices.Sorted(maps.Keys(args)) {
		list = append(list, key+"="+args[key])
	}
	fmt.Fprintf(&p.out, "%s(%s)", name, strings.Join(list, ", "))
	return nil
}

// asFunction returns the function that converts to RGB if e is one, or a Lambda
// of one; it returns other nodes as they are.
func asFunction(e node) node {
	f := e
	if e.call && base(e.name) == "Lambda" && len(e.list) == 1 {
		f = e.list[0]
	}
	if f.toRGB = f.toRGB || !f.call && slices.Contains(toRGB, f.name); f.toRGB {
		return f
	}
	return e
}

// defaults adds the arguments that Python prints even if the source has none,
// and removes those that it does not print.
func (p *printer) defaults(name string, args map[string]string) {
	set := func(key, text string) {
		if _, ok := args[key]; !ok {
			args[key] = text
		}
	}
	switch name {
	case "Resize":
		set("interpolation", "bilinear")
		set("max_size", "None")
		set("antialias", "True")
		if p.from == v2 {
			if args["max_size"] == "None" {
				delete(args, "max_size")
			}
			if n, err := strconv.Atoi(args["size"]); err == nil {
				args["size"] = fmt.Sprintf("[%d]", n)
			}
			if args["size"] == "None" {
				delete(args, "size")
			}
		}
	case "Normalize":
		delete(args, "inplace")
		if p.from == v2 {
			args["inplace"] = "False"
		}
	case "ConvertImageDtype":
		if p.from == v2 {
			set("dtype", "torch.float32")
		}
	case "Pad":
		set("fill", "0")
		set("padding_mode", "constant")
	case "Grayscale":
		set("num_output_channels", "1")
	case "ImageClassification", "SemanticSegmentation":
		set("interpolation", "bilinear")
		set("antialias", "True")
	}
}

// value prints an argument.
func value(name, key string, n node) (string, error) {
	bad := func(want string) (string, error) {
		return "", formatErr("%s: %s=%s, want %s", name, key, cmp.Or(n.text, n.name), want)
	}
	switch key {
	case "dtype":
		if _, ok := dtypes[n.name]; !ok {
			return bad("a type of torch, such as torch.float32")
		}
		return n.name, nil
	case "interpolation":
		if s, ok := pillowNumbers[n.text]; ok {
			return s, nil
		}
		return strings.ReplaceAll(strings.ToLower(base(n.name)), "_", "-"), nil
	}
	switch {
	case n.call:
		return bad("a literal")
	case n.name == "":
		for _, e := range n.list {
			if _, err := value(name, key, e); err != nil {
				return "", err
			}
		}
		text := number(n.text)
		if n.list != nil { // without comments and line breaks
			var l []string
			for _, e := range n.list {
				s, _ := value(name, key, e) // checked above
				l = append(l, s)
			}
			text = "[" + strings.Join(l, ", ") + "]"
		}
		return text, nil
	case n.name == "True", n.name == "False", n.name == "None":
		return n.name, nil
	}
	return bad("its value, since variables are not known here")
}

// number returns a number of Python in JSON's form: .5 becomes 0.5. It returns
// other text unchanged.
func number(text string) string {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || json.Valid([]byte(text)) {
		return text
	}
	text = strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// importSource imports the text if it is source.
func importSource(data []byte, from start) (*datagraph.Graph, bool, error) {
	text := importer.Text(data)
	if !isSource(text) {
		return nil, false, nil
	}
	g, err := fromSource(text, from)
	return g, true, err
}
