import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDesktop } from './rig.ts';

describe('the window', () => {
  it('opens on the start page, signed in as the only administrator, sandboxed and without a white flash', async () => {
    await using rig = await openDesktop();
    const { window } = rig.electron;
    expect(window?.addresses).toEqual([`${rig.own()}/`]);
    expect(window?.options.webPreferences).toEqual({
      preload: join('/opt/homeport', 'main', 'shell', 'preload.cjs'),
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webviewTag: false,
      spellcheck: true,
    });
    expect(window?.options).toMatchObject({ show: false, backgroundColor: '#0d141b' });
    const session = await fetch(`${rig.own()}/api/session`, { headers: await rig.session() });
    expect(await session.json()).toMatchObject({ account: { name: 'ada', role: 'admin' } });
  });

  it('ends its session when the app is quit', async () => {
    await using rig = await openDesktop();
    const { host } = rig;
    const again = await host().signInWindow();
    const headers = { 'Homeport-Session': again?.secret ?? '' };
    expect(headers).not.toEqual(await rig.session());
    await again?.end();
    const answer = await fetch(`${rig.own()}/api/session`, { headers });
    expect(await answer.json()).toMatchObject({ account: null });
  });

  it('asks for a password where several people administrate', async () => {
    await using rig = await openDesktop();
    const made = await fetch(`${rig.own()}/api/accounts`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(await rig.session()),
      },
      body: JSON.stringify({ name: 'grace', role: 'admin', password: 'harbour light' }),
    });
    expect(made.status).toBe(200);
    expect(await rig.host().signInWindow()).toBeUndefined();
  });

  it('opens the one-time link at the first start', async () => {
    await using rig = await openDesktop({ administrator: false });
    expect(await rig.session()).toEqual({});
    expect(rig.electron.window?.addresses.at(-1)).toMatch(/\/setup\?code=\w+$/);
  });

  it('hides in the tray when it is closed, and says so once', async () => {
    await using rig = await openDesktop();
    const { electron } = rig;
    expect(electron.window?.close().prevented).toBe(true);
    expect(electron.window?.visible).toBe(false);
    expect(electron.notifications.map(({ options }) => options.title)).toEqual(['Homeport goes on in the tray']);
    electron.click(/^Open Homeport$/);
    expect(electron.window?.visible).toBe(true);
    electron.window?.close();
    expect(electron.notifications).toHaveLength(1);
    expect(electron.exits).toEqual([]);
  });

  it('ends the app when it is closed, if its person wants that', async () => {
    await using rig = await openDesktop();
    rig.electron.click(/^Keep running/, false);
    rig.electron.window?.close();
    await rig.sees(() => expect(rig.electron.exits).toEqual([0]));
  });

  it('ends the app when it is closed where no desktop shows a tray icon, since nothing could bring it back', async () => {
    await using rig = await openDesktop({ tray: false });
    expect(rig.electron.trays).toEqual([]);
    expect(rig.electron.window?.visible).toBe(true);
    rig.electron.window?.close();
    await rig.sees(() => expect(rig.electron.exits).toEqual([0]));
    expect(rig.electron.notifications).toEqual([]);
  });

  it('stays away at a start for login, until it is asked for', async () => {
    await using rig = await openDesktop({ hidden: true });
    expect(rig.electron.windows).toEqual([]);
    rig.electron.events.emit('second-instance', {}, ['homeport']);
    expect(rig.electron.window?.visible).toBe(true);
  });

  it('comes back where it was, and as large', async () => {
    const bounds = { x: 300, y: 200, width: 900, height: 700 };
    await using rig = await openDesktop({ kept: { bounds, maximized: true } });
    expect(rig.electron.window?.options).toMatchObject(bounds);
    expect(rig.electron.window?.maximized).toBe(true);
    Object.assign(rig.electron.window ?? {}, { bounds: { ...bounds, x: 10 }, maximized: false });
    rig.electron.window?.close();
    expect(rig.kept.get('bounds')).toEqual({ ...bounds, x: 10 });
    expect(rig.kept.get('maximized')).toBe(false);
  });

  it.each([
    ['on a display that is gone', { x: 4000, y: 0, width: 900, height: 700 }],
    ['below the screen', { x: 0, y: 1070, width: 900, height: 700 }],
    ['in a file that somebody changed', { x: 'left' }],
  ])('is not lost when it was left %s', async (_, bounds) => {
    await using rig = await openDesktop({ kept: { bounds } });
    expect(rig.electron.window?.options).toMatchObject({ width: 1180, height: 780 });
    expect(rig.electron.window?.options).not.toHaveProperty('x');
  });

  it.each([
    ['homeport://open?view=inbox/12', '/inbox/12'],
    ['homeport://open', '/'],
    ['homeport://add?url=https%3A%2F%2Fvideos.example%2Fv', '/downloads?add=https%3A%2F%2Fvideos.example%2Fv'],
  ])('opens %s, at the start and later', async (link, path) => {
    await using rig = await openDesktop({ argv: ['--hidden', link], hidden: true });
    expect(rig.electron.window?.addresses).toEqual([rig.own() + path]);
    rig.electron.events.emit('second-instance', {}, ['homeport', link]);
    rig.electron.events.emit('open-url', { preventDefault: () => undefined }, link);
    expect(rig.electron.window?.addresses).toEqual(Array(3).fill(rig.own() + path));
    expect(rig.downloads.all.size).toBe(0);
  });

  it.each([
    'homeport://add?url=file:///etc/passwd',
    'homeport://add?url=javascript:alert(1)',
    'homeport://open?view=../../etc',
    'homeport://open?view=//evil.example',
    'homeport://erase?all=yes',
    `homeport://add?url=https://${'x'.repeat(9000)}`,
    'https://evil.example/',
  ])('does nothing for %s', async (link) => {
    await using rig = await openDesktop({ argv: [link], hidden: true });
    rig.electron.events.emit('open-url', { preventDefault: () => undefined }, link);
    expect(rig.electron.windows).toEqual([]);
    expect(rig.electron.opened).toEqual([]);
  });
});
