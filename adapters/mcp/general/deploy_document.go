package general

import (
	"context"

	"aion/adapters/mcp"
	"aion/adapters/web/wire"
	"aion/application/authoring"
)

type deployed struct {
	Deployment deployment        `json:"deployment"`
	Steps      []wire.DeployStep `json:"steps"`
}

type deployment struct {
	DeploymentID  string   `json:"deployment_id"`
	DocumentPath  string   `json:"document_path"`
	ContentHash   string   `json:"content_hash"`
	WorkflowType  string   `json:"workflow_type"`
	PackageID     string   `json:"package_id"`
	DeployedAt    stamp    `json:"deployed_at"`
	FreshlyLoaded bool     `json:"freshly_loaded"`
	Warnings      []string `json:"warnings"`
}

// deploySteps is how many steps a deploy has.
const deploySteps = 4

func (s *Service) deployDocument(ctx context.Context, call mcp.Call) (any, error) {
	got, err := s.authoring.Deploy(ctx, call.Caller, authoring.DeployRequest{
		Path: call.Arguments.Text("path"), ContentHash: call.Arguments.Text("content_hash"),
		Progress: func(done int) { call.Progress(done, deploySteps) },
	})
	if err != nil {
		return nil, err
	}
	out := deployed{Deployment: deployment{
		DeploymentID: got.DeploymentID, DocumentPath: got.DocumentPath, ContentHash: got.ContentHash, WorkflowType: got.WorkflowType,
		PackageID: got.PackageID, DeployedAt: stamp(got.DeployedAt), FreshlyLoaded: got.FreshlyLoaded,
		Warnings: append([]string{}, got.Warnings...),
	}, Steps: wire.DeployStepsOf(got)}
	return out, nil
}
