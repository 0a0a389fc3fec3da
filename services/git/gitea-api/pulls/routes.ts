import type { Route } from '../call.ts';
import { pullChangeRoutes } from './changes.ts';
import { mergeRoutes } from './merge.ts';
import { pullRoutes } from './pulls.ts';
import { reviewRoutes } from './reviews.ts';
import type { RouteDependencies } from '../../components.ts';

type Dependencies = Pick<
  RouteDependencies,
  'context' | 'settings' | 'storage' | 'accessControl' | 'pushControl' | 'collaboration' | 'features'
>;

/** Builds all routes of pull requests. Routes with fixed segments precede those with parameters. */
export function pullRequestRoutes(deps: Dependencies): readonly Route[] {
  return [...pullChangeRoutes(deps), ...mergeRoutes(deps), ...reviewRoutes(deps), ...pullRoutes(deps)];
}
