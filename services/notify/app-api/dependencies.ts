import type { Context } from '../../contracts/service.ts';
import type { Activity } from '../../kit/activity.ts';
import type { IsAllowed } from '../destinations/service-filter.ts';
import type { Aggregator } from '../accept/aggregator.ts';
import type { EngineDestinations } from '../apprise/destinations.ts';
import type { Settings } from '../settings.ts';
import type { NotificationIndex } from '../history/notification-index.ts';
import type { NotifyStores } from '../store/stores.ts';

/** Dependencies of the app API routes. */
export interface ApiDependencies {
  readonly context: Context;
  readonly stores: NotifyStores;
  readonly aggregator: Aggregator;
  readonly engine: EngineDestinations;
  readonly searchIndex: NotificationIndex;
  readonly activity: Activity;
  readonly settings: Pick<
    Settings,
    'configurationLock' | 'closeKeys' | 'requireSignIn' | 'trustLocalPrograms' | 'statefulMode'
  >;
  readonly isAllowed: IsAllowed;
}
