import * as desktop from '#messages/desktop';
import * as commandLine from '#messages/command-line';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { autostartFile } from '../../main/host/platform/autostart.ts';
import { chooseDesktopShell, electronProgram } from '../../main/desktop/choice.ts';
import { hasTray } from '../../main/desktop/tray-presence.ts';
import { electronNotifier } from '../../main/shell/notifier.ts';
import { openLoginItem, wasOpenedAtLogin } from '../../main/shell/login-item.ts';
import { trayMenu } from '../../main/shell/menu.ts';
import type { ServiceState } from '../../services/contracts/control/api.ts';
import type { PopupEvent } from '../../services/contracts/popups/desktop.ts';
import { FakeElectron, menuTree } from '../support/electron.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeport-desktop-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('Linux tray', () => {
  const answer = (texts: Readonly<Record<string, string>>) => (program: string) =>
    texts[program] === undefined ? Promise.reject(new Error('ENOENT')) : Promise.resolve(texts[program]);

  it.each([
    [{ gdbus: '(true,)\n' }, true],
    [{ gdbus: '(false,)\n' }, false],
    [{ 'dbus-send': 'method return time=1\n   boolean true\n' }, true],
    [{ busctl: 'b true\n' }, true],
    [{ busctl: 'b false\n' }, false],
    [{}, false],
  ])('detects a tray on the session bus: %j', async (texts, expected) => {
    expect(await hasTray('linux', answer(texts))).toBe(expected);
  });

  it('is always available on other systems', async () => {
    expect(await hasTray('darwin', answer({}))).toBe(true);
  });
});

describe('start at login', () => {
  it('quotes a path as the desktop entry specification requires', async () => {
    const item = autostartFile({ XDG_CONFIG_HOME: folder }, ['/opt/a "b" $c `d` \\e 100%/homeport']);
    await item.set(true);
    const text = readFileSync(join(folder, 'autostart', 'homeport.desktop'), 'utf8');
    expect(text).toContain('Exec="/opt/a \\\\"b\\\\" \\\\$c \\\\`d\\\\` \\\\\\\\e 100%%/homeport" "--hidden"\n');
    expect(await item.get()).toBe(true);
  });

  it('uses the path of the AppImage instead of its mount', async () => {
    const item = autostartFile({ XDG_CONFIG_HOME: folder, APPIMAGE: '/home/ada/Homeport.AppImage' }, ['/tmp/.mount/x']);
    await item.set(true);
    expect(readFileSync(join(folder, 'autostart', 'homeport.desktop'), 'utf8')).toContain(
      'Exec="/home/ada/Homeport.AppImage" "--hidden"',
    );
  });

  it.each(['Hidden=true', 'X-GNOME-Autostart-enabled=false'])(
    'reports disabled when the desktop sets %s',
    async (line) => {
      mkdirSync(join(folder, 'autostart'), { recursive: true });
      writeFileSync(join(folder, 'autostart', 'homeport.desktop'), `[Desktop Entry]\n${line}\n`);
      expect(await autostartFile({ XDG_CONFIG_HOME: folder }, ['x']).get()).toBe(false);
    },
  );

  it.each([
    ['linux', 'Exec="/app dir/homeport" "/app dir" "--hidden"', []],
    // macOS ignores the arguments; see wasOpenedAtLogin.
    ['darwin', undefined, ['/app dir', '--hidden']],
    ['win32', undefined, ['"/app dir"', '--hidden']],
  ] as const)('is stored where %s looks for it', async (platform, line, args) => {
    const electron = new FakeElectron();
    const { app } = electron.parts;
    const config = join(folder, `login-${platform}`);
    const command = ['/app dir/homeport', '/app dir'];
    const item = openLoginItem({ app, platform, environment: { XDG_CONFIG_HOME: config }, command });
    expect(await item.get()).toBe(false);
    await item.set(true);
    expect(await item.get()).toBe(true);
    const file = join(config, 'autostart', 'homeport.desktop');
    expect(
      existsSync(file)
        ? readFileSync(file, 'utf8')
            .split('\n')
            .find((each) => each.startsWith('Exec='))
        : undefined,
    ).toBe(line);
    expect([electron.loginItem.openAtLogin, electron.loginItem.args]).toEqual([platform !== 'linux', args]);
    await item.set(false);
    expect(await item.get()).toBe(false);
  });

  it.each([
    ['linux', false],
    ['darwin', true],
    ['win32', false],
  ] as const)('asks the system whether it opened the app at login on %s: %s', (platform, expected) => {
    const electron = new FakeElectron();
    electron.wasOpenedAtLogin = true;
    expect(wasOpenedAtLogin(electron.parts.app, platform)).toBe(expected);
  });
});

describe('chooseDesktopShell', () => {
  const root = join(folder, 'project');
  const program = electronProgram({ root, environment: {}, platform: 'linux' });
  const choose = (fields: object = {}) =>
    chooseDesktopShell({ root, environment: { DISPLAY: ':0' }, platform: 'linux', user: 1000, ...fields });

  it('reports each missing part in turn', () => {
    expect(choose()).toEqual({ missing: commandLine.headlessNoElectron() });
    mkdirSync(join(program, '..'), { recursive: true });
    writeFileSync(program, '');
    expect(choose({ environment: {} })).toEqual({ missing: commandLine.headlessNoDisplay() });
    expect(choose({ user: 0 })).toEqual({ missing: commandLine.headlessRoot() });
    expect(choose()).toEqual({ missing: commandLine.headlessNotBuilt() });
    mkdirSync(join(root, 'dist', 'app', 'host'), { recursive: true });
    writeFileSync(join(root, 'dist', 'app', 'host', 'main-index.js'), '');
    expect(choose()).toEqual({ program, app: join(root, 'dist', 'app') });
    expect(choose({ environment: { WAYLAND_DISPLAY: 'wayland-0' } })).toHaveProperty('program');
  });

  it('finds the program on every system and in a bundled copy', () => {
    const environment = { ELECTRON_OVERRIDE_DIST_PATH: '/brought' };
    expect(electronProgram({ root, environment, platform: 'linux' })).toBe('/brought/electron');
    expect(electronProgram({ root, environment, platform: 'win32' })).toContain('electron.exe');
    expect(electronProgram({ root, environment, platform: 'darwin' })).toContain('Electron.app');
  });
});

describe('electronNotifier', () => {
  const popup = {
    ...{ id: 'message-1', title: 'Backup', body: '<done>', urgency: 'normal' as const, silent: true, group: 'mail' },
    actions: [{ id: 'read', label: 'Mark as read' }],
  };

  it('reports the events of a notification', () => {
    const electron = new FakeElectron();
    electron.becomeReady();
    const notifier = electronNotifier(electron.parts.Notification, 'darwin');
    const events: PopupEvent[] = [];
    notifier.show(popup, (event) => events.push(event));
    const [notification] = electron.notifications;
    expect(notification?.options).toMatchObject({ body: '<done>', silent: true, actions: [{ text: 'Mark as read' }] });
    notification?.events.emit('click');
    notification?.events.emit('action', {}, 0);
    notification?.events.emit('action', {}, 9);
    notification?.events.emit('failed', {}, 'the server is gone');
    expect(events).toEqual(['shown', 'clicked', { action: 'read' }, { failed: 'the server is gone' }]);
  });

  it('replaces an earlier notification of the same message and closes the oldest', () => {
    const electron = new FakeElectron();
    electron.becomeReady();
    const notifier = electronNotifier(electron.parts.Notification, 'linux');
    notifier.show(popup, () => undefined);
    notifier.show(popup, () => undefined);
    expect(electron.notifications.map(({ closed }) => closed)).toEqual([true, false]);
    for (let index = 0; index < 50; index += 1)
      notifier.show({ ...popup, id: `other-${String(index)}` }, () => undefined);
    expect(electron.notifications.filter(({ closed }) => !closed)).toHaveLength(50);
    expect(electron.notifications[1]?.closed).toBe(true);
  });

  it('fails without notification support and closes notifications on exit', async () => {
    const electron = new FakeElectron();
    electron.becomeReady();
    electron.showsNotifications = false;
    const notifier = electronNotifier(electron.parts.Notification, 'linux');
    const events: PopupEvent[] = [];
    notifier.show(popup, (event) => events.push(event));
    expect(events).toEqual([{ failed: 'this desktop shows no notifications' }]);
    electron.showsNotifications = true;
    notifier.show(popup, () => undefined);
    await notifier[Symbol.asyncDispose]();
    expect(electron.notifications[0]?.closed).toBe(true);
  });
});

it('copies an address, truncates a long reason and shows an update in the tray menu', () => {
  const copied: string[] = [];
  const service: ServiceState = {
    ...{ id: 'push', title: 'Push', summary: '', state: 'degraded', detail: '', reason: 'a '.repeat(100) },
    ...{ address: 'http://127.0.0.1:2586', port: 2586, suggestedPort: null, listeners: [], grantable: [] },
  };
  const nothing = (): void => undefined;
  const menu = (update: 'idle' | 'checking' | 'loading' | 'ready' | 'absent') =>
    trayMenu(
      {
        ...{
          services: [service],
          phase: 'running' as const,
          urgent: 3,
          downloads: 0,
          startsAtLogin: true,
          keepsRunning: true,
          update,
          now: 0,
        },
        popups: { enabled: true, driver: 'electron', pausedUntil: null, quietUntil: null, held: 0 },
      },
      {
        open: nothing,
        services: { turn: nothing, restart: nothing, startAgain: nothing },
        preferences: { startAtLogin: nothing, keepRunning: nothing },
        pause: nothing,
        checkForUpdate: nothing,
        quit: nothing,
        copy: (text) => copied.push(text),
      },
    );
  const items = menu('idle').flatMap(({ submenu }) => (Array.isArray(submenu) ? submenu : []));
  const below = items.flatMap(({ submenu }) => (Array.isArray(submenu) ? submenu : []));
  below.find(({ label }) => label === 'Copy http://127.0.0.1:2586')?.click?.({} as never, undefined, {});
  expect(copied).toEqual(['http://127.0.0.1:2586']);
  expect(below[0]?.label).toHaveLength(80);
  expect(menuTree(menu('idle'))).toContain('3 urgent messages');
  expect(menuTree(menu('idle'))).toContain(`\n${desktop.checkForUpdates()}\n`);
  expect(menuTree(menu('checking'))).toContain(`${desktop.updateChecking()} (not clickable)`);
  expect(menuTree(menu('loading'))).toContain(`${desktop.updateLoading()} (not clickable)`);
  expect(menuTree(menu('ready'))).toContain(`${desktop.updateReady()} (not clickable)`);
  expect(menuTree(menu('absent'))).not.toContain('update');
});
