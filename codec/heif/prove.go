package heif

func (l *library) prove() error { return nil }
