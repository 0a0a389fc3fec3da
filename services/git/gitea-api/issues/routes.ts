import type { Route } from '../call.ts';
import { attachmentRoutes } from './attachments.ts';
import { commentRoutes } from './comments.ts';
import { dependencyRoutes } from './dependencies.ts';
import { issueRoutes } from './issues.ts';
import { labelRoutes } from './labels.ts';
import { milestoneRoutes } from './milestones.ts';
import { notificationRoutes } from './notifications.ts';
import type { IssueDependencies } from './issue-access.ts';
import { reactionRoutes } from './reactions.ts';
import { issueTemplateRoutes } from './templates.ts';
import { timeRoutes } from './times.ts';

/** Builds all routes of issues. Routes with fixed segments precede those with parameters. */
export function issueTrackerRoutes(deps: IssueDependencies): readonly Route[] {
  return [
    ...commentRoutes(deps),
    ...reactionRoutes(deps),
    ...labelRoutes(deps),
    ...milestoneRoutes(deps),
    ...issueRoutes(deps),
    ...notificationRoutes(deps),
    ...attachmentRoutes(deps),
    ...issueTemplateRoutes(deps),
    ...timeRoutes(deps),
    ...dependencyRoutes(deps),
  ];
}
