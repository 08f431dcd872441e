package datagraph

var rowStep = passInfo{
	name: "row-step",
	doc:  "decoding, geometry and look-up are one step that rows run through, without images between",
	run:  runRowStep,
}

func runRowStep(p *Plan) {
	for i := 0; i < len(p.steps); i++ {
		f, n := p.part(i), 1
		if f == nil {
			continue
		}
		for p.feeds(i + n - 1) {
			next := p.part(i + n)
			if next == nil || f.geometry() && next.geometry() {
				break // that is fold-geometry's
			}
			both := join(f, next)
			if both == nil {
				break
			}
			f, n = both, n+1
		}
		if n > 1 || f.decode != nil && f.geometry() {
			g := *f
			g.rows = true
			p.replace(i, n, &g, RowStep)
		}
	}
}
