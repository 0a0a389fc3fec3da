import type { Route } from '../call.ts';
import { attachmentRoutes } from './attachments.ts';
import { commentRoutes } from './comments.ts';
import { dependencyRoutes } from './dependencies.ts';
import { issueRoutes } from './issues.ts';
import { labelRoutes } from './labels.ts';
import { milestoneRoutes } from './milestones.ts';
import { notificationRoutes } from './notifications.ts';
import { reactionRoutes } from './reactions.ts';
import { issueTemplateRoutes } from './templates.ts';
import { timeRoutes } from './times.ts';
import type { RouteDependencies } from '../../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl' | 'collaboration'>;

/** Builds all routes of issues. Routes with fixed segments precede those with parameters. */
export function issueTrackerRoutes(deps: Dependencies): readonly Route[] {
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
