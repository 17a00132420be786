package deployments

import (
	"container/list"
	"sync"
	"time"

	"aion/domain/deployment"
)

// cachedContracts bounds the loaded plans that are kept; a plan of a large document takes a few hundred KiB.
const cachedContracts = 512

// cachedRoutes bounds the routes that are kept; beyond it the routes are forgotten and read again.
const cachedRoutes = 10_000

// cache keeps the contracts used last, and the routes read last. It is safe for concurrent use.
type cache struct {
	mu        *sync.Mutex
	contracts map[string]*list.Element // of loaded
	used      *list.List               // the one used last in front
	routes    map[string]routed
}

type loaded struct {
	hash     string
	contract *deployment.Contract
}

type routed struct {
	hash string
	read time.Time
}

func newCache() cache {
	return cache{mu: new(sync.Mutex), contracts: map[string]*list.Element{}, used: list.New(), routes: map[string]routed{}}
}

func (c *cache) contract(hash string) *deployment.Contract {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.contracts[hash]
	if !ok {
		return nil
	}
	c.used.MoveToFront(e)
	return e.Value.(*loaded).contract
}

func (c *cache) add(hash string, contract *deployment.Contract) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.contracts[hash]; ok {
		return
	}
	c.contracts[hash] = c.used.PushFront(&loaded{hash: hash, contract: contract})
	for c.used.Len() > cachedContracts {
		oldest := c.used.Back()
		c.used.Remove(oldest)
		delete(c.contracts, oldest.Value.(*loaded).hash)
	}
}

func (c *cache) drop(hash string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.contracts[hash]; ok {
		c.used.Remove(e)
		delete(c.contracts, hash)
	}
}

// route gives a route that was read after a time.
func (c *cache) route(workflowType string, after time.Time) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.routes[workflowType]
	return r.hash, ok && r.read.After(after)
}

func (c *cache) setRoute(workflowType, hash string, read time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.routes) >= cachedRoutes {
		clear(c.routes)
	}
	if old, ok := c.routes[workflowType]; ok && old.read.After(read) {
		return // a slower reader of an older route
	}
	c.routes[workflowType] = routed{hash: hash, read: read}
}
