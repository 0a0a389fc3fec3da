import type { Route } from '../call.ts';
import { pullChangeRoutes } from './changes.ts';
import { mergeRoutes } from './merge.ts';
import type { PullRestParts } from './pull-views.ts';
import { pullRoutes } from './pulls.ts';
import { reviewRoutes } from './reviews.ts';

/** All of pull requests; what names its part of an address stands before what takes any. */
export function pullRequestRoutes(parts: PullRestParts): readonly Route[] {
  return [...pullChangeRoutes(parts), ...mergeRoutes(parts), ...reviewRoutes(parts), ...pullRoutes(parts)];
}
