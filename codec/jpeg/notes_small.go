//go:build small

package jpeg

// noter is not used: small builds make no notes.
type noter struct {
	on  bool
	mcu int
}

func (*decoder) openNotes() bool    { return false }
func (*decoder) closeNotes()        {}
func (*decoder) keepNotes()         {}
func (*decoder) decodeNoted() error { return nil }
func (*entropy) due() int           { return 0 }
func (*noter) begin(*quickReader)   {}
func (*noter) shift(*quickReader)   {}
