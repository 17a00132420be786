// Package actions runs the attempts of activities: it decides which may begin, hands declared bodies to the executor,
// stops what must not go on, and turns verdicts into facts. Actions without a declared body wait in their task queue.
package actions
