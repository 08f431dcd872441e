package transforms

//go:generate go run ../internal/msgpgen
