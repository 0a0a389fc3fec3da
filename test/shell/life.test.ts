import * as desktopMessages from '#messages/desktop';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DataFolderTaken } from '../../main/host/runtime/data-lock.ts';
import type { FakeElectron } from '../support/electron.ts';
import { MoodyService } from '../renderer/memory-services.ts';
import { openDesktop } from './rig.ts';

describe('desktop app', () => {
  it('hands over to the running instance before it touches anything', async () => {
    let opened = false;
    await using rig = await openDesktop({
      prepare: (electron) => (electron.isFirst = false),
      openHost: async () => {
        opened = true;
        throw new Error('unexpected');
      },
    });
    expect(rig.electron.exits).toEqual([0]);
    expect(opened).toBe(false);
  });

  it("separates Chromium's files and accepts links", async () => {
    await using rig = await openDesktop();
    expect(rig.electron.paths).toEqual({ userData: join(rig.dataDir, 'desktop') });
    expect(rig.electron.protocols).toEqual(['homeport']);
  });

  it('completes the early setup of Electron before it is ready', async () => {
    let seen: unknown;
    await using rig = await openDesktop({
      hidden: true,
      beforeReady(electron) {
        const { paths, protocols, windows, trays } = electron;
        seen = { userData: paths['userData'], protocols: [...protocols], made: windows.length + trays.length };
        // macOS passes a link while the app starts.
        electron.events.emit('open-url', { preventDefault: () => undefined }, 'homeport://open?view=inbox/7');
      },
    });
    expect(seen).toEqual({ userData: join(rig.dataDir, 'desktop'), protocols: ['homeport'], made: 0 });
    expect(rig.electron.window?.addresses).toEqual([`${rig.own()}/inbox/7`]);
  });

  it('quits while its services are opening', async () => {
    await using rig = await openDesktop({ whileOpening: (electron) => electron.parts.app.quit() });
    expect(rig.electron.exits).toEqual([0]);
    expect(rig.electron.errors).toEqual([]);
  });

  it('shows the pages of a host that runs without a window', async () => {
    await using rig = await openDesktop({
      openHost: async () => {
        throw new DataFolderTaken('/data', { pid: 7, url: 'http://127.0.0.1:7700/' });
      },
    });
    expect(rig.electron.opened).toEqual(['http://127.0.0.1:7700/']);
    expect(rig.electron.exits).toEqual([0]);
  });

  it('reopens its services with a restored backup', async () => {
    const backups = mkdtempSync(join(tmpdir(), 'homeport-shell-backups-'));
    try {
      await using rig = await openDesktop({ environment: { HOMEPORT_BACKUP_FOLDER: backups } });
      const before = rig.host();
      const { name } = await before.control.backups.create();
      await before.control.changeSettings('moody', { name: 'later' });
      await before.control.backups.restore(name);
      await expect.poll(() => rig.host() === before).toBe(false);
      const moody = rig
        .host()
        .control.settings()
        .sections.find(({ id }) => id === 'moody');
      expect(moody?.fields.find(({ name: field }) => field === 'name')?.value).toBe('harbour');
      await expect.poll(async () => (await fetch(`${rig.own()}/api/session`)).status).toBe(200);
      expect([rig.electron.exits, rig.electron.errors]).toEqual([[], []]);
    } finally {
      rmSync(backups, { recursive: true, force: true });
    }
  });

  it('starts a new host process when a service did not stop for a restore', async () => {
    const backups = mkdtempSync(join(tmpdir(), 'homeport-shell-backups-'));
    const moody = new MoodyService();
    const create = moody.descriptor.create.bind(moody.descriptor);
    const freed = Promise.withResolvers<void>();
    let begun = 0;
    const descriptor: typeof moody.descriptor = {
      ...moody.descriptor,
      async create(...args) {
        begun += 1;
        const service = await create(...args);
        if (begun === 1) service[Symbol.asyncDispose] = () => freed.promise;
        return service;
      },
    };
    try {
      await using rig = await openDesktop({
        environment: { HOMEPORT_BACKUP_FOLDER: backups, HOMEPORT_STOP_TIMEOUT: '1' },
        moody: Object.assign(moody, { descriptor }),
      });
      const { fork } = rig.electron;
      let forks = 0;
      rig.electron.fork = (...args) => {
        forks += 1;
        return fork(...args);
      };
      const before = rig.host();
      await before.control.backups.restore((await before.control.backups.create()).name);
      await expect.poll(() => begun, { timeout: 20_000 }).toBe(2);
      expect(forks).toBe(1);
      freed.resolve();
      await expect.poll(() => rig.host() === before).toBe(false);
    } finally {
      rmSync(backups, { recursive: true, force: true });
    }
  });

  it('reports why it cannot start', async () => {
    await using rig = await openDesktop({
      openHost: async () => {
        throw new Error('The vault’s key is missing.');
      },
    });
    expect(rig.electron.errors).toEqual([`${desktopMessages.startFailed()}: The vault’s key is missing.`]);
    expect(rig.electron.exits).toEqual([1]);
  });

  it('checks its services when the computer resumes', async () => {
    await using rig = await openDesktop();
    rig.moody.health = { state: 'degraded', detail: 'The network is not back yet.' };
    rig.electron.power.emit('resume');
    await rig.sees(() =>
      expect(JSON.stringify(rig.electron.tray?.menu)).toContain(
        desktopMessages.serviceLine({ service: 'Moody', state: desktopMessages.stateDegraded() }),
      ),
    );
    expect(rig.log.join('\n')).toContain('computer resumed');
  });

  it('continues when its last window closes', async () => {
    await using rig = await openDesktop();
    rig.electron.events.emit('window-all-closed');
    rig.electron.events.emit('activate');
    expect(rig.electron.window?.visible).toBe(true);
    expect(rig.electron.exits).toEqual([]);
  });

  it('shows notifications whose click opens the message in the window', async () => {
    await using rig = await openDesktop({ hidden: true });
    const { id } = rig.inbox.add({ title: 'Disk <full>', body: 'a & <b>b</b>', priority: 5 });
    await rig.sees(() => expect(rig.electron.notifications).toHaveLength(1));
    const [notification] = rig.electron.notifications;
    expect(notification?.options).toMatchObject({
      title: 'Disk <full>',
      body: 'a &amp; &lt;b&gt;b&lt;/b&gt;',
      urgency: 'critical',
      timeoutType: 'never',
    });
    notification?.events.emit('click');
    await rig.sees(() => expect(rig.electron.window?.addresses).toEqual([`${rig.own()}/inbox/${String(id)}`]));
    const link = rig.inbox.add({ title: 'Build', link: 'https://ci.example/7', priority: 4 });
    await rig.sees(() => expect(rig.electron.notifications).toHaveLength(2));
    rig.electron.notifications[1]?.events.emit('click');
    await rig.sees(() => expect(rig.electron.opened).toEqual(['https://ci.example/7']));
    rig.electron.notifications[1]?.events.emit('action', {}, 0);
    await rig.sees(() => expect(rig.inbox.items.find((item) => item.id === link.id)?.read).toBe(true));
  });
});

describe('vault key', () => {
  const keyIn = async (prepare: (electron: FakeElectron) => void, dataDir: string): Promise<string> => {
    await using _rig = await openDesktop({ prepare, dataDir });
    return readFileSync(join(dataDir, 'vault.key'), 'utf8');
  };

  it('is stored in a secure keyring and returns to the file otherwise', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-key-'));
    using _gone = { [Symbol.dispose]: () => rmSync(dataDir, { recursive: true, force: true }) };
    expect(await keyIn((electron) => (electron.keyring = 'gnome_libsecret'), dataDir)).toContain('safe-storage');
    expect(await keyIn((electron) => (electron.keyring = 'basic_text'), dataDir)).not.toContain('safe-storage');
    expect(await keyIn((electron) => (electron.keyring = 'gnome_libsecret'), dataDir)).toContain('safe-storage');
  });

  it('is wrapped again when the keyring has a newer key', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-key-'));
    using _gone = { [Symbol.dispose]: () => rmSync(dataDir, { recursive: true, force: true }) };
    const before = await keyIn(() => undefined, dataDir);
    expect(await keyIn(() => undefined, dataDir)).toBe(before);
    const renewed = await keyIn((electron) => (electron.hasNewKey = true), dataDir);
    expect(renewed).not.toBe(before);
    expect(await keyIn((electron) => (electron.hasNewKey = true), dataDir)).toBe(renewed);
  });

  it('stays in the file without a keyring', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-key-'));
    using _gone = { [Symbol.dispose]: () => rmSync(dataDir, { recursive: true, force: true }) };
    expect(await keyIn((electron) => (electron.keyring = 'none'), dataDir)).not.toContain('safe-storage');
  });
});
