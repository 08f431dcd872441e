package modelbundle

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/internal/sorts"
)

// The signature at the end of the file:
//
//	"IPsigned"  algorithm u32  0 u32  public key  signature  16 zeros
const (
	signedMagic   = "IPsigned"
	algoEd25519   = 1
	signedKey     = 16
	signedSig     = signedKey + ed25519.PublicKeySize
	signedEnd     = signedSig + ed25519.SignatureSize
	signedMessage = "infer-prep bundle signature\x00" // keeps the signature from being valid for other data
)

// message returns the signed message of the signature at the end of a file.
func (b *Bundle) message() []byte {
	m := append([]byte(signedMessage), magic...)
	m = binary.LittleEndian.AppendUint32(m, Version)
	return append(m, b.header.digest[:]...)
}

// readSignature reads the signature at the end of the file. It verifies the
// signature with the key beside it, to detect damage; that does not say whose
// key it is.
func (b *Bundle) readSignature() error {
	if b.header.signature == 0 {
		return nil
	}
	const part = "signature"
	off := b.body()
	raw, err := b.read(part, off, signedSize)
	if err != nil {
		return err
	}
	switch {
	case string(raw[:8]) != signedMagic:
		return fail(part, off, ErrFormat, "it does not start with %q", signedMagic)
	case binary.LittleEndian.Uint32(raw[8:]) != algoEd25519:
		return fail(part, off+8, ErrVersion, "algorithm %d, this build knows %d (Ed25519)", binary.LittleEndian.Uint32(raw[8:]), algoEd25519)
	case !zero(raw[12:signedKey]) || !zero(raw[signedEnd:]):
		return fail(part, off, ErrFormat, "its padding is not zero")
	}
	key := ed25519.PublicKey(slices.Clone(raw[signedKey:signedSig]))
	sig := slices.Clone(raw[signedSig:signedEnd])
	if !ed25519.Verify(key, b.message(), sig) {
		return fail(part, off, ErrSignature, "it does not match the manifest and the key beside it")
	}
	b.signer, b.signature = key, sig
	return nil
}

// Sign writes the bundle with a signature by key at its end, which replaces an
// earlier signature. It checks the sections before it writes anything, and
// again while it copies them.
func (b *Bundle) Sign(ctx context.Context, w io.Writer, key ed25519.PrivateKey) error {
	if err := checkPrivate(key); err != nil {
		return err
	}
	if err := b.VerifyDigests(ctx); err != nil {
		return err
	}
	h := b.header
	h.signature = signedSize
	p := padded{w: w}
	p.write(h.append(nil))
	p.write(b.raw)
	p.pad()
	for _, s := range b.manifest.sections {
		err := b.stream(ctx, s, func(chunk []byte) error {
			p.write(chunk)
			return p.err
		})
		if err != nil {
			return err
		}
		p.pad()
	}
	block := make([]byte, signedSize)
	copy(block, signedMagic)
	binary.LittleEndian.PutUint32(block[8:], algoEd25519)
	copy(block[signedKey:], key.Public().(ed25519.PublicKey))
	copy(block[signedSig:], ed25519.Sign(key, b.message()))
	p.write(block)
	return p.err
}

func checkPrivate(key ed25519.PrivateKey) error {
	if len(key) != ed25519.PrivateKeySize {
		return fmt.Errorf("modelbundle: sign: private key of %d bytes, want %d", len(key), ed25519.PrivateKeySize)
	}
	return nil
}

// Signer returns the key that made the signature at the end of the file. It
// returns nil for an unsigned bundle. Anyone can sign a bundle: the key proves
// nothing until the caller knows its owner.
func (b *Bundle) Signer() ed25519.PublicKey { return slices.Clone(b.signer) }

// VerifySignature verifies the signature at the end of the file with a key. It
// returns ErrUnsigned if there is no signature, and ErrSignature if another key
// made it.
//
// The signature covers the manifest, and through its digests all sections,
// which are checked when they are used.
func (b *Bundle) VerifySignature(key ed25519.PublicKey) error {
	if b.signer == nil {
		return &Error{"signature", -1, ErrUnsigned}
	}
	if len(key) != ed25519.PublicKeySize || !key.Equal(b.signer) || !ed25519.Verify(key, b.message(), b.signature) {
		return fail("signature", b.body(), ErrSignature, "it is by the key %s, want %s", KeyID(b.signer), KeyID(key))
	}
	return nil
}

// A detached signature has the layout of OpenSSF Model Signing 1.0: a Sigstore
// bundle with a DSSE envelope, whose payload is an in-toto statement that lists
// the digests of files. Its files are "manifest" and the sections, as if each
// section were a file of that name in one folder.
const (
	sigstoreType  = "application/vnd.dev.sigstore.bundle.v0.3+json"
	payloadType   = "application/vnd.in-toto+json"
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://model_signing/signature/v1.0"
	subjectName   = "infer-prep bundle"
	maxDetached   = 16 << 20 // 10,000 sections have 4 MB
)

type sigstoreBundle struct {
	MediaType string `json:"mediaType"`
	Material  struct {
		PublicKey struct {
			Hint string `json:"hint"`
		} `json:"publicKey"`
		Log []json.RawMessage `json:"tlogEntries"`
	} `json:"verificationMaterial"`
	Envelope struct {
		Payload     string              `json:"payload"`
		PayloadType string              `json:"payloadType"`
		Signatures  []envelopeSignature `json:"signatures"`
	} `json:"dsseEnvelope"`
}

type envelopeSignature struct {
	Sig   string `json:"sig"`
	KeyID string `json:"keyid"`
}

type statement struct {
	Type          string             `json:"_type"`
	Subject       []statementSubject `json:"subject"`
	PredicateType string             `json:"predicateType"`
	Predicate     struct {
		Serialization serialization `json:"serialization"`
		Resources     []resource    `json:"resources"`
	} `json:"predicate"`
}

type statementSubject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

type serialization struct {
	Method        string   `json:"method"`
	HashType      string   `json:"hash_type"`
	AllowSymlinks bool     `json:"allow_symlinks"`
	IgnorePaths   []string `json:"ignore_paths"`
}

type resource struct {
	Name      string `json:"name"`
	Algorithm string `json:"algorithm"`
	Digest    string `json:"digest"`
}

// resources returns the manifest and the sections, sorted by name, and the
// digest of their digests.
func (b *Bundle) resources() (l []resource, root string) {
	l = append(l, resource{manifestName, "sha256", hex.EncodeToString(b.header.digest[:])})
	for _, s := range b.manifest.sections {
		l = append(l, resource{s.Name, "sha256", hex.EncodeToString(s.SHA256[:])})
	}
	sorts.Func(l, func(a, b resource) int { return strings.Compare(a.Name, b.Name) })
	h := sha256.New()
	for _, r := range l {
		d, _ := hex.DecodeString(r.Digest) // encoded above
		h.Write(d)
	}
	return l, hex.EncodeToString(h.Sum(nil))
}

// envelopeMessage returns DSSE's pre-authentication encoding: the signed
// message for a payload.
func envelopeMessage(payload []byte) []byte {
	return append(fmt.Appendf(nil, "DSSEv1 %d %s %d ", len(payloadType), payloadType, len(payload)), payload...)
}

// SignDetached returns a signature for a file of its own, as JSON. It checks
// the sections first.
func (b *Bundle) SignDetached(ctx context.Context, key ed25519.PrivateKey) ([]byte, error) {
	if err := checkPrivate(key); err != nil {
		return nil, err
	}
	if err := b.VerifyDigests(ctx); err != nil {
		return nil, err
	}
	st := statement{Type: statementType, PredicateType: predicateType}
	st.Predicate.Serialization = serialization{Method: "files", HashType: "sha256", IgnorePaths: []string{}}
	var root string
	st.Predicate.Resources, root = b.resources()
	st.Subject = []statementSubject{{subjectName, map[string]string{"sha256": root}}}
	payload, err := json.Marshal(st)
	if err != nil {
		return nil, err
	}
	s := sigstoreBundle{MediaType: sigstoreType}
	s.Material.PublicKey.Hint = KeyID(key.Public().(ed25519.PublicKey))
	s.Material.Log = []json.RawMessage{}
	s.Envelope.Payload = base64.StdEncoding.EncodeToString(payload)
	s.Envelope.PayloadType = payloadType
	s.Envelope.Signatures = []envelopeSignature{{Sig: base64.StdEncoding.EncodeToString(ed25519.Sign(key, envelopeMessage(payload)))}}
	out, err := json.MarshalIndent(s, "", "  ")
	return append(out, '\n'), err
}

// VerifyDetached verifies a detached signature, made by SignDetached or another
// program with the same layout, with a key. It returns ErrSignature if the
// signature is malformed, by another key, or of another bundle.
func (b *Bundle) VerifyDetached(signature []byte, key ed25519.PublicKey) error {
	const part = "detached signature"
	bad := func(format string, args ...any) error { return fail(part, -1, ErrSignature, format, args...) }
	if len(signature) > maxDetached {
		return fail(part, -1, ErrLimit, "%d bytes, the limit is %d", len(signature), maxDetached)
	}
	if len(key) != ed25519.PublicKeySize {
		return bad("public key of %d bytes, want %d", len(key), ed25519.PublicKeySize)
	}
	var s sigstoreBundle
	if err := json.Unmarshal(signature, &s); err != nil {
		return bad("%w", err)
	}
	if s.MediaType != sigstoreType || s.Envelope.PayloadType != payloadType {
		return bad("media type %q with a payload of %q, want %q with %q", s.MediaType, s.Envelope.PayloadType, sigstoreType, payloadType)
	}
	payload, err := base64.StdEncoding.DecodeString(s.Envelope.Payload)
	if err != nil {
		return bad("payload: %w", err)
	}
	// Verify the signature before parsing the payload.
	if !slices.ContainsFunc(s.Envelope.Signatures, func(e envelopeSignature) bool {
		sig, err := base64.StdEncoding.DecodeString(e.Sig)
		return err == nil && ed25519.Verify(key, envelopeMessage(payload), sig)
	}) {
		return bad("it is by the key %q, want %s, or it is corrupt", s.Material.PublicKey.Hint, KeyID(key))
	}
	var st statement
	if err := json.Unmarshal(payload, &st); err != nil {
		return bad("statement: %w", err)
	}
	l, root := b.resources()
	if st.Type != statementType || st.PredicateType != predicateType {
		return bad("a statement %q of %q, want %q of %q", st.Type, st.PredicateType, statementType, predicateType)
	}
	if len(st.Subject) != 1 || st.Subject[0].Digest["sha256"] != root || !slices.Equal(st.Predicate.Resources, l) {
		return bad("it is of another bundle")
	}
	return nil
}

// KeyID returns the name of a public key: the SHA-256 of its PEM file in
// hexadecimal, as printed by sha256sum and used by OpenSSF Model Signing.
func KeyID(key ed25519.PublicKey) string {
	if len(key) != ed25519.PublicKeySize {
		return fmt.Sprintf("of %d bytes", len(key))
	}
	d := sha256.Sum256(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: append([]byte(publicPrefix), key...)}))
	return hex.EncodeToString(d[:])
}

// ErrKey reports a file that is not an Ed25519 key in PEM.
var ErrKey = errors.New("modelbundle: want an Ed25519 key in PEM")

// ParsePrivateKey reads a private key in PEM (PKCS #8), as written by "openssl
// genpkey -algorithm ed25519".
func ParsePrivateKey(b []byte) (ed25519.PrivateKey, error) {
	der, err := pemBlock(b, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	// A sequence of less than 128 bytes and version 0 or 1 precede the prefix.
	// Attributes and the public key, which are optional, follow the seed.
	const head, seed = 5, 5 + len(privatePrefix)
	if len(der) < seed+ed25519.SeedSize || der[0] != 0x30 || int(der[1]) != len(der)-2 || der[2] != 2 || der[3] != 1 || der[4] > 1 ||
		string(der[head:seed]) != privatePrefix {
		return nil, fmt.Errorf("%w: found a private key of another kind", ErrKey)
	}
	return ed25519.NewKeyFromSeed(der[seed:][:ed25519.SeedSize]), nil
}

// ParsePublicKey reads a public key in PEM (PKIX), as written by "openssl pkey
// -pubout".
func ParsePublicKey(b []byte) (ed25519.PublicKey, error) {
	der, err := pemBlock(b, "PUBLIC KEY")
	if err != nil {
		return nil, err
	}
	key, ok := bytes.CutPrefix(der, []byte(publicPrefix))
	if !ok || len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%w: found a public key of another kind", ErrKey)
	}
	return key, nil
}

// publicPrefix precedes the 32 bytes of an Ed25519 public key in DER (RFC 8410,
// section 4), privatePrefix the 32 bytes of a private key's seed (RFC 8410,
// section 7). Package x509 would add a megabyte to apps that verify.
const (
	publicPrefix  = "\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00"
	privatePrefix = "\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20"
)

// pemBlock returns the content of a file with one PEM block.
func pemBlock(b []byte, want string) ([]byte, error) {
	p, rest := pem.Decode(b)
	switch {
	case p == nil:
		return nil, fmt.Errorf("%w: no PEM block", ErrKey)
	case p.Type != want:
		return nil, fmt.Errorf("%w: found a %s, want a %s", ErrKey, strings.ToLower(p.Type), strings.ToLower(want))
	case len(bytes.TrimSpace(rest)) > 0:
		return nil, fmt.Errorf("%w: data after the block", ErrKey)
	}
	return p.Bytes, nil
}
