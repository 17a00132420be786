package httpapi

import (
	"context"
	"net/http"

	"aion/adapters/web/wire"
	"aion/domain"
)

func (a *API) backupRoutes() []route {
	return []route{
		{method: http.MethodGet, path: "/backups", grant: deploys, serve: a.listBackups},
		{
			method: http.MethodPost, path: "/backups", grant: deploys, body: []string{"name?"}, action: "backup.create", timeout: deployTimeout,
			serve: a.createBackup,
		},
	}
}

func (a *API) createBackup(ctx context.Context, q *request) (answer, error) {
	name := q.body.text("name")
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	made, err := a.Backups.Create(ctx, q.who, name)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusCreated, value: struct {
		File    string             `json:"file"`
		Bytes   int64              `json:"bytes"`
		SHA256  string             `json:"sha256"`
		Heads   []domain.AuditHead `json:"heads"`
		Seconds float64            `json:"seconds"`
	}{made.File, made.Bytes, made.SHA256, append([]domain.AuditHead{}, made.Heads...), made.Took.Seconds()}}, nil
}

func (a *API) listBackups(ctx context.Context, q *request) (answer, error) {
	list, err := a.Backups.List(ctx, q.who)
	if err != nil {
		return answer{}, err
	}
	type backup struct {
		File      string        `json:"file"`
		Bytes     int64         `json:"bytes"`
		SHA256    wire.Nullable `json:"sha256"`
		CreatedAt wire.Stamp    `json:"created_at"`
	}
	out := struct {
		Backups []backup `json:"backups"`
	}{Backups: []backup{}}
	for _, b := range list {
		out.Backups = append(out.Backups, backup{b.File, b.Bytes, wire.Nullable(b.SHA256), wire.Stamp(b.CreatedAt)})
	}
	return answer{value: out}, nil
}
