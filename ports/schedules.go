package ports

import (
	"context"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/schedule"
)

// ScheduleStore keeps the schedules and what became of their fires. The newest KeptFires of each are kept.
type ScheduleStore interface {
	// CreateSchedule stores a new schedule, or refuses with schedule.Exists. One whose RequestKey another one has that was
	// created after since is not stored: that one is returned, and made is false.
	CreateSchedule(ctx context.Context, s schedule.Schedule, since time.Time) (stored schedule.Schedule, made bool, err error)
	// Schedule returns one, or schedule.NotFound.
	Schedule(ctx context.Context, of schedule.Ref) (schedule.Schedule, error)
	// Schedules returns schedules of a namespace, by id in byte order.
	Schedules(ctx context.Context, which ScheduleFilter) ([]schedule.Schedule, error)
	// ChangeSchedule replaces a schedule by what change makes of it and adds the fires, with nothing in between, and returns
	// the stored one. An error of change is returned as it is and changes nothing; schedule.NotFound when there is none. change
	// must be free of side effects and must not wait.
	ChangeSchedule(ctx context.Context, of schedule.Ref, change ScheduleChange) (schedule.Schedule, error)
	// DeleteSchedule removes one that check (nil: anything) lets pass, with its fires, and writes the record of it;
	// schedule.NotFound when there is none.
	DeleteSchedule(ctx context.Context, of schedule.Ref, check func(schedule.Schedule) error, audit *domain.AuditRecord) error
	// Fires returns at most limit fires of a schedule whose number is below before (0: from the newest), newest first.
	Fires(ctx context.Context, of schedule.Schedule, before int64, limit int) ([]schedule.Fire, error)
}

// KeptFires is how many fires of a schedule are kept.
const KeptFires = 1_000

// ScheduleChange gives a schedule as it shall be stored, and the fires that are recorded with it.
type ScheduleChange func(schedule.Schedule) (schedule.Schedule, []schedule.Fire, error)

// ScheduleFilter selects schedules of a namespace. Zero members but Limit do not filter.
type ScheduleFilter struct {
	Namespace    domain.Namespace
	Paused       *bool
	WorkflowType string
	After        schedule.ID
	Limit        int
}

// ScheduleQueue tells which schedules must be looked at, and what is open of them.
type ScheduleQueue interface {
	// DueSchedules returns at most limit schedules of the shards whose WakeAt is at or before now, behind a place (nil: from
	// the first), by time and name. The shard of a schedule is that of its UID.
	DueSchedules(ctx context.Context, of Shards, now time.Time, after *DueSchedule, limit int) ([]DueSchedule, error)
	// NextSchedule returns the earliest WakeAt of the shards; the zero time when there is none.
	NextSchedule(ctx context.Context, of Shards) (time.Time, error)
	// OpenOfSchedule returns at most limit open runs that a schedule has started, oldest start first.
	OpenOfSchedule(ctx context.Context, of schedule.Ref, limit int) ([]history.RunRow, error)
}

// DueSchedule is a schedule that must be looked at, and since when.
type DueSchedule struct {
	WakeAt time.Time
	schedule.Ref
}

// Zones knows the time zones of the IANA database.
type Zones interface {
	// Zone gives a zone by name, or schedule.ZoneUnknown.
	Zone(name string) (*time.Location, error)
}

// ScheduleMeter counts what became of fires. It is safe for concurrent use and never waits.
type ScheduleMeter interface {
	// ScheduleFired counts a recorded fire.
	ScheduleFired(action schedule.Action)
	// ScheduleLag tells how long after its due time a fire on time was decided.
	ScheduleLag(lag time.Duration)
}
