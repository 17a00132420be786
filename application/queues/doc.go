// Package queues shows task queues: what waits, who serves it, and why work is left unserved (actions 8.6, 8.9).
package queues
