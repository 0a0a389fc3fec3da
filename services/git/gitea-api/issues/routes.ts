import type { Route } from '../call.ts';
import { attachmentRoutes } from './attachments.ts';
import { commentRoutes } from './comments.ts';
import { dependencyRoutes } from './dependencies.ts';
import { issueRoutes } from './issues.ts';
import { labelRoutes } from './labels.ts';
import { milestoneRoutes } from './milestones.ts';
import { notificationRoutes } from './notifications.ts';
import type { IssueParts } from './issue-access.ts';
import { reactionRoutes } from './reactions.ts';
import { issueTemplateRoutes } from './templates.ts';
import { timeRoutes } from './times.ts';

/** All of issues; what names its part of an address stands before what takes any. */
export function issueTrackerRoutes(parts: IssueParts): readonly Route[] {
  return [
    ...commentRoutes(parts),
    ...reactionRoutes(parts),
    ...labelRoutes(parts),
    ...milestoneRoutes(parts),
    ...issueRoutes(parts),
    ...notificationRoutes(parts),
    ...attachmentRoutes(parts),
    ...issueTemplateRoutes(parts),
    ...timeRoutes(parts),
    ...dependencyRoutes(parts),
  ];
}
