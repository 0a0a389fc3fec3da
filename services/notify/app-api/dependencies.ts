import type { Context } from '../../contracts/service.ts';
import type { Activity } from '../../kit/activity.ts';
import type { CachedQuery } from '../../kit/cached-query.ts';
import type { DeliveryOverview } from '../deliver/delivery-sums.ts';
import type { IsAllowed } from '../destinations/service-filter.ts';
import type { Aggregator } from '../accept/aggregator.ts';
import type { EngineDestinations } from '../apprise/destinations.ts';
import type { Settings } from '../settings.ts';
import type { AttachmentFolder } from '../attachments/folder.ts';
import type { AttachmentStore } from '../store/attachments.ts';
import type { ConfigurationStore } from '../store/configurations.ts';
import type { HealthStore } from '../store/health.ts';
import type { NotificationIndex } from '../history/notification-index.ts';
import type { NotificationStore } from '../store/notifications.ts';

/** Dependencies of the app API routes. */
export interface ApiDependencies {
  readonly context: Context;
  readonly aggregator: Aggregator;
  readonly configurations: ConfigurationStore;
  readonly notifications: NotificationStore;
  readonly searchIndex: NotificationIndex;
  readonly attachments: AttachmentStore;
  readonly folder: AttachmentFolder;
  readonly activity: Activity;
  readonly engine: EngineDestinations;
  readonly health: HealthStore;
  readonly settings: Pick<
    Settings,
    'configurationLock' | 'closeKeys' | 'requireSignIn' | 'trustLocalPrograms' | 'statefulMode'
  >;
  readonly isAllowed: IsAllowed;
  readonly statistics: CachedQuery<DeliveryOverview>;
}
