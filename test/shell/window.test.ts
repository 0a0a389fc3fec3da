import * as desktop from '#messages/desktop';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FakeElectron } from '../support/electron.ts';
import { openDesktop } from './rig.ts';

describe('window', () => {
  it('opens the start page sandboxed, signed in as the only administrator, without a white flash', async () => {
    await using rig = await openDesktop();
    const { window } = rig.electron;
    expect(window?.addresses).toEqual([`${rig.own()}/`]);
    expect(window?.options.webPreferences).toEqual({
      preload: join('/opt/homeport', 'preload.cjs'),
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

  it('ends its session when the app quits', async () => {
    await using rig = await openDesktop();
    const { host } = rig;
    const second = await host().signInWindow();
    const headers = { 'Homeport-Session': second?.secret ?? '' };
    expect(headers).not.toEqual(await rig.session());
    await second?.end();
    const response = await fetch(`${rig.own()}/api/session`, { headers });
    expect(await response.json()).toMatchObject({ account: null });
  });

  it('asks for a password with several administrators', async () => {
    await using rig = await openDesktop();
    const created = await fetch(`${rig.own()}/api/accounts`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(await rig.session()),
      },
      body: JSON.stringify({ name: 'grace', role: 'admin', password: 'harbour light' }),
    });
    expect(created.status).toBe(200);
    expect(await rig.host().signInWindow()).toBeUndefined();
  });

  it('opens the one-time link at the first start', async () => {
    await using rig = await openDesktop({ administrator: false });
    expect(await rig.session()).toEqual({});
    expect(rig.electron.window?.addresses.at(-1)).toMatch(/\/setup\?code=\w+$/);
  });

  it('hides in the tray when closed and explains it once', async () => {
    await using rig = await openDesktop();
    const { electron } = rig;
    expect(electron.window?.close().prevented).toBe(true);
    expect(electron.window?.visible).toBe(false);
    expect(electron.notifications.map(({ options }) => options.title)).toEqual([desktop.trayHint()]);
    electron.click(/^Open Homeport$/);
    expect(electron.window?.visible).toBe(true);
    electron.window?.close();
    expect(electron.notifications).toHaveLength(1);
    expect(electron.exits).toEqual([]);
  });

  it('quits when closed if configured', async () => {
    await using rig = await openDesktop();
    rig.electron.click(/^Keep running/, false);
    rig.electron.window?.close();
    await rig.sees(() => expect(rig.electron.exits).toEqual([0]));
  });

  it('asks without a tray icon and leaves services running until the answer', async () => {
    await using rig = await openDesktop({ tray: false });
    const { electron } = rig;
    expect(electron.trays).toEqual([]);
    expect(electron.window?.visible).toBe(true);
    // The dialog is closed without an answer.
    expect(electron.window?.close().prevented).toBe(true);
    await rig.sees(() => expect(electron.questions).toHaveLength(1));
    expect(electron.questions[0]).toMatchObject({
      buttons: [desktop.closeKeep(), desktop.quit(), desktop.cancel()],
      cancelId: 2,
      checkboxLabel: desktop.rememberChoice(),
    });
    expect(electron.questions[0]?.detail).toBe(desktop.closeDetail());
    expect(electron.window?.visible).toBe(true);
    expect(electron.exits).toEqual([]);
    expect((await fetch(rig.own())).status).toBe(200);
  });

  it('continues without a window if configured, and a second start shows it again', async () => {
    await using rig = await openDesktop({ tray: false });
    const { electron } = rig;
    electron.answers.push({ button: 0 }, { button: 0, remember: true });
    electron.window?.close();
    await rig.sees(() => expect(electron.window?.visible).toBe(false));
    expect((await fetch(rig.own())).status).toBe(200);
    expect(rig.kept.has('closing')).toBe(false);
    expect(electron.notifications).toEqual([]);
    electron.secondInstance(['homeport']);
    expect(electron.window?.visible).toBe(true);
    electron.window?.close();
    await rig.sees(() => expect(rig.kept.get('closing')).toBe('keep'));
    electron.secondInstance(['homeport']);
    electron.window?.close();
    expect(electron.window?.visible).toBe(false);
    expect(electron.questions).toHaveLength(2);
    expect(electron.exits).toEqual([]);
    // The remembered choice can be changed on the settings page.
    const page = { url: `${rig.own()}/settings`, parent: null };
    expect(await electron.call('whenClosed', undefined, page)).toEqual({ choice: 'keep', inTray: false });
    await electron.call('setWhenClosed', { choice: 'ask' }, page);
    electron.secondInstance(['homeport']);
    electron.window?.close();
    await rig.sees(() => expect(electron.questions).toHaveLength(3));
  });

  it('quits if selected and remembers it', async () => {
    await using rig = await openDesktop({ tray: false });
    rig.electron.answers.push({ button: 1, remember: true });
    rig.electron.window?.close();
    await rig.sees(() => expect(rig.electron.exits).toEqual([0]));
    expect(rig.kept.get('closing')).toBe('quit');
    await using second = await openDesktop({ tray: false, kept: { closing: 'quit' } });
    second.electron.window?.close();
    await second.sees(() => expect(second.electron.exits).toEqual([0]));
    expect(second.electron.questions).toEqual([]);
  });

  it.each([
    ['a second start', (electron: FakeElectron) => electron.secondInstance(['homeport'])],
    ['a click on its icon in the dock', (electron: FakeElectron) => void electron.events.emit('activate')],
  ])('stays hidden at login until %s shows the start page', async (_, asks) => {
    await using rig = await openDesktop({ hidden: true });
    expect(rig.electron.windows).toEqual([]);
    asks(rig.electron);
    expect(rig.electron.window?.visible).toBe(true);
    expect(rig.electron.window?.addresses).toEqual([`${rig.own()}/`]);
    rig.electron.window?.close();
    asks(rig.electron);
    // The page is unchanged.
    expect(rig.electron.window?.addresses).toEqual([`${rig.own()}/`]);
    expect(rig.electron.window?.visible).toBe(true);
  });

  it('reports that the services are starting', async () => {
    await using rig = await openDesktop({
      hidden: true,
      whileOpening: (electron) => electron.secondInstance(['homeport']),
    });
    const { window } = rig.electron;
    expect(window?.notices[0]).toContain(desktop.phaseStarting());
    await rig.sees(() => expect(window?.addresses).toContain(`${rig.own()}/`));
    expect(window?.addresses).toEqual(Array(window?.addresses.length).fill(`${rig.own()}/`));
  });

  it('reports an unavailable page and shows it once available', async () => {
    let refused = 2;
    await using rig = await openDesktop({
      prepare(electron) {
        electron.fails = (address) =>
          address.startsWith('data:') || --refused < 0 ? undefined : [-102, 'ERR_CONNECTION_REFUSED'];
      },
    });
    const { window } = rig.electron;
    const page = `${rig.own()}/`;
    await rig.sees(() => expect(window?.addresses).toEqual([page, page, page]));
    expect(window?.notices).toHaveLength(2);
    expect(window?.notices[0]).toContain(desktop.pageFailedText({ error: 'ERR_CONNECTION_REFUSED' }));
    await rig.sees(() => expect(window?.webContents.getURL()).toBe(page));
  });

  it('ignores aborted loads and failed frames', async () => {
    await using rig = await openDesktop();
    const { window } = rig.electron;
    window?.webContents.events.emit('did-fail-load', {}, -3, 'ERR_ABORTED', `${rig.own()}/inbox`, true, 1, 1);
    window?.webContents.events.emit('did-fail-load', {}, -105, 'ERR_NAME_NOT_RESOLVED', 'https://x.test/', false, 1, 2);
    expect(window?.notices).toEqual([]);
  });

  it('navigates despite unsaved input, which only blocks other navigations', async () => {
    await using rig = await openDesktop();
    const { window } = rig.electron;
    const page = { url: `${rig.own()}/`, parent: null };
    await rig.sees(() => expect(window?.webContents.getURL()).toBe(page.url));
    const contents = window?.webContents;
    if (contents === undefined) throw new Error('no window');
    contents.isGuarded = true;
    // A link or a reload of the page itself.
    expect(contents.mayUnload()).toBe(false);
    rig.electron.secondInstance(['homeport', 'homeport://open?view=inbox/12']);
    await rig.sees(() => expect(contents.getURL()).toBe(`${rig.own()}/inbox/12`));
    contents.isGuarded = true;
    expect(contents.mayUnload()).toBe(false);
  });

  it('reloads after a renderer crash and asks when it repeats', async () => {
    await using rig = await openDesktop();
    const { electron, own } = rig;
    const { window } = electron;
    await rig.sees(() => expect(window?.webContents.getURL()).toBe(`${own()}/`));
    window?.webContents.crash('clean-exit');
    expect(window?.webContents.reloads).toBe(0);
    window?.webContents.crash('crashed');
    window?.webContents.crash('oom');
    expect(window?.webContents.reloads).toBe(2);
    electron.answers.push({ button: 1 }, { button: 0 });
    window?.webContents.crash('killed');
    await rig.sees(() => expect(electron.opened).toEqual([own()]));
    expect(electron.questions[0]?.message).toBe(desktop.windowFailed());
    for (let crash = 0; crash < 3; crash += 1) window?.webContents.crash('crashed');
    await rig.sees(() => expect(window?.addresses).toEqual([`${own()}/`, `${own()}/`]));
    expect((await fetch(own())).status).toBe(200);
  });

  it('restores its position and size', async () => {
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
  ])('stays visible after it was left %s', async (_, bounds) => {
    await using rig = await openDesktop({ kept: { bounds } });
    expect(rig.electron.window?.options).toMatchObject({ width: 1180, height: 780 });
    expect(rig.electron.window?.options).not.toHaveProperty('x');
  });

  it.each([
    ['homeport://open?view=inbox/12', '/inbox/12'],
    ['homeport://open', '/'],
    ['homeport://add?url=https%3A%2F%2Fvideos.example%2Fv', '/downloads?add=https%3A%2F%2Fvideos.example%2Fv'],
  ])('opens %s at the start and later', async (link, path) => {
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
  ])('ignores %s', async (link) => {
    await using rig = await openDesktop({ argv: [link], hidden: true });
    rig.electron.events.emit('open-url', { preventDefault: () => undefined }, link);
    expect(rig.electron.windows).toEqual([]);
    expect(rig.electron.opened).toEqual([]);
  });
});
