// Package machine is the deterministic heart: Advance folds one fact into the state of a run and gives the events that the
// plan derives from it. It holds no clock, no randomness, no I/O and no goroutine; a run is its plan and its history.
//
// A run is a tree. A flow (the workflow, a subflow call, a region instance, a group of substeps) holds activations; an
// activation is one visit of one step and runs as a strand; a fork gives a strand branches that are strands as well. A strand
// is an explicit stack of frames, so the tree is data: it can be kept, walked, cut and thrown away. Ready strands run one at
// a time in the order in which they became ready.
//
// Environments are persistent and share what they have in common. Nothing here is safe for concurrent use; one state has one
// owner.
package machine
