package s3

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/infer-prep/infer-prep/store/internal/objects"
	"github.com/infer-prep/infer-prep/store/remote"
)

// Limits of connections. A reader has a few requests in flight for each open
// file, so that many connections are used again.
const (
	idleConnections = 128
	bufferSize      = 64 << 10
	writeTimeout    = time.Minute // of one write, so that an upload cannot stall
)

// transport returns the transport of both clients.
func transport(secure bool) (http.RoundTripper, error) {
	t, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	t.MaxIdleConns, t.MaxIdleConnsPerHost = idleConnections, idleConnections
	// The buffer of reads stays small: larger reads then go past it.
	t.WriteBufferSize = bufferSize
	dial := t.DialContext
	t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return conn{c}, nil
	}
	return noting{t}, nil
}

// conn is a connection whose writes end in time.
type conn struct{ net.Conn }

func (c conn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// noting is a transport that notes in the request's attempt what minio-go does
// not tell.
type noting struct{ http.RoundTripper }

func (t noting) RoundTrip(r *http.Request) (*http.Response, error) {
	a, _ := r.Context().Value(attemptKey{}).(*attempt)
	if a == nil {
		return t.RoundTripper.RoundTrip(r)
	}
	remote.Alive(r.Context()) // an earlier request of the same call was answered
	objects.CountUpload(r, r.Method == http.MethodPut)
	*a = attempt{authorization: r.Header.Get("Authorization"), token: r.Header.Get("X-Amz-Security-Token")}
	resp, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		a.status = resp.StatusCode
		a.after = retryAfter(resp.Header.Get("Retry-After"))
	}
	return resp, err
}

// attempt is what is known of the last request of a context.
type attempt struct {
	status               int           // 0 if there was no answer
	after                time.Duration // Retry-After
	authorization, token string        // headers of the request
}

type attemptKey struct{}

func withAttempt(ctx context.Context) (context.Context, *attempt) {
	a := &attempt{}
	return context.WithValue(ctx, attemptKey{}, a), a
}

// maxAfter bounds the wait that a service can ask for.
const maxAfter = time.Hour

// retryAfter returns the wait of a header Retry-After, 0 if there is none.
func retryAfter(s string) time.Duration {
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return min(time.Duration(n)*time.Second, maxAfter)
	}
	if at, err := http.ParseTime(s); err == nil {
		return min(max(0, time.Until(at)), maxAfter)
	}
	return 0
}

// fail returns the error of an operation that minio-go's err ended. The text
// begins with what.
func (a *attempt) fail(ctx context.Context, what string, err error) error {
	if cerr := ctx.Err(); cerr != nil {
		return fmt.Errorf("%s: %w", what, cerr)
	}
	var answer minio.ErrorResponse
	if errors.As(err, &answer) {
		err = a.answered(answer)
	} else {
		err = network(err)
	}
	var t *remote.TemporaryError
	wrapped := fmt.Errorf("%s: %w", what, err)
	if errors.As(err, &t) {
		return &remote.TemporaryError{Err: wrapped, After: t.After}
	}
	return wrapped
}

// answered returns the error of an answer.
func (a *attempt) answered(r minio.ErrorResponse) error {
	answer := &answerError{kind(r), a.scrub(r.Code), a.scrub(r.Message), r.StatusCode}
	if a.authorization == "" && answer.kind == fs.ErrPermission {
		answer.message += " No credentials were found: want AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or a role"
	}
	err := error(answer)
	switch r.Code {
	case "RequestTimeout", "SlowDown", "SlowDownRead", "SlowDownWrite", "InternalError", "ServiceUnavailable",
		"Throttling", "ThrottlingException", "RequestLimitExceeded", "RequestThrottled", "OperationAborted":
		return &remote.TemporaryError{Err: err, After: a.after}
	}
	switch r.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, 499, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, 520, 521, 522, 523, 524:
		return &remote.TemporaryError{Err: err, After: a.after}
	}
	return err
}

// kind returns the error that an answer is, nil for other errors.
func kind(r minio.ErrorResponse) error {
	switch {
	case r.Code == "NoSuchUpload":
		return nil
	case r.Code == "XAdminUserNotFound": // versitygw's 404 for an unknown access key
		return fs.ErrPermission
	case r.StatusCode == http.StatusNotFound, r.Code == "NoSuchKey", r.Code == "NoSuchBucket":
		return fs.ErrNotExist
	case r.StatusCode == http.StatusUnauthorized, r.StatusCode == http.StatusForbidden,
		r.Code == "ExpiredToken", r.Code == "InvalidToken", r.Code == "AuthorizationHeaderMalformed":
		return fs.ErrPermission
	case r.StatusCode == http.StatusPreconditionFailed:
		return remote.ErrChanged
	}
	return nil
}

// answerError is an error that a service answered.
type answerError struct {
	kind          error // nil or one that callers compare with
	code, message string
	status        int
}

func (e *answerError) Error() string {
	s := e.code
	if e.kind != nil {
		s = e.kind.Error() + ": " + s
	}
	if e.message != "" && e.message != e.code {
		s += ": " + e.message
	}
	if e.status != 0 && !strings.Contains(s, strconv.Itoa(e.status)) {
		s += " (status " + strconv.Itoa(e.status) + ")"
	}
	return s
}

func (e *answerError) Unwrap() error { return e.kind }

// secret matches what a text could repeat of a signed request.
var secret = regexp.MustCompile(`(?i)((?:signature|credential|x-amz-[a-z-]*token|authorization|accesskeyid)["'>:=]+[ "']*)[^\s,;&<>"']+`)

// maxText bounds what an error repeats of an answer, in bytes.
const maxText = 300

// scrub returns a text of the service without what the request was signed with.
func (a *attempt) scrub(s string) string {
	for _, header := range []string{a.token, a.authorization} {
		if header != "" {
			s = strings.ReplaceAll(s, header, "…")
		}
	}
	if _, rest, ok := strings.Cut(a.authorization, "Credential="); ok {
		if id, _, ok := strings.Cut(rest, "/"); ok && id != "" {
			s = strings.ReplaceAll(s, id, "…")
		}
	}
	if _, sig, ok := strings.Cut(a.authorization, "Signature="); ok && sig != "" {
		s = strings.ReplaceAll(s, sig, "…")
	}
	s = secret.ReplaceAllString(s, "${1}…")
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "…"
	}
	return strings.Join(strings.Fields(s), " ")
}

// network returns the error of a request without an answer. The error of
// net/http has the URL, which is left out.
func network(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if strings.HasPrefix(err.Error(), "Connection closed by foreign host") {
		err = errConnectionClosed // minio-go's text for EOF, with the URL
	}
	var dns *net.DNSError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound, errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &invalid),
		strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return err
	}
	var n net.Error
	if u == nil && !errors.As(err, &n) && err != errConnectionClosed {
		return err // not of the network: an invalid name, missing credentials
	}
	return &remote.TemporaryError{Err: err}
}

var errConnectionClosed = errors.New("the connection was closed before the answer")
