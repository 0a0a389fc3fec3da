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
    await expect(electron.call('pickFolder', { from: 7 }, page)).rejects.toThrow('does not fit');
    await expect(electron.call('quit', { now: true }, page)).rejects.toThrow('does not fit');
    expect(electron.exits).toEqual([]);
  });

  it('selects folders, shows downloaded files, and changes the start at login', async () => {
    await using rig = await openDesktop();
    const { electron } = rig;
    const page = { url: `${rig.own()}/`, parent: null };
    expect(await electron.call('pickFolder', { from: '/home' }, page)).toBeNull();
    electron.chosenFolders = ['/home/ada/Videos'];
    expect(await electron.call('pickFolder', { from: '/home' }, page)).toBe('/home/ada/Videos');
    expect(await electron.call('showDownload', { uid: 'film' }, page)).toBe(true);
    expect(electron.shownItems).toEqual([rig.downloads.film]);
    await electron.call('startAtLogin', { on: true }, page);
    expect(await electron.call('startsAtLogin', undefined, page)).toBe(true);
    expect(await electron.call('update', undefined, page)).toBe('absent');
    expect(await electron.call('checkForUpdate', undefined, page)).toBe('absent');
    expect(await electron.call('watchesClipboard', undefined, page)).toBe(false);
    await electron.call('watchClipboard', { on: true }, page);
    expect(await electron.call('watchesClipboard', undefined, page)).toBe(true);
    expect(rig.kept.get('watchClipboard')).toBe(true);
    expect(await electron.call('whenClosed', undefined, page)).toEqual({ choice: 'keep', inTray: true });
    await electron.call('setWhenClosed', { choice: 'quit' }, page);
    expect(rig.kept.get('keepRunning')).toBe(false);
    expect(menuTree(electron.tray?.menu ?? [])).toContain('[ ] Keep running when the window is closed');
    await expect(electron.call('setWhenClosed', { choice: 'explode' }, page)).rejects.toThrow('does not fit');
    await electron.call('hide', undefined, page);
    expect(electron.window?.visible).toBe(false);
    await electron.call('quit', undefined, page);
    await rig.sees(() => expect(electron.exits).toEqual([0]));
  });
});
