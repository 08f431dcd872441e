package datagraph

var foldGeometry = passInfo{
	Name: "fold-geometry",
	Doc:  "a resize with its crops and flips computes only the pixels that remain",
	Run:  runFoldGeometry,
}

func runFoldGeometry(p *Plan) {
	for i := 0; i < len(p.steps); i++ {
		f, n := p.part(i), 1
		if f == nil || f.decode != nil || p.regionCut(i-1) != nil { // of region-decode
			continue
		}
		for p.feeds(i + n - 1) {
			next := p.part(i + n)
			if next == nil {
				break
			}
			both := join(f, next)
			if both == nil {
				break
			}
			f, n = both, n+1
		}
		if n > 1 {
			p.replace(i, n, f, FoldGeometry)
		}
	}
}
