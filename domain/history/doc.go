// Package history holds the events of a workflow: the closed set of facts, derived events and markers, their canonical
// JSON, the recorded envelope, and the commit that makes events durable together with the rows they cause.
package history
