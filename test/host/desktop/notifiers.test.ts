import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../../main/host/log/log.ts';
import { desktopNotifier } from '../../../main/host/desktop/desktop-notifier.ts';
import { nodeNotifier, type PopupLibrary } from '../../../main/host/desktop/node-notifier.ts';
import type { Notifier, Popup, PopupEvent } from '../../../services/contracts/popups/desktop.ts';
import { notifySendNotifier } from '../../../main/host/desktop/notify-send.ts';
import { Desktop, missingPrograms } from './desktop.ts';

const popup: Popup = {
  id: 'message-1',
  title: 'Backup',
  body: 'done',
  urgency: 'normal',
  actions: [{ id: 'read', label: 'Mark as read' }],
  silent: false,
  group: 'push',
};

/** Shows a popup and collects its events. */
function show(notifier: Notifier, fields: Partial<Popup> = {}): PopupEvent[] {
  const events: PopupEvent[] = [];
  notifier.show({ ...popup, ...fields }, (event) => events.push(event));
  return events;
}

const waitOptions = { timeout: 15_000, interval: 30 };
const failed = { failed: expect.any(String) as string };
const log = createLog({ level: 'error', format: 'text', write: () => undefined });

it.runIf(process.env['CI'])('requires the programs of a desktop', () => expect(missingPrograms).toEqual([]));

describe.skipIf(missingPrograms.length > 0)('notifier on a desktop with dunst', { timeout: 40_000 }, () => {
  let desktop: Desktop;
  beforeAll(async () => {
    desktop = await Desktop.open();
  }, 40_000);
  afterAll(() => desktop[Symbol.asyncDispose]());
  afterEach(async () => {
    await desktop.control('close-all');
    vi.unstubAllEnvs();
  });

  describe.each(['notify-send', 'node-notifier'] as const)('supports %s', (driver) => {
    const open = (): Notifier => {
      // node-notifier's child inherits this process's environment.
      for (const [name, value] of Object.entries(desktop.environment)) vi.stubEnv(name, value);
      return driver === 'notify-send'
        ? notifySendNotifier({ environment: desktop.environment })
        : nodeNotifier({ platform: 'linux' });
    };

    it('shows title, body and urgency', async () => {
      await using notifier = open();
      const events = show(notifier, { body: 'first line\nsecond', urgency: 'critical' });
      await vi.waitFor(() => expect(events).toContain('shown'), waitOptions);
      const [served] = await desktop.history();
      expect(served).toMatchObject({ appname: 'Homeport', summary: 'Backup', body: 'first line\nsecond' });
      // Critical: it remains until it is answered.
      expect(served).toMatchObject({ timeout: 0 });
    });

    it('shows hostile text as text', async () => {
      await using notifier = open();
      const title = `$(touch /tmp/x) "q" 'a' \`id\` & <b>t</b> \\n`;
      const events = show(notifier, { title, body: 'disk full & <b>bold</b> <a href="x">x</a> C:\\new \\101 $HOME' });
      await vi.waitFor(() => expect(events).toContain('shown'), waitOptions);
      const [served] = await desktop.history();
      expect(served?.summary).toBe(title);
      expect(served?.body).toBe(
        'disk full &amp; &lt;b&gt;bold&lt;/b&gt; &lt;a href="x"&gt;x&lt;/a&gt; C:\\new \\101 $HOME',
      );
      // dunst escapes the title itself: escaped here, `&amp;` would be visible.
      expect(served?.message).toContain('&amp; &lt;b&gt;t&lt;/b&gt;');
      expect(served?.message).not.toContain('&amp;amp;');
    });

    it('passes text that looks like an option as text', async () => {
      await using notifier = open();
      const events = show(notifier, { title: '--help', body: '--urgency=low' });
      await vi.waitFor(() => expect(events).toContain('shown'), waitOptions);
      const [served] = await desktop.history();
      expect([served?.summary.trim(), served?.body.trim()]).toEqual(['--help', '--urgency=low']);
    });

    it('shows a popup without a body', async () => {
      await using notifier = open();
      const events = show(notifier, { body: '' });
      await vi.waitFor(() => expect(events).toContain('shown'), waitOptions);
      expect((await desktop.history())[0]?.summary).toBe('Backup');
    });
  });

  it('is available with a display and a bus, and reports clicks and closed popups', async () => {
    await using notifier = desktopNotifier({ environment: desktop.environment, platform: 'linux', log });
    const events = show(notifier);
    await vi.waitFor(() => expect(events).toEqual(['shown']), waitOptions);
    expect(notifier.name).toBe('notify-send');
    await vi.waitFor(async () => expect(await desktop.count('displayed')).toBe(1), waitOptions);
    await desktop.control('action', '0');
    await vi.waitFor(() => expect(events).toContain('clicked'), waitOptions);
    await desktop.control('close-all');
    await vi.waitFor(() => expect(events.at(-1)).toBe('closed'), waitOptions);
  });

  it('keeps a popup visible after its buttons become inactive', async () => {
    const notifier = notifySendNotifier({ environment: desktop.environment });
    const all = Array.from({ length: 7 }, (_, index) => show(notifier, { title: `Popup ${String(index)}` }));
    await vi.waitFor(() => expect(all.every((events) => events.includes('shown'))).toBe(true), waitOptions);
    await notifier[Symbol.asyncDispose]();
    await vi.waitFor(() => expect(all.every((events) => events.includes('closed'))).toBe(true), waitOptions);
    expect((await desktop.count('displayed')) + (await desktop.count('waiting'))).toBe(7);
  });

  it('respects "do not disturb" of the system', async () => {
    await using notifier = notifySendNotifier({ environment: desktop.environment });
    await desktop.control('set-paused', 'true');
    const events = show(notifier);
    await vi.waitFor(() => expect(events).toContain('shown'), waitOptions);
    expect(await desktop.count('displayed')).toBe(0);
    await desktop.control('set-paused', 'false');
    await vi.waitFor(async () => expect(await desktop.count('displayed')).toBe(1), waitOptions);
  });

  it('gives up on a hanging popup server without accumulating processes', async () => {
    await using stuck = await Desktop.open();
    await using notifier = notifySendNotifier({ environment: stuck.environment, responseTimeoutMs: 1500 });
    stuck.server?.kill('SIGSTOP');
    const all = Array.from({ length: 20 }, () => show(notifier));
    expect(all.slice(8)).toEqual(Array.from({ length: 12 }, () => [failed]));
    await vi.waitFor(() => expect(all).toEqual(Array.from({ length: 20 }, () => [failed])), waitOptions);
    stuck.server?.kill('SIGCONT');
  });

  it('reports a bus without a popup server and a missing bus', async () => {
    await using desktop = await Desktop.open({ server: 'none' });
    const dead = { ...desktop.environment, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent/bus' };
    for (const environment of [desktop.environment, dead]) {
      await using direct = notifySendNotifier({ environment });
      const events = show(direct);
      await vi.waitFor(() => expect(events).toEqual([failed]), waitOptions);
      for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
      await using packaged = nodeNotifier({ platform: 'linux' });
      const others = show(packaged);
      await vi.waitFor(() => expect(others).toEqual([failed]), waitOptions);
    }
  });
});

describe('notifier without a desktop', () => {
  it.each([
    {},
    { DISPLAY: ':0' },
    { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/x' },
    { DISPLAY: ':0', XDG_RUNTIME_DIR: '/nonexistent' },
  ])('does nothing and logs it once (%o)', async (environment) => {
    const lines: string[] = [];
    const quiet = createLog({ level: 'debug', format: 'text', write: (line) => lines.push(line) });
    await using notifier = desktopNotifier({ environment, platform: 'linux', log: quiet });
    expect(notifier.name).toBe('none');
    expect(show(notifier)).toEqual(['closed']);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('no desktop');
  });

  it('fails with a message when there is a display but no notify-send', async () => {
    const environment = { PATH: '/nonexistent', DISPLAY: ':0', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/x' };
    await using notifier = notifySendNotifier({ environment });
    const events = show(notifier);
    await vi.waitFor(() => expect(events).toEqual([failed]), waitOptions);
  });

  it('falls back to node-notifier for an old notify-send without actions', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeport-old-notify-'));
    try {
      const program = join(folder, 'notify-send');
      writeFileSync(program, `#!/bin/sh\n[ "$1" = --help ] && exec echo "  -u, --urgency=LEVEL"\nexit 0\n`);
      chmodSync(program, 0o755);
      vi.stubEnv('PATH', `${folder}:${process.env['PATH'] ?? ''}`);
      const environment = { PATH: process.env['PATH'], DISPLAY: ':0', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/x' };
      await using notifier = desktopNotifier({ environment, platform: 'linux', log });
      const events = show(notifier);
      await vi.waitFor(() => expect(events).toEqual(['shown']), waitOptions);
      expect(notifier.name).toBe('node-notifier');
    } finally {
      vi.unstubAllEnvs();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('notifier on macOS and Windows', () => {
  /** Answers each popup with the next response. */
  const library = (...answers: [error: Error | null, response?: string, metadata?: { activationValue: string }][]) => {
    const calls: Readonly<Record<string, unknown>>[] = [];
    const load = (): Promise<PopupLibrary> =>
      Promise.resolve({
        notify(options, answer) {
          calls.push(options);
          const [error, response, metadata] = answers.shift() ?? [null, 'timeout'];
          setImmediate(() => answer(error, response, metadata));
        },
      });
    return { asked: calls, load };
  };

  it.each([
    [
      [null, 'activate'],
      ['shown', 'clicked'],
    ],
    [
      [null, 'activate', { activationValue: 'Mark as read' }],
      ['shown', { action: 'read' }],
    ],
    [
      [null, 'mark as read'],
      ['shown', { action: 'read' }],
    ],
    [
      [null, 'timeout'],
      ['shown', 'closed'],
    ],
    [
      [null, undefined],
      ['shown', 'closed'],
    ],
    [[new Error('no centre')], [{ failed: 'no centre' }]],
  ] as const)('reports the answer %o as %o', async (answer, expected) => {
    const { asked: calls, load } = library(answer as never);
    await using notifier = nodeNotifier({ platform: 'darwin', load });
    const events = show(notifier, { silent: true });
    await vi.waitFor(() => expect(events).toEqual(expected), waitOptions);
    expect(calls).toMatchObject([{ title: 'Backup', message: 'done', sound: false, actions: ['Mark as read'] }]);
  });

  it('reports a package that cannot be loaded as a failed popup', async () => {
    await using notifier = nodeNotifier({ platform: 'win32', load: () => Promise.reject(new Error('not there')) });
    const events = show(notifier);
    await vi.waitFor(() => expect(events).toEqual([{ failed: 'not there' }]), waitOptions);
  });
});
