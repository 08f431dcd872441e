package avif

func (l *library) prove() error { return nil }
