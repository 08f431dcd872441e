package s3

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/infer-prep/infer-prep/store/remote"
)

// Time-outs of credentials that another service hands out.
const (
	roleTimeout    = 10 * time.Second
	machineTimeout = 1500 * time.Millisecond // most machines have no such service
	anonymousFor   = 5 * time.Minute         // until the machine is asked again
)

// chain finds credentials in the usual places, in the order of
// Options.Credentials. Unlike minio-go's chain it reports a source that is
// configured but fails, and it does not ask the machine for each anonymous
// request.
type chain struct {
	found credentials.Provider
	until time.Time // of anonymous credentials
}

// RetrieveWithCredContext implements credentials.Provider.
func (c *chain) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	c.found, c.until = nil, time.Time{}
	env := &credentials.EnvAWS{}
	v, err := env.RetrieveWithCredContext(cc)
	switch {
	case err != nil:
		return credentials.Value{}, err
	case v.AccessKeyID != "" && v.SecretAccessKey != "":
		c.found = env
		return v, nil
	case v.AccessKeyID != "" || v.SecretAccessKey != "":
		return credentials.Value{}, errors.New("credentials: want both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither")
	}

	file := &credentials.FileAWSCredentials{}
	profile := os.Getenv("AWS_PROFILE")
	if v, err = file.RetrieveWithCredContext(cc); err == nil && v.AccessKeyID != "" {
		c.found = file
		return v, nil
	}
	if profile != "" || os.Getenv("AWS_SHARED_CREDENTIALS_FILE") != "" {
		// The error may hold a line of the file, and so a key.
		reason := "want a file with this profile and its keys"
		switch {
		case errors.Is(err, fs.ErrNotExist):
			reason = "no such file"
		case errors.Is(err, fs.ErrPermission):
			reason = "the file cannot be read"
		}
		return credentials.Value{}, fmt.Errorf("credentials: profile %q of the shared credentials file: %s", first(profile, "default"), reason)
	}

	configured := false
	for _, name := range []string{"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		configured = configured || os.Getenv(name) != ""
	}
	if configured || !strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		timeout := machineTimeout
		if configured {
			timeout = roleTimeout
		}
		ctx := context.Background()
		if cc != nil && cc.Context != nil {
			ctx = cc.Context
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		role := &credentials.IAM{Client: &http.Client{}, Region: os.Getenv("AWS_DEFAULT_REGION")}
		v, err = role.RetrieveWithCredContext(&credentials.CredContext{Client: role.Client, Context: ctx})
		if err == nil && v.AccessKeyID != "" {
			c.found = role
			return v, nil
		}
		if configured {
			var u *url.Error
			if errors.As(err, &u) {
				err = u.Err // without the URL, which may hold a token
			}
			// Not wrapped: a missing token file is not a missing object.
			err = fmt.Errorf("credentials: role of the web identity or the container: %v", err)
			if u != nil {
				err = &remote.TemporaryError{Err: err}
			}
			return credentials.Value{}, err
		}
	}
	c.until = time.Now().Add(anonymousFor)
	return credentials.Value{SignerType: credentials.SignatureAnonymous}, nil
}

// Retrieve implements credentials.Provider.
func (c *chain) Retrieve() (credentials.Value, error) { return c.RetrieveWithCredContext(nil) }

// IsExpired implements credentials.Provider.
func (c *chain) IsExpired() bool {
	if c.found != nil {
		return c.found.IsExpired()
	}
	return time.Now().After(c.until)
}
