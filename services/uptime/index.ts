import { join } from 'node:path';
import { createLiveSettings } from '../kit/live-settings.ts';
import { defineService, type Context, type Service } from '../contracts/service.ts';
import type { UptimeOptions } from '../contracts/uptime/views.ts';
import { Checker } from './check/checker.ts';
import { manifest } from './manifest.ts';
import { openKumaSocket, type KumaSocket } from './kuma-api/server.ts';
import { Tags } from './store/tags.ts';
import { createMetrics } from './metrics.ts';
import { createUptimeHandlers } from './app-api/monitor-handlers.ts';
import { ApiKeys } from './store/api-keys.ts';
import { createHttpApp } from './http-app.ts';
import { createManagementHandlers } from './app-api/management-handlers.ts';
import { createMaintenanceHandlers } from './app-api/maintenance-handlers.ts';
import { createStatusPageHandlers } from './app-api/status-page-handlers.ts';
import type { Settings } from './settings.ts';
import { HeartbeatStore } from './store/heartbeats.ts';
import { BucketStore } from './store/buckets.ts';
import { DockerHosts } from './store/docker-hosts.ts';
import { createUptimeAccountData } from './store/account-data.ts';
import { IncidentStore } from './store/incidents.ts';
import { MaintenanceStore } from './store/maintenances.ts';
import { MonitorStore } from './store/monitors.ts';
import { Notifications } from './store/notifications.ts';
import { StatusPages } from './store/status-pages.ts';
import { provision } from './provisioning.ts';
import { PageNotifier } from './notifications/page-notifier.ts';
import { SubscriberMail } from './notifications/subscriber-mail.ts';
import { Subscribers } from './notifications/subscribers.ts';
import { Notifier } from './notifications/notifier.ts';
import { isSuppressed } from './monitoring/dependency-suppression.ts';
import { Connectivity } from './monitoring/connectivity.ts';
import { Statistics } from './monitoring/statistics.ts';
import { LiveUpdates } from './monitoring/live-updates.ts';
import { LocalChecks } from './monitoring/local-checks.ts';
import { Maintenances } from './monitoring/maintenances.ts';
import { Monitors } from './monitoring/monitors.ts';
import { Options } from './monitoring/options.ts';
import { Recorder } from './monitoring/recorder.ts';
import { getHealth } from './monitoring/health.ts';
import { Rollup } from './monitoring/rollup.ts';
import { SleepDetector } from './monitoring/sleep-detector.ts';
import { warmUpAll } from './monitoring/warm-up.ts';
import { MonitorRunner } from './monitoring/monitor-runner.ts';
import type { RuntimeMonitor } from './monitoring/monitor-state.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;

/** Uptime monitor for servers, programs and containers, compatible with Uptime Kuma. */
export const uptime = defineService({ ...manifest, create });

function create(context: Context, settings: Settings): Service {
  const { clock, db, log } = context;
  const resources = new AsyncDisposableStack();
  const heartbeats = new HeartbeatStore(db);
  const buckets = new BucketStore(db);
  const incidents = new IncidentStore(db);
  const keys = new ApiKeys(context, () => socket.onListChange('keys'));
  const live = new LiveUpdates(context.bus, clock);
  const recorder = new Recorder(context, heartbeats);
  const options = new Options(context, defaultOptions(settings));
  const current = createLiveSettings(settings, async () => {
    options.setDefaults(defaultOptions(current.current));
    checker.refreshPolicy();
    await provision({ monitors, pages, maintenances, log }, current.current);
  });
  const metrics = createMetrics(context.metrics, {
    all: () => monitors.all(),
    isActive: (monitor) => monitors.isActive(monitor),
  });
  const handleSleep = (ms: number): void => {
    log.info('sleep detected, failures are ignored temporarily', { ms: Math.round(ms) });
    runner.handleSleep();
  };
  const sleep = new SleepDetector(clock, handleSleep);
  const checker: Checker = new Checker(
    {
      clock,
      log,
      journalFile: join(context.files, 'running-checks.json'),
      policy: () => ({ ownListeners: context.addresses(), allowLinkLocal: current.current.allowLinkLocal }),
    },
    {
      handleSleep,
      quarantine(ids) {
        log.error('monitors quarantined after the checker process ended', { ids });
        monitors.quarantine(ids).catch((error: unknown) => log.error('monitor quarantine failed', { error }));
      },
      results(results) {
        for (const result of results) {
          const monitor = monitors.find(result.id);
          if (monitor === undefined || !monitors.isActive(monitor)) continue;
          metrics.checked(result);
          runner
            .handleResult(monitor, result)
            .catch((error: unknown) => log.error('check result could not be processed', { error }));
        }
      },
    },
  );
  const maintenances: Maintenances = new Maintenances({
    context,
    store: new MaintenanceStore(db),
    teller: { enqueue: (...args) => notifier.enqueue(...args) },
    serverZone: () => options.current.timezone,
    onCoverageChange: (ids) => monitors.handleCoverageChange(ids),
    onChange() {
      live.publishChanges([]);
      socket.onMaintenanceChange();
    },
  });
  const local = new LocalChecks({
    context,
    inMaintenance: (monitor) => monitors.inMaintenance(monitor),
    findMembers: (group) => monitors.findChildren(group).filter((one) => monitors.isActive(one)),
    onOutcome: (monitor, outcome) =>
      void runner
        .handleResult(monitor, { ...outcome, id: monitor.id, lateMs: 0, lagged: false })
        .catch((error: unknown) => log.error('check result could not be processed', { error })),
  });
  const monitors: Monitors = new Monitors({
    context,
    store: new MonitorStore(db, context.vault),
    checker,
    local,
    isCovered: (id) => maintenances.covers(id),
    defaultNotifications: () => notifications.defaults(),
    onStateChange: (monitor) => recorder.saveState(monitor),
    onChange(ids) {
      live.publishChanges(ids);
      socket.onMonitorChange(ids);
    },
  });
  const notifier = new Notifier({
    context,
    options: () => options.current,
    urlsFor: (id) => notifications.urlsFor(monitors.find(id)?.config['notificationIDList']),
    sent: metrics.sent,
    failed: metrics.failed,
    notifyFollowers: (event) => pageNotifier.handleEvent(event),
    isSuppressed: (kind, id, hosts, at) => isSuppressed({ monitors, recorder }, { kind, id, hosts, at }),
  });
  const runner: MonitorRunner = new MonitorRunner({
    clock,
    recorder,
    incidents,
    teller: notifier,
    connectivity: new Connectivity(
      context.connect,
      () => current.current.connectivityAddress,
      () => clock.now(),
    ),
    detectSleep: () => sleep.check(),
    inMaintenance: (monitor) => monitors.inMaintenance(monitor),
    options: () => options.current,
    find: (id) => monitors.find(id),
    findSiblings: (monitor) => monitors.findSiblings(monitor),
    scheduleIn: (id, inMs) => monitors.scheduleIn(id, inMs),
    onHeartbeat(monitor, beat, changed) {
      socket.onHeartbeat(monitor, { ...beat, monitorId: monitor.id });
      live.publishActivity();
      if (!changed) return;
      live.publishChanges([monitor.id]);
      const { parent } = monitor.config;
      const group = parent === null ? undefined : monitors.find(parent);
      if (group !== undefined && local.has(group.id)) local.scheduleIn(group, 0);
    },
  });

  const checkNow = async (monitor: RuntimeMonitor): Promise<void> => {
    if (monitors.isChecked(monitor)) await checker.checkNow(monitor.id);
    else await local.check(monitor);
    await recorder.flush();
  };
  const notifications = new Notifications(context);
  const dockerHosts = new DockerHosts(context, (list) => {
    checker.setEngines(list);
    socket.onListChange('dockerHosts');
  });
  const statistics = new Statistics({ clock, beats: heartbeats, buckets, recorder });
  const rollup = new Rollup({
    context,
    beats: heartbeats,
    buckets,
    all: () => monitors.all(),
    keepDays: () => options.current.keepDataPeriodDays,
  });
  let hostNames: Disposable | undefined;
  const subscribers = new Subscribers(context);
  const subscriberMail = new SubscriberMail({
    context,
    subscribers,
    mailAddress: () => current.current.subscriberMail,
  });
  const pages: StatusPages = new StatusPages(context, {
    onNote: (transaction, page, note) => pageNotifier.announceNote(transaction, page, note),
    onChange() {
      socket.onListChange('statusPages');
      hostNames?.[Symbol.dispose]();
      hostNames = context.hosts.add(
        pages.all().flatMap(({ config }) => (config.published ? config.domainNameList : [])),
      );
    },
  });
  const pageNotifier = new PageNotifier({
    context,
    pages: () => pages.all(),
    findPagesOfWindow: (id) => maintenances.all().find((one) => one.id === id)?.statusPages ?? [],
    publicUrl: () => options.current.publicUrl,
    mail: subscriberMail,
  });
  const monitorHandlers = createUptimeHandlers({
    ...{
      context,
      monitors,
      beats: heartbeats,
      incidents,
      dockerHosts,
      checker,
      recorder,
      options,
      figures: statistics,
      keys,
      checkNow,
    },
    onResolve(incident) {
      for (const id of incident.monitorIds) {
        const monitor = monitors.find(id);
        if (monitor?.incident !== incident.id) continue;
        monitor.incident = null;
        recorder.saveState(monitor);
      }
    },
  });
  const tags = new Tags(context);
  const socket: KumaSocket = openKumaSocket({
    ...{
      context,
      monitors,
      beats: heartbeats,
      buckets,
      recorder,
      figures: statistics,
      dockerHosts,
      checker,
      pages,
      tags,
      keys,
      options,
      maintenances,
      notifications,
    },
  });
  const importDependencies = { monitors, tags, dockerHosts, pages, maintenances, beats: heartbeats, buckets };
  const manage = { context, keys, figures: statistics, incidents, ...importDependencies };
  const handlers = [
    ...monitorHandlers,
    ...createStatusPageHandlers(pages, subscribers, subscriberMail),
    ...createMaintenanceHandlers(maintenances),
    ...createManagementHandlers(manage),
  ];
  let closed = false;
  let warmUp: Promise<void> | undefined;

  return {
    http: createHttpApp({
      getPublicUrl: (request) => context.publicUrl(request),
      ...{
        context,
        keys,
        handlers,
        clock,
        monitors,
        runner,
        local,
        recorder,
        figures: statistics,
        beats: heartbeats,
        pages,
        incidents,
        manage,
        maintenances,
        socket,
        subscribers,
        subscriberMail,
        tags,
      },
      options: () => options.current,
    }),
    upgrade: socket.upgrade,
    api: handlers,
    accountData: createUptimeAccountData(context, incidents),
    async start() {
      resources.use(recorder);
      resources.use(checker);
      resources.use(local);
      resources.use(live);
      resources.use(socket);
      resources.use(maintenances);
      resources.use(sleep);
      sleep.start();
      resources.defer(() => rollup.close());
      await options.start();
      await notifications.start();
      await pages.start();
      await subscribers.start();
      await tags.start();
      await dockerHosts.start();
      const startedAt = clock.now();
      await maintenances.start();
      await monitors.start();
      await provision({ monitors, pages, maintenances, log }, current.current);
      resources.use(notifier.handle());
      resources.use(pageNotifier.handle());
      resources.use(subscriberMail.handle());
      const removeExpiredSubscribers = (): Promise<void> =>
        subscribers.removeOld(new Set(pages.all().map(({ id }) => id)));
      resources.use(
        clock.every(
          hourMs,
          () =>
            void removeExpiredSubscribers().catch((error: unknown) =>
              log.error('expired subscribers could not be removed', { error }),
            ),
        ),
      );
      resources.use(clock.every(hourMs, () => void rollup.run()));
      resources.use(
        clock.every(minuteMs, () => {
          for (const monitor of monitors.all()) runner.handleTick(monitor);
        }),
      );
      warmUp = warmUpAll(monitors.all(), { beats: heartbeats, buckets }, startedAt, () => closed)
        .then(() => (closed ? undefined : rollup.run()))
        .catch((error: unknown) => log.error('monitor warm-up failed', { error }));
    },
    health: () => Promise.resolve(getHealth({ monitors, recorder, checker })),
    reconfigure: current.update,
    async [Symbol.asyncDispose]() {
      closed = true;
      await warmUp;
      await resources.disposeAsync();
    },
  };
}

function defaultOptions(settings: Settings): UptimeOptions {
  return {
    notifyUrl: settings.notifyUrl,
    notifyTag: settings.notifyTag,
    tlsExpiryNotifyDays: [...settings.certificateDays],
    keepDataPeriodDays: settings.keepDays,
    publicUrl: settings.publicUrl,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}
