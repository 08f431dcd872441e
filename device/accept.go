package device

import (
	"fmt"
	"strings"
)

// Accept returns an ErrClass that lists the steps worse than least. It never
// accepts an Unsupported step.
func (p Placement) Accept(least Class) error {
	least = max(least, Approximate)
	var l []string
	for _, s := range p {
		if s.Class < least {
			t := fmt.Sprintf("step %d (%s) on %s is %v", s.Step, s.Op, s.Where, s.Class)
			if s.Why != "" {
				t += " (" + s.Why + ")"
			}
			l = append(l, t)
		}
	}
	if len(l) == 0 {
		return nil
	}
	return fmt.Errorf("%w: want %v: %s", ErrClass, least, strings.Join(l, ", "))
}
