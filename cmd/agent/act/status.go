// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// WriteStatus writes a status if it differs from the stored one.
func (a *Actor) WriteStatus(ctx context.Context, md *v1.ModelDeployment, status v1.ModelDeploymentStatus) error {
	if equality.Semantic.DeepEqual(md.Status, status) {
		return nil
	}
	before := md.DeepCopy()
	md.Status = status
	if err := a.Client.Status().Patch(ctx, md, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		md.Status = before.Status
		return fmt.Errorf("write the status: %w", err)
	}
	return nil
}
