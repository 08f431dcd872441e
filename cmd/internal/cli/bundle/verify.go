package bundle

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/infer-prep/infer-prep/store"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/datagraph/diff"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/device/cpu"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/tensor"
)

type bundleVerifyFlags struct {
	source.DeviceFlags
	publicKey, signature string
	json                 bool
	limits               codec.Limits
}

func bundleVerifyCmd(a *command.App) *cobra.Command {
	f := &bundleVerifyFlags{limits: codec.DefaultLimits()}
	cmd := &cobra.Command{
		Use:                   "verify [--public-key FILE [--signature FILE]] BUNDLE...",
		Short:                 "Check a bundle's digests, golden samples and signature",
		DisableFlagsInUseLine: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && f.Device != "help" {
				return command.UsageErr("no bundle: want at least one")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.Device == "help" {
				return source.ListDevices(a)
			}
			return verifyBundles(cmd.Context(), a, f, args)
		},
	}
	f.Add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.publicKey, "public-key", "", "require a signature by the Ed25519 key in the PEM `FILE`")
	fl.StringVar(&f.signature, "signature", "", "read the signature from `FILE`, which \"bundle sign --detached\" writes")
	fl.BoolVar(&f.json, "json", false, "print one JSON object for each bundle, one a line")
	fl.Var((*command.Limit)(&f.limits.Pixels), "limit-pixels", "refuse golden samples of more pixels; 0 means no limit")
	fl.Var((*command.Limit)(&f.limits.Bytes), "limit-bytes", "refuse golden samples that need more `BYTES` of memory; 0 means no limit")
	command.Must(cmd.MarkFlagFilename("public-key", "pem"))
	command.Must(cmd.MarkFlagFilename("signature"))
	return cmd
}

// Verdict is the result of verify for one bundle.
type Verdict struct {
	Bundle   string   `json:"bundle"`
	OK       bool     `json:"ok"`
	Sections int      `json:"sections"`
	Goldens  int      `json:"golden_samples"`
	SignedBy string   `json:"signed_by,omitempty"` // set once the signature was verified
	Errors   []string `json:"errors,omitempty"`
	// Device is the measured exactness of --device.
	Device *device.Report `json:"device,omitempty"`
}

func verifyBundles(ctx context.Context, a *command.App, f *bundleVerifyFlags, paths []string) error {
	var key ed25519.PublicKey
	var sig []byte
	switch {
	case f.publicKey == "" && f.signature != "":
		return command.UsageErr("--signature needs --public-key to verify it")
	case f.signature != "" && len(paths) > 1:
		return command.UsageErr("--signature: want one bundle, got %d", len(paths))
	case f.publicKey != "":
		b, err := source.ReadSmall(ctx, f.publicKey, a.Stdin, source.MaxGraphBytes)
		if err == nil {
			key, err = modelbundle.ParsePublicKey(b)
		}
		if err != nil {
			return command.UsageErr("--public-key %s: %w", f.publicKey, err)
		}
	}
	if f.signature != "" {
		var err error
		if sig, err = source.ReadSmall(ctx, f.signature, a.Stdin, source.MaxGraphBytes); err != nil {
			return command.FailErr("--signature %w", err)
		}
	}
	failed := 0
	for i, p := range paths {
		v, err := verifyBundle(ctx, f, p, key, sig)
		if ctx.Err() != nil {
			return &command.ExitError{Status: command.ExitInterrupted, Err: fmt.Errorf("interrupted: %d of %s done", i, command.Plural(len(paths), "bundle"))}
		}
		for _, e := range command.Flatten(err) {
			e = likely(p, e)
			v.Errors = append(v.Errors, command.WithoutSecrets(e.Error()))
			a.Complain(e)
		}
		if v.OK = err == nil; !v.OK {
			failed++
		}
		switch {
		case f.json:
			err = a.PrintLine(v)
		case v.OK:
			signed := ""
			if v.SignedBy != "" {
				signed = ", signed by " + v.SignedBy
			}
			if v.Device != nil {
				signed += fmt.Sprintf("; %s is %v", v.Device.Device, v.Device.Class)
			}
			_, err = fmt.Fprintf(a.Stdout, "%s: %s and %s are %s%s\n", command.Printable(p), command.Plural(v.Sections, "section"), command.Plural(v.Goldens, "golden sample"), a.Colored(a.Stdout, command.Green, "right"), signed)
		default:
			err = nil
		}
		if err != nil {
			return err
		}
	}
	if failed > 0 {
		return &command.ExitError{Status: command.ExitFailed}
	}
	return nil
}

// causeError is an error with its likely cause.
type causeError struct {
	error
	cause string
}

func (e *causeError) Error() string { return e.error.Error() + "; the likely cause: " + e.cause }
func (e *causeError) Unwrap() error { return e.error }

// causeTime is the longest search for a cause. Pairs of changes of a large
// photo take minutes.
const causeTime = 20 * time.Second

// withCause adds the likely cause to the first difference among the errors of
// Bundle.Verify.
func withCause(ctx context.Context, b *modelbundle.Bundle, limits codec.Limits, err error) error {
	l := command.Flatten(err)
	for i := range l {
		var m *modelbundle.MismatchError
		if !errors.As(l[i], &m) {
			continue
		}
		ctx, stop := context.WithTimeout(ctx, causeTime)
		defer stop()
		if cause := causeOf(ctx, b, m, limits); cause != "" {
			l[i] = &causeError{l[i], cause}
		}
		break
	}
	return errors.Join(l...)
}

// causeOf returns the likely cause of a difference, "" if none is found.
func causeOf(ctx context.Context, b *modelbundle.Bundle, m *modelbundle.MismatchError, limits codec.Limits) string {
	all := b.Expected()
	i := slices.IndexFunc(all, func(g modelbundle.Golden) bool { return g.Name == m.Golden })
	image, err := b.Section("golden/" + m.Golden)
	if i < 0 || err != nil {
		return ""
	}
	one := modelbundle.Golden{Name: m.Golden}
	for _, e := range all[i].Outputs {
		if e.Name == m.Output {
			one.Outputs = append(one.Outputs, e)
		}
	}
	columns := []datagraph.Column{{Name: m.Output}}
	changes, err := diff.Match(ctx, b.Graph(), m.Output, tensor.FromBytes(image), m.Want, func(t *tensor.Tensor) bool {
		return one.Compare(columns, []*tensor.Tensor{t}) == nil
	}, diff.Options{Limits: limits})
	if err != nil {
		return ""
	}
	return changesText(changes)
}

// likely returns the error of a bundle. That of a golden sample names the
// commands that find the cause.
func likely(bundle string, err error) error {
	var m *modelbundle.MismatchError
	if known := new(causeError); !errors.As(err, &m) || errors.As(err, &known) {
		return paths.Error(bundle, err)
	}
	return fmt.Errorf("%w; for the cause: %s bundle cat %s %s -o IMAGE, then %s diff --bundle %s --column %s IMAGE --against the tensor of training",
		paths.Error(bundle, err), command.Program, shellWord(bundle), shellWord("golden/"+m.Golden), command.Program, shellWord(bundle), shellWord(m.Output))
}

// shellWord quotes a word for a POSIX shell if that is necessary.
func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:,+@%=", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// verifyBundle verifies the signature first: it runs nothing of a bundle with a
// wrong signature.
func verifyBundle(ctx context.Context, f *bundleVerifyFlags, path string, key ed25519.PublicKey, sig []byte) (Verdict, error) {
	v := Verdict{Bundle: paths.Shown(path)}
	limits := modelbundle.DefaultLimits()
	limits.Run = f.limits
	b, err := modelbundle.OpenStore(ctx, store.URI, paths.StoreName(path), limits)
	if err != nil {
		return v, err
	}
	v.Sections, v.Goldens = len(b.Sections()), len(b.Expected())
	switch {
	case sig != nil:
		err = b.VerifyDetached(sig, key)
	case key != nil:
		err = b.VerifySignature(key)
	}
	if err == nil {
		if key != nil {
			v.SignedBy = modelbundle.KeyID(key)
		}
		err = withCause(ctx, b, f.limits, b.Verify(ctx))
	}
	if err == nil && f.Device != cpu.Name {
		v.Device, err = f.verifyDevice(ctx, b)
	}
	return v, errors.Join(err, b.Close())
}

// verifyDevice compares a device with the CPU on the bundle's golden samples.
func (f *bundleVerifyFlags) verifyDevice(ctx context.Context, b *modelbundle.Bundle) (*device.Report, error) {
	least, err := f.Class(b.Least())
	if err != nil {
		return nil, err
	}
	plan, err := datagraph.Compile(b.Graph(), datagraph.CompileOptions{Limits: f.limits})
	if err != nil {
		return nil, err
	}
	goldens, err := b.Goldens()
	if err != nil {
		return nil, err
	}
	return source.VerifyOn(ctx, f.Device, plan, goldens, least)
}

func bundleSignCmd(a *command.App) *cobra.Command {
	var keyFile, detached, out string
	cmd := &cobra.Command{
		Use:                   "sign --key FILE [--detached FILE | -o FILE] BUNDLE",
		Short:                 "Sign a bundle with an Ed25519 key",
		DisableFlagsInUseLine: true,
		Args:                  oneBundle,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case keyFile == "":
				return command.UsageErr("no key: want --key FILE")
			case detached != "" && out != "":
				return command.UsageErr("--detached and -o: want only one")
			}
			pem, err := source.ReadSmall(cmd.Context(), keyFile, a.Stdin, source.MaxGraphBytes)
			if err != nil {
				return command.UsageErr("--key %w", err)
			}
			key, err := modelbundle.ParsePrivateKey(pem)
			if err != nil {
				return command.UsageErr("--key %s: %w", keyFile, err)
			}
			return signBundle(cmd.Context(), a, args[0], out, detached, key)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&keyFile, "key", "", "sign with the private key in the PEM `FILE`; - reads standard input")
	fl.StringVar(&detached, "detached", "", "write the signature to `FILE` and leave the bundle unchanged")
	fl.StringVarP(&out, "output", "o", "", "write the signed bundle to `FILE` and leave BUNDLE unchanged")
	command.Must(cmd.MarkFlagFilename("key", "pem"))
	for _, n := range []string{"detached", "output"} {
		command.Must(cmd.MarkFlagFilename(n))
	}
	return cmd
}

func signBundle(ctx context.Context, a *command.App, path, out, detached string, key ed25519.PrivateKey) error {
	b, err := source.OpenBundle(ctx, path, codec.DefaultLimits())
	if err != nil {
		return err
	}
	if detached != "" {
		sig, err := b.SignDetached(ctx, key)
		if err = paths.Error(path, errors.Join(err, b.Close())); err == nil {
			err = newfile.Write(ctx, detached, func(w io.Writer) error {
				_, err := w.Write(sig)
				return err
			})
		}
		return signed(ctx, err)
	}
	if out == "" {
		out = path
	}
	closed := false
	err = newfile.Write(ctx, out, func(w io.Writer) error {
		closed = true // some systems do not replace an open file
		return errors.Join(b.Sign(ctx, w, key), b.Close())
	})
	if !closed {
		err = errors.Join(err, b.Close())
	}
	return signed(ctx, err)
}

// signed returns the result of sign.
func signed(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted: nothing was written")}
	}
	return command.WrapFail(err)
}
