package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/colinmarc/hdfs/v2"

	"github.com/infer-prep/infer-prep/store/remote"
)

var (
	errFolder = errors.New("is a folder: want a file")
	errFile   = errors.New("is a file: want a folder")
	errSize   = errors.New("the file in HDFS has another length than was written")
)

// The classes of Hadoop's exceptions that are not the same for all attempts.
const (
	safeMode  = "org.apache.hadoop.hdfs.server.namenode.SafeModeException"
	standby   = "org.apache.hadoop.ipc.StandbyException"
	retriable = "org.apache.hadoop.ipc.RetriableException"
)

// exceptions are those that have an error of package fs.
var exceptions = map[string]error{
	"java.io.FileNotFoundException":                                fs.ErrNotExist,
	"org.apache.hadoop.security.AccessControlException":            fs.ErrPermission,
	"org.apache.hadoop.security.authorize.AuthorizationException":  fs.ErrPermission,
	"org.apache.hadoop.security.token.SecretManager$InvalidToken":  fs.ErrPermission,
	"org.apache.hadoop.fs.FileAlreadyExistsException":              fs.ErrExist,
	"org.apache.hadoop.fs.InvalidPathException":                    fs.ErrInvalid,
	"org.apache.hadoop.HadoopIllegalArgumentException":             fs.ErrInvalid,
	"org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException": fs.ErrExist,
}

func exception(err error) string {
	var e hdfs.Error
	if errors.As(err, &e) {
		return e.Exception()
	}
	return ""
}

// answered reports whether an error is a namenode's answer, or made here. Other
// errors are those of a connection, and its client serves no more calls.
func answered(err error) bool {
	if e := exception(err); e != "" {
		return e != standby
	}
	for _, known := range []error{fs.ErrNotExist, fs.ErrPermission, fs.ErrExist, fs.ErrInvalid, syscall.ENOTEMPTY, errFolder, errFile, errSize, remote.ErrChanged} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// wrap makes a backend's error of one of the library.
func wrap(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil {
		return cause
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err // the caller adds the name
	}
	temporary := !answered(err)
	text := err.Error()
	var e hdfs.Error
	switch {
	case errors.As(err, &e):
		switch e.Exception() {
		case safeMode, standby, retriable:
			temporary = true
		}
		line, _, _ := strings.Cut(e.Message(), "\n") // the others are Java's stack
		if known := exceptions[e.Exception()]; known != nil {
			err = fmt.Errorf("%w: %s", known, line)
		} else {
			err = fmt.Errorf("%s: %s", e.Exception(), line)
		}
	case text == "invalid checksum":
		err = fmt.Errorf("%w: no replica of a block is intact", remote.ErrChecksum)
	case text == "unexpected sequence number":
		// A namenode that refuses a connection says so out of turn, and the
		// library drops its reasons.
		temporary = false
		err = fmt.Errorf("%w: the namenode refuses this user, or wants Kerberos", fs.ErrPermission)
	case strings.Contains(text, "SASL handshake") || strings.Contains(text, "kerberos enabled"):
		temporary = false
		err = fmt.Errorf("%w: %w", fs.ErrPermission, err)
	}
	if temporary {
		return &remote.TemporaryError{Err: err}
	}
	return err
}
