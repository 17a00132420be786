package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"slices"
	"strings"

	"aion/domain"
	"aion/domain/deployment"
	"aion/ports"
)

const (
	versionColumns = `d.content_hash, d.deployment_id, d.workflow_type, d.document_path, d.deployed_at, d.deployed_by`
	sqlVersionAdd  = `INSERT INTO deployments (content_hash, deployment_id, workflow_type, document_path, deployed_at, deployed_by, source, imports, plan)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (content_hash) DO NOTHING`
	sqlRoutePut = `INSERT INTO routes (workflow_type, content_hash, routed_at) VALUES (?, ?, ?) ON CONFLICT (workflow_type)
		DO UPDATE SET content_hash = excluded.content_hash, routed_at = excluded.routed_at, previous_hash = routes.content_hash
		WHERE routes.content_hash <> excluded.content_hash`
	sqlVersion     = `SELECT ` + versionColumns + `, d.source, d.imports, d.plan FROM deployments AS d WHERE d.content_hash = ?`
	sqlVersionHold = sqlVersion + ` /*pg FOR UPDATE OF d*/`
	sqlRouted      = `SELECT ` + versionColumns + `, d.source, d.imports, d.plan FROM routes AS r
		JOIN deployments AS d ON d.content_hash = r.content_hash WHERE r.workflow_type = ?`
	sqlVersions   = `SELECT ` + versionColumns + ` FROM deployments AS d ORDER BY d.deployed_at DESC, d.content_hash DESC`
	sqlVersionsOf = `SELECT ` + versionColumns + ` FROM deployments AS d WHERE d.workflow_type = ? ORDER BY d.deployed_at DESC, d.content_hash DESC`
	// What is routed stays, and what is removed is not routed meanwhile.
	sqlVersionExists  = `SELECT 1 FROM deployments WHERE content_hash = ? AND workflow_type = ?` + forUpdate
	sqlRouteOf        = `SELECT 1 FROM routes WHERE workflow_type = ? AND content_hash = ?`
	sqlRouteBefore    = `SELECT content_hash FROM routes WHERE workflow_type = ?` + forUpdate
	sqlRoutes         = `SELECT workflow_type, content_hash, routed_at, previous_hash FROM routes`
	sqlVersionDiscard = `DELETE FROM deployments WHERE content_hash = ?`
)

// PutVersion implements ports.DeploymentStore.
func (s *Store) PutVersion(ctx context.Context, v deployment.Version) (deployment.Version, bool, error) {
	imports, err := encodeImports(v.Imports)
	if err != nil {
		return deployment.Version{}, false, fault("the imports of version "+v.ContentHash+" cannot be stored", err)
	}
	stored := v
	stored.DeployedAt, stored.Audit = fromMicros(micros(v.DeployedAt)), nil
	var fresh bool
	err = s.write.transaction(ctx, func(t *tx) error {
		n, err := t.exec(sqlVersionAdd, v.ContentHash, v.DeploymentID, v.WorkflowType, v.DocumentPath, micros(v.DeployedAt),
			v.DeployedBy, []byte(v.Source), imports, []byte(v.Plan))
		if err != nil {
			return err
		}
		if fresh = n == 1; !fresh {
			if stored, err = t.version(v.ContentHash); err != nil {
				return err
			}
		}
		t.audit(v.Audit)
		return t.send(sqlRoutePut, stored.WorkflowType, stored.ContentHash, micros(v.DeployedAt))
	})
	if err != nil {
		return deployment.Version{}, false, err
	}
	return stored, fresh, nil
}

// version reads a version that exists, as the transaction sees it: the answer to a change comes from the change.
func (t *tx) version(contentHash string) (v deployment.Version, err error) {
	row := make([]driver.Value, 9)
	found, err := t.row(row, sqlVersionHold, contentHash)
	if err != nil {
		return v, err
	}
	if !found {
		return v, errAgain // somebody has removed it meanwhile
	}
	v.ContentHash, _ = row[0].(string)
	v.DeploymentID, _ = row[1].(string)
	v.WorkflowType, _ = row[2].(string)
	v.DocumentPath, _ = row[3].(string)
	at, _ := row[4].(int64)
	v.DeployedBy, _ = row[5].(string)
	source, _ := row[6].([]byte)
	imports, _ := row[7].([]byte)
	v.Plan, _ = row[8].([]byte)
	v.DeployedAt, v.Source = fromMicros(at), string(source)
	v.Imports, err = decodeImports(imports)
	return v, err
}

// Routed implements ports.DeploymentStore.
func (s *Store) Routed(ctx context.Context, workflowType string) (deployment.Version, error) {
	v, found, err := s.version(ctx, sqlRouted, workflowType)
	if err == nil && !found {
		err = ports.WorkflowTypeNotFound(workflowType)
	}
	return v, err
}

// Version implements ports.DeploymentStore.
func (s *Store) Version(ctx context.Context, contentHash string) (deployment.Version, error) {
	v, found, err := s.version(ctx, sqlVersion, contentHash)
	if err == nil && !found {
		err = ports.VersionNotFound(contentHash)
	}
	return v, err
}

func (s *Store) version(ctx context.Context, query, arg string) (v deployment.Version, found bool, err error) {
	err = s.each(ctx, func(rows *sql.Rows) error {
		var at int64
		var source, imports, plan []byte
		if err := rows.Scan(&v.ContentHash, &v.DeploymentID, &v.WorkflowType, &v.DocumentPath, &at, &v.DeployedBy, &source, &imports, &plan); err != nil {
			return err
		}
		v.DeployedAt, v.Source, v.Plan, found = fromMicros(at), string(source), plan, true
		v.Imports, err = decodeImports(imports)
		return err
	}, query, arg)
	return v, found, err
}

// Versions implements ports.DeploymentStore.
func (s *Store) Versions(ctx context.Context, workflowType string) ([]deployment.Version, error) {
	query, args := sqlVersions, []any(nil)
	if workflowType != "" {
		query, args = sqlVersionsOf, []any{workflowType}
	}
	return list(ctx, s, func(rows *sql.Rows, v *deployment.Version) error {
		var at int64
		err := rows.Scan(&v.ContentHash, &v.DeploymentID, &v.WorkflowType, &v.DocumentPath, &at, &v.DeployedBy)
		v.DeployedAt = fromMicros(at)
		return err
	}, query, args...)
}

// SetRoute implements ports.DeploymentStore.
func (s *Store) SetRoute(ctx context.Context, r deployment.Route) (previous string, err error) {
	err = s.write.transaction(ctx, func(t *tx) error {
		if err := t.mustExist(r.WorkflowType, r.ContentHash); err != nil {
			return err
		}
		before := make([]driver.Value, 1)
		if _, err := t.row(before, sqlRouteBefore, r.WorkflowType); err != nil {
			return err
		}
		previous, _ = before[0].(string)
		t.audit(r.Audit)
		return t.send(sqlRoutePut, r.WorkflowType, r.ContentHash, micros(r.RoutedAt))
	})
	return previous, err
}

// Routes implements ports.RouteStore.
func (s *Store) Routes(ctx context.Context) ([]deployment.Route, error) {
	var routes []deployment.Route
	err := s.each(ctx, func(rows *sql.Rows) error {
		var r deployment.Route
		var at int64
		err := rows.Scan(&r.WorkflowType, &r.ContentHash, &at, &r.Previous)
		r.RoutedAt = fromMicros(at)
		routes = append(routes, r)
		return err
	}, sqlRoutes)
	slices.SortFunc(routes, func(a, b deployment.Route) int { return strings.Compare(a.WorkflowType, b.WorkflowType) })
	return routes, err
}

// DeleteVersion implements ports.DeploymentStore.
func (s *Store) DeleteVersion(ctx context.Context, workflowType, contentHash string, audit *domain.AuditRecord) error {
	return s.write.transaction(ctx, func(t *tx) error {
		if err := t.mustExist(workflowType, contentHash); err != nil {
			return err
		}
		routed, err := t.row(make([]driver.Value, 1), sqlRouteOf, workflowType, contentHash)
		if err != nil {
			return err
		}
		if routed {
			return ports.RouteActive(workflowType, contentHash)
		}
		t.audit(audit)
		return t.send(sqlVersionDiscard, contentHash)
	})
}

func (t *tx) mustExist(workflowType, contentHash string) error {
	found, err := t.row(make([]driver.Value, 1), sqlVersionExists, contentHash, workflowType)
	if err == nil && !found {
		err = ports.VersionNotFound(contentHash)
	}
	return err
}

// Imports are files of the author's and kept byte by byte; JSON alone would change what is not UTF-8.

func encodeImports(imports map[string]string) (driver.Value, error) {
	if imports == nil {
		return nil, nil //nolint:nilnil // NULL is the value
	}
	files := make(map[string][]byte, len(imports))
	for path, text := range imports {
		files[path] = []byte(text)
	}
	return json.Marshal(files)
}

func decodeImports(text []byte) (map[string]string, error) {
	if text == nil {
		return nil, nil //nolint:nilnil // there were none
	}
	var files map[string][]byte
	if err := json.Unmarshal(text, &files); err != nil {
		return nil, fault("the imports of a version cannot be read", err)
	}
	imports := make(map[string]string, len(files))
	for path, file := range files {
		imports[path] = string(file)
	}
	return imports, nil
}
