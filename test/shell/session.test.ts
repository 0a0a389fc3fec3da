import * as desktopMessages from '#messages/desktop';
import { describe, expect, it } from 'vitest';
import { hasTray } from '../../main/desktop/tray-presence.ts';
import { openLoginItem } from '../../main/shell/login-item.ts';
import { openDesktop } from './rig.ts';

describe('end of the session', () => {
  it('ends the services on Windows, where no before-quit is emitted', async () => {
    await using rig = await openDesktop({ platform: 'win32', hidden: true });
    expect(rig.electron.window?.visible).toBe(false);
    expect(rig.electron.endSession('win32')).toEqual({ delayed: true, refused: false });
    await rig.sees(() => expect(rig.electron.exits).toEqual([0]));
    expect(rig.log.join('\n')).toContain('host is stopping');
  });

  it('ends the services on macOS and does not refuse the shutdown', async () => {
    await using rig = await openDesktop({ platform: 'darwin' });
    expect(rig.electron.endSession('darwin')).toEqual({ delayed: true, refused: false });
    await rig.sees(() => expect(rig.electron.exits).toEqual([0]));
    expect(rig.log.join('\n')).toContain('host is stopping');
  });

  it('opens the requested page in a window that was only prepared', async () => {
    await using rig = await openDesktop({ platform: 'win32', hidden: true });
    rig.electron.secondInstance(['homeport']);
    await rig.sees(() => expect(rig.electron.window?.addresses).toEqual([`${rig.own()}/`]));
    expect(rig.electron.windows).toHaveLength(1);
  });
});

describe('start', () => {
  it('shows no window when macOS starts the app at login', async () => {
    await using rig = await openDesktop({
      platform: 'darwin',
      prepare: (electron) => (electron.wasOpenedAtLogin = true),
    });
    expect(rig.electron.window?.visible ?? false).toBe(false);
  });

  it('shows the window when macOS starts the app otherwise', async () => {
    await using rig = await openDesktop({ platform: 'darwin' });
    expect(rig.electron.window?.visible).toBe(true);
  });

  it('registers for links only when packed', async () => {
    await using rig = await openDesktop({ prepare: (electron) => (electron.isPackaged = false) });
    expect(rig.electron.protocols).toEqual([]);
  });

  it('moves from the disk image to the applications on request', async () => {
    await using rig = await openDesktop({
      platform: 'darwin',
      prepare(electron) {
        electron.isInApplicationsFolder = false;
        electron.answers.push({ button: 0 });
      },
    });
    expect(rig.electron.moves).toBe(1);
    await rig.sees(() => expect(rig.electron.exits).toEqual([0]));
  });

  it('continues from the disk image when the move is declined, and remembers the answer', async () => {
    await using rig = await openDesktop({
      platform: 'darwin',
      prepare(electron) {
        electron.isInApplicationsFolder = false;
        electron.answers.push({ button: 1, remember: true });
      },
    });
    expect([rig.electron.moves, rig.kept.get('staysInFolder')]).toEqual([0, true]);
    expect(rig.electron.window?.visible).toBe(true);
  });

  it('continues from the disk image when the move fails, and shows the reason', async () => {
    await using rig = await openDesktop({
      platform: 'darwin',
      prepare(electron) {
        electron.isInApplicationsFolder = false;
        electron.moveError = new Error('The disk is full');
        electron.answers.push({ button: 0 });
      },
    });
    expect(rig.electron.errors).toEqual([`${desktopMessages.moveFailed()}: The disk is full`]);
    expect(rig.electron.window?.visible).toBe(true);
  });

  it('starts the services at login without the question of the move', async () => {
    await using rig = await openDesktop({
      platform: 'darwin',
      prepare(electron) {
        electron.isInApplicationsFolder = false;
        electron.wasOpenedAtLogin = true;
        electron.answers.push({ button: 0 });
      },
    });
    expect([rig.electron.moves, rig.electron.answers.length]).toEqual([0, 1]);
  });

  it.each(['win32', 'darwin'] as const)(
    'passes a moved folder for downloads to the services on %s',
    async (platform) => {
      let environment: object | undefined;
      await using _rig = await openDesktop({
        platform,
        prepare: (electron) => (electron.paths['downloads'] = 'D:\\Downloads'),
        beforeReady(electron) {
          const { fork } = electron;
          electron.fork = (entry, args, options) => {
            environment = options.env;
            return fork(entry, args, options);
          };
        },
      });
      expect(environment).toMatchObject({ HOMEPORT_USER_DOWNLOADS: 'D:\\Downloads' });
    },
  );
});

describe('login item', () => {
  it('quotes arguments with spaces on Windows, which stores one command line', async () => {
    const entries: unknown[] = [];
    const app = {
      getLoginItemSettings: () => ({ openAtLogin: false }) as never,
      setLoginItemSettings: (entry?: unknown) => void entries.push(entry),
    };
    const command = ['C:\\electron.exe', 'C:\\Users\\Jane Doe\\homeport'];
    await openLoginItem({ app, platform: 'win32', environment: {}, command }).set(true);
    expect(entries).toEqual([
      {
        path: 'C:\\electron.exe',
        args: ['"C:\\Users\\Jane Doe\\homeport"', '--hidden'],
        openAtLogin: true,
      },
    ]);
  });
});

describe('tray', () => {
  it('is absent on GNOME without an extension, and present elsewhere', async () => {
    const answer = (text: string) => () => Promise.resolve(text);
    expect(await hasTray('linux', answer('(false,)'))).toBe(false);
    expect(await hasTray('linux', answer('(true,)'))).toBe(true);
    expect([await hasTray('win32', answer('')), await hasTray('darwin', answer(''))]).toEqual([true, true]);
  });
});
