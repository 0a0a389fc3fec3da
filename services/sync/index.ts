import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { defineService, type Context, type Service } from '../contracts/service.ts';
import { syncChanged } from '../contracts/sync/api.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { Access } from './access/access.ts';
import { syncHandlers } from './app-api/api.ts';
import { BandwidthLimiter, getCurrentRate } from './engine/bandwidth-limiter.ts';
import { ConfigFile } from './engine/config-file.ts';
import { Engine } from './engine/engine.ts';
import { RemoteSetups } from './engine/remote-setup.ts';
import { FileJobs } from './files/file-jobs.ts';
import { Files } from './files/files.ts';
import { Trash } from './files/trash.ts';
import { getIdleHealth, getRunningHealth } from './health.ts';
import { JobIds } from './jobs/job-ids.ts';
import { Jobs } from './jobs/jobs.ts';
import { SyncEvents } from './jobs/sync-events.ts';
import { manifest } from './manifest.ts';
import { createMetrics } from './metrics.ts';
import { buildAppCalls } from './rclone-api/app-calls.ts';
import { Dispatch } from './rclone-api/dispatch.ts';
import { syncListener } from './rclone-api/listener.ts';
import { readRecentActivity } from './recent-activity.ts';
import type { Settings } from './settings.ts';
import { JobStore } from './store/jobs.ts';
import { PlanStore } from './store/plans.ts';
import type { Tables } from './store/tables.ts';
import { TaskStore } from './store/tasks.ts';
import { syncAccountData } from './tasks/account-data.ts';
import { findBuiltInJob } from './tasks/built-in-job.ts';
import { startCleanup } from './tasks/cleanup.ts';
import { createTasks } from './tasks/create-tasks.ts';
import { SyncNotifications } from './tasks/sync-notifications.ts';

/** File sync: rclone's remote control with history, delete limits and schedules. */
export const sync = defineService({ ...manifest, create });

function create(context: Context, initialSettings: Settings): Service {
  const { clock, commit } = context;
  const db: Kysely<Tables> = context.db;
  const resources = new AsyncDisposableStack();
  const live = createLiveSettings(initialSettings);
  const settings = live.current;
  const events = new SyncEvents();
  const access = new Access(context);
  const [plans, runs, taskStore] = [new PlanStore(db), new JobStore(db), new TaskStore(db)];
  const config = new ConfigFile(join(context.files, 'rclone.conf'), context);
  const engine = new Engine({
    context,
    config,
    idleMs: () => settings.idleSeconds * 1000,
    rate: () => getCurrentRate(settings, clock),
    onFileError: (error) => events.emit('fileError', error),
  });
  const bandwidth = new BandwidthLimiter({ clock, engine, settings });
  const ids = new JobIds(context);
  const jobs = new Jobs({ context, engine, ids, store: runs, events });
  const metrics = createMetrics(context.metrics, {
    running: () => jobs.durable.length,
    engineUp: () => engine.isRunning,
  });
  const notifications = new SyncNotifications(context);
  const tasks = createTasks(context, settings, { access, engine, jobs, notifications, plans, runs, store: taskStore });
  publishJobs({ context, events, metrics, tasks });
  const executeId = randomUUID();
  const dispatch = new Dispatch({
    access,
    jobs,
    ids,
    executeId,
    appCalls: buildAppCalls({ jobs, store: runs, engine, executeId }),
    engine,
    findBuiltIn: (path, input) => findBuiltInJob(engine, context, path, input),
  });
  const setups = new RemoteSetups(engine, clock);
  const trash = new Trash({ access, commit, engine, runs });
  const fileJobs = new FileJobs({ access, clock, engine, jobs, trash });
  const fileManager = { files: new Files({ access, engine }), fileJobs, trash };

  return {
    http: syncListener({ context, access, dispatch, jobs, engine, answered: metrics.answered }),
    api: syncHandlers({
      context,
      access,
      engine,
      fileManager,
      execution: { jobs, runs, plans },
      setups,
      tasks,
      taskStore,
    }),
    accountData: syncAccountData({ commit, db, jobs }),
    recentActivity: (query) => readRecentActivity({ runs, taskStore }, query),
    drain: { begin: () => tasks.pauseSchedule(), running: () => jobs.durable.length },
    async start() {
      await config.verify();
      resources.use(engine);
      resources.use(bandwidth);
      bandwidth.start();
      resources.use(jobs);
      resources.use(notifications.handle());
      const startOwnedWork = async (): Promise<AsyncDisposable> => {
        await using work = new AsyncDisposableStack();
        work.use(startCleanup({ context, engine, runs, settings, taskStore, trash }));
        work.use(await tasks.startSchedule());
        return work.move();
      };
      resources.use(await context.leases.hold('schedule', startOwnedWork));
    },
    async health() {
      const running = jobs.durable;
      return running.length > 0 ? getRunningHealth(running) : getIdleHealth(await taskStore.getSummary());
    },
    reconfigure: (next) => live.update(next, () => bandwidth.settingChanged()),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

interface JobObservers {
  readonly context: Pick<Context, 'bus' | 'log'>;
  readonly events: SyncEvents;
  readonly metrics: ReturnType<typeof createMetrics>;
  readonly tasks: ReturnType<typeof createTasks>;
}

/** Tells pages, metrics and the saved syncs about changes of jobs. */
function publishJobs({ context: { bus, log }, events, metrics, tasks }: JobObservers): void {
  events.on('jobChange', ({ id, order }) => {
    if (order.durable) bus.publish(syncChanged, { jobId: id });
  });
  events.on('jobEnd', (job) => {
    metrics.ended(job);
    if (job.order.durable) bus.publish(syncChanged, { jobId: job.id });
    tasks.ended(job).catch((error: unknown) => log.error('sync follow-up failed', { error }));
  });
}
