//go:build !amd64 || purego

package kernel

func (s *PILImage) fixedRow(_ []uint8, _, _, _, _ int32) bool { return false }

func pilCoordsSIMD(_, _ []float64, _ *[9]float64, _ bool) bool { return false }

func (s *PILImage) rowSIMD(_ PILTaps, _ []uint8, _, _ []float64) bool { return false }

func (s *warpSource) nearestSIMD(_ []uint8, _, _ int32, _, _, _ []int32) bool { return false }

func (s *warpSource) bilinearSIMD(_ []uint8, _, _ int32, _, _ []int32) bool { return false }

func (s *warpSource) tapsSIMD(_ []uint8, _ int, _ []int16, _, _ int32, _, _ []int32) bool {
	return false
}

func (k WarpTaps) perspectiveSIMD(_, _ []int32, _ *[9]float64) int { return 0 }

func (g TorchGrid) affineSIMD(_ *[6]float32, _ float32, _, _ int) bool { return false }

func (g TorchGrid) perspectiveSIMD(_ *[6]float32, _ [2]float32, _ float32, _, _ int) bool {
	return false
}

func (g TorchGrid) displaceSIMD(_, _ []float32, _ float32, _, _ int) bool { return false }

func (s *TorchImage) nearestSIMD(_ []uint8, _ TorchGrid) bool { return false }

func (s *TorchImage) bilinearSIMD(_ []uint8, _ TorchGrid) bool { return false }
