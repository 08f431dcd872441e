package device

import (
	"fmt"
	"strings"
)

// Accept is ErrClass, with the steps that are to blame, if the placement is worse than
// least, and for a step that is Unsupported whatever least is.
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
	return fmt.Errorf("%w: want %v, and %s", ErrClass, least, strings.Join(l, ", "))
}
