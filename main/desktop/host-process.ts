import type { Clock } from '../../services/contracts/service.ts';
import { connectCalls, LineClosed, type Ask, type Line } from './calls.ts';
import type { HostAnswers, OpenedHost, Refusal, ShellAnswers } from './host-line.ts';

/** A process that was started for the services. */
export interface HostChild {
  readonly line: Line;
  /** Ends it at once, whatever it is doing. */
  kill(): void;
  /** Told once, when it has ended. */
  onExit(listener: () => void): void;
}

/**
 * `starting`: it was started and has not opened yet; `running`; `silent`: it runs, and does not answer; `waiting`: it
 * ended by itself and is started again soon; `stopped`: it was told to end, or could not begin.
 */
export type HostPhase = 'starting' | 'running' | 'silent' | 'waiting' | 'stopped';

export interface HostProcessOptions {
  readonly fork: () => HostChild;
  readonly clock: Clock;
  readonly answers: Omit<ShellAnswers, 'opened' | 'refused'>;
  /** It has opened; also each time that it was started again. */
  opened(host: OpenedHost): void;
  /** It could not open at the first start; one that ran before is tried again instead. */
  refused(refusal: Refusal): void;
  /** It ended by itself; told once for several ends in a row. */
  lost(): void;
  /** Its phase has changed. */
  changed(phase: HostPhase): void;
}

export interface HostProcess extends AsyncDisposable {
  readonly ask: Ask<HostAnswers>;
  phase(): HostPhase;
  /** Why it could not be started again; null where it did not say, or runs. */
  reason(): string | null;
  /** Ends the one that runs, or the wait for the next, and starts it anew. */
  restart(): void;
  /** Lets it end all services for as long as it says that this may take, then ends it by force. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** ms before it is started again: the first time, the second, …; the last goes on. */
const pauses = [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000] as const;
/** Who has run so long is not in a row of failures. */
const steadyMs = 60_000;
const askEveryMs = 3000;
/** A full disk or a machine under load may hold it up for a few seconds. */
const silentAfterMs = 9000;
/** Who does not even say how long stopping takes is ended after this time. */
const unansweredMs = 6000;

/** Keeps the services' process: starts it again when it ends by itself, later each time, and sees when it does not answer. */
export function keepHostProcess(options: HostProcessOptions): HostProcess {
  const { clock } = options;
  let current: { readonly child: HostChild; readonly ask: Ask<HostAnswers> } | undefined;
  let phase: HostPhase = 'starting';
  let everOpened = false;
  let openedAt = 0;
  let failures = 0;
  let reason: string | null = null;
  let again: Disposable | undefined;
  let stopped: PromiseWithResolvers<void> | undefined;

  const turn = (to: HostPhase): void => {
    phase = to;
    options.changed(to);
  };

  const start = (): void => {
    again?.[Symbol.dispose]();
    again = undefined;
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
    again = clock.after(pause, start);
    turn('waiting');
    if (failures === 1) options.lost();
  };

  start();
  return {
    ask: (name, ...argument) =>
      current?.ask(name, ...argument) ?? Promise.reject(new LineClosed('The services do not run.')),
    phase: () => phase,
    reason: () => reason,
    restart() {
      if (stopped !== undefined) return;
      failures = 0;
      if (current === undefined) return start();
      // Its end starts the next; who does not answer would not hear that it should stop.
      current.child.kill();
    },
    async [Symbol.asyncDispose]() {
      if (stopped !== undefined) return stopped.promise;
      stopped = Promise.withResolvers();
      again?.[Symbol.dispose]();
      turn('stopped');
      if (current === undefined) return;
      const { child, ask } = current;
      let limit = clock.after(unansweredMs, () => child.kill());
      ask('stop').then(
        (ms) => {
          limit[Symbol.dispose]();
          limit = clock.after(ms, () => child.kill());
        },
        // It has ended already.
        () => undefined,
      );
      await stopped.promise;
      limit[Symbol.dispose]();
    },
  };
}

/** Asks again and again whether somebody answers; `told` hears each change. */
function watchAnswers(ask: Ask<HostAnswers>, clock: Clock, told: (isSilent: boolean) => void): Disposable {
  let askedAt: number | undefined;
  let silent = false;
  return clock.every(askEveryMs, () => {
    if (askedAt === undefined) {
      askedAt = clock.now();
      ask('alive').then(
        () => {
          askedAt = undefined;
          if (silent) told(false);
          silent = false;
        },
        // Its end tells more.
        () => undefined,
      );
    } else if (!silent && clock.now() - askedAt >= silentAfterMs) {
      silent = true;
      told(true);
    }
  });
}
