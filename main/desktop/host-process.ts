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

/** Starts the process of the services and supervises it. */
export function superviseHostProcess(options: HostProcessOptions): HostProcess {
  return new HostSupervisor(options);
}

/**
 * Supervises the process of the services: restarts it after unexpected ends with growing pauses, and detects when it
 * does not respond.
 */
class HostSupervisor implements HostProcess {
  readonly #options: HostProcessOptions;
  #current: { readonly child: HostChild; readonly ask: CallOptions<HostAnswers> } | undefined;
  #phase: HostPhase = 'starting';
  #everOpened = false;
  #openedAt = 0;
  #failures = 0;
  #reason: string | null = null;
  #restartTimer: Disposable | undefined;
  #stopped: PromiseWithResolvers<void> | undefined;

  constructor(options: HostProcessOptions) {
    this.#options = options;
    this.#start();
  }

  readonly ask: CallOptions<HostAnswers> = (name, ...argument) =>
    this.#current?.ask(name, ...argument) ?? Promise.reject(new ConnectionClosed('The services do not run.'));

  phase(): HostPhase {
    return this.#phase;
  }

  reason(): string | null {
    return this.#reason;
  }

  restart(): void {
    if (this.#stopped !== undefined) return;
    this.#failures = 0;
    if (this.#current === undefined) return this.#start();
    // Its end triggers the next start; an unresponsive process would not handle `stop`.
    this.#current.child.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#stopped !== undefined) return this.#stopped.promise;
    this.#stopped = Promise.withResolvers();
    this.#restartTimer?.[Symbol.dispose]();
    this.#turn('stopped');
    if (this.#current === undefined) return;
    const { child, ask } = this.#current;
    const { clock } = this.#options;
    let limit = clock.after(unansweredMs, () => child.kill());
    ask('stop').then(
      (ms) => {
        limit[Symbol.dispose]();
        limit = clock.after(ms, () => child.kill());
      },
      // It has already ended.
      () => undefined,
    );
    await this.#stopped.promise;
    limit[Symbol.dispose]();
  }

  #turn(phase: HostPhase): void {
    this.#phase = phase;
    this.#options.changed(phase);
  }

  #start(): void {
    this.#restartTimer?.[Symbol.dispose]();
    this.#restartTimer = undefined;
    const child = this.#options.fork();
    const { ask, close } = connectCalls<HostAnswers>(child.line, this.#createAnswers());
    const watch = watchAnswers(ask, this.#options.clock, (isSilent) => {
      if (this.#phase === 'running' || this.#phase === 'silent') this.#turn(isSilent ? 'silent' : 'running');
    });
    this.#current = { child, ask };
    child.onExit(() => {
      watch[Symbol.dispose]();
      close();
      this.#current = undefined;
      this.#handleExit();
    });
    this.#turn('starting');
  }

  /** Creates the handlers for calls of the process. */
  #createAnswers(): ShellAnswers {
    const { answers, clock } = this.#options;
    return {
      ...answers,
      opened: (host) => {
        this.#everOpened = true;
        this.#reason = null;
        this.#openedAt = clock.now();
        this.#turn('running');
        this.#options.opened(host);
      },
      refused: (refusal) => {
        if (this.#everOpened) this.#reason = refusal.reason;
        else {
          this.#phase = 'stopped';
          this.#options.refused(refusal);
        }
      },
    };
  }

  /** Schedules the next start after an unexpected end. */
  #handleExit(): void {
    if (this.#stopped !== undefined) return this.#stopped.resolve();
    if (this.#phase === 'stopped') return;
    const { clock } = this.#options;
    if (this.#phase !== 'starting' && clock.now() - this.#openedAt >= steadyMs) this.#failures = 0;
    const pause = pauses[Math.min(this.#failures, pauses.length - 1)] ?? 0;
    this.#failures += 1;
    this.#restartTimer = clock.after(pause, () => this.#start());
    this.#turn('waiting');
    if (this.#failures === 1) this.#options.lost();
  }
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
