package modelbundle

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The example keys of RFC 8410, section 10.
const (
	privatePEM = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n"
	publicPEM  = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n"
)

func privateKey(t testing.TB) ed25519.PrivateKey {
	k, err := ParsePrivateKey([]byte(privatePEM))
	require.NoError(t, err)
	return k
}

func publicKey(t testing.TB) ed25519.PublicKey {
	k, err := ParsePublicKey([]byte(publicPEM))
	require.NoError(t, err)
	return k
}

func signed(t testing.TB, raw []byte) []byte {
	var b bytes.Buffer
	require.NoError(t, opened(t, raw).Sign(t.Context(), &b, privateKey(t)))
	return b.Bytes()
}

// otherKeys returns the keys of another signer.
func otherKeys() (ed25519.PublicKey, ed25519.PrivateKey) {
	k := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	return k.Public().(ed25519.PublicKey), k
}

func TestSign(t *testing.T) {
	raw := create(t, testContent(t))
	other, otherPrivate := otherKeys()
	require.ErrorIs(t, opened(t, raw).VerifySignature(publicKey(t)), ErrUnsigned)

	s := signed(t, raw)
	require.Len(t, s, len(raw)+128)
	require.Equal(t, raw[headerSize:], s[headerSize:len(raw)])
	b := opened(t, s)
	require.Equal(t, publicKey(t), b.Signer())
	require.NoError(t, b.VerifySignature(publicKey(t)))
	require.NoError(t, b.Verify(t.Context()))
	d := opened(t, raw).Digest()
	require.Equal(t, d, b.Digest())
	err := b.VerifySignature(other)
	require.ErrorIs(t, err, ErrSignature)
	require.ErrorContains(t, err, KeyID(publicKey(t)))
	require.ErrorIs(t, b.VerifySignature(nil), ErrSignature)

	// Another signer replaces the signature of a bundle opened from a reader.
	o, err := OpenReader(bytes.NewReader(s), int64(len(s)), DefaultLimits())
	require.NoError(t, err)
	var again bytes.Buffer
	require.NoError(t, o.Sign(t.Context(), &again, otherPrivate))
	require.Len(t, again.Bytes(), len(s))
	b = opened(t, again.Bytes())
	require.NoError(t, b.VerifySignature(other))
	require.ErrorIs(t, b.VerifySignature(publicKey(t)), ErrSignature)

	// The signature of another bundle.
	c := testContent(t)
	c.Meta["author"] = "mallory"
	moved := signed(t, create(t, c))
	copy(moved[len(moved)-128:], s[len(s)-128:])
	_, err = Open(moved, DefaultLimits())
	require.ErrorIs(t, err, ErrSignature)

	// Another algorithm, and zeros in place of the signature.
	bad := slices.Clone(s)
	bad[len(s)-128+8] = 2
	_, err = Open(bad, DefaultLimits())
	require.ErrorIs(t, err, ErrVersion)
	clear(bad[len(s)-128:])
	_, err = Open(bad, DefaultLimits())
	require.ErrorIs(t, err, ErrFormat)

	// Sign refuses a corrupt bundle.
	bad = slices.Clone(raw)
	i := slices.IndexFunc(b.Sections(), func(s Section) bool { return s.Name == "model/net.onnx" })
	bad[b.Sections()[i].Offset] ^= 1
	var none bytes.Buffer
	require.ErrorIs(t, opened(t, bad).Sign(t.Context(), &none, privateKey(t)), ErrDigest)
	require.Zero(t, none.Len())
	_, err = opened(t, bad).SignDetached(t.Context(), privateKey(t))
	require.ErrorIs(t, err, ErrDigest)
	require.ErrorContains(t, opened(t, raw).Sign(t.Context(), &none, nil), "sign: private key of 0 bytes")
}

func TestSignDetached(t *testing.T) {
	raw := create(t, testContent(t))
	other, _ := otherKeys()
	b := opened(t, raw)
	sig, err := b.SignDetached(t.Context(), privateKey(t))
	require.NoError(t, err)
	twice, err := b.SignDetached(t.Context(), privateKey(t))
	require.NoError(t, err)
	require.Equal(t, sig, twice)
	require.NoError(t, b.VerifyDetached(sig, publicKey(t)))
	require.ErrorIs(t, b.VerifyDetached(sig, other), ErrSignature)
	require.ErrorIs(t, b.VerifyDetached(sig, nil), ErrSignature)
	require.NoError(t, opened(t, signed(t, raw)).VerifyDetached(sig, publicKey(t)), "it is of the content")

	// The public content of the signature.
	var s sigstoreBundle
	require.NoError(t, json.Unmarshal(sig, &s))
	sum := sha256.Sum256([]byte(publicPEM))
	require.Equal(t, hex.EncodeToString(sum[:]), s.Material.PublicKey.Hint)
	payload, err := base64.StdEncoding.DecodeString(s.Envelope.Payload)
	require.NoError(t, err)
	var st statement
	require.NoError(t, json.Unmarshal(payload, &st))
	all := sha256.New()
	var names []string
	for _, r := range st.Predicate.Resources {
		names = append(names, r.Name)
		data, err := b.Section(r.Name)
		require.NoError(t, err)
		d := sha256.Sum256(data)
		require.Equal(t, hex.EncodeToString(d[:]), r.Digest, r.Name)
		all.Write(d[:])
	}
	require.True(t, slices.IsSorted(names))
	require.Len(t, names, len(b.Sections())+1)
	require.Equal(t, hex.EncodeToString(all.Sum(nil)), st.Subject[0].Digest["sha256"])

	// Another bundle, and a corrupt signature.
	c := testContent(t)
	c.Labels[0] = "dog"
	require.ErrorIs(t, opened(t, create(t, c)).VerifyDetached(sig, publicKey(t)), ErrSignature)
	for _, bad := range []string{
		"", "null", "{}", "[]", string(sig[:len(sig)/2]),
		strings.Replace(string(sig), "v0.3", "v0.2", 1),
		strings.Replace(string(sig), "in-toto", "in-tato", 1),
		strings.Replace(string(sig), `"payload": "`, `"payload": "AAAA`, 1),
		strings.Replace(string(sig), `"payload": "`, `"payload": "!`, 1),
		strings.Replace(string(sig), `"sig": "`, `"sig": "AAAA`, 1),
	} {
		require.ErrorIs(t, b.VerifyDetached([]byte(bad), publicKey(t)), ErrSignature, bad)
	}
	require.ErrorIs(t, b.VerifyDetached(make([]byte, maxDetached+1), publicKey(t)), ErrLimit)

	// Signed statements with other content.
	for name, change := range map[string]func(*statement){
		"type":         func(s *statement) { s.Type += "x" },
		"predicate":    func(s *statement) { s.PredicateType = "https://slsa.dev/provenance/v1" },
		"no subject":   func(s *statement) { s.Subject = nil },
		"a resource":   func(s *statement) { s.Predicate.Resources[0].Digest = strings.Repeat("0", 64) },
		"one less":     func(s *statement) { s.Predicate.Resources = s.Predicate.Resources[1:] },
		"other digest": func(s *statement) { s.Subject[0].Digest["sha256"] = strings.Repeat("0", 64) },
	} {
		var st statement
		require.NoError(t, json.Unmarshal(payload, &st))
		change(&st)
		p, err := json.Marshal(st)
		require.NoError(t, err)
		c := s
		c.Envelope.Payload = base64.StdEncoding.EncodeToString(p)
		c.Envelope.Signatures = []envelopeSignature{{Sig: base64.StdEncoding.EncodeToString(ed25519.Sign(privateKey(t), envelopeMessage(p)))}}
		j, err := json.Marshal(c)
		require.NoError(t, err)
		require.ErrorIs(t, b.VerifyDetached(j, publicKey(t)), ErrSignature, name)
	}
}

func TestKeys(t *testing.T) {
	require.Equal(t, publicKey(t), privateKey(t).Public())
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(ec)
	require.NoError(t, err)
	ecPrivate := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	der, err = x509.MarshalPKIXPublicKey(ec.Public())
	require.NoError(t, err)
	ecPublic := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	for _, c := range []struct{ private, public, want string }{
		{"", "", "no PEM block"},
		{publicPEM, privatePEM, "want a p"},
		{ecPrivate, ecPublic, "another kind"},
		{privatePEM + publicPEM, publicPEM + publicPEM, "data after"},
		{strings.Replace(privatePEM, "MC4C", "AC4C", 1), strings.Replace(publicPEM, "MCow", "ACow", 1), "another kind"},
	} {
		_, err := ParsePrivateKey([]byte(c.private))
		require.ErrorIs(t, err, ErrKey)
		require.ErrorContains(t, err, c.want)
		_, err = ParsePublicKey([]byte(c.public))
		require.ErrorIs(t, err, ErrKey)
		require.ErrorContains(t, err, c.want)
	}
	der, err = x509.MarshalPKIXPublicKey(publicKey(t))
	require.NoError(t, err)
	require.Equal(t, publicPrefix, string(der[:len(der)-ed25519.PublicKeySize]))
	_, err = ParsePublicKey(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der[:len(der)-1]}))
	require.ErrorIs(t, err, ErrKey)

	der, err = x509.MarshalPKCS8PrivateKey(privateKey(t))
	require.NoError(t, err)
	parse := func(der []byte) (ed25519.PrivateKey, error) {
		return ParsePrivateKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	}
	for n := range der { // truncated
		_, err := parse(der[:n])
		require.ErrorIs(t, err, ErrKey)
	}
	// Version 1 has the public key, as OneAsymmetricKey of RFC 5958.
	whole := append(append(slices.Clone(der), 0x81, 0x21, 0), publicKey(t)...)
	whole[1], whole[4] = byte(len(whole)-2), 1
	k, err := parse(whole)
	require.NoError(t, err)
	require.Equal(t, privateKey(t), k)
	require.Equal(t, fmt.Sprintf("%x", sha256.Sum256([]byte(publicPEM))), KeyID(publicKey(t)))
}
