import type { Clock } from '../../services/contracts/service.ts';
import { connectCalls, ConnectionClosed, type CallOptions, type MessageLine } from './calls.ts';
import type { HostAnswers, OpenedHost, Refusal, ShellAnswers } from './host-line.ts';

/** Child process of the services. */
export interface HostChild {
  readonly line: MessageLine;
  /** Kills the process. */
  kill(): void;
  /** Called once, when it has ended. */
  onExit(listener: () => void): void;
}

/**
 * `starting`: started and not open yet; `running`; `silent`: running but not responding; `waiting`: ended
 * unexpectedly and restarts soon; `stopped`: ended on request, or could not start.
 */
export type HostPhase = 'starting' | 'running' | 'silent' | 'waiting' | 'stopped';

export interface HostProcessOptions {
  readonly fork: () => HostChild;
  readonly clock: Clock;
  readonly answers: Omit<ShellAnswers, 'opened' | 'refused'>;
  /** Called when the host has opened, also after each restart. */
  opened(host: OpenedHost): void;
  /** Called when the first start failed; a host that ran before is restarted instead. */
  refused(refusal: Refusal): void;
  /** Called when it ended unexpectedly; once for several consecutive ends. */
  lost(): void;
  /** Called when the phase has changed. */
  changed(phase: HostPhase): void;
}

export interface HostProcess extends AsyncDisposable {
  readonly ask: CallOptions<HostAnswers>;
  phase(): HostPhase;
  /** Returns why it could not be restarted; null when unknown or running. */
  reason(): string | null;
  /** Ends the running process, or the pause before the next, and starts it again. */
  restart(): void;
  /** Lets the process end all services within the time limit that it reports, then kills it. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Pauses in ms before the first, second, … restart; the last one repeats. */
const pauses = [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000] as const;
/** Run time after which an end does not count as consecutive. */
const steadyMs = 60_000;
const pingIntervalMs = 3000;
/** A full disk or a computer under load may delay the response by a few seconds. */
const unresponsiveAfterMs = 9000;
/** Time until a process that does not respond to `stop` is killed. */
const unansweredMs = 6000;

/**
 * Supervises the process of the services: restarts it after unexpected ends with growing pauses, and detects when it
 * does not respond.
 */
export function superviseHostProcess(options: HostProcessOptions): HostProcess {
  const { clock } = options;
  let current: { readonly child: HostChild; readonly ask: CallOptions<HostAnswers> } | undefined;
  let phase: HostPhase = 'starting';
  let everOpened = false;
  let openedAt = 0;
  let failures = 0;
  let reason: string | null = null;
  let restartTimer: Disposable | undefined;
  let stopped: PromiseWithResolvers<void> | undefined;

  const turn = (to: HostPhase): void => {
    phase = to;
    options.changed(to);
  };

  const start = (): void => {
    restartTimer?.[Symbol.dispose]();
    restartTimer = undefined;
    const child = options.fork();
    const answers: ShellAnswers = {
      ...options.answers,
      opened(host) {
        everOpened = true;
        reason = null;
        openedAt = clock.now();
        turn('running');
        options.opened(host);
      },
      refused(refusal) {
        if (everOpened) reason = refusal.reason;
        else {
          phase = 'stopped';
          options.refused(refusal);
        }
      },
    };
    const { ask, close } = connectCalls<HostAnswers>(child.line, answers);
    const watch = watchAnswers(ask, clock, (isSilent) => {
      if (phase === 'running' || phase === 'silent') turn(isSilent ? 'silent' : 'running');
    });
    current = { child, ask };
    child.onExit(() => {
      watch[Symbol.dispose]();
      close();
      current = undefined;
      ended();
    });
    turn('starting');
  };

  const ended = (): void => {
    if (stopped !== undefined) return stopped.resolve();
    if (phase === 'stopped') return;
    if (phase !== 'starting' && clock.now() - openedAt >= steadyMs) failures = 0;
    const pause = pauses[Math.min(failures, pauses.length - 1)] ?? 0;
    failures += 1;
    restartTimer = clock.after(pause, start);
    turn('waiting');
    if (failures === 1) options.lost();
  };

  start();
  return {
    ask: (name, ...argument) =>
      current?.ask(name, ...argument) ?? Promise.reject(new ConnectionClosed('The services do not run.')),
    phase: () => phase,
    reason: () => reason,
    restart() {
      if (stopped !== undefined) return;
      failures = 0;
      if (current === undefined) return start();
      // Its end triggers the next start; an unresponsive process would not handle `stop`.
      current.child.kill();
    },
    async [Symbol.asyncDispose]() {
      if (stopped !== undefined) return stopped.promise;
      stopped = Promise.withResolvers();
      restartTimer?.[Symbol.dispose]();
      turn('stopped');
      if (current === undefined) return;
      const { child, ask } = current;
      let limit = clock.after(unansweredMs, () => child.kill());
      ask('stop').then(
        (ms) => {
          limit[Symbol.dispose]();
          limit = clock.after(ms, () => child.kill());
        },
        // It has already ended.
        () => undefined,
      );
      await stopped.promise;
      limit[Symbol.dispose]();
    },
  };
}

/** Pings the process; `told` is called with each change. */
function watchAnswers(
  ask: CallOptions<HostAnswers>,
  clock: Clock,
  onSilenceChange: (isSilent: boolean) => void,
): Disposable {
  let pingSentAt: number | undefined;
  let silent = false;
  return clock.every(pingIntervalMs, () => {
    if (pingSentAt === undefined) {
      pingSentAt = clock.now();
      ask('alive').then(
        () => {
          pingSentAt = undefined;
          if (silent) onSilenceChange(false);
          silent = false;
        },
        // Its end is reported separately.
        () => undefined,
      );
    } else if (!silent && clock.now() - pingSentAt >= unresponsiveAfterMs) {
      silent = true;
      onSilenceChange(true);
    }
  });
}
