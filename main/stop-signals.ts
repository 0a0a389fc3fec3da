import { constants } from 'node:os';
import type { Host } from './host/host.ts';

/** How a system asks a program to end. SIGHUP: the terminal it was started in was closed. */
export const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Until the settings are read; ms. */
const defaultStopMs = 10_000;

/** Ctrl+C reaches a program twice under npm, from the terminal and passed on: signals this close are one wish; ms. */
const sameWishMs = 2000;

/** What {@link stopOnSignals} gives. */
export interface Stopping {
  /** Aborted once somebody asked for the end. */
  readonly signal: AbortSignal;
  /** The host to close then, also when it was asked for before; undefined while one ends and the next opens. */
  stops(host: Host | undefined): void;
  /** Asks for the end, as SIGTERM does. */
  ask(): void;
  /** Signals end the process at once again. */
  over(): void;
}

/**
 * A signal ends the process with code 0 once everything is closed, also in the middle of a start. Another one, after a
 * moment, ends it at once.
 */
export function stopOnSignals(): Stopping {
  const asked = new AbortController();
  let askedAt = 0;
  let host: Host | undefined;

  const close = (open: Host): void => {
    open[Symbol.asyncDispose]().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  const stop = (signal: NodeJS.Signals): void => {
    const code = 128 + constants.signals[signal];
    if (asked.signal.aborted) {
      if (performance.now() - askedAt > sameWishMs) process.exit(code);
      return;
    }
    askedAt = performance.now();
    const limit = host?.stopTimeoutMs() ?? defaultStopMs;
    // Keeps the process alive until then: what is still closing may hold nothing that does.
    setTimeout(() => process.exit(code), Math.max(500, limit - 250));
    asked.abort();
    if (host !== undefined) close(host);
  };
  for (const signal of stopSignals) process.on(signal, stop);
  return {
    signal: asked.signal,
    stops(opened) {
      host = opened;
      if (asked.signal.aborted && opened !== undefined) close(opened);
    },
    ask: () => stop('SIGTERM'),
    over() {
      for (const signal of stopSignals) process.off(signal, stop);
    },
  };
}
