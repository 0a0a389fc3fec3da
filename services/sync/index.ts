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
import { Bandwidth } from './engine/bandwidth.ts';
import { ConfigFile } from './engine/config-file.ts';
import { Engine } from './engine/engine.ts';
import { RemoteSetups } from './engine/remote-setup.ts';
import { knownCause } from './domain/cause.ts';
import { numberIn } from './domain/stats.ts';
import { JobIds } from './jobs/ids.ts';
import type { Job } from './jobs/job.ts';
import { Jobs } from './jobs/jobs.ts';
import { manifest } from './manifest.ts';
import { createMetrics } from './metrics.ts';
import { Access } from './rclone-api/access.ts';
import { Dispatch } from './rclone-api/dispatch.ts';
import { syncListener } from './rclone-api/listener.ts';
import { ownCalls } from './rclone-api/own-calls.ts';
import { syncHandlers } from './app-api/api.ts';
import type { Settings } from './settings.ts';
import { JobStore } from './store/jobs.ts';
import { PlanStore } from './store/plans.ts';
import type { Tables } from './store/tables.ts';
import { TaskStore, type FailedTask, type Task } from './store/tasks.ts';
import { refuseKeptLinks } from './tasks/links.ts';
import { syncAccountData } from './tasks/account-data.ts';
import { isLocal, localMoverFor, localSync } from './tasks/local-job.ts';
import { Notices } from './tasks/notices.ts';
import { rcloneMover } from './tasks/rclone-mover.ts';
import { Tasks } from './tasks/tasks.ts';
import { forgetOld } from './tasks/upkeep.ts';

const hourMs = 3_600_000;

function workOf({ order: { kind, source, destination }, stats }: Job): RunningWork {
  const total = numberIn(stats, 'totalBytes');
  const ends = [source, destination].filter((end) => end !== undefined && end !== '');
  return {
    ...{ title: ends.length === 0 ? kind : ends.join(' to '), to: '/sync' },
    percent: total <= 0 ? null : Math.min(100, Math.round((numberIn(stats, 'bytes') / total) * 100)),
  };
}

/** File sync: rclone's remote control with a memory, brakes and a calendar. */
export const sync = defineService({ ...manifest, create });

function create(context: Context, given: Settings): Service {
  const { clock, log } = context;
  const db: Kysely<Tables> = context.db;
  const open = new AsyncDisposableStack();
  const store = new JobStore(db);
  const ids = new JobIds(context);
  const executeId = randomUUID();
  const live = createLiveSettings(given, () => bandwidth.settingChanged());
  const settings = live.current;
  const bandwidth: Bandwidth = new Bandwidth({ clock, engine: () => engine, setting: () => settings.bandwidth });
  const engine: Engine = new Engine({
    context,
    config: new ConfigFile(join(context.files, 'rclone.conf'), context),
    idleMs: () => settings.idleSeconds * 1000,
    rate: () => bandwidth.rate,
    onComplaint: (complaint) => jobs.complained(complaint),
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
      tasks.ended(job).catch((error: unknown) => log.error('what follows of a sync was lost', { error }));
    },
  });
  const metrics = createMetrics(context.metrics, {
    running: () => jobs.running.filter(({ order }) => order.durable).length,
    engineUp: () => engine.isRunning,
  });
  const setups = new RemoteSetups(() => engine, clock);
  const access = new Access(context.accounts);
  const own = ownCalls({ jobs, store, engine: () => engine, executeId });
  const dispatch = new Dispatch({
    ...{ access, jobs, ids, executeId, own, engine: () => engine },
    async without(path, input) {
      const { srcFs: source, dstFs: destination } = input;
      if ((path !== 'sync/sync' && path !== 'sync/copy') || !isLocal(source, destination)) return undefined;
      const isPlain = Object.keys(input).every((key) => key === 'srcFs' || key === 'dstFs');
      if (!isPlain || (await engine.isThere())) return undefined;
      const mode = path === 'sync/sync' ? 'sync' : 'copy';
      return (job) => localSync(job, context, { mode, source: String(source), destination: String(destination) });
    },
  });
  const plans = new PlanStore(db);
  const taskStore = new TaskStore(db);
  const notices = new Notices(context);
  const tasks: Tasks = new Tasks({
    ...{ context, access, jobs, notices, plans, runs: store, store: taskStore },
    limits: ({ maxDeletes, maxDeletePercent }) => ({
      files: maxDeletes ?? settings.maxDeletes,
      percent: maxDeletePercent ?? settings.maxDeletePercent,
    }),
    async moverFor({ source, destination }, job) {
      const isAlone = isLocal(source, destination) && !(await engine.isThere());
      return isAlone ? localMoverFor(job, context) : rcloneMover(engine, context);
    },
  });
  const upkeep = (): void => {
    const purge = async (place: string): Promise<void> => {
      if (isLocal(place)) {
        await refuseKeptLinks(place, '');
        return await rm(place, { recursive: true, force: true });
      }
      const options = { group: 'upkeep', exclude: [], signal: new AbortController().signal };
      await rcloneMover(engine, context).purge(place, options);
    };
    const { keepDays, keepReplacedDays } = settings;
    forgetOld({ context, runs: store, taskStore, purge, keepDays, keepReplacedDays }).catch((error: unknown) =>
      log.error('old history could not be removed', { error }),
    );
  };

  return {
    http: syncListener({ context, access, dispatch, jobs, engine: () => engine, answered: metrics.answered }),
    api: syncHandlers({ context, access, engine: () => engine, jobs, runs: store, setups, tasks, taskStore, plans }),
    async start() {
      open.use(engine);
      open.use(bandwidth);
      bandwidth.start();
      open.use(jobs);
      const left = await context.commit((transaction: Kysely<Tables>) => store.interrupt(transaction, clock.now()));
      open.use(notices.handle());
      open.use(tasks);
      open.use(clock.every(hourMs, upkeep));
      await tasks.start(left);
    },
    async health(): Promise<Health> {
      const running = jobs.running.filter(({ order }) => order.durable);
      if (running.length > 0) {
        return { state: 'up', detail: `${String(running.length)} running`, running: running.slice(0, 5).map(workOf) };
      }
      const { all, failed, held } = await taskStore.standing();
      const [first, another] = [...failed, ...held];
      if (first !== undefined) {
        const detail = needing(failed, held);
        const to = another === undefined ? `/sync/syncs/${String(first.id)}` : '/sync';
        return { state: 'up', detail, remedy: { label: failed.length > 0 ? 'See what failed' : 'See why', to } };
      }
      const begin = { label: 'Set up a first sync', to: '/sync' };
      if (all === 0) return { state: 'up', detail: 'nothing to sync yet', begin };
      return { state: 'up', detail: `${all === 1 ? '1 sync' : `${String(all)} syncs`}, none running` };
    },
    drain: { begin: () => tasks.hold(), running: () => jobs.running.filter(({ order }) => order.durable).length },
    accountData: syncAccountData({ commit: context.commit, db, jobs }),
    reconfigure: live.update,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** `Papers failed, Photos is held back`; of one that failed alone also why. */
function needing(failed: readonly FailedTask[], held: readonly Task[]): string {
  const [only] = failed;
  if (only !== undefined && failed.length + held.length === 1) {
    const why = firstSentence(knownCause(only.error, only.fields.source) ?? '') ?? '';
    return `${only.fields.name} failed${why === '' ? '' : `: ${why}`}`;
  }
  const names = (tasks: readonly Task[]): string => joinNames(tasks.map(({ fields }) => fields.name));
  return [
    ...(failed.length === 0 ? [] : [`${names(failed)} failed`]),
    ...(held.length === 0 ? [] : [`${names(held)} ${held.length === 1 ? 'is' : 'are'} held back`]),
  ].join(', ');
}
