import type { Bus } from '../../services/contracts/bus.ts';
import type { HostControl } from '../../services/contracts/control/host.ts';
import { computerResumed } from '../../services/contracts/control/machine.ts';
import type { Log } from '../../services/contracts/service.ts';
import { formatSettingsProblem } from './config/reason.ts';
import { getServiceSettings } from './config/settings.ts';
import type { Kernel } from './kernel.ts';
import { getAddresses, getFailures } from './services/runners.ts';
import { getStopTimeout } from './services/service-run.ts';
import type { HostLifecycle } from './services/readiness.ts';
import type { ServiceRunner } from './services/service-runner.ts';

/** Session of the app's own window. */
export interface WindowSession {
  /** Session secret that the window's pages send. */
  readonly secret: string;
  end(): Promise<void>;
}

/** Running host without a window, with all services on their ports. */
export interface Host extends AsyncDisposable {
  /**
   * Base addresses of all open listeners: main listeners by service id, others as `git.ssh`. Listeners of a starting
   * service answer 503.
   */
  addresses(): Readonly<Record<string, string>>;
  /** Services that are still starting after the time limit. */
  starting(): readonly string[];
  /** Failure reasons of services by id; of a closed listener of a running service as `git.ssh`. */
  failures(): Readonly<Record<string, string>>;
  readonly safeMode: boolean;
  /** Control over the host, for the desktop shell in the same process. */
  readonly control: HostControl;
  readonly bus: Bus;
  /** Handles the resume of the computer: checks timers and the health of all services. */
  resumed(): Promise<void>;
  /** True when the settings open the page in the browser after a start. */
  readonly opensBrowser: boolean;
  /**
   * Returns the errors in the settings in the current language, one sentence each: in safe mode all of them, else those that do not already explain a
   * stopped service.
   */
  configProblems(): readonly string[];
  /** Signs in the app's own window; undefined when its user signs in by password. */
  signInWindow(): Promise<WindowSession | undefined>;
  /** Returns the one-time link for creating the first administrator; undefined once there is one. */
  setupUrl(): Promise<string | undefined>;
  /**
   * Announces the end to load balancers, and resolves after the drain time of the settings. Requests are answered in the
   * meantime.
   */
  drain(): Promise<void>;
  /** Returns the time limit for the drain and the stop, from the current settings and the services. */
  stopTimeoutMs(): number;
  /** Services that did not stop in time; their work continues until the process ends. */
  getLeftBehind(): readonly string[];
  readonly log: Log;
}

/** Creates the interface of the running host; disposal closes its resources. */
export function createHost(
  { config, accounts, hosts, parts }: Kernel,
  {
    control,
    runners,
    lifecycle,
    resources,
  }: {
    readonly control: HostControl;
    readonly runners: ReadonlyMap<string, ServiceRunner>;
    readonly lifecycle: HostLifecycle;
    readonly resources: AsyncDisposableStack;
  },
): Host {
  const { log } = parts.observation;
  const { safeMode } = control;
  return {
    safeMode,
    control,
    bus: parts.messaging.bus,
    async resumed() {
      parts.messaging.bus.publish(computerResumed, {});
      await control.services();
    },
    opensBrowser: config.read().host.openBrowser,
    configProblems: () =>
      config.problems
        .filter(({ path }) => safeMode || runners.get(getServiceSettings(path) ?? '')?.status.state !== 'failed')
        .map(formatSettingsProblem),
    addresses: () => getAddresses(runners),
    starting: () => [...runners].filter(([, runner]) => runner.state.state === 'starting').map(([id]) => id),
    failures: () => getFailures(runners),
    async signInWindow() {
      return accounts.signInHere({ remoteAddress: '127.0.0.1', userAgent: 'Homeport window' });
    },
    async setupUrl() {
      const base = parts.addresses.address('control');
      if (base === undefined || !accounts.firstRun.needed()) return undefined;
      return `${base}/setup?code=${await accounts.firstRun.code()}`;
    },
    async drain() {
      lifecycle.isDraining = true;
      hosts.report();
      await waitForDrain(config.read().host.drainTime, parts);
    },
    stopTimeoutMs: () =>
      config.read().host.drainTime * 1000 +
      Math.max(1000, ...[...runners.values()].map(({ descriptor }) => getStopTimeout(descriptor, parts.runtime))),
    getLeftBehind: () => [...runners].filter(([, runner]) => runner.isLeftBehind).map(([id]) => id),
    log,
    async [Symbol.asyncDispose]() {
      lifecycle.isDraining = true;
      log.info('host is stopping');
      await resources.disposeAsync();
    },
  };
}

/** Resolves after the drain time in seconds. */
async function waitForDrain(seconds: number, { observation, runtime }: Kernel['parts']): Promise<void> {
  if (seconds === 0) return;
  observation.log.info('host is draining', { seconds });
  const { promise, resolve } = Promise.withResolvers<void>();
  using _timer = runtime.clock.after(seconds * 1000, resolve);
  await promise;
}
