package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Main runs the program with the arguments, the standard streams and the
// signals of the process, and exits. A first signal ends the work cleanly, a
// second one the process.
func Main() {
	if len(ignored) > 0 { // none would mean all
		signal.Ignore(ignored...)
	}
	ctx, end := context.WithCancelCause(context.Background())
	received := make(chan os.Signal, 1)
	signal.Notify(received, ending...)
	go func() {
		s := <-received
		signal.Reset(ending...)
		number, _ := s.(syscall.Signal)
		end(stopped(number))
	}()
	os.Exit(Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// stopped is the cause of a context that a signal ended.
type stopped syscall.Signal

func (s stopped) Error() string { return "stopped: " + syscall.Signal(s).String() }

// Is reports that the error is context.Canceled: a store may return the cause
// of a context's end.
func (s stopped) Is(target error) bool { return target == context.Canceled }
