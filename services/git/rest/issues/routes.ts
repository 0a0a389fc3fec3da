import type { Route } from '../call.ts';
import { commentRoutes } from './comments.ts';
import { issueRoutes } from './issues.ts';
import { labelRoutes } from './labels.ts';
import { milestoneRoutes } from './milestones.ts';
import { notificationRoutes } from './notifications.ts';
import type { IssueParts } from './parts.ts';
import { reactionRoutes } from './reactions.ts';

/** All of issues; what names its part of an address stands before what takes any. */
export function issueTrackerRoutes(parts: IssueParts): readonly Route[] {
  return [
    ...commentRoutes(parts),
    ...reactionRoutes(parts),
    ...labelRoutes(parts),
    ...milestoneRoutes(parts),
    ...issueRoutes(parts),
    ...notificationRoutes(parts),
  ];
}
