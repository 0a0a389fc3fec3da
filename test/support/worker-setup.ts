import { expect, vi } from 'vitest';

/** Minimum time that a test waits for an event, in milliseconds; busy computers are slow. */
const minTimeoutMs = 120_000;

/** A worker runs many files, each of which loads this module. */
const prepared = Symbol.for('homeport.worker');

if (!(prepared in vi)) {
  Object.assign(vi, { [prepared]: true });
  // vitest ends its workers in this way; shared servers of this worker end with it (`process.on('exit')`).
  process.once('SIGTERM', () => process.exit());
  // The timeouts of tests assume an idle computer; vitest's default is one second and cannot be configured.
  for (const name of ['waitFor', 'waitUntil'] as const) {
    const wait = vi[name] as (call: () => unknown, options: object) => Promise<unknown>;
    const waitLong = (call: () => unknown, options: number | { readonly timeout?: number } = {}): Promise<unknown> => {
      const input = typeof options === 'number' ? { timeout: options } : options;
      return wait(call, { ...input, timeout: Math.max(input.timeout ?? 0, minTimeoutMs) });
    };
    Object.assign(vi, { [name]: waitLong });
  }
  const poll = expect.poll as (call: () => unknown, options: object) => unknown;
  const pollLong = (call: () => unknown, options: { readonly timeout?: number } = {}): unknown =>
    poll(call, { ...options, timeout: Math.max(options.timeout ?? 0, minTimeoutMs) });
  Object.assign(expect, { poll: pollLong });
}
