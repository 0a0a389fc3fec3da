import type { ApiHandler } from '../../contracts/api.ts';
import type { RouteDependencies } from '../stremio-api/route-dependencies.ts';
import { createAddonHandlers } from './addon-handlers.ts';
import { createFormatHandlers } from './format-handlers.ts';
import { createProfileHandlers } from './profile-handlers.ts';
import { createResultHandlers } from './result-handlers.ts';

/** Builds the handlers of our own API, which the page uses to manage configurations. */
export function createAppApiHandlers(dependencies: RouteDependencies): readonly ApiHandler[] {
  return [
    ...createProfileHandlers(dependencies),
    ...createAddonHandlers(dependencies),
    ...createFormatHandlers(dependencies),
    ...createResultHandlers(dependencies),
  ];
}
