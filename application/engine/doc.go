// Package engine turns facts into commits. Facts of one workflow are handled one at a time; each is put to the pure
// machine, and the fact, all that it derives and the rows that make the outside world act become durable in one
// transaction. What was committed is offered in the outbox to those who act on it. The engine starts no process, fires no
// timer and knows no caller.
package engine
