package llm

import "testing"

// An endpoint without models is one with an empty list, however it writes that; what only
// has no data is no list.
func TestAListOfNoModels(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		`{"object":"list","data":null}`:              true,
		`{"object":"list","data":[]}`:                true,
		`{"data":null,"error":{"message":"broken"}}`: false,
		`{"code":500,"data":null}`:                   false,
		`null`:                                       false,
	} {
		if list, ok := readModels([]byte(raw)); ok != want || len(list) != 0 {
			t.Errorf("%s is read as %v, %v", raw, list, ok)
		}
	}
}
