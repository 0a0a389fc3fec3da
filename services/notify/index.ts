import { notificationAccepted, notificationOffered, notifyActivity } from '../contracts/notify/notification.ts';
import { jobsChanged } from '../contracts/jobs.ts';
import { Problem } from '../contracts/problem.ts';
import type { Fetch } from '../contracts/outgoing.ts';
import { defineService, type Context } from '../contracts/service.ts';
import type { Health } from '../contracts/health.ts';
import { getKindTitle } from '../contracts/notify/kind-title.ts';
import { Activity } from '../kit/activity.ts';
import { joinNames } from '../kit/join-names.ts';
import { Aggregator } from './accept/aggregator.ts';
import { NotificationIndex } from './accept/notification-index.ts';
import { AttachmentFolder } from './attachments/folder.ts';
import { Deliveries } from './deliver/deliveries.ts';
import { buildServiceFilter, type IsAllowed } from './destinations/service-filter.ts';
import { engineProgress } from '../contracts/control/engines.ts';
import { retryEngineDeliveries } from './apprise/retry-waiting.ts';
import { EngineCatalogue } from './apprise/catalogue.ts';
import { EngineDestinations } from './apprise/destinations.ts';
import { Library } from './apprise/library.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { manifest } from './manifest.ts';
import { FirstAttempts } from './deliver/first-attempts.ts';
import { createDeliveryOverview } from './deliver/delivery-sums.ts';
import { RecentCache } from './deliver/recent-cache.ts';
import { createPortable } from './import/portable.ts';
import { urlsIn } from './keys/read-key.ts';
import { notifyHandlers } from './app-api/api.ts';
import { createApp } from './apprise-api/app.ts';
import { SealedDestinations } from './keys/sealed-destinations.ts';
import { DeliverySender } from './deliver/delivery-sender.ts';
import { MaskedUrls } from './keys/masked-urls.ts';
import { AttachmentStore } from './store/attachments.ts';
import { ConfigurationStore } from './store/configurations.ts';
import { EngineUrlStore } from './store/engine-urls.ts';
import { HealthStore } from './store/health.ts';
import { NotificationStore } from './store/notifications.ts';
import { sealMaskedUrls } from './store/seal-masked-urls.ts';
import { takeOverAppriseApi } from './import/apprise-api.ts';

const hourMs = 3_600_000;

/** Notification aggregator: accepts notifications, routes them by tags and delivers them through a durable outbox. */
export const notify = defineService({
  ...manifest,
  create(context, initialSettings) {
    const live = createLiveSettings(initialSettings, () => {
      isSchemeAllowed = buildServiceFilter(settings.allowServices, settings.denyServices);
      aggregator.clearKeyCache();
    });
    const settings = live.current;
    const { singleHost, bus, clock, db, handovers, jobs, log, metrics, vault } = context;
    const activity = new Activity(context, notifyActivity);
    const notifications = new NotificationStore(db);
    const searchIndex = new NotificationIndex(context);
    const configurations = new ConfigurationStore(db, vault, singleHost);
    const firstAttempts = new FirstAttempts(clock);
    const attachments = new AttachmentStore(db, () => settings.keptFilesBytes);
    const folder = new AttachmentFolder(context);
    const library = new Library(context);
    const engine = new EngineDestinations({ ...context, library, store: new EngineUrlStore(db) });
    const engineCatalogue = new EngineCatalogue({ ...context, library });
    const recentCache = new RecentCache();
    const health = new HealthStore(context);
    const shownUrls = new MaskedUrls(vault);
    const sealed = new SealedDestinations(vault, engine, shownUrls);
    const shared = {
      notifications,
      attachments,
      folder,
      firstAttempts,
      engine,
      recentCache,
      health,
      sealed,
    };
    let isSchemeAllowed = buildServiceFilter(settings.allowServices, settings.denyServices);
    const isAllowed: IsAllowed = (destination) => isSchemeAllowed(destination);
    const outgoingContext = { ...context, fetch: withRedirects(context.fetch, () => settings.redirects) };
    const sender = new DeliverySender(outgoingContext, { ...shared, emojis: () => settings.emojis });
    const deliveries = new Deliveries(context, { ...shared, sending: sender, onChange: activity.touch });
    const aggregator = new Aggregator(
      context,
      { ...shared, configurations, deliveries },
      { current: settings, isAllowed },
    );
    const statistics = createDeliveryOverview(context, activity);
    const disposables = new DisposableStack();

    let sealingTask: Promise<void> | undefined;
    let indexTask: AsyncDisposable | undefined;
    let isStopped = false;

    const countWaiting = async (): Promise<number> => {
      await jobs.flush();
      return notifications.countWaiting();
    };
    metrics.gauge({
      name: 'aggregator_outbox_pending',
      help: 'Deliveries that wait for their first or next attempt.',
      collect: countWaiting,
    });

    const removeOld = async (): Promise<void> => {
      const before = clock.now() - settings.historyDays * 24 * hourMs;
      await notifications.deleteOld(before);
      await health.deleteOld(before);
      await folder.removeOrphans(await attachments.listRetained());
      await engine.deleteUnused(await listUsedUrls(configurations));
    };
    const prune = (): void => {
      removeOld().catch((error: unknown) => log.warn('history cleanup failed', { error }));
    };

    const handleEngineChange = (): void => {
      activity.touch();
      engine
        .isInstalled()
        .then((ready) => (ready ? retryEngineDeliveries(jobs, notifications) : undefined))
        .catch((error: unknown) => log.warn('retry of waiting deliveries failed', { error }));
    };

    return {
      http: createApp({ context, aggregator, folder, configurations, engine, engineCatalogue, settings, isAllowed }),
      api: notifyHandlers({
        context,
        aggregator,
        configurations,
        notifications: notifications,
        searchIndex: searchIndex,
        attachments,
        folder,
        activity,
        engine,
        health,
        settings,
        isAllowed,
        statistics,
      }),
      portable: createPortable(configurations, clock),
      importData(program, location, options) {
        const dependencies = { store: configurations, engine, clock, environment: process.env };
        if (program === 'apprise-api') return takeOverAppriseApi(location, dependencies, options);
        throw new Problem(
          'notify.unknown_program',
          404,
          `Notifications are taken over from apprise-api only, not from ${program}.`,
        );
      },
      async start() {
        sealingTask = sealMaskedUrls(context, shownUrls, () => isStopped).catch((error: unknown) =>
          log.warn('sealing of old addresses failed', { error }),
        );
        disposables.use(await deliveries.start());
        disposables.use(handovers.receive(notificationOffered, (offer, key) => aggregator.acceptOffer(offer, key)));
        indexTask = searchIndex.start();
        disposables.use(activity);
        disposables.use(statistics);
        disposables.use(bus.subscribe(notifyActivity, statistics.invalidate));
        disposables.use(
          bus.subscribe(jobsChanged, ({ service }) => {
            if (service !== manifest.id) return;
            statistics.invalidate();
            activity.touch();
          }),
        );
        disposables.use(bus.subscribe(notificationAccepted, activity.touch));
        disposables.use(clock.every(hourMs, prune));
        disposables.use(
          bus.subscribe(
            engineProgress,
            ({ name, work }) => void (name === 'apprise' && work === null && handleEngineChange()),
          ),
        );
      },
      async health(): Promise<Health> {
        const waiting = await countWaiting();
        const { failing } = deliveries;
        const to = '/delivery';
        if (failing.length === 0) {
          const isNew = !(await configurations.hasUserConfiguration());
          const idle = isNew ? 'no destinations of your own yet' : 'all delivered';
          const detail = waiting === 0 ? idle : `${waiting} on their way`;
          return { state: 'up', detail, ...(isNew ? { begin: { label: 'Add a destination', to } } : {}) };
        }
        const remedy = { label: 'See the destinations', to };
        return { state: 'degraded', detail: `${formatFailing(failing)} not take messages, ${waiting} waiting`, remedy };
      },
      reconfigure: live.update,
      async [Symbol.asyncDispose]() {
        disposables.dispose();
        isStopped = true;
        await sealingTask;
        await indexTask?.[Symbol.asyncDispose]();
        await health[Symbol.asyncDispose]();
        await library[Symbol.asyncDispose]();
      },
    };
  },
});

/**
 * Formats `Gotify does` or `Gotify and Home Assistant do`; several destinations of one kind are counted, because the
 * name would not distinguish them.
 */
function formatFailing(services: readonly string[]): string {
  if (services.length === 1) return `${joinNames(services.map(getKindTitle))} does`;
  const kinds = new Set(services);
  return kinds.size < services.length
    ? `${services.length} destinations do`
    : `${joinNames(services.map(getKindTitle))} do`;
}

/** Wraps `fetch` so that the setting can disable redirects. */
function withRedirects(fetch: Context['fetch'], follows: () => boolean): Context['fetch'] {
  const once: Fetch = (url, options) => fetch(url, follows() ? options : { ...options, maxRedirects: 0 });
  return Object.assign(once, { stream: fetch.stream });
}

/** Returns the URLs of all configurations. */
async function listUsedUrls(configurations: ConfigurationStore): Promise<readonly string[]> {
  const keys = await configurations.keys();
  const configurationList = await Promise.all(keys.map((key) => configurations.find(key)));
  return configurationList.flatMap((configuration) => (configuration === undefined ? [] : urlsIn(configuration)));
}
