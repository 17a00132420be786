package runs

import (
	"context"

	"aion/domain"
	"aion/domain/access"
)

// Admit refuses what Start would refuse now, starts nothing, and gives the namespace, which exists from then on.
func (s *Service) Admit(ctx context.Context, who access.Caller, req StartRequest) (domain.Namespace, error) {
	ns, err := s.reach(ctx, who, req.Namespace)
	if err != nil {
		return "", err
	}
	asked, _, err := s.acceptStart(req)
	if err != nil {
		return "", err
	}
	contract, err := s.chosen(ctx, asked)
	if err != nil {
		return "", err
	}
	if err := contract.AcceptInput(asked.Input); err != nil {
		return "", err
	}
	return ns, s.open(ctx, who, ns)
}
