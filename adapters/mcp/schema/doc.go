// Package schema validates JSON text against the schemas of a tool catalogue. It knows exactly the keywords that such
// catalogues use (mcp 1.9), so that a schema that says more than is enforced cannot be compiled.
package schema
