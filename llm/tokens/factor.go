package tokens

const (
	// A factor learns from each report, and forgets half of what it knew with every few.
	learning = 0.4
	// What a request costs beside its texts is a larger part of a short one.
	leastLearned = 200
	// Beyond these a report says more about the endpoint than about its way to cut text.
	leastFactor, mostFactor = 0.4, 3.0
)

// Factor corrects estimates for one model. The zero value corrects nothing.
type Factor struct {
	// By is what an estimate is multiplied with; 0 is 1.
	By float64 `json:"by"`
	// Reports is how many reported figures it was learned from.
	Reports int `json:"reports"`
}

// Learn gives the factor as it is after an endpoint has reported how many tokens a request took
// that was estimated (without a factor) at estimate. Reports that cannot be, and those of very
// short requests, change nothing.
func (f Factor) Learn(estimate, reported int) Factor {
	if estimate < leastLearned || reported <= 0 {
		return f
	}
	seen := float64(reported) / float64(estimate)
	if seen < leastFactor || seen > mostFactor {
		return f
	}
	if f.Reports == 0 {
		f.By = seen
	} else {
		f.By += learning * (seen - f.By)
	}
	f.Reports++
	return f
}

// Apply corrects an estimate.
func (f Factor) Apply(estimate int) int {
	if f.By <= 0 {
		return estimate
	}
	return int(float64(estimate)*f.By + 0.5)
}
