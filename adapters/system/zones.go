package system

import (
	"sync"
	"time"
	_ "time/tzdata" // for hosts without the database

	"aion/domain/schedule"
)

// Zones knows the zones of the IANA database: those of the host, else those of the binary. It is safe for concurrent use.
type Zones struct {
	known sync.Map // *time.Location by name; as many as the database has
}

// Zone implements ports.Zones.
func (z *Zones) Zone(name string) (*time.Location, error) {
	if zone, ok := z.known.Load(name); ok {
		return zone.(*time.Location), nil
	}
	if name == "" || name == "Local" || len(name) > 64 { // neither is a zone: they mean what the host happens to have
		return nil, schedule.ZoneUnknown(name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, schedule.ZoneUnknown(name)
	}
	z.known.Store(name, zone)
	return zone, nil
}
