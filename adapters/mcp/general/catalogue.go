package general

import (
	"context"
	"embed"
	"fmt"
	"strings"
	"time"

	"aion/adapters/mcp"
	"aion/application/authoring"
	"aion/application/runs"
	"aion/application/transcripts"
)

// The descriptors and the instructions are the contract's own text.
//
//go:embed descriptors instructions.txt
var contract embed.FS

// awaitCompletion is the argument of start_run that asks for a task.
const awaitCompletion = "await_completion"

// names are the tools in the order of tools/list.
func names() []string {
	return []string{
		"describe_run", "read_transcript", "read_history", "list_runs", "query",
		"list_documents", "read_document", "check_document",
		"start_run", "signal", "cancel", "save_document", "deploy_document",
	}
}

// changes are what the changing tools do, in the audit log, and the arguments that say to what.
func changes() map[string][2]string {
	return map[string][2]string{
		"start_run": {"run.start", "workflow_type"}, "signal": {"run.signal", "workflow_id"}, "cancel": {"run.cancel", "workflow_id"},
		"save_document": {"document.save", "path"}, "deploy_document": {"deploy.load", "path"},
	}
}

// Catalogue is what /mcp offers. version is the build's; the two times say how long clients may keep the results.
func Catalogue(version string, discoverTTL, listTTL time.Duration) (mcp.Catalogue, error) {
	instructions, err := contract.ReadFile("instructions.txt")
	if err != nil {
		return mcp.Catalogue{}, fmt.Errorf("instructions: %w", err)
	}
	c := mcp.Catalogue{
		Name: "aion", Title: "aion workflow server", Version: version,
		Instructions: strings.TrimSuffix(string(instructions), "\n"), DiscoverTTL: discoverTTL, ListTTL: listTTL,
	}
	for _, name := range names() {
		descriptor, err := contract.ReadFile("descriptors/" + name + ".json")
		if err != nil {
			return mcp.Catalogue{}, fmt.Errorf("descriptor of %s: %w", name, err)
		}
		tool := mcp.Tool{Descriptor: descriptor, Progress: name == "deploy_document", Action: changes()[name][0], Target: changes()[name][1]}
		if name == "start_run" {
			tool.Awaits, tool.Instead = awaitCompletion, "describe_run"
		}
		c.Tools = append(c.Tools, tool)
	}
	return c, nil
}

// Service runs the thirteen tools.
type Service struct {
	runs        *runs.Service
	transcripts *transcripts.Service
	authoring   *authoring.Service
	maxResult   int
	tools       map[string]tool
}

// tool serves one call; the answer is a wire struct of its output schema.
type tool func(ctx context.Context, call mcp.Call) (any, error)

// New makes the service. maxResultBytes bounds the structured content of a page (mcp.max_result_bytes); 0: 262,144.
func New(r *runs.Service, t *transcripts.Service, a *authoring.Service, maxResultBytes int) *Service {
	if maxResultBytes == 0 {
		maxResultBytes = 256 << 10
	}
	s := &Service{runs: r, transcripts: t, authoring: a, maxResult: maxResultBytes}
	s.tools = map[string]tool{
		"describe_run": s.describeRun, "read_transcript": s.readTranscript, "read_history": s.readHistory, "list_runs": s.listRuns,
		"query": s.query, "list_documents": s.listDocuments, "read_document": s.readDocument, "check_document": s.checkDocument,
		"start_run": s.startRun, "signal": s.signal, "cancel": s.cancel, "save_document": s.saveDocument, "deploy_document": s.deployDocument,
	}
	return s
}

// Call implements mcp.Service.
func (s *Service) Call(ctx context.Context, call mcp.Call) (mcp.Result, error) {
	serve, known := s.tools[call.Tool]
	if !known {
		return mcp.Result{}, fmt.Errorf("tool %s is in the catalogue and has no code", call.Tool)
	}
	answer, err := serve(ctx, call)
	if err != nil {
		return mcp.Result{}, err
	}
	return mcp.Result{Value: answer}, nil
}
