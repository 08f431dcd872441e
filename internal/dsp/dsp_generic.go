//go:build !amd64 || purego

package dsp

func passSIMD(*pass, []float64, []float64) bool { return false }

func loadSIMD([]float64, []float32, int, []float64) int { return 0 }

func prepareSIMD([]float64, []float32, int, []float64, []float64, bool, float64) bool { return false }

func powersSIMD([]float64, []float64, int) bool { return false }

func melSIMD([]float64, []float64, []float64) bool { return false }

func logSIMD([]float64, float64, bool) (done, ok bool) { return false, false }
