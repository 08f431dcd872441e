// Package expvars publishes the Stats of pipelines through package expvar, at
// /debug/vars of the program's HTTP server. It is separate from package
// pipeline, since expvar links net/http.
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

// variable is a published name and its current pipeline.
type variable struct {
	mu sync.Mutex
	p  *pipeline.Pipeline
}

// Publish publishes the Stats of p under a name, as a JSON array with an object
// for each stage, from the source up. A second call with the same name replaces
// the pipeline; a nil p makes the variable null. Publish returns an error if
// another package has published the name. It is safe for concurrent use,
// before, during and after the run.
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

// String returns the variable as JSON.
func (v *variable) String() string {
	v.mu.Lock()
	p := v.p
	v.mu.Unlock()
	if p == nil {
		return "null"
	}
	b, err := json.Marshal(p.Stats())
	if err != nil { // impossible: StageStats has numbers and strings alone
		return "null"
	}
	return string(b)
}
