import type { ApiHandler } from '../../contracts/api.ts';
import type { CachedQuery } from '../../kit/cached-query.ts';
import type { DeliveryOverview } from '../deliver/delivery-sums.ts';
import { MaskedUrls } from '../store/masked-urls.ts';
import { History } from '../history/history.ts';
import type { ApiDependencies } from './dependencies.ts';
import { keyHandlers } from './keys.ts';
import { notificationHandlers } from './notifications.ts';
import { statisticsHandlers } from './statistics.ts';

/** Returns the handlers of the app API. */
export function notifyHandlers(
  dependencies: ApiDependencies,
  statistics: CachedQuery<DeliveryOverview>,
): readonly ApiHandler[] {
  const history = new History(
    dependencies.context.reads,
    new MaskedUrls(dependencies.context.vault),
    dependencies.searchIndex,
  );
  return [
    ...keyHandlers(dependencies),
    ...notificationHandlers(dependencies, history),
    ...statisticsHandlers(dependencies, statistics),
  ];
}
