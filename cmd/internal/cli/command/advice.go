package command

import (
	"errors"
	"strings"

	"github.com/infer-prep/infer-prep/job"
)

// fieldFlags are the flags of the fields that errors of package job name.
var fieldFlags = map[string]string{
	"Existing": "--skip-existing", "KeepPath": "--keep-path", "Limits.Bytes": "--limit-bytes", "nul": "--null", "Report": "--report",
	"Sink.BatchAxis": "--batch", "Sink.BatchSize": "--batch-size", "Sink.Dir": "-o DIR", "Sink.Force": "--force", "Sink.Format": "--format",
	"Sink.Rename": "--name", "Sink.Writer": "-o -", "the writer": "standard output",
}

// flagOf returns the flag of a field, with its value.
func flagOf(f job.Field) string {
	field, value, ok := strings.Cut(string(f), "=")
	flag := fieldFlags[field]
	switch {
	case flag == "":
		return string(f)
	case !ok:
		return flag
	case field == "Sink.Dir":
		return "-o " + value
	case field == "Sink.Format":
		return flag + " " + value
	}
	return flag + "=" + value
}

// withFlags returns the text of an error in which flags stand for fields.
func withFlags(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*job.FieldError](err); ok {
		text = strings.Replace(text, e.Error(), e.Text(flagOf), 1)
	}
	return text
}
