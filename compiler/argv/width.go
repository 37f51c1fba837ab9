package argv

import "math"

// Factor is one degree above 1 that widens a Pod.
type Factor struct {
	// Name is the canonical flag, or [EnvDPSize] when the degree came from it.
	Name   string
	Degree int64
}

// Width is how many cards one Pod needs.
type Width struct {
	Cards   int64
	Factors []Factor
	// Overflow: the product does not fit in 64 bits. Cards is then one more
	// than the Pod has, which is as wrong as any other number too large.
	Overflow bool
}

// Judgeable reports whether the width says anything about this Pod. It does
// not when the line spreads the engine over Pods or could not be read.
func (p Parallelism) Judgeable() bool { return !p.Wired && !p.Failed }

// Width is the number of cards the engine uses in one Pod that has cards of
// them. Ask [Parallelism.Judgeable] first.
//
// Ranks multiply, except where the engine lays one kind over another's: vLLM
// runs decode context and expert parallel on existing ranks, and a local data
// parallel size replaces the global one; SGLang divides its tensor parallel
// ranks for data parallel attention and for its other context and data
// parallel kinds.
func (p Parallelism) Width(cards int64) Width {
	width := Width{Cards: 1}
	for _, factor := range p.factors() {
		if factor.Degree <= 1 {
			continue
		}
		width.Factors = append(width.Factors, factor)
		if width.Overflow || width.Cards > math.MaxInt64/factor.Degree {
			width.Overflow = true
			continue
		}
		width.Cards *= factor.Degree
	}
	if width.Overflow {
		width.Cards = math.MaxInt64
		if cards < math.MaxInt64 {
			width.Cards = cards + 1
		}
	}
	return width
}

func (p Parallelism) factors() []Factor {
	switch p.Engine {
	case VLLM:
		data := Factor{vllmDP, p.DP}
		if p.DPFromEnv {
			data.Name = EnvDPSize
		}
		if p.DPLocal > 0 {
			data = Factor{vllmDPLocal, p.DPLocal}
		}
		return []Factor{{vllmTP, p.TP}, {vllmPP, p.PP}, {vllmPCP, p.PCP}, data}
	case SGLang:
		factors := []Factor{{sglangTP, p.TP}, {sglangPP, p.PP}}
		if p.DPAttention || p.DWDP > 1 || p.MoEDP > 1 || p.AttnCP > 1 {
			return factors
		}
		return append(factors, Factor{sglangDP, p.DP})
	}
	return nil
}
