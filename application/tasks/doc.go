// Package tasks holds the use cases of MCP tasks (mcp 6): create, get, update, cancel; and the loop that starts what they
// wait for and settles them when it has ended. What a task waits for is a Work: it is begun once, whatever crashes, and
// watched through the store, so that every server of a store serves every task.
package tasks
