import type { Route } from '../call.ts';
import { pullChangeRoutes } from './changes.ts';
import { mergeRoutes } from './merge.ts';
import type { PullDependencies } from './pull-views.ts';
import { pullRoutes } from './pulls.ts';
import { reviewRoutes } from './reviews.ts';

/** Builds all routes of pull requests. Routes with fixed segments precede those with parameters. */
export function pullRequestRoutes(deps: PullDependencies): readonly Route[] {
  return [...pullChangeRoutes(deps), ...mergeRoutes(deps), ...reviewRoutes(deps), ...pullRoutes(deps)];
}
