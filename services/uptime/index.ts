import type { RequestListener } from 'node:http';
import type { ApiHandler } from '../contracts/api.ts';
import type { AccountData } from '../contracts/control/account-data.ts';
import type { Health } from '../contracts/health.ts';
import type { UpgradeListener } from '../contracts/listeners.ts';
import { defineService, type Context, type Service } from '../contracts/service.ts';
import type { UptimeOptions } from '../contracts/uptime/views.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { createMaintenanceHandlers } from './app-api/maintenance-handlers.ts';
import { createManagementHandlers, type ManagementDependencies } from './app-api/management-handlers.ts';
import { createUptimeHandlers } from './app-api/monitor-handlers.ts';
import { createStatusPageHandlers } from './app-api/status-page-handlers.ts';
import { createUptimeListener } from './listener.ts';
import { KumaSocket } from './kuma-api/server.ts';
import { manifest } from './manifest.ts';
import { createMetrics, type UptimeMetrics } from './metrics.ts';
import { isSuppressed } from './monitoring/dependency-suppression.ts';
import { getHealth } from './monitoring/health.ts';
import { Monitoring } from './monitoring/monitoring.ts';
import { Options } from './monitoring/options.ts';
import { Notifier } from './notifications/notifier.ts';
import { PageNotifier } from './notifications/page-notifier.ts';
import { SubscriberMail } from './notifications/subscriber-mail.ts';
import { Subscribers } from './notifications/subscribers.ts';
import { provision } from './provisioning.ts';
import type { Settings } from './settings.ts';
import { createUptimeAccountData } from './store/account-data.ts';
import { ApiKeys } from './store/api-keys.ts';
import { BucketStore } from './store/buckets.ts';
import { DockerHosts } from './store/docker-hosts.ts';
import { HeartbeatStore } from './store/heartbeats.ts';
import { IncidentStore } from './store/incidents.ts';
import { Notifications } from './store/notifications.ts';
import { StatusPages } from './store/status-pages.ts';
import { Tags } from './store/tags.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;

/** Uptime monitor for servers, programs and containers, compatible with Uptime Kuma. */
export const uptime = defineService({
  ...manifest,
  create: (context, settings) => new UptimeService(context, settings),
});

class UptimeService implements Service {
  readonly http: RequestListener;
  readonly upgrade: UpgradeListener;
  readonly api: readonly ApiHandler[];
  readonly accountData: AccountData;
  readonly reconfigure: (settings: unknown) => Promise<void>;
  readonly #context: Context;
  readonly #settings: Readonly<Settings>;
  readonly #resources = new AsyncDisposableStack();
  readonly #options: Options;
  readonly #heartbeats: HeartbeatStore;
  readonly #buckets: BucketStore;
  readonly #incidents: IncidentStore;
  readonly #keys: ApiKeys;
  readonly #tags: Tags;
  readonly #notifications: Notifications;
  readonly #dockerHosts: DockerHosts;
  readonly #pages: StatusPages;
  readonly #subscribers: Subscribers;
  readonly #subscriberMail: SubscriberMail;
  readonly #pageNotifier: PageNotifier;
  readonly #notifier: Notifier;
  readonly #monitoring: Monitoring;
  readonly #socket: KumaSocket;
  #hostNames: Disposable | undefined;
  #closed = false;
  #warmUp: Promise<void> | undefined;

  constructor(context: Context, initialSettings: Settings) {
    const { db } = context;
    const live = createLiveSettings(initialSettings, () => this.#applySettings());
    this.#context = context;
    this.#settings = live.current;
    this.#options = new Options(context, getDefaultOptions(initialSettings));
    this.#heartbeats = new HeartbeatStore(db);
    this.#buckets = new BucketStore(db);
    this.#incidents = new IncidentStore(db);
    this.#keys = new ApiKeys(context, () => this.#socket.onListChange('keys'));
    this.#tags = new Tags(context);
    this.#notifications = new Notifications(context);
    this.#dockerHosts = new DockerHosts(context, (list) => {
      this.#monitoring.checker.setEngines(list);
      this.#socket.onListChange('dockerHosts');
    });
    this.#pages = this.#createPages();
    this.#subscribers = new Subscribers(context);
    this.#subscriberMail = new SubscriberMail({
      context,
      subscribers: this.#subscribers,
      mailAddress: () => this.#settings.subscriberMail,
    });
    this.#pageNotifier = this.#createPageNotifier();
    const metrics = createMetrics(context.metrics, {
      all: () => this.#monitoring.monitors.all(),
      isActive: (monitor) => this.#monitoring.monitors.isActive(monitor),
    });
    this.#notifier = this.#createNotifier(metrics);
    this.#monitoring = this.#createMonitoring(metrics);
    this.#socket = this.#createSocket();
    const management = this.#getManagementDependencies();
    this.api = this.#createHandlers(management);
    this.http = this.#createUptimeListener(management);
    this.upgrade = this.#socket.upgrade;
    this.accountData = createUptimeAccountData(context, this.#incidents);
    this.reconfigure = live.update;
  }

  async start(): Promise<void> {
    const { recorder, checker, local, live, maintenances, monitors, sleep, rollup } = this.#monitoring;
    this.#resources.use(recorder);
    this.#resources.use(checker);
    this.#resources.use(local);
    this.#resources.use(live);
    this.#resources.use(this.#socket);
    this.#resources.use(maintenances);
    this.#resources.use(sleep);
    sleep.start();
    this.#resources.defer(() => rollup.close());
    await this.#options.start();
    await this.#notifications.start();
    await this.#pages.start();
    await this.#subscribers.start();
    await this.#tags.start();
    await this.#dockerHosts.start();
    const startedAt = this.#context.clock.now();
    await maintenances.start();
    await monitors.start();
    await this.#provision();
    this.#resources.use(this.#notifier.handle());
    this.#resources.use(this.#pageNotifier.handle());
    this.#resources.use(this.#subscriberMail.handle());
    this.#startTimers();
    this.#warmUp = this.#monitoring.warmUp(startedAt, () => this.#closed);
  }

  health(): Promise<Health> {
    return Promise.resolve(getHealth(this.#monitoring));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#warmUp;
    await this.#resources.disposeAsync();
  }

  #startTimers(): void {
    const { clock, log } = this.#context;
    const { monitors, rollup, runner } = this.#monitoring;
    this.#resources.use(
      clock.every(
        hourMs,
        () =>
          void this.#removeExpiredSubscribers().catch((error: unknown) =>
            log.error('expired subscribers could not be removed', { error }),
          ),
      ),
    );
    this.#resources.use(clock.every(hourMs, () => void rollup.run()));
    this.#resources.use(
      clock.every(minuteMs, () => {
        for (const monitor of monitors.all()) runner.handleTick(monitor);
      }),
    );
  }

  #removeExpiredSubscribers(): Promise<void> {
    return this.#subscribers.removeOld(new Set(this.#pages.all().map(({ id }) => id)));
  }

  async #applySettings(): Promise<void> {
    this.#options.setDefaults(getDefaultOptions(this.#settings));
    this.#monitoring.checker.refreshPolicy();
    await this.#provision();
  }

  async #provision(): Promise<void> {
    const { monitors, maintenances } = this.#monitoring;
    await provision({ monitors, pages: this.#pages, maintenances, log: this.#context.log }, this.#settings);
  }

  #createPages(): StatusPages {
    return new StatusPages(this.#context, {
      onNote: (transaction, page, note) => this.#pageNotifier.announceNote(transaction, page, note),
      onChange: () => {
        this.#socket.onListChange('statusPages');
        this.#updateHostNames();
      },
    });
  }

  /** Claims the domain names of the published pages. */
  #updateHostNames(): void {
    this.#hostNames?.[Symbol.dispose]();
    const published = this.#pages.all().filter(({ config }) => config.published);
    this.#hostNames = this.#context.hosts.add(published.flatMap(({ config }) => config.domainNameList));
  }

  #createPageNotifier(): PageNotifier {
    return new PageNotifier({
      context: this.#context,
      pages: () => this.#pages.all(),
      findPagesOfWindow: (id) => this.#monitoring.maintenances.all().find((one) => one.id === id)?.statusPages ?? [],
      publicUrl: () => this.#options.current.publicUrl,
      mail: this.#subscriberMail,
    });
  }

  #createNotifier({ sent, failed }: UptimeMetrics): Notifier {
    return new Notifier({
      context: this.#context,
      options: () => this.#options.current,
      urlsFor: (id) => this.#notifications.urlsFor(this.#monitoring.monitors.find(id)?.config['notificationIDList']),
      sent,
      failed,
      notifyFollowers: (event) => this.#pageNotifier.handleEvent(event),
      isSuppressed: (kind, id, hosts, index) => isSuppressed(this.#monitoring, { kind, id, hosts, at: index }),
    });
  }

  #createMonitoring({ checked }: UptimeMetrics): Monitoring {
    return new Monitoring({
      context: this.#context,
      heartbeats: this.#heartbeats,
      buckets: this.#buckets,
      incidents: this.#incidents,
      settings: this.#settings,
      options: this.#options,
      notifier: this.#notifier,
      notifications: this.#notifications,
      clients: {
        onHeartbeat: (monitor, beat) => this.#socket.onHeartbeat(monitor, beat),
        onMonitorChange: (ids) => this.#socket.onMonitorChange(ids),
        onMaintenanceChange: () => this.#socket.onMaintenanceChange(),
      },
      onResult: checked,
    });
  }

  #createSocket(): KumaSocket {
    const { checker, maintenances, monitors, recorder, statistics } = this.#monitoring;
    return new KumaSocket({
      context: this.#context,
      monitors,
      beats: this.#heartbeats,
      buckets: this.#buckets,
      recorder,
      figures: statistics,
      dockerHosts: this.#dockerHosts,
      checker,
      pages: this.#pages,
      tags: this.#tags,
      keys: this.#keys,
      options: this.#options,
      maintenances,
      notifications: this.#notifications,
    });
  }

  #getManagementDependencies(): ManagementDependencies {
    const { maintenances, monitors, statistics } = this.#monitoring;
    return {
      context: this.#context,
      keys: this.#keys,
      figures: statistics,
      incidents: this.#incidents,
      monitors,
      tags: this.#tags,
      dockerHosts: this.#dockerHosts,
      pages: this.#pages,
      maintenances,
      beats: this.#heartbeats,
      buckets: this.#buckets,
    };
  }

  #createHandlers(management: ManagementDependencies): readonly ApiHandler[] {
    const { checker, maintenances, monitors, recorder, statistics } = this.#monitoring;
    const monitorHandlers = createUptimeHandlers({
      context: this.#context,
      monitors,
      beats: this.#heartbeats,
      incidents: this.#incidents,
      dockerHosts: this.#dockerHosts,
      checker,
      recorder,
      options: this.#options,
      figures: statistics,
      keys: this.#keys,
      checkNow: (monitor) => this.#monitoring.checkNow(monitor),
      onResolve: (incident) => this.#monitoring.handleResolvedIncident(incident),
    });
    return [
      ...monitorHandlers,
      ...createStatusPageHandlers(this.#pages, this.#subscribers, this.#subscriberMail),
      ...createMaintenanceHandlers(maintenances),
      ...createManagementHandlers(management),
    ];
  }

  #createUptimeListener(management: ManagementDependencies): RequestListener {
    const { local, maintenances, monitors, recorder, runner, statistics } = this.#monitoring;
    const { clock } = this.#context;
    return createUptimeListener({
      context: this.#context,
      getPublicUrl: (request) => this.#context.publicUrl(request),
      keys: this.#keys,
      handlers: this.api,
      clock,
      monitors,
      runner,
      local,
      recorder,
      figures: statistics,
      beats: this.#heartbeats,
      pages: this.#pages,
      incidents: this.#incidents,
      manage: management,
      maintenances,
      socket: this.#socket,
      subscribers: this.#subscribers,
      subscriberMail: this.#subscriberMail,
      tags: this.#tags,
      options: () => this.#options.current,
    });
  }
}

function getDefaultOptions(settings: Settings): UptimeOptions {
  return {
    notifyUrl: settings.notifyUrl,
    notifyTag: settings.notifyTag,
    tlsExpiryNotifyDays: [...settings.certificateDays],
    keepDataPeriodDays: settings.keepDays,
    publicUrl: settings.publicUrl,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}
