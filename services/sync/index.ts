import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { defineService, type Context, type Service } from '../contracts/service.ts';
import type { Health, RunningWork } from '../contracts/health.ts';
import { syncChanged } from '../contracts/sync/api.ts';
import { firstSentence } from '../contracts/first-sentence.ts';
import { joinNames } from '../kit/join-names.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { BandwidthLimiter } from './engine/bandwidth-limiter.ts';
import { ConfigFile } from './engine/config-file.ts';
import { Engine } from './engine/engine.ts';
import { RemoteSetups } from './engine/remote-setup.ts';
import { findExplanation } from './domain/failure-cause.ts';
import { getNumber } from './domain/stats.ts';
import { JobIds } from './jobs/job-ids.ts';
import type { Job } from './jobs/job.ts';
import { Jobs } from './jobs/jobs.ts';
import { manifest } from './manifest.ts';
import { createMetrics } from './metrics.ts';
import { Access } from './rclone-api/access.ts';
import { Dispatch } from './rclone-api/dispatch.ts';
import { syncListener } from './rclone-api/listener.ts';
import { buildAppCalls } from './rclone-api/app-calls.ts';
import { syncHandlers } from './app-api/api.ts';
import type { Settings } from './settings.ts';
import { JobStore } from './store/jobs.ts';
import { PlanStore } from './store/plans.ts';
import type { Tables } from './store/tables.ts';
import { TaskStore, type FailedTask, type Task } from './store/tasks.ts';
import { refuseReplacedFilesLinks } from './tasks/links.ts';
import { syncAccountData } from './tasks/account-data.ts';
import { isLocal, createLocalMover, runLocalSync } from './tasks/local-job.ts';
import { SyncNotifications } from './tasks/sync-notifications.ts';
import { rcloneMover } from './tasks/rclone-mover.ts';
import { Tasks } from './tasks/tasks.ts';
import { deleteExpired } from './tasks/cleanup.ts';

const hourMs = 3_600_000;

function toRunningWork({ order: { kind, source, destination }, stats }: Job): RunningWork {
  const total = getNumber(stats, 'totalBytes');
  const ends = [source, destination].filter((end) => end !== undefined && end !== '');
  return {
    title: ends.length === 0 ? kind : ends.join(' to '),
    to: '/sync',
    percent: total <= 0 ? null : Math.min(100, Math.round((getNumber(stats, 'bytes') / total) * 100)),
  };
}

/** File sync: rclone's remote control with history, delete limits and schedules. */
export const sync = defineService({ ...manifest, create });

function create(context: Context, initialSettings: Settings): Service {
  const { clock, log } = context;
  const db: Kysely<Tables> = context.db;
  const resources = new AsyncDisposableStack();
  const store = new JobStore(db);
  const ids = new JobIds(context);
  const executeId = randomUUID();
  const live = createLiveSettings(initialSettings, () => bandwidth.settingChanged());
  const settings = live.current;
  const bandwidth: BandwidthLimiter = new BandwidthLimiter({
    clock,
    engine: () => engine,
    setting: () => settings.bandwidth,
  });
  const config = new ConfigFile(join(context.files, 'rclone.conf'), context);
  const engine: Engine = new Engine({
    context,
    config,
    idleMs: () => settings.idleSeconds * 1000,
    rate: () => bandwidth.rate,
    onFileError: (complaint) => jobs.addLoggedError(complaint),
  });
  const jobs: Jobs = new Jobs({
    context,
    engine: () => engine,
    ids,
    store,
    onChange({ id, order }) {
      if (order.durable) context.bus.publish(syncChanged, { jobId: id });
    },
    onEnd(job) {
      metrics.ended(job);
      if (job.order.durable) context.bus.publish(syncChanged, { jobId: job.id });
      tasks.ended(job).catch((error: unknown) => log.error('sync follow-up failed', { error }));
    },
  });
  const metrics = createMetrics(context.metrics, {
    running: () => jobs.running.filter(({ order }) => order.durable).length,
    engineUp: () => engine.isRunning,
  });
  const remoteSetups = new RemoteSetups(() => engine, clock);
  const access = new Access(context.accounts);
  const appCalls = buildAppCalls({ jobs, store, engine: () => engine, executeId });
  const dispatch = new Dispatch({
    access,
    jobs,
    ids,
    executeId,
    appCalls,
    engine: () => engine,
    async findBuiltIn(path, input) {
      const { srcFs: source, dstFs: destination } = input;
      if ((path !== 'sync/sync' && path !== 'sync/copy') || !isLocal(source, destination)) return undefined;
      const isPlain = Object.keys(input).every((key) => key === 'srcFs' || key === 'dstFs');
      if (!isPlain || (await engine.isInstalled())) return undefined;
      const mode = path === 'sync/sync' ? 'sync' : 'copy';
      return (job) => runLocalSync(job, context, { mode, source: String(source), destination: String(destination) });
    },
  });
  const plans = new PlanStore(db);
  const taskStore = new TaskStore(db);
  const notifications = new SyncNotifications(context);
  const tasks: Tasks = new Tasks({
    context,
    access,
    jobs,
    notifications,
    plans,
    runs: store,
    store: taskStore,
    limits: ({ maxDeletes, maxDeletePercent }) => ({
      files: maxDeletes ?? settings.maxDeletes,
      percent: maxDeletePercent ?? settings.maxDeletePercent,
    }),
    async createMover({ source, destination }, job) {
      const usesBuiltIn = isLocal(source, destination) && !(await engine.isInstalled());
      return usesBuiltIn ? createLocalMover(job, context) : rcloneMover(engine, context);
    },
  });
  const cleanup = (): void => {
    const purgeLocation = async (location: string): Promise<void> => {
      if (isLocal(location)) {
        await refuseReplacedFilesLinks(location, '');
        return await rm(location, { recursive: true, force: true });
      }
      const options = { group: 'upkeep', exclude: [], signal: new AbortController().signal };
      await rcloneMover(engine, context).purge(location, options);
    };
    const { keepDays, keepReplacedDays } = settings;
    deleteExpired({ context, runs: store, taskStore, purge: purgeLocation, keepDays, keepReplacedDays }).catch(
      (error: unknown) => log.error('history cleanup failed', { error }),
    );
  };

  return {
    http: syncListener({ context, access, dispatch, jobs, engine: () => engine, answered: metrics.answered }),
    api: syncHandlers({
      context,
      access,
      engine: () => engine,
      jobs,
      runs: store,
      setups: remoteSetups,
      tasks,
      taskStore,
      plans,
    }),
    async start() {
      await config.verify();
      resources.use(engine);
      resources.use(bandwidth);
      bandwidth.start();
      resources.use(jobs);
      const interruptedTasks = await context.commit((transaction: Kysely<Tables>) =>
        store.interrupt(transaction, clock.now()),
      );
      resources.use(notifications.handle());
      resources.use(tasks);
      resources.use(clock.every(hourMs, cleanup));
      await tasks.start(interruptedTasks);
    },
    async health(): Promise<Health> {
      const running = jobs.running.filter(({ order }) => order.durable);
      if (running.length > 0) {
        return {
          state: 'up',
          detail: `${String(running.length)} running`,
          running: running.slice(0, 5).map(toRunningWork),
        };
      }
      const { all, failed, heldTasks: heldTasks } = await taskStore.getSummary();
      const [firstTask, secondTask] = [...failed, ...heldTasks];
      if (firstTask !== undefined) {
        const detail = formatAttention(failed, heldTasks);
        const to = secondTask === undefined ? `/sync/syncs/${String(firstTask.id)}` : '/sync';
        return { state: 'up', detail, remedy: { label: failed.length > 0 ? 'See what failed' : 'See why', to } };
      }
      const begin = { label: 'Set up a first sync', to: '/sync' };
      if (all === 0) return { state: 'up', detail: 'nothing to sync yet', begin };
      return { state: 'up', detail: `${all === 1 ? '1 sync' : `${String(all)} syncs`}, none running` };
    },
    drain: {
      begin: () => tasks.pauseSchedule(),
      running: () => jobs.running.filter(({ order }) => order.durable).length,
    },
    accountData: syncAccountData({ commit: context.commit, db, jobs }),
    reconfigure: live.update,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Formats `Papers failed, Photos is held back`, with the reason if only one task failed. */
function formatAttention(failed: readonly FailedTask[], heldTasks: readonly Task[]): string {
  const [onlyTask] = failed;
  if (onlyTask !== undefined && failed.length + heldTasks.length === 1) {
    const why = firstSentence(findExplanation(onlyTask.error, onlyTask.fields.source) ?? '') ?? '';
    return `${onlyTask.fields.name} failed${why === '' ? '' : `: ${why}`}`;
  }
  const joinTaskNames = (tasks: readonly Task[]): string => joinNames(tasks.map(({ fields }) => fields.name));
  return [
    ...(failed.length === 0 ? [] : [`${joinTaskNames(failed)} failed`]),
    ...(heldTasks.length === 0
      ? []
      : [`${joinTaskNames(heldTasks)} ${heldTasks.length === 1 ? 'is' : 'are'} held back`]),
  ].join(', ');
}
