import type { RequestListener } from 'node:http';
import { notificationAccepted, notificationOffered, notifyActivity } from '../contracts/notify/notification.ts';
import { jobsChanged } from '../contracts/jobs.ts';
import { Problem } from '../contracts/problem.ts';
import type { Fetch } from '../contracts/outgoing.ts';
import type { ApiHandler } from '../contracts/api.ts';
import { defineService, type Context, type ImportResult, type Service } from '../contracts/service.ts';
import type { Health } from '../contracts/health.ts';
import { getKindTitle } from '../contracts/notify/kind-title.ts';
import { Activity } from '../kit/activity.ts';
import { joinNames } from '../kit/join-names.ts';
import { Aggregator } from './accept/aggregator.ts';
import { NotificationIndex } from './history/notification-index.ts';
import { AttachmentFolder } from './attachments/folder.ts';
import { Deliveries } from './deliver/deliveries.ts';
import { buildServiceFilter, type IsAllowed } from './destinations/service-filter.ts';
import { engineProgress } from '../contracts/control/engines.ts';
import { retryEngineDeliveries } from './deliver/retry-engine-deliveries.ts';
import { EngineCatalogue } from './apprise/catalogue.ts';
import { EngineDestinations } from './apprise/destinations.ts';
import { Library } from './apprise/library.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { manifest } from './manifest.ts';
import type { Settings } from './settings.ts';
import { FirstAttempts } from './deliver/first-attempts.ts';
import { createDeliveryOverview } from './deliver/delivery-sums.ts';
import { RecentCache } from './deliver/recent-cache.ts';
import { createPortable } from './import/portable.ts';
import { urlsIn } from './keys/read-key.ts';
import { notifyHandlers } from './app-api/api.ts';
import { createListener } from './apprise-api/listener.ts';
import { SealedDestinations } from './keys/sealed-destinations.ts';
import { DeliverySender } from './deliver/delivery-sender.ts';
import { MaskedUrls } from './store/masked-urls.ts';
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
  create: (context, settings) => new NotifyService(context, settings),
});

class NotifyService implements Service {
  readonly http: RequestListener;
  readonly api: readonly ApiHandler[];
  readonly portable: NonNullable<Service['portable']>;
  readonly importData: NonNullable<Service['importData']>;
  readonly reconfigure: (settings: unknown) => Promise<void>;
  readonly #context: Context;
  readonly #settings: Readonly<Settings>;
  readonly #disposables = new DisposableStack();
  readonly #activity: Activity;
  readonly #notifications: NotificationStore;
  readonly #searchIndex: NotificationIndex;
  readonly #configurations: ConfigurationStore;
  readonly #attachments: AttachmentStore;
  readonly #folder: AttachmentFolder;
  readonly #library: Library;
  readonly #engine: EngineDestinations;
  readonly #healthStore: HealthStore;
  readonly #maskedUrls: MaskedUrls;
  readonly #firstAttempts: FirstAttempts;
  readonly #recentCache: RecentCache;
  readonly #sealed: SealedDestinations;
  readonly #deliveries: Deliveries;
  readonly #aggregator: Aggregator;
  readonly #statistics: ReturnType<typeof createDeliveryOverview>;
  readonly #isAllowed: IsAllowed;
  #serviceFilter: IsAllowed;
  #sealingTask: Promise<void> | undefined;
  #indexTask: AsyncDisposable | undefined;
  #isStopped = false;

  constructor(context: Context, initialSettings: Settings) {
    const { clock, db, metrics, singleHost, vault } = context;
    const live = createLiveSettings(initialSettings, () => this.#applySettings());
    const settings = live.current;
    this.#context = context;
    this.#settings = settings;
    this.#activity = new Activity(context, notifyActivity);
    this.#notifications = new NotificationStore(db);
    this.#searchIndex = new NotificationIndex(context);
    this.#configurations = new ConfigurationStore(db, vault, singleHost);
    this.#attachments = new AttachmentStore(db, () => settings.keptFilesBytes);
    this.#folder = new AttachmentFolder(context);
    this.#library = new Library(context);
    this.#engine = new EngineDestinations({ ...context, library: this.#library, store: new EngineUrlStore(db) });
    this.#healthStore = new HealthStore(context);
    this.#maskedUrls = new MaskedUrls(vault);
    this.#serviceFilter = buildServiceFilter(settings.allowServices, settings.denyServices);
    this.#isAllowed = (destination) => this.#serviceFilter(destination);
    this.#firstAttempts = new FirstAttempts(clock);
    this.#recentCache = new RecentCache();
    this.#sealed = new SealedDestinations(vault, this.#engine, this.#maskedUrls);
    this.#deliveries = this.#createDeliveries();
    this.#aggregator = this.#createAggregator();
    this.#statistics = createDeliveryOverview(context, this.#activity);
    metrics.gauge({
      name: 'aggregator_outbox_pending',
      help: 'Deliveries that wait for their first or next attempt.',
      collect: () => this.#countWaiting(),
    });
    this.http = this.#createListener();
    this.api = this.#createHandlers();
    this.portable = createPortable(this.#configurations, clock);
    this.importData = (program, location, options) => this.#import(program, location, options);
    this.reconfigure = live.update;
  }

  async start(): Promise<void> {
    const { bus, clock, handovers, log } = this.#context;
    this.#sealingTask = sealMaskedUrls(this.#context, this.#maskedUrls, () => this.#isStopped).catch((error: unknown) =>
      log.warn('sealing of old addresses failed', { error }),
    );
    this.#disposables.use(await this.#deliveries.start());
    this.#disposables.use(
      handovers.receive(notificationOffered, (offer, key) => this.#aggregator.acceptOffer(offer, key)),
    );
    this.#indexTask = this.#searchIndex.start();
    this.#disposables.use(this.#activity);
    this.#disposables.use(this.#statistics);
    this.#disposables.use(bus.subscribe(notifyActivity, this.#statistics.invalidate));
    this.#disposables.use(
      bus.subscribe(jobsChanged, ({ service }) => {
        if (service !== manifest.id) return;
        this.#statistics.invalidate();
        this.#activity.touch();
      }),
    );
    this.#disposables.use(bus.subscribe(notificationAccepted, this.#activity.touch));
    this.#disposables.use(clock.every(hourMs, () => this.#prune()));
    this.#disposables.use(
      bus.subscribe(engineProgress, ({ name, work }) => {
        if (name === 'apprise' && work === null) this.#handleEngineChange();
      }),
    );
  }

  async health(): Promise<Health> {
    const waiting = await this.#countWaiting();
    const { failing } = this.#deliveries;
    const to = '/delivery';
    if (failing.length === 0) {
      const isNew = !(await this.#configurations.hasUserConfiguration());
      const idle = isNew ? 'no destinations of your own yet' : 'all delivered';
      const detail = waiting === 0 ? idle : `${waiting} on their way`;
      return { state: 'up', detail, ...(isNew ? { begin: { label: 'Add a destination', to } } : {}) };
    }
    const remedy = { label: 'See the destinations', to };
    return { state: 'degraded', detail: `${formatFailing(failing)} not take messages, ${waiting} waiting`, remedy };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposables.dispose();
    this.#isStopped = true;
    await this.#sealingTask;
    await this.#indexTask?.[Symbol.asyncDispose]();
    await this.#healthStore[Symbol.asyncDispose]();
    await this.#library[Symbol.asyncDispose]();
  }

  #import(
    program: string,
    location: string,
    options?: { readonly dryRun?: boolean | undefined },
  ): Promise<ImportResult> {
    const { clock } = this.#context;
    const dependencies = { store: this.#configurations, engine: this.#engine, clock, environment: process.env };
    if (program === 'apprise-api') return takeOverAppriseApi(location, dependencies, options);
    throw new Problem(
      'notify.unknown_program',
      404,
      `Notifications are taken over from apprise-api only, not from ${program}.`,
    );
  }

  #applySettings(): void {
    this.#serviceFilter = buildServiceFilter(this.#settings.allowServices, this.#settings.denyServices);
    this.#aggregator.clearKeyCache();
  }

  async #countWaiting(): Promise<number> {
    await this.#context.jobs.flush();
    return this.#notifications.countWaiting();
  }

  #prune(): void {
    this.#removeOld().catch((error: unknown) => this.#context.log.warn('history cleanup failed', { error }));
  }

  async #removeOld(): Promise<void> {
    const before = this.#context.clock.now() - this.#settings.historyDays * 24 * hourMs;
    await this.#notifications.deleteOld(before);
    await this.#healthStore.deleteOld(before);
    await this.#folder.removeOrphans(await this.#attachments.listRetained());
    await this.#engine.deleteUnused(await listUsedUrls(this.#configurations));
  }

  /** Retries the deliveries that waited for the engine once it is installed. */
  #handleEngineChange(): void {
    const { jobs, log } = this.#context;
    this.#activity.touch();
    this.#engine
      .isInstalled()
      .then((ready) => (ready ? retryEngineDeliveries(jobs, this.#notifications) : undefined))
      .catch((error: unknown) => log.warn('retry of waiting deliveries failed', { error }));
  }

  #createDeliveries(): Deliveries {
    const outgoingContext = {
      ...this.#context,
      fetch: withRedirects(this.#context.fetch, () => this.#settings.redirects),
    };
    const sender = new DeliverySender(outgoingContext, {
      attachments: this.#attachments,
      folder: this.#folder,
      sealed: this.#sealed,
      emojis: () => this.#settings.emojis,
    });
    return new Deliveries(this.#context, {
      notifications: this.#notifications,
      attachments: this.#attachments,
      folder: this.#folder,
      firstAttempts: this.#firstAttempts,
      sending: sender,
      recentCache: this.#recentCache,
      health: this.#healthStore,
      onChange: this.#activity.touch,
    });
  }

  #createAggregator(): Aggregator {
    const stores = {
      configurations: this.#configurations,
      notifications: this.#notifications,
      attachments: this.#attachments,
      folder: this.#folder,
      deliveries: this.#deliveries,
      firstAttempts: this.#firstAttempts,
      engine: this.#engine,
      health: this.#healthStore,
      recentCache: this.#recentCache,
      sealed: this.#sealed,
    };
    return new Aggregator(this.#context, stores, { current: this.#settings, isAllowed: this.#isAllowed });
  }

  #createListener(): RequestListener {
    return createListener({
      context: this.#context,
      aggregator: this.#aggregator,
      folder: this.#folder,
      configurations: this.#configurations,
      engine: this.#engine,
      engineCatalogue: new EngineCatalogue({ ...this.#context, library: this.#library }),
      settings: this.#settings,
      isAllowed: this.#isAllowed,
    });
  }

  #createHandlers(): readonly ApiHandler[] {
    return notifyHandlers({
      context: this.#context,
      aggregator: this.#aggregator,
      configurations: this.#configurations,
      notifications: this.#notifications,
      searchIndex: this.#searchIndex,
      attachments: this.#attachments,
      folder: this.#folder,
      activity: this.#activity,
      engine: this.#engine,
      health: this.#healthStore,
      settings: this.#settings,
      isAllowed: this.#isAllowed,
      statistics: this.#statistics,
    });
  }
}

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
