package dataset

//go:generate go run ../internal/msgpgen
