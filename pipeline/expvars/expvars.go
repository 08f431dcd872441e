// Package expvars publishes the figures of pipelines as variables of package
// expvar, at /debug/vars of the program's HTTP server. It is a package of its own
// since expvar links net/http.
package expvars

import (
	"encoding/json"
	"expvar"
	"fmt"
	"sync"

	"github.com/infer-prep/infer-prep/pipeline"
)

var (
	mu        sync.Mutex
	published = map[string]*variable{}
)

// variable is one name's, for all pipelines that it is published for.
type variable struct {
	mu sync.Mutex
	p  *pipeline.Pipeline
}

// Publish makes the Stats of p a variable: a JSON array with an object for each
// stage, from the source up. Publishing a name again gives the name to another
// pipeline, the next run's, say; a nil one makes the variable null. A name that
// somebody else has published is an error. It may be called by several goroutines
// at once, and before, during and after the run.
func Publish(name string, p *pipeline.Pipeline) error {
	mu.Lock()
	defer mu.Unlock()
	v := published[name]
	if v == nil {
		if expvar.Get(name) != nil {
			return fmt.Errorf("expvars: %q is published already, by somebody else", name)
		}
		v = &variable{}
		expvar.Publish(name, v)
		published[name] = v
	}
	v.mu.Lock()
	v.p = p
	v.mu.Unlock()
	return nil
}

// String is the variable as JSON.
func (v *variable) String() string {
	v.mu.Lock()
	p := v.p
	v.mu.Unlock()
	if p == nil {
		return "null"
	}
	b, err := json.Marshal(p.Stats())
	if err != nil { // plain numbers and strings cannot fail
		return "null"
	}
	return string(b)
}
