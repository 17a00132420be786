package replicas

import (
	"hash/fnv"
	"slices"
	"strconv"

	"aion/domain"
	"aion/ports"
)

// see takes a view over, and reports whether other shards fall to this server. It is called under the lock.
func (s *Service) see(members []ports.Replica) (moved bool) {
	ids := make([]string, len(members))
	s.others = false
	for i, m := range members {
		ids[i] = m.ID
		s.others = s.others || m.ID != s.Self.ID
	}
	s.members = members
	mine := share(s.Self.ID, ids)
	moved = !slices.Equal(mine, s.shards)
	s.shards = mine
	return moved
}

// share gives the shards of one member: those for which it has the highest weight of all. A member that joins or leaves
// moves its own shards and no other.
func share(self string, members []string) ports.Shards {
	mine := ports.Shards{}
	if !slices.Contains(members, self) {
		return mine
	}
	for shard := range domain.Shards {
		own, best := weight(shard, self), true
		for _, m := range members {
			if w := weight(shard, m); w > own || w == own && m < self {
				best = false
				break
			}
		}
		if best {
			mine = append(mine, shard)
		}
	}
	return mine
}

// weight is the same on every server. FNV alone spreads like names poorly, so its bits are mixed once more (the finalizer
// of MurmurHash3).
func weight(shard int, id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id + "/" + strconv.Itoa(shard)))
	x := h.Sum64()
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
