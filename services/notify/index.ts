import * as m from '#messages/notify-problems';
import { eventsMissed } from '../contracts/bus.ts';
import { jobsChanged } from '../contracts/jobs.ts';
import { notificationAccepted, notificationOffered, notifyActivity } from '../contracts/notify/notification.ts';
import { Problem } from '../contracts/problem.ts';
import { defineService, type Context, type Service } from '../contracts/service.ts';
import { Activity } from '../kit/activity.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { Aggregator } from './accept/aggregator.ts';
import { notifyHandlers } from './app-api/api.ts';
import { createListener } from './apprise-api/listener.ts';
import { EngineCatalogue } from './apprise/catalogue.ts';
import { EngineDestinations } from './apprise/destinations.ts';
import { Library } from './apprise/library.ts';
import { createDeliveries } from './deliver/create-deliveries.ts';
import { createDeliveryOverview } from './deliver/delivery-sums.ts';
import { followEngine } from './deliver/retry-engine-deliveries.ts';
import { ServiceFilter } from './destinations/service-filter.ts';
import { getHealth } from './health.ts';
import { NotificationIndex } from './history/notification-index.ts';
import { startRetention } from './history/retention.ts';
import { takeOverAppriseApi } from './import/apprise-api.ts';
import { createPortable } from './import/portable.ts';
import { SealedDestinations } from './keys/sealed-destinations.ts';
import { manifest } from './manifest.ts';
import type { Settings } from './settings.ts';
import { EngineUrlStore } from './store/engine-urls.ts';
import { MaskedUrls } from './store/masked-urls.ts';
import { startSealing } from './store/seal-masked-urls.ts';
import { createStores, type NotifyStores } from './store/stores.ts';

/** Notification aggregator: accepts notifications, routes them by tags and delivers them through a durable outbox. */
export const notify = defineService({ ...manifest, create });

function create(context: Context, initialSettings: Settings): Service {
  const { bus, clock, db, handovers, jobs, vault } = context;
  const resources = new AsyncDisposableStack();
  const live = createLiveSettings(initialSettings);
  const settings = live.current;
  const filter = new ServiceFilter(settings);
  const { isAllowed } = filter;
  const activity = new Activity(context, notifyActivity);
  const stores = createStores(context, settings);
  const { configurations, notifications } = stores;
  const searchIndex = new NotificationIndex(context);
  const library = resources.use(new Library(context));
  resources.use(stores.health);
  const engine = new EngineDestinations({ ...context, library, store: new EngineUrlStore(db) });
  const engineCatalogue = new EngineCatalogue({ ...context, library });
  const maskedUrls = new MaskedUrls(vault);
  const sealed = new SealedDestinations(vault, engine, maskedUrls);
  const deliveries = createDeliveries(context, { settings, stores, sealed, onChange: activity.touch });
  const collaborators = { stores, deliveries, engine, sealed };
  const aggregator = new Aggregator(context, collaborators, { current: settings, isAllowed });
  const statistics = createDeliveryOverview(context, activity, settings);
  const countWaiting = async (): Promise<number> => {
    await jobs.flush();
    return notifications.countWaiting();
  };
  context.metrics.gauge({
    name: 'aggregator_outbox_pending',
    help: 'Deliveries that wait for their first or next attempt.',
    collect: countWaiting,
  });
  const routes = { context, settings, isAllowed, stores, aggregator, engine };

  return {
    http: createListener({ ...routes, engineCatalogue }),
    api: notifyHandlers({ ...routes, searchIndex, activity }, statistics),
    portable: createPortable(configurations, clock),
    importData: createImport(context, stores, engine),
    async start() {
      resources.use(searchIndex.start());
      resources.use(startSealing(context, maskedUrls));
      resources.use(await deliveries.start());
      resources.use(handovers.receive(notificationOffered, (offer, key) => aggregator.acceptOffer(offer, key)));
      resources.use(activity);
      resources.use(statistics);
      resources.use(bus.subscribe(notifyActivity, statistics.invalidate));
      resources.use(bus.subscribe(eventsMissed, statistics.invalidate));
      resources.use(
        bus.subscribe(jobsChanged, ({ service }) => {
          if (service !== manifest.id) return;
          statistics.invalidate();
          activity.touch();
        }),
      );
      resources.use(bus.subscribe(notificationAccepted, activity.touch));
      resources.use(await context.leases.hold('retention', () => startRetention(context, settings, stores, engine)));
      resources.use(followEngine(context, engine, notifications, activity.touch));
    },
    health: async () => getHealth(await countWaiting(), deliveries.failing, configurations),
    reconfigure: (next) =>
      live.update(next, () => {
        filter.update();
        aggregator.clearKeyCache();
      }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function createImport(
  { clock }: Context,
  { configurations }: NotifyStores,
  engine: EngineDestinations,
): NonNullable<Service['importData']> {
  const dependencies = { store: configurations, engine, clock, environment: process.env };
  return async (program, location, options) => {
    if (program === 'apprise-api') return takeOverAppriseApi(location, dependencies, options);
    throw new Problem('notify.unknown_program', 404, m.unknownProgram({ program }));
  };
}
