package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/bundle"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// The example keys of RFC 8410, section 10.
const (
	testPrivate = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n"
	testPublic  = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n"
	otherPublic = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n" // RFC 8032, section 7.1, test 1
)

// bundled creates a bundle and its source files in a new folder.
func bundled(t *testing.T, more ...string) (dir string, at func(string) string) {
	dir = tree(t, map[string][]byte{
		"in/a.png": pngBytes(t, 5, 4, 1), "in/sub/b.png": pngBytes(t, 3, 3, 2), "in/read.me": []byte("no image"),
		"c.png": pngBytes(t, 6, 2, 3), "net.tflite": []byte("model"), "labels.txt": []byte("cat\r\ndog"), "extra": {0, 1, 2}, "bad.onnx": []byte("model"),
		"private.pem": []byte(testPrivate), "public.pem": []byte(testPublic), "other.pem": []byte(otherPublic), "text": []byte("text"),
	})
	at = func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	args := append([]string{"bundle", "create", "--preset", "decode", "--dtype", "float32", "--golden", at("in"), "--golden", at("c.png"), "--model", at("net.tflite"),
		"--labels", at("labels.txt"), "--meta", "license=MIT", "--meta", "url=https://example.org/?a=b", "--section", "x/extra=" + at("extra"), "-o", at("a.bundle")}, more...)
	r := call(t, args...)
	require.Equal(t, called{status: command.ExitOK}, r)
	return dir, at
}

func TestBundleCommands(t *testing.T) {
	dir, at := bundled(t)
	first, err := os.ReadFile(at("a.bundle"))
	require.NoError(t, err)

	r := call(t, "bundle", "ls", at("a.bundle"))
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	for _, w := range []string{"made with    Pillow 13.0.0", "least class  exact", "labels       2", "license      MIT", "url          https://example.org/?a=b", "golden/sub/b.png          85 ", "model/net.tflite  tflite  5 "} {
		require.Contains(t, r.stdout, w)
	}
	require.NotContains(t, r.stdout, "signed")
	r = call(t, "bundle", "ls", "--json", at("a.bundle"))
	var l bundle.BundleJSON
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &l))
	var names []string
	for _, s := range l.Sections {
		names = append(names, s.Name)
	}
	require.Equal(t, []string{"golden/a.png", "golden/c.png", "golden/sub/b.png", "graph", "labels", "meta", "model/net.tflite", "x/extra"}, names)
	require.Equal(t, "sub/b.png", l.Goldens[2].Name)
	require.Equal(t, "float32 HWC (3, 3, 3)", l.Goldens[2].Outputs[0].Desc.String())
	require.Equal(t, 2, l.Labels)

	require.Equal(t, called{stdout: "cat\ndog\n"}, call(t, "bundle", "cat", at("a.bundle"), "labels"))
	require.Equal(t, called{}, call(t, "bundle", "cat", "-o", at("out.bin"), at("a.bundle"), "x/extra"))
	b, err := os.ReadFile(at("out.bin"))
	require.NoError(t, err)
	require.Equal(t, []byte{0, 1, 2}, b)
	r = call(t, "bundle", "cat", at("a.bundle"), "model/nothing")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, `a.bundle: modelbundle: section "model/nothing": no such section: want golden/a.png, golden/c.png, golden/sub/b.png, graph, labels, manifest, meta, model/net.tflite, x/extra`)
	require.Contains(t, call(t, "bundle", "cat", at("a.bundle"), "label").stderr, `did you mean "labels"?`)
	require.Equal(t, called{stdout: "golden/a.png\ngolden/c.png\ngolden/sub/b.png\ngraph\nlabels\nmanifest\nmeta\nmodel/net.tflite\nx/extra\n"}, call(t, "bundle", "cat", at("a.bundle")))

	r = call(t, "bundle", "verify", at("a.bundle"))
	require.Equal(t, called{stdout: command.Printable(at("a.bundle")) + ": 8 sections and 3 golden samples are right\n"}, r)

	// The bundle returns the same graph.
	r = call(t, "run", "--bundle", at("a.bundle"), "--dtype", "uint8", "-q", "-o", at("out"), at("c.png"))
	require.Equal(t, called{}, r)
	requireDecoded(t, at("out/c.png.npy"), 6, 2, 3)
	bundle, preset := call(t, "graph", "import", "--bundle", at("a.bundle")), call(t, "graph", "import", "--preset", "decode", "--dtype", "float32")
	require.Equal(t, preset, bundle)

	// The same content yields the same bytes.
	require.Equal(t, command.ExitOK, call(t, "bundle", "create", "--bundle", at("a.bundle"), "--golden", at("c.png"), "--golden", at("in"), "--model", at("net.tflite"),
		"--labels", at("labels.txt"), "--meta", "url=https://example.org/?a=b", "--meta", "license=MIT", "--section", "x/extra="+at("extra"), "-o", at("b.bundle")).status)
	second, err := os.ReadFile(at("b.bundle"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(first, second))
	require.Equal(t, command.ExitOK, call(t, "bundle", "create", "--preset", "decode", "--least", "within1", "--library", "opencv=5", "-o", at("little.bundle")).status)
	r = call(t, "bundle", "ls", at("little.bundle"))
	require.Contains(t, r.stdout, "made with    opencv 5\nleast class  within1\n")
	require.NotContains(t, r.stdout, "golden")
	for _, f := range listFiles(t, dir) {
		require.NotContains(t, f, ".tmp")
	}
}

func TestBundleSignatures(t *testing.T) {
	_, at := bundled(t)
	name := command.Printable(at("a.bundle"))
	public := []string{"bundle", "verify", "--public-key", at("public.pem")}
	r := call(t, append(public, at("a.bundle"))...)
	require.Equal(t, command.ExitFailed, r.status)
	require.Equal(t, "infer-prep: "+name+": modelbundle: signature: not signed\n", r.stderr)

	require.Equal(t, called{}, call(t, "bundle", "sign", "--key", at("private.pem"), "--detached", at("a.sig"), at("a.bundle")))
	require.Equal(t, command.ExitOK, call(t, append(public, "--signature", at("a.sig"), at("a.bundle"))...).status)
	require.Equal(t, command.ExitFailed, call(t, append(public, at("a.bundle"))...).status, "the bundle is as it was")

	require.Equal(t, called{}, callIn(t, testPrivate, "bundle", "sign", "--key", "-", "-o", at("signed.bundle"), at("a.bundle")))
	require.Equal(t, called{}, call(t, "bundle", "sign", "--key", at("private.pem"), at("a.bundle")))
	a, err := os.ReadFile(at("a.bundle"))
	require.NoError(t, err)
	b, err := os.ReadFile(at("signed.bundle"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(a, b))
	r = call(t, append(public, at("a.bundle"))...)
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Regexp(t, `: 8 sections and 3 golden samples are right, signed by [0-9a-f]{64}\n$`, r.stdout)
	require.Contains(t, call(t, "bundle", "ls", at("a.bundle")).stdout, "(not checked)")

	for _, args := range [][]string{{at("a.bundle")}, {"--signature", at("a.sig"), at("a.bundle")}} {
		r = call(t, append([]string{"bundle", "verify", "--public-key", at("other.pem")}, args...)...)
		require.Equal(t, command.ExitFailed, r.status)
		require.Contains(t, r.stderr, "invalid signature")
		require.Empty(t, r.stdout)
	}
	r = call(t, append(public, "--signature", at("text"), at("a.bundle"))...)
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "invalid signature")
}

// TestBundleOfTraining: verify accepts the tensors that the training program of
// examples/classifier computed, and rejects those of skewed programs.
func TestBundleOfTraining(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	from := filepath.Join("..", "..", "..", "examples", "classifier")
	create := func(bundle, expect string, images ...string) called {
		args := []string{"bundle", "create", "--torchvision", filepath.Join(from, "transforms.json"), "--model", filepath.Join(from, "model.onnx"),
			"--labels", filepath.Join(from, "labels.txt"), "--expect", expect, "-o", at(bundle)}
		for _, i := range images {
			args = append(args, "--golden", filepath.Join(from, "images", i))
		}
		return call(t, args...)
	}
	require.Equal(t, called{}, create("a.bundle", filepath.Join(from, "tensors"), ""))
	r := call(t, "bundle", "verify", at("a.bundle"))
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Contains(t, r.stdout, "15 sections and 12 golden samples are right")
	for _, skew := range []string{"bgr", "opencv"} {
		x := readNPY(t, filepath.Join(from, "skewed", "00."+skew+".npy"))
		x, err := tensor.Wrap(tensor.Desc{DType: x.DType, Shape: tensor.Dims(append([]int{1}, x.Shape.Slice()...)...)}, x.Data) // as a program saves the model's input
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, tensor.WriteNPY(&b, x))
		require.NoError(t, os.MkdirAll(at(skew), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, skew, "00.jpg.npy"), b.Bytes(), 0o666))
		r := create(skew+".bundle", at(skew), "00.jpg")
		require.Equal(t, command.ExitFailed, r.status)
		require.Regexp(t, `golden sample "00.jpg": output "image" at \(\d, \d+, \d+\): got \S+, want \S+; the likely cause: .*\(`+skew, r.stderr)
		require.NoFileExists(t, at(skew+".bundle"))
	}
	r = create("none.bundle", at("bgr"), "01.jpg")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "01.jpg: no tensor in "+command.Printable(at("bgr"))+": want 01.jpg.npy or 01.npy")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bgr", "01.npy"), []byte("no tensor"), 0o666))
	require.Contains(t, create("none.bundle", at("bgr"), "01.jpg").stderr, "01.npy: ")
	require.Equal(t, command.ExitUsage, create("none.bundle", at("bgr")).status)

	// Several outputs, by name, as run writes them.
	c := filepath.Join(from, "images", "01.jpg")
	require.Equal(t, called{}, call(t, "run", "--preset", "yolo", "--outputs", "all", "-q", "-o", at("yolo"), c))
	require.Equal(t, called{}, call(t, "bundle", "create", "--preset", "yolo", "--golden", c, "--expect", at("yolo"), "-o", at("yolo.bundle")))
	require.Equal(t, called{}, call(t, "bundle", "create", "--preset", "yolo", "--golden", c, "-o", at("same.bundle")))
	a, err := os.ReadFile(at("yolo.bundle"))
	require.NoError(t, err)
	b, err := os.ReadFile(at("same.bundle"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(a, b))
	require.NoFileExists(t, at("none.bundle"))
}

// TestBundleDamage: verify reports every damage.
func TestBundleDamage(t *testing.T) {
	_, at := bundled(t)
	raw, err := os.ReadFile(at("a.bundle"))
	require.NoError(t, err)
	b, err := modelbundle.Open(raw, modelbundle.DefaultLimits())
	require.NoError(t, err)
	for _, s := range b.Sections() {
		if s.Name == "model/net.tflite" || s.Name == "golden/a.png" {
			raw[s.Offset+1] ^= 4
		}
	}
	require.NoError(t, os.WriteFile(at("damaged.bundle"), raw, 0o666))
	require.NoError(t, os.WriteFile(at("cut.bundle"), raw[:len(raw)-64], 0o666))
	r := call(t, "bundle", "verify", "--json", at("damaged.bundle"), at("cut.bundle"), at("a.bundle"), at("none.bundle"), at("text"))
	require.Equal(t, command.ExitFailed, r.status)
	var verdicts []bundle.Verdict
	for line := range strings.Lines(r.stdout) {
		var v bundle.Verdict
		require.NoError(t, json.Unmarshal([]byte(line), &v))
		verdicts = append(verdicts, v)
	}
	require.Len(t, verdicts, 5)
	require.Len(t, verdicts[0].Errors, 2)
	require.Contains(t, verdicts[0].Errors[0], `section "golden/a.png"`)
	require.Contains(t, verdicts[0].Errors[1], `section "model/net.tflite"`)
	require.Contains(t, verdicts[1].Errors[0], "extend beyond the file")
	require.Equal(t, bundle.Verdict{Bundle: at("a.bundle"), OK: true, Sections: 8, Goldens: 3}, verdicts[2])
	require.Contains(t, verdicts[3].Errors[0], "none.bundle: no such file")
	require.Contains(t, verdicts[4].Errors[0], `does not start with "IPbundle"`)
	for _, args := range [][]string{{"sign", "--key", at("private.pem")}, {"sign", "--key", at("private.pem"), "--detached", at("x.sig")}} {
		r = call(t, append(append([]string{"bundle"}, args...), at("damaged.bundle"))...)
		require.Equal(t, command.ExitFailed, r.status)
		require.Contains(t, r.stderr, "the digest differs")
		require.NoFileExists(t, at("x.sig"))
	}
	require.Contains(t, call(t, "bundle", "cat", at("damaged.bundle"), "model/net.tflite").stderr, "the digest differs")
	after, err := os.ReadFile(at("damaged.bundle"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(raw, after))
	r = call(t, "run", "--bundle", at("cut.bundle"), "-o", at("out"), at("c.png"))
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, "cut.bundle: modelbundle: ")

	// Another graph with the same samples stands in for a machine that computes
	// other tensors.
	c := &modelbundle.Content{Graph: datagraph.New(transforms.NewDecode())}
	s, err := modelbundle.MakeGolden(c.Graph, "a.png", pngBytes(t, 5, 4, 1), modelbundle.DefaultLimits().Run)
	require.NoError(t, err)
	c.Goldens = append(c.Goldens, s)
	c.Graph.Add(transforms.NewHorizontalFlip())
	var other bytes.Buffer
	require.NoError(t, modelbundle.Create(&other, c))
	require.NoError(t, os.WriteFile(at("other.bundle"), other.Bytes(), 0o666))
	r = call(t, "bundle", "verify", at("other.bundle"))
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, `golden sample "a.png": output "image" at (0, 0, 0): got 4, want 0; for the cause: infer-prep bundle cat `)
	require.Contains(t, r.stderr, "other.bundle golden/a.png -o IMAGE, then infer-prep diff --bundle ")
	require.Empty(t, r.stdout)
	require.Equal(t, command.ExitFailed, call(t, "bundle", "verify", "--limit-pixels", "3", at("a.bundle")).status)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	require.Equal(t, command.ExitInterrupted, Run(ctx, []string{"bundle", "verify", at("a.bundle")}, strings.NewReader(""), &out, &errs))
	require.Equal(t, command.ExitInterrupted, Run(ctx, []string{"bundle", "sign", "--key", at("private.pem"), at("a.bundle")}, strings.NewReader(""), &out, &errs))
	require.Equal(t, command.ExitInterrupted, Run(ctx, []string{"bundle", "create", "--preset", "clip", "-o", at("c.bundle")}, strings.NewReader(""), &out, &errs))
	require.NoFileExists(t, at("c.bundle"))
}

func TestBundleUsage(t *testing.T) {
	_, at := bundled(t)
	create := func(more ...string) []string {
		return append([]string{"bundle", "create", "--preset", "decode", "-o", at("no.bundle")}, more...)
	}
	for _, c := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"unknown command", []string{"bundle", "ruin"}, command.ExitUsage, "want cat, create, embed-onnx, ls, sign or verify"},
		{"no output", []string{"bundle", "create", "--preset", "decode"}, command.ExitUsage, "want -o FILE"},
		{"no graph", []string{"bundle", "create", "-o", at("no.bundle")}, command.ExitUsage, "no graph"},
		{"two graphs", create("--bundle", at("a.bundle")), command.ExitUsage, "--preset and --bundle: want only one graph"},
		{"an argument", create("x"), command.ExitUsage, `"x"`},
		{"class", create("--least", "unsupported"), command.ExitUsage, `"unsupported"`},
		{"meta", create("--meta", "x"), command.ExitUsage, `--meta "x": want NAME=VALUE`},
		{"meta twice", create("--meta", "x=1", "--meta", "x=2"), command.ExitUsage, "each name once"},
		{"library", create("--library", "=1"), command.ExitUsage, "--library"},
		{"section", create("--section", "x"), command.ExitUsage, "--section"},
		{"reserved section", create("--section", "graph="+at("text")), command.ExitUsage, "taken"},
		{"missing section", create("--section", "a="+at("none")), command.ExitFailed, "none: no such file"},
		{"missing model", create("--model", at("none.onnx")), command.ExitFailed, "none.onnx: no such file"},
		{"no ONNX model", create("--model", at("bad.onnx")), command.ExitFailed, "bad.onnx: onnx: not an ONNX model"},
		{"two models", create("--model", at("text"), "--model", at("text")), command.ExitUsage, "two models"},
		{"missing labels", create("--labels", at("none.txt")), command.ExitFailed, "none.txt: no such file"},
		{"missing sample", create("--golden", at("none.png")), command.ExitFailed, "none.png: no such file"},
		{"sample that is no image", create("--golden", at("text")), command.ExitFailed, "text: "},
		{"no samples", create("--golden", at("in/*.me")), command.ExitFailed, "no images found"},
		{"two samples", create("--golden", at("c.png"), "--golden", at("c.png")), command.ExitUsage, "two golden samples"},
		{"missing folder", []string{"bundle", "create", "--preset", "decode", "-o", at("none/a.bundle")}, command.ExitFailed, "no such file"},
		{"ls of nothing", []string{"bundle", "ls"}, command.ExitUsage, "bundle ls: want a bundle, got 0 arguments"},
		{"ls of a missing file", []string{"bundle", "ls", at("none")}, command.ExitFailed, "none: no such file"},
		{"ls of text", []string{"bundle", "ls", at("text")}, command.ExitFailed, "malformed"},
		{"cat without a bundle", []string{"bundle", "cat"}, command.ExitUsage, "want a bundle and the name of a section, got 0 arguments"},
		{"run is not of bundle", []string{"bundle", "run", at("a.bundle")}, command.ExitUsage, `unknown command "run" of bundle: want "infer-prep run --bundle FILE"`},
		{"diff is not of bundle", []string{"bundle", "diff", at("a.bundle")}, command.ExitUsage, `want "infer-prep diff --bundle FILE"`},
		{"name", create("--name", "x=y"), command.ExitUsage, `--name "x=y": want OUTPUT=INPUT, where OUTPUT is image`},
		{"name twice", create("--name", "image=x", "--name", "image=y"), command.ExitUsage, "the output is named twice"},
		{"verify nothing", []string{"bundle", "verify"}, command.ExitUsage, "no bundle"},
		{"signature without a key", []string{"bundle", "verify", "--signature", at("text"), at("a.bundle")}, command.ExitUsage, "--public-key"},
		{"signature of two", []string{"bundle", "verify", "--public-key", at("public.pem"), "--signature", at("text"), at("a.bundle"), at("a.bundle")}, command.ExitUsage, "one bundle"},
		{"missing signature", []string{"bundle", "verify", "--public-key", at("public.pem"), "--signature", at("none.sig"), at("a.bundle")}, command.ExitFailed, "none.sig"},
		{"a private key as public", []string{"bundle", "verify", "--public-key", at("private.pem"), at("a.bundle")}, command.ExitUsage, "want a public key"},
		{"missing public key", []string{"bundle", "verify", "--public-key", at("none.pem"), at("a.bundle")}, command.ExitUsage, "none.pem"},
		{"sign without a key", []string{"bundle", "sign", at("a.bundle")}, command.ExitUsage, "--key"},
		{"sign with a public key", []string{"bundle", "sign", "--key", at("public.pem"), at("a.bundle")}, command.ExitUsage, "want a private key"},
		{"sign twice", []string{"bundle", "sign", "--key", at("private.pem"), "--detached", "a", "-o", "b", at("a.bundle")}, command.ExitUsage, "want only one"},
		{"sign nothing", []string{"bundle", "sign", "--key", at("private.pem")}, command.ExitUsage, "bundle sign: want a bundle, got 0 arguments"},
		{"sign a missing file", []string{"bundle", "sign", "--key", at("private.pem"), at("none")}, command.ExitFailed, "none: no such file"},
		{"sign into a missing folder", []string{"bundle", "sign", "--key", at("private.pem"), "-o", at("none/b"), at("a.bundle")}, command.ExitFailed, "no such file"},
		{"run of a missing bundle", []string{"run", "--bundle", at("none"), "-o", at("out"), at("c.png")}, command.ExitUsage, "none: no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := call(t, c.args...)
			require.Equal(t, c.status, r.status, r.stderr)
			require.Contains(t, r.stderr, c.want)
			require.Empty(t, r.stdout)
			require.NoFileExists(t, at("no.bundle"))
		})
	}
}
