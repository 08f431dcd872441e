package s3

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store/remote"
)

// operations runs every operation and returns its errors.
func operations(t *testing.T, b *Backend, name string) map[string]error {
	errs := map[string]error{}
	_, errs["get"] = b.Get(t.Context(), name, 0, 10, "")
	_, errs["stat"] = b.Stat(t.Context(), name)
	_, errs["list"] = b.List(t.Context(), name)
	f, err := b.Create(t.Context(), name)
	require.NoError(t, err)
	errs["close"] = f.Close()
	f, err = b.Create(t.Context(), name)
	require.NoError(t, err)
	_, errs["write"] = f.Write(make([]byte, partSize+1))
	_ = f.Abort()
	return errs
}

// TestWrongCredentials: a server refuses them, and no error repeats them.
func TestWrongCredentials(t *testing.T) {
	srv, good, bucket := open(t)
	write(t, good, bucket+"/file", []byte("content"))
	for what, c := range map[string]*credentials.Credentials{
		"secret":    credentials.NewStaticV4(srv.AccessKey, "WRONGSECRET", ""),
		"key":       credentials.NewStaticV4("WRONGKEY", srv.SecretKey, "WRONGTOKEN"),
		"anonymous": credentials.NewStaticV4("", "", ""),
	} {
		b, err := New(Options{Endpoint: srv.URL, Credentials: c})
		require.NoError(t, err)
		for op, err := range operations(t, b, bucket+"/file") {
			require.ErrorIs(t, err, fs.ErrPermission, "%s: %s", what, op)
			require.Equal(t, what == "anonymous", strings.Contains(err.Error(), "No credentials were found: want AWS_ACCESS_KEY_ID"), "%s: %s: %v", what, op, err)
			for _, s := range []string{srv.AccessKey, srv.SecretKey, "WRONG"} {
				require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), s, "%s: %s", what, op)
			}
			t.Log(what, op, err)
		}
	}
}

// TestEcho: a server that answers with what it was sent does not get it into an
// error, whatever the status.
func TestEcho(t *testing.T) {
	var secrets []string
	form := "%s"
	status := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auth := r.Header.Get("Authorization")
		_, sig, _ := strings.Cut(auth, "Signature=")
		secrets = append(secrets, sig)
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, form, auth+" "+r.Header.Get("X-Amz-Security-Token")+" X-Amz-Signature="+sig+"&X-Amz-Credential=KEYID/2026 "+r.URL.String())
	}))
	defer srv.Close()
	b, err := New(Options{Endpoint: srv.URL, Credentials: credentials.NewStaticV4("KEYID", "SECRETKEY", "SESSIONTOKEN")})
	require.NoError(t, err)
	b.s.write = b.s.read // without repetitions
	for _, form = range []string{"%s", "<Error><Code>Odd</Code><Message>%s</Message></Error>", "<Error><Code>SignatureDoesNotMatch</Code><Message>m</Message><StringToSign>%s</StringToSign></Error>"} {
		for _, status = range []int{301, 400, 401, 403, 404, 409, 412, 416, 500, 503} {
			secrets = []string{"KEYID", "SECRETKEY", "SESSIONTOKEN"}
			for op, err := range operations(t, b, "s3://bucket/file") {
				require.Error(t, err)
				for _, s := range secrets {
					require.NotContains(t, fmt.Sprintf("%v %#v", err, err), s, "%s: status %d", op, status)
				}
				var temporary *remote.TemporaryError
				require.Equal(t, status >= 500, errors.As(err, &temporary), "%s: status %d: %v", op, status, err)
			}
		}
	}
}

// TestEndpoint: an endpoint with a password is refused without repeating it.
func TestEndpoint(t *testing.T) {
	for _, e := range []string{"https://user:PASSWORD@host", "ftp://PASSWORD", "PASSWORD:9000", "http://host/path?PASSWORD", "http://[PASSWORD", "http://"} {
		_, err := New(Options{Endpoint: e})
		require.Error(t, err)
		require.NotContains(t, err.Error(), "PASSWORD")
	}
}

// TestUnreachable: a closed port is a temporary error.
func TestUnreachable(t *testing.T) {
	b, err := New(Options{Endpoint: "http://127.0.0.1:1", Credentials: credentials.NewStaticV4("KEYID", "SECRETKEY", "")})
	require.NoError(t, err)
	_, err = b.Get(t.Context(), "s3://bucket/file", 0, 10, "")
	var temporary *remote.TemporaryError
	require.ErrorAs(t, err, &temporary)
	require.NotContains(t, err.Error(), "KEYID")
}

// TestRetryAfter: the wait that a service asks for is known.
func TestRetryAfter(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer srv.Close()
	b, err := New(Options{Endpoint: srv.URL, Credentials: credentials.NewStaticV4("KEYID", "SECRETKEY", "")})
	require.NoError(t, err)
	_, err = b.Get(t.Context(), "s3://bucket/file", 0, 10, "")
	var temporary *remote.TemporaryError
	require.ErrorAs(t, err, &temporary)
	require.Equal(t, 7*time.Second, temporary.After)
	require.Equal(t, maxAfter, retryAfter("99999999"))
	require.Zero(t, retryAfter("-1"))
	require.Zero(t, retryAfter("soon"))
	require.InDelta(t, float64(time.Minute), float64(retryAfter(time.Now().Add(time.Minute).UTC().Format(http.TimeFormat))), float64(2*time.Second))
}

// environment sets the variables of credentials, others are empty.
func environment(t *testing.T, set map[string]string) {
	for _, k := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
		"AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION",
	} {
		t.Setenv(k, set[k])
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("HOME", t.TempDir())
}

// TestUsualPlaces: credentials come from each of the usual places, and a server
// accepts them.
func TestUsualPlaces(t *testing.T) {
	srv, good, bucket := open(t)
	write(t, good, bucket+"/file", []byte("content"))
	dir := t.TempDir()
	file := filepath.Join(dir, "credentials")
	text := fmt.Sprintf("[default]\naws_access_key_id = wrong\naws_secret_access_key = wrong\n[other]\naws_access_key_id = %s\naws_secret_access_key = %s\n", srv.AccessKey, srv.SecretKey)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	container := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"AccessKeyID":%q,"SecretAccessKey":%q,"Expiration":"2100-01-01T00:00:00Z"}`, srv.AccessKey, srv.SecretKey)
	}))
	defer container.Close()
	read := func() error {
		b, err := New(Options{})
		require.NoError(t, err)
		o, err := b.Get(t.Context(), bucket+"/file", 0, 10, "")
		if err != nil {
			return err
		}
		got, err := io.ReadAll(o.Body)
		require.NoError(t, err)
		require.Equal(t, "content", string(got))
		return o.Body.Close()
	}
	for what, set := range map[string]map[string]string{
		"variables": {"AWS_ENDPOINT_URL_S3": srv.URL, "AWS_ACCESS_KEY_ID": srv.AccessKey, "AWS_SECRET_ACCESS_KEY": srv.SecretKey},
		"file":      {"AWS_ENDPOINT_URL": srv.URL, "AWS_SHARED_CREDENTIALS_FILE": file, "AWS_PROFILE": "other"},
		"container": {"AWS_ENDPOINT_URL": srv.URL, "AWS_CONTAINER_CREDENTIALS_FULL_URI": container.URL},
	} {
		environment(t, set)
		require.NoError(t, read(), what)
	}
	environment(t, map[string]string{"AWS_ENDPOINT_URL": srv.URL})
	require.ErrorIs(t, read(), fs.ErrPermission, "anonymous")

	for what, set := range map[string]map[string]string{
		"half":       {"AWS_ACCESS_KEY_ID": srv.AccessKey},
		"no profile": {"AWS_SHARED_CREDENTIALS_FILE": file, "AWS_PROFILE": "none"},
		"no file":    {"AWS_SHARED_CREDENTIALS_FILE": file + "x"},
		"no role":    {"AWS_WEB_IDENTITY_TOKEN_FILE": file + "x"},
	} {
		set["AWS_ENDPOINT_URL"] = srv.URL
		environment(t, set)
		err := read()
		require.ErrorContains(t, err, "credentials: ", what)
		require.NotContains(t, err.Error(), srv.AccessKey)
		require.NotContains(t, err.Error(), srv.SecretKey)
		t.Log(err)
	}
	require.NoError(t, os.WriteFile(file, []byte("[other]\nSECRETLINE "+srv.SecretKey+"\n"), 0o600))
	environment(t, map[string]string{"AWS_ENDPOINT_URL": srv.URL, "AWS_SHARED_CREDENTIALS_FILE": file, "AWS_PROFILE": "other"})
	err := read()
	require.ErrorContains(t, err, `profile "other"`)
	require.NotContains(t, err.Error(), srv.SecretKey)
}

// TestService: the service and, but for Amazon's, the account are told, and no
// secret.
func TestService(t *testing.T) {
	for endpoint, want := range map[string]string{
		"https://s3.amazonaws.com": "https://s3.amazonaws.com", "https://s3.eu-west-1.amazonaws.com": "https://s3.eu-west-1.amazonaws.com",
		"http://one:9000": "http://one:9000 KEY", "https://one:9000": "https://one:9000 KEY",
	} {
		b, err := New(Options{Endpoint: endpoint, Credentials: credentials.NewStaticV4("KEY", "SECRET", "TOKEN")})
		require.NoError(t, err)
		require.Equal(t, want, remote.Located(b).Service())
	}
}
