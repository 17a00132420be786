package syntax

// The limits of one document.
const (
	// MaxBytes is the size of a document.
	MaxBytes = 1 << 20
	// MaxNesting bounds indentation levels, nested expressions, nested types and the depth of JSON literals, each.
	MaxNesting = 64
	// MaxIdentifier is the length of a word in characters.
	MaxIdentifier = 64
	// MaxSteps counts all steps of a document, substeps included.
	MaxSteps = 500
	// MaxDeclarations counts everything declared but steps, fields and parameters.
	MaxDeclarations = 1000

	// maxChain bounds the operands of one chain of operators or accessors, so that no reader of the tree recurses far.
	maxChain = 1000
	// maxFound bounds the findings that are kept; further ones are only counted.
	maxFound = 1000
)
