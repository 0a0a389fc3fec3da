import type { ApiHandler } from '../../contracts/api.ts';
import type { Context } from '../../contracts/service.ts';
import type { Traffic } from '../metrics/traffic.ts';
import type { Delivery } from '../publish/delivery.ts';
import type { QuietHours } from '../quiet/quiet-hours.ts';
import type { Recurring } from '../recurring/recurring.ts';
import type { Search } from '../search/search.ts';
import type { DerivedSettings } from '../settings/derived-settings.ts';
import type { Subscribers } from '../subscribe/subscribers.ts';
import type { TopicDevices } from '../subscribe/topic-devices.ts';
import type { Visitors } from '../topics/visitors.ts';
import type { WebPush } from '../web-push/web-push.ts';
import { TopicPreferenceStore } from '../store/topic-preferences.ts';
import { pushHandlers } from './api.ts';
import { delayedHandlers } from './delayed.ts';
import { deviceHandlers } from './devices.ts';
import { quietHandlers } from './quiet.ts';
import { retentionHandlers } from './retention.ts';
import { scheduleHandlers } from './schedules.ts';
import { searchHandlers } from './search.ts';
import { topicPreferenceHandlers, type TopicPreferenceDependencies } from './topic-preferences.ts';
import { createTopicPermissions } from './topic-permissions.ts';
import { webPushHandlers } from './web-push.ts';

/** Features that have routes in the app API. */
interface Features {
  readonly visitors: Visitors;
  readonly traffic: Traffic;
  readonly streams: { readonly subscribers: Subscribers; readonly devices: TopicDevices };
  readonly delivery: Delivery;
  readonly recurring: Recurring;
  readonly search: Search;
  readonly webPush: WebPush;
  readonly quietHours: QuietHours;
}

/** Parts of the service that the handlers use. */
interface HandlerParts {
  readonly features: Features;
  readonly access: Pick<TopicPreferenceDependencies, 'notifyDevices'>;
}

/**
 * Returns the handlers of all features.
 *
 * @param ntfyContext Its accounts include the access to sync topics
 */
export function createHandlers(
  context: Context,
  ntfyContext: Context,
  derivedSettings: DerivedSettings,
  { features, access }: HandlerParts,
): readonly ApiHandler[] {
  const { visitors, traffic, streams, delivery, recurring, search, webPush, quietHours } = features;
  const { subscribers, devices } = streams;
  const { clock } = context;
  const { reservedTopics: reserved, cacheSeconds, messageSizeLimit, maxDelaySeconds } = derivedSettings;
  const { delayedMessages, retention } = delivery;
  return [
    ...pushHandlers({ context, derivedSettings, delivery, limits: visitors.limits, traffic, subscribers }),
    ...delayedHandlers({ delayedMessages, clock, maxDelaySeconds }),
    ...scheduleHandlers({ schedules: recurring.schedules, clock, reserved, messageSizeLimit }),
    ...searchHandlers(search),
    ...retentionHandlers({ context, retention, defaultSeconds: cacheSeconds }),
    ...webPushHandlers(webPush, devices),
    ...deviceHandlers(devices, createTopicPermissions(context.accounts, reserved)),
    ...topicPreferenceHandlers({
      store: new TopicPreferenceStore(context),
      permissions: createTopicPermissions(ntfyContext.accounts, reserved),
      notifyDevices: (account) => access.notifyDevices(account),
    }),
    ...quietHandlers({
      context: ntfyContext,
      store: quietHours.store,
      accountRules: quietHours.accountRules,
      permissions: createTopicPermissions(ntfyContext.accounts, reserved),
      onChanged: () => quietHours.handleChangedRules(),
    }),
  ];
}
