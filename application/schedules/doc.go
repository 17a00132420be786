// Package schedules makes, shows and changes schedules, and fires them: due times become starts of runs. When a schedule
// fires, and what a fire does, is decided in domain/schedule.
package schedules
