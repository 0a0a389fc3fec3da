import { createServer } from 'node:net';
import type { BackupStore } from '../../services/contracts/control/backups.ts';
import type { Machine } from '../../services/contracts/control/overview.ts';
import type { HostControl } from '../../services/contracts/control/host.ts';
import { jobsChanged } from '../../services/contracts/jobs.ts';
import { Problem } from '../../services/contracts/problem.ts';
import type { Log, ServiceManifest } from '../../services/contracts/service.ts';
import type { FirstRun } from './accounts/first-run.ts';
import type { Sessions } from './accounts/sessions.ts';
import type { Config } from './config/config.ts';
import { portsIn, type Change, type Settings } from './config/settings.ts';
import type { HostEngines } from './engines/engines.ts';
import { createApiRouter } from './http/api-router.ts';
import { bindAll } from './http/bind.ts';
import { buildOpenApiDocument } from './http/openapi.ts';
import { createStaticPages } from './http/static-pages.ts';
import { formatCursor, parseCursor } from './log/cursor.ts';
import { readLinesBefore, selectLines } from './log/history.ts';
import { createFilter } from './log/log.ts';
import { writeReport } from './log/report.ts';
import type { Pulses } from './metrics/pulse.ts';
import type { HostDependencies } from './services/host-parts.ts';
import type { ServiceRunner } from './services/service-runner.ts';
import { version } from './runtime/version.ts';

interface HostControlDependencies {
  readonly parts: HostDependencies;
  readonly config: Config;
  /** Manifests of all services, including those that are not running. */
  readonly manifests: readonly Pick<ServiceManifest, 'live'>[];
  readonly runners: ReadonlyMap<string, ServiceRunner>;
  readonly engines: HostEngines;
  readonly firstRun: FirstRun;
  /** Groups of account names that differ only in case. */
  readonly collisions: readonly (readonly string[])[];
  readonly sessions: Pick<Sessions, 'openSession' | 'sessions' | 'endSession' | 'endSessions'>;
  readonly safeMode: boolean;
  readonly pages: string;
  readonly backups: BackupStore;
  /** Current log file; rotated files are in the same folder. */
  readonly logFile: string;
  readonly pulses: Pulses;
  readonly machine: () => Promise<Machine>;
}

/** Creates the host's controls for the control service. */
export function createHostControl(dependencies: HostControlDependencies): HostControl {
  const { parts, config, runners, engines, firstRun } = dependencies;
  const runner = (id: string): ServiceRunner => {
    const runner = runners.get(id);
    if (runner === undefined) throw new Problem('host.unknown_service', 404, 'There is no such service.');
    return runner;
  };
  /** Applies changed settings to services; returns those that were restarted or will be. */
  const applyToServices = async (change: Change): Promise<Record<'restarted' | 'pending', string[]>> => {
    const applied: Record<'restarted' | 'pending', string[]> = { restarted: [], pending: [] };
    for (const id of change.sections) {
      const settings = config.read().services[id];
      const service = runners.get(id);
      if (settings === undefined || service === undefined) continue;
      // The response to the current request goes through the control listener, so it restarts after the response was
      // sent.
      const apply = (): ReturnType<ServiceRunner['apply']> => service.apply(settings, config.getProblems(id));
      if (service.descriptor.capabilities?.includes('controlHost')) {
        setImmediate(() => void apply());
        applied.restarted.push(id);
        continue;
      }
      const how = await apply();
      if (how !== 'live') applied[how].push(id);
    }
    return applied;
  };
  /** Statistics of the service can change when its jobs are modified from outside. */
  const publishJobsChanged = (service: string, isTouched: boolean): boolean => {
    if (isTouched) parts.bus.publish(jobsChanged, { service });
    return isTouched;
  };
  const handlers: HostControl['apiHandlers'] = () => [...runners.values()].flatMap(({ service }) => service?.api ?? []);

  return {
    version,
    safeMode: dependencies.safeMode,
    configProblems: () => [
      ...config.problems.map(({ path, message }) => ({ path, message })),
      ...dependencies.collisions.map((names) => ({ path: '', message: collisionMessage(names) })),
    ],
    openSession: (account, from) => dependencies.sessions.openSession(account, from),
    sessions: async (account) =>
      (await dependencies.sessions.sessions(account)).map(({ account: _account, ...session }) => session),
    endSession: (account, id) => dependencies.sessions.endSession(account, id),
    endSessions: (account) => dependencies.sessions.endSessions(account),
    accountData: (account) => parts.releases.summary(account),
    services: () => Promise.all([...runners.values()].map((each) => each.refresh())),
    async restart(id) {
      const own = runner(id);
      // The settings may have been repaired in the file; a running service must not get other changes of the file.
      const isBarred = config.getProblems(id).length > 0;
      if (!isBarred || !(await applyToServices(await config.reread())).restarted.includes(id)) await own.restart();
      return own.state;
    },
    async replaceKey(id, name) {
      await runner(id).replaceKey(name);
      return runner(id).state;
    },
    pulses: () => dependencies.pulses.list(),
    machine: dependencies.machine,
    settings: () => config.describe(),
    async changeSettings(section, patch) {
      const before = config.read();
      const getCurrentPort = (id: string, setting: string): number | null =>
        runners.get(id)?.state.listeners.find((listener) => listener.setting === setting)?.port ?? null;
      const verify = (next: Settings): Promise<void> => refuseTakenPorts(before, next, getCurrentPort, parts.log);
      return await applyToServices(await config.change(section, patch, verify));
    },
    engines: () => engines.states(),
    async installEngine(name, { wait }) {
      const installed = engines.install(name);
      if (wait) await installed;
      else installed.catch((error: unknown) => parts.log.warn('engine installation failed', { engine: name, error }));
      return await engines.state(name);
    },
    verifyEngine: (name) => engines.state(name, { refresh: true }),
    async removeEngine(name) {
      await engines.remove(name);
      return await engines.state(name);
    },
    async log({ limit, before = Infinity, cursor, ...asked }) {
      const filter = Object.fromEntries(
        Object.entries(asked).filter(([, value]) => value !== undefined),
      ) as typeof asked;
      const fits = createFilter(filter);
      const from =
        cursor === undefined ? { at: before, passed: before === Infinity ? 0 : Infinity } : parseCursor(cursor);
      const newest = selectLines(parts.log.recent({ limit: Infinity }).toReversed(), { from, limit, fits });
      // The ring buffer is exhausted: older lines are read from the files.
      const older = newest.isWhole
        ? await readLinesBefore(dependencies.logFile, {
            from: newest.position,
            limit: limit - newest.lines.length,
            fits,
          })
        : { lines: [], position: newest.position, isWhole: false };
      const lines = [...newest.lines, ...older.lines].toReversed();
      return {
        lines: lines.map(({ at, level, service, message, fields }) => ({ time: at, level, service, message, fields })),
        cursor: older.isWhole ? null : formatCursor(older.position),
      };
    },
    backups: dependencies.backups,
    report: () => writeReport({ version, runners, config, engines, log: parts.log }),
    async deadJobs() {
      const lists = await Promise.all(
        [...runners].map(async ([service, { jobs }]) => {
          const dead = (await jobs?.list({ state: 'dead', limit: 500 })) ?? [];
          return dead.map((job) => ({ service, ...job }));
        }),
      );
      return lists.flat().sort((a, b) => b.createdAt - a.createdAt);
    },
    retryJob: async (service, id) => publishJobsChanged(service, (await runner(service).jobs?.retry(id)) ?? false),
    dropJob: async (service, id) => publishJobsChanged(service, (await runner(service).jobs?.drop(id)) ?? false),
    liveTopics: dependencies.manifests.flatMap(({ live = [] }) => live),
    apiHandlers: handlers,
    openApi: () => buildOpenApiDocument({ title: 'Homeport', version, handlers: handlers() }),
    handleApi: createApiRouter({
      handlers,
      accounts: parts.accounts,
      caller: parts.caller,
      log: parts.log.child('api'),
    }),
    handlePage: createStaticPages({ folder: dependencies.pages }),
    metrics: (service) => parts.metrics.text(service),
    firstRun: {
      needed: async () => firstRun.needed(),
      complete: async (code, name, password) => {
        await firstRun.complete(code, name, password);
      },
    },
  };
}

/**
 * Validates before commit: a port that another program uses is rejected while the old port still works. `held`
 * returns the current port of a listener, which may be configured permanently if it was chosen at random.
 */
async function refuseTakenPorts(
  before: Settings,
  next: Settings,
  getCurrentPort: (id: string, setting: string) => number | null,
  log: Log,
): Promise<void> {
  const requestedPorts = Object.entries(next.services).flatMap(([id, each]) =>
    each.enabled ? [...portsIn(each)].map(([setting, port]) => ({ id, setting, port })) : [],
  );
  for (const { id, setting, port } of requestedPorts) {
    const old = before.services[id];
    if (port === 0 || (old !== undefined && portsIn(old).get(setting) === port) || getCurrentPort(id, setting) === port)
      continue;
    const own = requestedPorts.find((other) => (other.id !== id || other.setting !== setting) && other.port === port);
    const path = `services.${id}.${setting}`;
    if (own !== undefined) {
      const message = `Port ${port} is already that of ${own.id}.`;
      throw new Problem('config.invalid', 422, message, { fields: { [path]: message } });
    }
    try {
      const { servers } = await bindAll(createServer, { hosts: ['127.0.0.1', '::1'], port, log });
      for (const server of servers) server.close();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const fields = { [path]: error.detail };
      throw new Problem(error.code, error.status, error.detail, { cause: error, fields });
    }
  }
}

function collisionMessage(names: readonly string[]): string {
  return `These names differ in case only: ${names.join(', ')}. Services treat them as one name; remove all but one.`;
}
