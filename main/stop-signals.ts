import { constants } from 'node:os';
import type { Host } from './host/running-host.ts';

/** Signals by which a system ends a program. SIGHUP: its terminal was closed. */
export const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Used until the settings are read; in ms. */
const defaultStopMs = 10_000;

/**
 * Under npm, Ctrl+C reaches a program twice, from the terminal and forwarded: signals within this time in ms count as
 * one.
 */
const repeatWindowMs = 2000;

/** Result of {@link stopOnSignals}. */
export interface Stopping {
  /** Aborted once a stop was requested. */
  readonly signal: AbortSignal;
  /** Sets the host to close, also after a stop was requested; undefined between two hosts. */
  stops(host: Host | undefined): void;
  /** Requests the stop, like SIGTERM. */
  requestStop(): void;
  /** Signals end the process immediately again. */
  stopHandling(): void;
}

/**
 * Handles signals: the first ends the process with code 0 once everything is closed, also during a start. A later one
 * ends it immediately.
 */
export function stopOnSignals(): Stopping {
  const isRequested = new AbortController();
  let requestedAt = 0;
  let host: Host | undefined;

  const close = (open: Host): void => {
    drainAndDispose(open).then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  const stop = (signal: NodeJS.Signals): void => {
    const code = 128 + constants.signals[signal];
    if (isRequested.signal.aborted) {
      if (performance.now() - requestedAt > repeatWindowMs) process.exit(code);
      return;
    }
    requestedAt = performance.now();
    const limit = host?.stopTimeoutMs() ?? defaultStopMs;
    // Keeps the process alive until then: pending closes may hold no other reference.
    setTimeout(() => process.exit(code), Math.max(500, limit - 250));
    isRequested.abort();
    if (host !== undefined) close(host);
  };
  for (const signal of stopSignals) process.on(signal, stop);
  return {
    signal: isRequested.signal,
    stops(opened) {
      host = opened;
      if (isRequested.signal.aborted && opened !== undefined) close(opened);
    },
    requestStop: () => stop('SIGTERM'),
    stopHandling() {
      for (const signal of stopSignals) process.off(signal, stop);
    },
  };
}

async function drainAndDispose(host: Host): Promise<void> {
  await host.drain();
  await host[Symbol.asyncDispose]();
}
