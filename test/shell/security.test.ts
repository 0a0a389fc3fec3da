import * as desktopMessages from '#messages/desktop';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { bridgeCalls } from '../../services/contracts/control/desktop.ts';
import { menuTree, preventable } from '../support/electron.ts';
import { openDesktop } from './rig.ts';

describe('page in the window', () => {
  it('navigates only within the app', async () => {
    await using rig = await openDesktop();
    const page = rig.electron.contents();
    for (const name of ['will-navigate', 'will-redirect']) {
      const isAllowedUrl = (url: string): boolean => {
        const event = preventable({ url });
        page.emit(name, event);
        return !event.prevented;
      };
      expect(isAllowedUrl(`${rig.own()}/inbox`)).toBe(true);
      expect(isAllowedUrl('https://evil.example/')).toBe(false);
      expect(isAllowedUrl(`${rig.own()}.evil.example/`)).toBe(false);
      expect(isAllowedUrl('file:///etc/passwd')).toBe(false);
      expect(isAllowedUrl('not an address')).toBe(false);
    }
    const webview = preventable();
    page.emit('will-attach-webview', webview);
    expect(webview.prevented).toBe(true);
  });

  it('opens no windows and passes only web and mail addresses to their programs', async () => {
    await using rig = await openDesktop();
    const page = rig.electron.contents();
    for (const url of [
      'https://example.org/a',
      'mailto:ada@example.org',
      'file:///etc/passwd',
      'smb://nas/x',
      'steam://run',
      'x',
    ]) {
      expect(page.opens(url)).toEqual({ action: 'deny' });
    }
    expect(rig.electron.opened).toEqual(['https://example.org/a', 'mailto:ada@example.org']);
  });

  it('has only the permissions to notify and to copy', async () => {
    await using rig = await openDesktop();
    const { request, check } = rig.electron.permissions;
    const isPermitted = (permission: string, requestingUrl: string): boolean => {
      let granted = false;
      request?.({}, permission, (answer) => (granted = answer), { requestingUrl });
      return granted;
    };
    for (const permission of ['notifications', 'clipboard-sanitized-write']) {
      expect(isPermitted(permission, `${rig.own()}/`)).toBe(true);
      expect(check?.({}, permission, rig.own())).toBe(true);
      expect(isPermitted(permission, 'https://evil.example/')).toBe(false);
    }
    for (const permission of ['media', 'geolocation', 'clipboard-read', 'openExternal', 'fileSystem']) {
      expect(isPermitted(permission, `${rig.own()}/`)).toBe(false);
      expect(check?.({}, permission, rig.own())).toBe(false);
    }
  });
});

describe('bridge', () => {
  it('exposes only the calls of the contract in the sandbox', () => {
    const file = fileURLToPath(new URL('../../main/shell/preload.cjs', import.meta.url));
    const sent: unknown[][] = [];
    let bridge: Record<string, (argument: unknown) => unknown> = {};
    runInNewContext(readFileSync(file, 'utf8'), {
      require: () => ({
        contextBridge: {
          exposeInMainWorld: (name: string, value: typeof bridge) => name === 'bridge' && (bridge = value),
        },
        ipcRenderer: { invoke: (...args: unknown[]) => sent.push(args) },
      }),
    });
    expect(Object.keys(bridge)).toEqual(Object.keys(bridgeCalls));
    bridge['pickFolder']?.({ from: '/' });
    expect(sent).toEqual([['homeport:pickFolder', { from: '/' }]]);
  });

  it("answers only the app's own pages and valid arguments", async () => {
    await using rig = await openDesktop();
    const { electron } = rig;
    const page = { url: `${rig.own()}/settings`, parent: null };
    expect([...electron.calls.keys()].sort()).toEqual(
      Object.keys(bridgeCalls)
        .map((name) => `homeport:${name}`)
        .sort(),
    );
    expect(await electron.call('info', undefined, page)).toMatchObject({ platform: 'linux' });
    for (const frame of [{ ...page, url: 'https://evil.example/' }, { ...page, parent: {} }, null]) {
      await expect(electron.call('info', undefined, frame as never)).rejects.toThrow('for the pages of Homeport');
    }
    await expect(electron.call('pickFolder', { from: 7 }, page)).rejects.toThrow('is not valid');
    await expect(electron.call('quit', { now: true }, page)).rejects.toThrow('is not valid');
    expect(electron.exits).toEqual([]);
  });

  /** Opens the app with the calls of its page. */
  async function openPage() {
    const rig = await openDesktop();
    const page = { url: `${rig.own()}/`, parent: null };
    return { rig, call: (name: string, argument?: unknown) => rig.electron.call(name, argument, page) };
  }

  it('selects folders and shows downloaded files', async () => {
    const { rig, call } = await openPage();
    await using _rig = rig;
    expect(await call('pickFolder', { from: '/home' })).toBeNull();
    rig.electron.chosenFolders = ['/home/ada/Videos'];
    expect(await call('pickFolder', { from: '/home' })).toBe('/home/ada/Videos');
    expect(await call('showDownload', { uid: 'film' })).toBe(true);
    expect(rig.electron.shownItems).toEqual([rig.downloads.film]);
  });

  it('changes the start at login and the use of the clipboard, and reports no updates', async () => {
    const { rig, call } = await openPage();
    await using _rig = rig;
    await call('startAtLogin', { on: true });
    expect(await call('startsAtLogin')).toBe(true);
    expect([await call('update'), await call('checkForUpdate')]).toEqual(['absent', 'absent']);
    expect(await call('watchesClipboard')).toBe(false);
    await call('watchClipboard', { on: true });
    expect(await call('watchesClipboard')).toBe(true);
    expect(rig.kept.get('watchClipboard')).toBe(true);
  });

  it('changes what closing the window does, hides the window and quits', async () => {
    const { rig, call } = await openPage();
    await using _rig = rig;
    const { electron } = rig;
    expect(await call('whenClosed')).toEqual({ choice: 'keep', inTray: true });
    await call('setWhenClosed', { choice: 'quit' });
    expect(rig.kept.get('keepRunning')).toBe(false);
    expect(menuTree(electron.tray?.menu ?? [])).toContain(`[ ] ${desktopMessages.keepRunning()}`);
    await expect(call('setWhenClosed', { choice: 'explode' })).rejects.toThrow('is not valid');
    await call('hide');
    expect(electron.window?.visible).toBe(false);
    await call('quit');
    await rig.sees(() => expect(electron.exits).toEqual([0]));
  });
});
