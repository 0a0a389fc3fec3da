import { describe, expect, it, vi } from 'vitest';
import { openUpdates, type Updater } from '../../main/desktop/updates.ts';
import { createLog } from '../../main/host/log/log.ts';
import { createFakeClock } from '../support/clock.ts';

const hour = 3_600_000;

function updater(answers: { available?: boolean; checks?: () => Promise<never>; loads?: () => Promise<unknown> } = {}) {
  return {
    autoDownload: true,
    autoInstallOnAppQuit: false,
    checkForUpdates: vi.fn(answers.checks ?? (async () => ({ isUpdateAvailable: answers.available ?? false }))),
    downloadUpdate: vi.fn(answers.loads ?? (async () => [])),
  } satisfies Updater;
}

function open(updater: Updater | undefined, busy = () => false) {
  const clock = createFakeClock();
  const lines: string[] = [];
  const states: string[] = [];
  const updates = openUpdates({
    updater,
    clock,
    random: { bytes: () => Uint8Array.of(128) },
    log: createLog({ level: 'info', format: 'text', write: (line) => lines.push(line) }),
    busy,
    changed: () => states.push(updates.state()),
  });
  return { updates, clock, lines, states };
}

describe('openUpdates', () => {
  it('does nothing without a feed', async () => {
    const { updates } = open(undefined);
    expect(updates.state()).toBe('absent');
    expect(await updates.check()).toBe('absent');
  });

  it('downloads an update and installs it on quit', async () => {
    const feed = updater({ available: true });
    const { updates, states } = open(feed);
    expect(feed).toMatchObject({ autoDownload: false, autoInstallOnAppQuit: true });
    expect(await updates.check()).toBe('ready');
    expect(states).toEqual(['checking', 'loading', 'ready']);
    expect(await updates.check()).toBe('ready');
    expect(feed.checkForUpdates).toHaveBeenCalledOnce();
  });

  it('checks once a day, but not during downloads', async () => {
    const feed = updater();
    let busy = false;
    const { updates, clock } = open(feed, () => busy);
    clock.advance(23 * hour);
    expect(feed.checkForUpdates).not.toHaveBeenCalled();
    clock.advance(2 * hour);
    expect(feed.checkForUpdates).toHaveBeenCalledOnce();
    await vi.waitFor(() => expect(updates.state()).toBe('idle'));
    busy = true;
    clock.advance(24 * hour);
    expect(feed.checkForUpdates).toHaveBeenCalledOnce();
    busy = false;
    clock.advance(24 * hour);
    expect(feed.checkForUpdates).toHaveBeenCalledTimes(2);
    updates[Symbol.dispose]();
    clock.advance(48 * hour);
    expect(feed.checkForUpdates).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['the feed is out of reach', { checks: () => Promise.reject(new Error('offline')) }],
    ['the file is damaged', { available: true, loads: () => Promise.reject(new Error('sha512 checksum mismatch')) }],
  ])('logs when %s, and retries', async (_, answers) => {
    const { updates, lines } = open(updater(answers));
    expect(await updates.check()).toBe('failed');
    expect(lines.join('\n')).toContain('update download failed');
    expect(await updates.check()).toBe('failed');
  });

  it('runs one check at a time', async () => {
    const waiting = Promise.withResolvers<never>();
    const feed = updater({ checks: () => waiting.promise });
    const { updates } = open(feed);
    const first = updates.check();
    expect(await updates.check()).toBe('checking');
    waiting.reject(new Error('offline'));
    await first;
    expect(feed.checkForUpdates).toHaveBeenCalledOnce();
  });
});
