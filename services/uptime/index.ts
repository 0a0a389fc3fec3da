import { join } from 'node:path';
import { createLiveSettings } from '../kit/live-settings.ts';
import { defineService, type Context, type Service } from '../contracts/service.ts';
import type { UptimeOptions } from '../contracts/uptime/views.ts';
import { Checker } from './check/checker.ts';
import { manifest } from './manifest.ts';
import { openSocket, type UptimeSocket } from './kuma-api/server.ts';
import { Tags } from './store/tags.ts';
import { createMetrics } from './metrics.ts';
import { uptimeHandlers } from './app-api/monitor-handlers.ts';
import { ApiKeys } from './store/api-keys.ts';
import { uptimeApp } from './http-app.ts';
import { manageHandlers } from './app-api/management-handlers.ts';
import { maintenanceHandlers } from './app-api/maintenance-handlers.ts';
import { statusPageHandlers } from './app-api/status-page-handlers.ts';
import type { Settings } from './settings.ts';
import { BeatStore } from './store/heartbeats.ts';
import { BucketStore } from './store/buckets.ts';
import { DockerHosts } from './store/docker-hosts.ts';
import { IncidentStore } from './store/incidents.ts';
import { MaintenanceStore } from './store/maintenances.ts';
import { MonitorStore } from './store/monitors.ts';
import { Notifications } from './store/notifications.ts';
import { StatusPages } from './store/status-pages.ts';
import { provision } from './provisioning.ts';
import { Followers } from './notifications/page-notifier.ts';
import { SubscriberMail } from './notifications/subscriber-mail.ts';
import { Subscribers } from './notifications/subscribers.ts';
import { Teller } from './notifications/notifier.ts';
import { isCovered } from './monitoring/dependency-suppression.ts';
import { Connectivity } from './monitoring/connectivity.ts';
import { Figures } from './monitoring/statistics.ts';
import { Live } from './monitoring/live-updates.ts';
import { LocalChecks } from './monitoring/local-checks.ts';
import { Maintenances } from './monitoring/maintenances.ts';
import { Monitors } from './monitoring/monitors.ts';
import { Options } from './monitoring/options.ts';
import { Recorder } from './monitoring/recorder.ts';
import { healthOf } from './monitoring/health.ts';
import { Rollup } from './monitoring/rollup.ts';
import { SleepWatch } from './monitoring/sleep-detector.ts';
import { warmUpAll } from './monitoring/warm-up.ts';
import { Watch } from './monitoring/monitor-runner.ts';
import type { Watched } from './monitoring/monitor-state.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;

/** Uptime monitor for servers, programs and containers, compatible with Uptime Kuma. */
export const uptime = defineService({ ...manifest, create });

function create(context: Context, settings: Settings): Service {
  const { clock, db, log } = context;
  const open = new AsyncDisposableStack();
  const beats = new BeatStore(db);
  const buckets = new BucketStore(db);
  const incidents = new IncidentStore(db);
  const keys = new ApiKeys(context, () => socket.listChanged('keys'));
  const live = new Live(context.bus, clock);
  const recorder = new Recorder(context, beats);
  const options = new Options(context, defaultOptions(settings));
  const current = createLiveSettings(settings, async () => {
    options.setDefaults(defaultOptions(current.current));
    checker.refreshPolicy();
    await provision({ monitors, pages, maintenances, log }, current.current);
  });
  const metrics = createMetrics(context.metrics, {
    all: () => monitors.all(),
    isActive: (watched) => monitors.isActive(watched),
  });
  const slept = (ms: number): void => {
    log.info('the machine slept or could not work; faults of the next moments are not told', { ms: Math.round(ms) });
    watch.slept();
  };
  const sleep = new SleepWatch(clock, slept);
  const checker: Checker = new Checker(
    {
      clock,
      log,
      journal: join(context.files, 'running-checks.json'),
      policy: () => ({ ownListeners: context.addresses(), allowLinkLocal: current.current.allowLinkLocal }),
    },
    {
      slept,
      quarantine(ids) {
        log.error('monitors are paused: the process ended while they were being checked', { ids });
        monitors.quarantine(ids).catch((error: unknown) => log.error('a monitor could not be paused', { error }));
      },
      results(results) {
        for (const result of results) {
          const watched = monitors.find(result.id);
          if (watched === undefined || !monitors.isActive(watched)) continue;
          metrics.checked(result);
          watch.take(watched, result).catch((error: unknown) => log.error('a check was lost', { error }));
        }
      },
    },
  );
  const maintenances: Maintenances = new Maintenances({
    context,
    store: new MaintenanceStore(db),
    teller: { enqueue: (...given) => teller.enqueue(...given) },
    serverZone: () => options.current.timezone,
    covered: (ids) => monitors.turned(ids),
    changed() {
      live.changed([]);
      socket.maintenanceChanged();
    },
  });
  const local = new LocalChecks({
    context,
    inMaintenance: (watched) => monitors.inMaintenance(watched),
    members: (group) => monitors.children(group).filter((one) => monitors.isActive(one)),
    beat: (watched, outcome) =>
      void watch
        .take(watched, { ...outcome, id: watched.id, lateMs: 0, lagged: false })
        .catch((error: unknown) => log.error('a check was lost', { error })),
  });
  const monitors: Monitors = new Monitors({
    context,
    store: new MonitorStore(db, context.vault),
    checker,
    local,
    isCovered: (id) => maintenances.covers(id),
    defaultNotifications: () => notifications.defaults(),
    noted: (watched) => recorder.note(watched),
    changed(ids) {
      live.changed(ids);
      socket.changed(ids);
    },
  });
  const teller = new Teller({
    context,
    options: () => options.current,
    urlsFor: (id) => notifications.urlsFor(monitors.find(id)?.config['notificationIDList']),
    sent: metrics.sent,
    failed: metrics.failed,
    follow: (event) => followers.take(event),
    isCovered: (kind, id, hosts, at) => isCovered({ monitors, recorder }, { kind, id, hosts, at }),
  });
  const watch: Watch = new Watch({
    clock,
    recorder,
    incidents,
    teller,
    connectivity: new Connectivity(
      context.connect,
      () => current.current.connectivityAddress,
      () => clock.now(),
    ),
    lookAtClock: () => sleep.look(),
    inMaintenance: (watched) => monitors.inMaintenance(watched),
    options: () => options.current,
    find: (id) => monitors.find(id),
    siblings: (watched) => monitors.siblings(watched),
    again: (id, inMs) => monitors.again(id, inMs),
    beaten(watched, beat, changed) {
      socket.beaten(watched, { ...beat, monitorId: watched.id });
      live.worked();
      if (!changed) return;
      live.changed([watched.id]);
      const { parent } = watched.config;
      const group = parent === null ? undefined : monitors.find(parent);
      if (group !== undefined && local.has(group.id)) local.again(group, 0);
    },
  });

  const checkNow = async (watched: Watched): Promise<void> => {
    if (monitors.isChecked(watched)) await checker.now(watched.id);
    else await local.check(watched);
    await recorder.settled();
  };
  const notifications = new Notifications(context);
  const dockerHosts = new DockerHosts(context, (list) => {
    checker.setEngines(list);
    socket.listChanged('dockerHosts');
  });
  const figures = new Figures({ clock, beats, buckets, recorder });
  const rollup = new Rollup({
    context,
    beats,
    buckets,
    all: () => monitors.all(),
    keepDays: () => options.current.keepDataPeriodDays,
  });
  let names: Disposable | undefined;
  const subscribers = new Subscribers(context);
  const subscriberMail = new SubscriberMail({
    context,
    subscribers,
    mailAddress: () => current.current.subscriberMail,
  });
  const pages: StatusPages = new StatusPages(context, {
    noted: (transaction, page, note) => followers.note(transaction, page, note),
    changed() {
      socket.listChanged('statusPages');
      names?.[Symbol.dispose]();
      names = context.hosts.add(pages.all().flatMap(({ config }) => (config.published ? config.domainNameList : [])));
    },
  });
  const followers = new Followers({
    context,
    pages: () => pages.all(),
    pagesOfWindow: (id) => maintenances.all().find((one) => one.id === id)?.statusPages ?? [],
    publicUrl: () => options.current.publicUrl,
    mail: subscriberMail,
  });
  const ownHandlers = uptimeHandlers({
    ...{ context, monitors, beats, incidents, dockerHosts, checker, recorder, options, figures, keys, checkNow },
    resolved(incident) {
      for (const id of incident.monitorIds) {
        const watched = monitors.find(id);
        if (watched?.incident !== incident.id) continue;
        watched.incident = null;
        recorder.note(watched);
      }
    },
  });
  const tags = new Tags(context);
  const socket: UptimeSocket = openSocket({
    ...{
      context,
      monitors,
      beats,
      buckets,
      recorder,
      figures,
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
  const moving = { monitors, tags, dockerHosts, pages, maintenances, beats, buckets };
  const manage = { context, keys, figures, incidents, ...moving };
  const handlers = [
    ...ownHandlers,
    ...statusPageHandlers(pages, subscribers, subscriberMail),
    ...maintenanceHandlers(maintenances),
    ...manageHandlers(manage),
  ];
  let closed = false;
  let warming: Promise<void> | undefined;

  return {
    http: uptimeApp({
      outside: (request) => context.publicUrl(request),
      ...{
        context,
        keys,
        handlers,
        clock,
        monitors,
        watch,
        local,
        recorder,
        figures,
        beats,
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
    async start() {
      open.use(recorder);
      open.use(checker);
      open.use(local);
      open.use(live);
      open.use(socket);
      open.use(maintenances);
      open.use(sleep);
      sleep.start();
      open.defer(() => rollup.close());
      await options.start();
      await notifications.start();
      await pages.start();
      await subscribers.start();
      await tags.start();
      await dockerHosts.start();
      const began = clock.now();
      await maintenances.start();
      await monitors.start();
      await provision({ monitors, pages, maintenances, log }, current.current);
      open.use(teller.handle());
      open.use(followers.handle());
      open.use(subscriberMail.handle());
      const forget = (): Promise<void> => subscribers.removeOld(new Set(pages.all().map(({ id }) => id)));
      open.use(
        clock.every(
          hourMs,
          () => void forget().catch((error: unknown) => log.error('subscribers were not removed', { error })),
        ),
      );
      open.use(clock.every(hourMs, () => void rollup.run()));
      open.use(
        clock.every(minuteMs, () => {
          for (const watched of monitors.all()) watch.timePassed(watched);
        }),
      );
      warming = warmUpAll(monitors.all(), { beats, buckets }, began, () => closed)
        .then(() => (closed ? undefined : rollup.run()))
        .catch((error: unknown) => log.error('the last day could not be read', { error }));
    },
    health: () => Promise.resolve(healthOf({ monitors, recorder, checker })),
    reconfigure: current.update,
    async [Symbol.asyncDispose]() {
      closed = true;
      await warming;
      await open.disposeAsync();
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
