package eager

// Restart makes Apply number its calls from 0 again, as at the start of the
// program.
func Restart() { draws.next.Store(0) }
