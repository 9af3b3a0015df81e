package tokens

// What stands around the texts of a request, in tokens: the marks of a message and of a tool
// call, and what a tool costs beside its texts.
const (
	PerMessage = 4
	PerCall    = 8
	PerTool    = 8
	// PerImage is a picture of middling size. What one costs depends on the model and on its
	// width and height, from some 85 to some 1,600.
	PerImage = 800
)

// Tool estimates what offering a tool costs in each request.
func Tool(name, description, schema string) int {
	return PerTool + Count(name) + Count(description) + Count(schema)
}
