import * as desktopMessages from '#messages/desktop';
import * as gatewayTexts from '#messages/gateway-texts';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { request } from '../../main/desktop/ask.ts';
import { popupsApi } from '../../services/contracts/popups/popups.ts';
import { gateway } from '../../services/gateway/index.ts';
import { Problem } from '../../services/contracts/problem.ts';
import { MoodyService } from '../renderer/memory-services.ts';
import { menuTree } from '../support/electron.ts';
import { openDesktop, type DesktopRig } from './rig.ts';

const assets = fileURLToPath(new URL('../../assets/tray', import.meta.url));

/** Formats the tray's menu as a tree with normalized addresses and times; printed for inspection. */
function tree({ electron, own }: DesktopRig): string {
  const text = menuTree(electron.tray?.menu ?? [])
    .replaceAll(own(), 'ADDRESS')
    .replaceAll(/until (\w+ at )?\d\d:\d\d( [AP]M)?/g, 'until TIME');
  console.log(`${basename(electron.tray?.image ?? '')}\n${text}\n`);
  return text;
}

describe('tray', () => {
  it('shows an outlined icon while idle', async () => {
    await using rig = await openDesktop();
    await rig.sees(() =>
      expect(rig.electron.tray?.tip).toBe(desktopMessages.toolTip({ status: desktopMessages.allServicesRunning() })),
    );
    expect(tree(rig)).toMatchInlineSnapshot(`
      "All services are running (not clickable)
      ---
      Open Homeport
      Services
        Downloads: running
          Stop
        Moody: running
          Stop
        Inbox: running
          Stop
      No active downloads
      Pause notifications
        For 1 hour
        Until tomorrow morning
        Not paused (not clickable)
      ---
      [ ] Start at sign-in
      [x] Keep running when the window is closed
      ---
      Quit Homeport"
    `);
    expect(rig.electron.badge).toBe(0);
  });

  it('has the switch for sharing and the shared services', async () => {
    await using rig = await openDesktop({ also: [gateway] });
    await rig.sees(() =>
      expect(menuTree(rig.electron.tray?.menu ?? [])).toContain(
        desktopMessages.network({ state: gatewayTexts.healthNothingShared() }),
      ),
    );
    expect(tree(rig)).toContain(`[x] ${desktopMessages.allowOtherDevices()}`);
    rig.electron.click(/^Allow other devices$/);
    await rig.sees(() =>
      expect(menuTree(rig.electron.tray?.menu ?? [])).toContain(`[ ] ${desktopMessages.allowOtherDevices()}`),
    );
    expect(rig.electron.tray?.tip).toBe(desktopMessages.toolTip({ status: desktopMessages.allServicesRunning() }));
    const state = (await rig.host().control.services()).find(({ id }) => id === 'gateway')?.state;
    expect(state).toBe('off');
  });

  it('fills the icon for unread urgent messages', async () => {
    await using rig = await openDesktop();
    const { id } = rig.inbox.add({ title: 'Disk full', priority: 5 });
    rig.inbox.add({ title: 'Backup finished', priority: 3 });
    rig.downloads.set('1', { state: 'downloading' });
    rig.downloads.set('2', { state: 'finished' });
    await rig.sees(() => expect(basename(rig.electron.tray?.image ?? '')).toBe('attention-22.png'));
    await rig.sees(() =>
      expect(rig.electron.tray?.tip).toBe(
        desktopMessages.toolTip({ status: desktopMessages.urgentMessages({ count: 1 }) }),
      ),
    );
    expect(tree(rig)).toMatchInlineSnapshot(`
      "1 urgent message (not clickable)
      ---
      Open Homeport
      Read messages
      Services
        Downloads: running
          Stop
        Moody: running
          Stop
        Inbox: running
          Stop
      1 active download
      Pause notifications
        For 1 hour
        Until tomorrow morning
        Not paused (not clickable)
      ---
      [ ] Start at sign-in
      [x] Keep running when the window is closed
      ---
      Quit Homeport"
    `);
    expect(rig.electron.badge).toBe(1);
    await fetchApi(rig, 'PATCH', '/api/inbox', { ids: [id], read: true });
    await rig.sees(() => expect(basename(rig.electron.tray?.image ?? '')).toBe('normal-22.png'));
    expect(rig.electron.badge).toBe(0);
  });

  it('crosses the icon for a failed service and restarts it', async () => {
    const moody = new MoodyService();
    moody.failure = new Problem('moody.port', 500, 'Port 9 is taken by another program.');
    await using rig = await openDesktop({ moody });
    await rig.sees(() => expect(basename(rig.electron.tray?.image ?? '')).toBe('error-22.png'));
    expect(rig.electron.tray?.tip).toBe(
      desktopMessages.toolTip({ status: desktopMessages.serviceNotRunning({ service: 'Moody' }) }),
    );
    expect(tree(rig)).toMatchInlineSnapshot(`
      "Moody isn’t running (not clickable)
      ---
      Open Homeport
      Services
        Downloads: running
          Stop
        Moody: not running
          Port 9 is taken by another program. (not clickable)
          Try again
          Stop
        Inbox: running
          Stop
      No active downloads
      Pause notifications
        For 1 hour
        Until tomorrow morning
        Not paused (not clickable)
      ---
      [ ] Start at sign-in
      [x] Keep running when the window is closed
      ---
      Quit Homeport"
    `);
    moody.failure = undefined;
    rig.electron.click(/^Try again$/);
    await rig.sees(() => expect(basename(rig.electron.tray?.image ?? '')).toBe('normal-22.png'));
  });

  it('dims the icon while notifications are paused', async () => {
    await using rig = await openDesktop();
    rig.electron.click(/^For 1 hour$/);
    await rig.sees(() => expect(basename(rig.electron.tray?.image ?? '')).toBe('paused-22.png'));
    const until = (await request(rig.host(), popupsApi.popups))?.pausedUntil ?? 0;
    expect(Math.abs(until - Date.now() - 3_600_000)).toBeLessThan(60_000);
    expect(tree(rig)).toMatchInlineSnapshot(`
      "Notifications paused until TIME (not clickable)
      ---
      Open Homeport
      Services
        Downloads: running
          Stop
        Moody: running
          Stop
        Inbox: running
          Stop
      No active downloads
      Notifications paused until TIME
        For 1 hour
        Until tomorrow morning
        Resume
      ---
      [ ] Start at sign-in
      [x] Keep running when the window is closed
      ---
      Quit Homeport"
    `);
    rig.electron.click(/^Resume$/);
    await rig.sees(() => expect(basename(rig.electron.tray?.image ?? '')).toBe('normal-22.png'));
    rig.electron.click(/^Until tomorrow morning$/);
    await vi.waitFor(async () => {
      const { pausedUntil } = (await request(rig.host(), popupsApi.popups)) ?? {};
      expect(new Date(pausedUntil ?? 0).getHours()).toBe(8);
    });
  });

  it('starts and stops services and copies their addresses', async () => {
    await using rig = await openDesktop();
    const item = (): string => menuTree(rig.electron.tray?.menu ?? []);
    rig.electron.click(/^Stop$/);
    await rig.sees(() => expect(item()).toContain('Downloads: off'));
    expect(rig.electron.tray?.tip).toBe(
      desktopMessages.toolTip({ status: desktopMessages.someServicesRunning({ running: 2, count: 3 }) }),
    );
    rig.electron.click(/^Start$/);
    await rig.sees(() =>
      expect(item()).toContain(desktopMessages.serviceLine({ service: 'Downloads', state: desktopMessages.stateUp() })),
    );
  });

  it('enables the start at login by a desktop file', async () => {
    await using rig = await openDesktop();
    const file = join(rig.dataDir, 'config', 'autostart', 'homeport.desktop');
    rig.electron.click(/^Start at sign-in$/, true);
    await rig.sees(() =>
      expect(menuTree(rig.electron.tray?.menu ?? [])).toContain(`[x] ${desktopMessages.startAtLogin()}`),
    );
    expect(readFileSync(file, 'utf8')).toContain('Exec="/opt/homeport/homeport" "--hidden"');
    rig.electron.click(/^Start at sign-in$/, false);
    await rig.sees(() => expect(existsSync(file)).toBe(false));
  });

  it('opens the pages', async () => {
    await using rig = await openDesktop({ hidden: true });
    expect(rig.electron.window).toBeUndefined();
    rig.electron.click(/^No active downloads$/);
    expect(rig.electron.window?.addresses.at(-1)).toBe(`${rig.own()}/downloads`);
    expect(rig.electron.window?.visible).toBe(true);
  });

  it.each([
    ['linux', 'normal-22.png'],
    ['darwin', 'normalTemplate.png'],
    ['win32', 'normal.png'],
  ] as const)('has the images of %s', async (platform, name) => {
    await using rig = await openDesktop({ platform });
    expect(basename(rig.electron.tray?.image ?? '')).toBe(name);
    for (const state of ['normal', 'attention', 'error', 'paused']) {
      const file = name.replace('normal', state);
      expect(existsSync(join(assets, file))).toBe(true);
      expect(existsSync(join(assets, file.replace('.png', '@2x.png')))).toBe(true);
    }
  });

  it('quits from its menu: first the services, then the app', async () => {
    await using rig = await openDesktop();
    const own = rig.own();
    rig.electron.click(/^Quit Homeport$/);
    await rig.sees(() => expect(rig.electron.exits).toEqual([0]));
    await expect(fetch(own)).rejects.toThrow();
    expect(rig.electron.tray?.destroyed).toBe(true);
  });
});

async function fetchApi(rig: DesktopRig, method: string, path: string, body: unknown): Promise<void> {
  const response = await fetch(rig.own() + path, {
    method,
    headers: {
      'Content-Type': 'application/json',
      ...(await rig.session()),
    },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
}
