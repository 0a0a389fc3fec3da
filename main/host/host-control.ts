import * as m from '#messages/host-problems';
import { currentPlatform } from '../../services/kit/platform/current-platform.ts';
import { createServer } from 'node:net';
import type { Bus } from '../../services/contracts/bus.ts';
import type { BackupStore } from '../../services/contracts/control/backups.ts';
import type { Machine } from '../../services/contracts/control/overview.ts';
import type { HostControl, OtherHosts } from '../../services/contracts/control/host.ts';
import { jobsChanged } from '../../services/contracts/jobs.ts';
import { Problem } from '../../services/contracts/problem.ts';
import { readTexts } from '../../services/contracts/text.ts';
import { runOutsideRequests } from '../../services/kit/language.ts';
import type { Log, ServiceManifest } from '../../services/contracts/service.ts';
import type { FirstRun } from './accounts/first-run.ts';
import type { Sessions } from './accounts/sessions.ts';
import type { Config } from './config/config.ts';
import { portsIn, type Change, type Settings } from './config/settings.ts';
import type { HostEngines } from './engines/engines.ts';
import type { HostDirectory } from './hosts/host-directory.ts';
import { CachedByHandlers } from './http/cached-by-handlers.ts';
import { bindAll } from './http/bind.ts';
import { buildOpenApiDocument } from './http/openapi.ts';
import { readLogPage } from './log/log-page.ts';
import { writeReport } from './services/report.ts';
import type { Pulses } from './metrics/pulse.ts';
import type { HostDependencies } from './services/host-parts.ts';
import { readRecentActivity } from './services/recent-activity.ts';
import type { HostReadiness } from './services/readiness.ts';
import type { ServiceRunner } from './services/service-runner.ts';
import { version } from './runtime/version.ts';

/** Services and their programs. */
export interface ControlledServices {
  /** Manifests of all services, including those that are not running. */
  readonly manifests: readonly Pick<ServiceManifest, 'live'>[];
  readonly runners: ReadonlyMap<string, ServiceRunner>;
  readonly engines: HostEngines;
}

/** Sessions of accounts, the first administrator and conflicts of names. */
export interface ControlledAccounts {
  readonly firstRun: FirstRun;
  /** Groups of account names that differ only in case. */
  readonly collisions: readonly (readonly string[])[];
  readonly sessions: Pick<Sessions, 'openSession' | 'sessions' | 'endSession' | 'endSessions'>;
}

/** Measurements and the log of the host. */
export interface HostMonitoring {
  /** Current log file; rotated files are in the same folder. */
  readonly logFile: string;
  readonly pulses: Pulses;
  readonly machine: () => Promise<Machine>;
  readonly readiness: Pick<HostReadiness, 'check'>;
  readonly hosts: Pick<HostDirectory, 'list'>;
}

interface HostControlDependencies {
  readonly parts: HostDependencies;
  readonly config: Config;
  readonly services: ControlledServices;
  readonly accounts: ControlledAccounts;
  readonly safeMode: boolean;
  readonly backups: BackupStore;
  readonly monitoring: HostMonitoring;
}

/** Creates the host's controls for the control service. */
export function createHostControl(dependencies: HostControlDependencies): HostControl {
  const { parts, config } = dependencies;
  const { runners, engines } = dependencies.services;
  const handlers: HostControl['apiHandlers'] = () => [...runners.values()].flatMap(({ service }) => service?.api ?? []);
  const openApi = new CachedByHandlers(handlers, (all) =>
    buildOpenApiDocument({ title: 'Homeport', version, handlers: all }),
  );
  return {
    version,
    platform: currentPlatform,
    safeMode: dependencies.safeMode,
    configProblems: () => [
      ...config.problems.map(({ path, message }) => ({ path, message })),
      ...dependencies.accounts.collisions.map((names) => ({ path: '', message: collisionMessage(names) })),
    ],
    readiness: () => dependencies.monitoring.readiness.check(),
    hosts: () => dependencies.monitoring.hosts.list(),
    ...createAccountControl(dependencies),
    ...createServiceControl(runners, config, parts.observation.log),
    pulses: () => dependencies.monitoring.pulses.list(),
    machine: dependencies.monitoring.machine,
    otherHosts: () => readOtherHosts(dependencies.parts),
    recentActivity: (query) => readRecentActivity(runners, query, parts.observation.log),
    ...createEngineControl(engines, parts.observation.log),
    log: (query) => readLogPage(parts.observation.log, dependencies.monitoring.logFile, query),
    backups: dependencies.backups,
    report: () => writeReport({ version, runners, config, engines, log: parts.observation.log }),
    ...createJobControl(runners, parts.messaging.bus),
    liveTopics: dependencies.services.manifests.flatMap(({ live = [] }) => live),
    apiHandlers: handlers,
    async openApi() {
      // Like a service that is not running, one that cannot be loaded is missing in the document.
      await Promise.allSettled([...runners.values()].map((runner) => runner.load()));
      return openApi.get();
    },
    metrics: (service) => parts.observation.metrics.text(service),
  };
}

/** Creates the controls of sessions, account data and the first start. */
function createAccountControl({
  accounts: { sessions, firstRun },
  parts,
}: Pick<HostControlDependencies, 'accounts' | 'parts'>): Pick<
  HostControl,
  'openSession' | 'sessions' | 'endSession' | 'endSessions' | 'oneTimeLinkPages' | 'accountData' | 'firstRun'
> {
  return {
    openSession: (account, from) => sessions.openSession(account, from),
    sessions: async (account) => (await sessions.sessions(account)).map(({ account: _account, ...session }) => session),
    endSession: (account, id) => sessions.endSession(account, id),
    endSessions: (account) => sessions.endSessions(account),
    oneTimeLinkPages: () => parts.addresses.appPages.listOneTimeLinkPages(),
    accountData: (account) => parts.identities.releases.summary(account),
    firstRun: {
      needed: async () => firstRun.needed(),
      complete: async (code, name, password) => {
        await firstRun.complete(code, name, password);
      },
    },
  };
}

/** Creates the controls of services and their settings. */
function createServiceControl(
  runners: ReadonlyMap<string, ServiceRunner>,
  config: Config,
  log: Log,
): Pick<HostControl, 'services' | 'restart' | 'replaceKey' | 'settings' | 'changeSettings'> {
  return {
    async services() {
      const statuses = await Promise.all([...runners.values()].map((each) => each.refresh()));
      return statuses.map((status) => readTexts(status));
    },
    async restart(id) {
      const runner = getRunner(runners, id);
      // The settings may have been repaired in the file; a running service must not get other changes of the file.
      const isBarred = config.getProblems(id)().length > 0;
      const isApplied =
        isBarred && (await applyToServices(runners, config, await config.reread())).restarted.includes(id);
      if (!isApplied) await runner.restart();
      return runner.state;
    },
    async replaceKey(id, name) {
      const runner = getRunner(runners, id);
      await runner.replaceKey(name);
      return runner.state;
    },
    settings: () => config.describe(),
    async changeSettings(section, patch) {
      const before = config.read();
      const getCurrentPort = (id: string, setting: string): number | null =>
        runners.get(id)?.state.listeners.find((listener) => listener.setting === setting)?.port ?? null;
      const verify = (next: Settings): Promise<void> => refuseTakenPorts(before, next, getCurrentPort, log);
      return await applyToServices(runners, config, await config.change(section, patch, verify));
    },
  };
}

function createEngineControl(
  engines: HostEngines,
  log: Log,
): Pick<HostControl, 'engines' | 'installEngine' | 'verifyEngine' | 'removeEngine'> {
  return {
    engines: () => engines.states(),
    async installEngine(name, { wait }) {
      const installed = engines.install(name);
      if (wait) await installed;
      else installed.catch((error: unknown) => log.warn('engine installation failed', { engine: name, error }));
      return await engines.state(name);
    },
    verifyEngine: (name) => engines.state(name, { refresh: true }),
    async removeEngine(name) {
      await engines.remove(name);
      return await engines.state(name);
    },
  };
}

/** Creates the controls of dead jobs. */
function createJobControl(
  runners: ReadonlyMap<string, ServiceRunner>,
  bus: Bus,
): Pick<HostControl, 'deadJobs' | 'retryJob' | 'dropJob'> {
  /** Statistics of the service can change when its jobs are modified from outside. */
  const publishJobsChanged = (service: string, isTouched: boolean): boolean => {
    if (isTouched) bus.publish(jobsChanged, { service });
    return isTouched;
  };
  return {
    async deadJobs() {
      const lists = await Promise.all(
        [...runners].map(async ([service, { jobs }]) => {
          const dead = (await jobs?.list({ state: 'dead', limit: 500 })) ?? [];
          return dead.map((job) => ({ service, ...job }));
        }),
      );
      return lists.flat().sort((a, b) => b.createdAt - a.createdAt);
    },
    retryJob: async (service, id) =>
      publishJobsChanged(service, (await getRunner(runners, service).jobs?.retry(id)) ?? false),
    dropJob: async (service, id) =>
      publishJobsChanged(service, (await getRunner(runners, service).jobs?.drop(id)) ?? false),
  };
}

/** @throws Problem `host.unknown_service` (404). */
function getRunner(runners: ReadonlyMap<string, ServiceRunner>, id: string): ServiceRunner {
  const runner = runners.get(id);
  if (runner === undefined) throw new Problem('host.unknown_service', 404, m.serviceNotFound());
  return runner;
}

/** Applies changed settings to services; returns those that were restarted or will be. */
async function applyToServices(
  runners: ReadonlyMap<string, ServiceRunner>,
  config: Config,
  change: Change,
): Promise<Record<'restarted' | 'pending', string[]>> {
  const applied: Record<'restarted' | 'pending', string[]> = { restarted: [], pending: [] };
  for (const id of change.sections) {
    const settings = config.read().services[id];
    const service = runners.get(id);
    if (settings === undefined || service === undefined) continue;
    // The response to the current request uses the control listener, so it restarts after the response was sent.
    const apply = (): ReturnType<ServiceRunner['apply']> => service.apply(settings, config.getProblems(id));
    if (service.descriptor.capabilities?.includes('controlHost')) {
      runOutsideRequests(() => setImmediate(() => void apply()));
      applied.restarted.push(id);
      continue;
    }
    const outcome = await apply();
    if (outcome !== 'live') applied[outcome].push(id);
  }
  return applied;
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
      const message = m.portOfService({ port: String(port), service: own.id });
      throw new Problem('config.invalid', 422, message, { fields: { [path]: message } });
    }
    try {
      const { servers } = await bindAll(createServer, { hosts: ['127.0.0.1', '::1'], port, log });
      for (const server of servers) server.close();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const fields = { [path]: error.detail };
      throw new Problem(error.code, error.status, error.text, { cause: error, fields });
    }
  }
}

function collisionMessage(names: readonly string[]): string {
  return m.namesCollide({ names: names.join(', ') });
}

function readOtherHosts({ storage: { relay } }: HostDependencies): OtherHosts | undefined {
  if (relay === undefined) return undefined;
  const { kind, otherHosts } = relay.state;
  return { over: kind === 'nats' ? 'NATS' : 'PostgreSQL', connected: otherHosts };
}
