// Package language holds what shows that the language is whole: an author of random well-typed documents, a world that
// answers whatever a run asks, a player that drives the machine in it, and a direct interpreter of the syntax tree that
// shares nothing with compiler and machine.
package language
