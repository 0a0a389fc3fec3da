import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import type { Updater } from '../../main/desktop/updates.ts';
import { openHost } from '../../main/host/host.ts';
import type { Host } from '../../main/host/running-host.ts';
import type { DesktopDependencies } from '../../main/desktop/serve-host.ts';
import { startDesktop } from '../../main/shell/desktop.ts';
import type { ServiceDescriptor } from '../../services/contracts/service.ts';
import { control } from '../../services/control/index.ts';
import { popups } from '../../services/popups/index.ts';
import { MemoryDownloads, MemoryInbox, MoodyService } from '../renderer/memory-services.ts';
import { FakeElectron } from '../support/electron.ts';
import { builtPages, testEnvironment } from '../support/host.ts';
import { forkHere } from './fork-here.ts';

export interface DesktopRig extends AsyncDisposable {
  readonly electron: FakeElectron;
  readonly dataDir: string;
  readonly inbox: MemoryInbox;
  readonly downloads: MemoryDownloads;
  readonly moody: MoodyService;
  /** Content of a fake electron-store. */
  readonly kept: Map<string, unknown>;
  readonly log: readonly string[];
  readonly host: () => Host;
  /** Address of the app's pages. */
  readonly own: () => string;
  /** Returns the session header of the window's pages; empty if the app is not signed in. */
  session(): Promise<Readonly<Record<string, string>>>;
  /** Waits until the tray matches the expectation. */
  sees(expectation: () => void): Promise<void>;
}

export interface RigOptions {
  readonly argv?: readonly string[];
  readonly platform?: NodeJS.Platform;
  /** True when the desktop shows tray icons. */
  readonly tray?: boolean;
  readonly hidden?: boolean;
  readonly administrator?: boolean;
  readonly kept?: Readonly<Record<string, unknown>>;
  readonly updater?: Updater;
  readonly environment?: Readonly<Record<string, string>>;
  readonly dataDir?: string;
  readonly moody?: MoodyService;
  /** Additional services. */
  readonly also?: readonly ServiceDescriptor[];
  readonly openHost?: (desktop: DesktopDependencies) => Promise<Host>;
  /** Changes the fake before anything starts. */
  readonly prepare?: (electron: FakeElectron) => void;
  /** Runs while the services are opening. */
  readonly whileOpening?: (electron: FakeElectron) => void;
  /** Runs when Electron has become ready. */
  readonly whenReady?: (electron: FakeElectron) => void;
  /** Runs while the app finds out whether the desktop has a tray. */
  readonly whileOpeningTray?: (electron: FakeElectron) => void;
  /** Runs once the entry has been evaluated, before Electron is ready. */
  readonly beforeReady?: (electron: FakeElectron) => void;
}

/** Opens the desktop app on a fake of Electron, around the real host with fake services. */
export async function openDesktop(options: RigOptions = {}): Promise<DesktopRig> {
  const electron = new FakeElectron();
  options.prepare?.(electron);
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'homeport-shell-'));
  const [inbox, downloads, moody] = [new MemoryInbox(), new MemoryDownloads(), options.moody ?? new MoodyService()];
  const stored = new Map<string, unknown>(Object.entries(options.kept ?? {}));
  const log: string[] = [];
  let host: Host | undefined;
  const environment = {
    ...testEnvironment(dataDir, { ...options, environment: { XDG_CONFIG_HOME: join(dataDir, 'config') } }),
    ...options.environment,
  };
  electron.fork = forkHere(
    options.openHost ??
      (async (desktop) => {
        options.whileOpening?.(electron);
        host = await openHost({
          ...desktop,
          dataDir,
          descriptors: [
            downloads.descriptor,
            moody.descriptor,
            inbox.descriptor,
            ...(options.also ?? []),
            popups,
            control,
          ],
          pages: builtPages,
          environment,
          logWrite: (line) => void log.push(line),
        });
        return host;
      }),
  );
  const started = startDesktop({
    parts: electron.parts,
    argv: options.argv ?? [],
    platform: options.platform ?? 'linux',
    environment,
    root: '/opt/homeport',
    dataDir,
    hidden: options.hidden ?? false,
    hostArgv: [],
    openStore: () => ({ get: (name) => stored.get(name), set: (name, value) => void stored.set(name, value) }),
    updater: options.updater,
    async run() {
      options.whileOpeningTray?.(electron);
      return `(${String(options.tray ?? true)},)`;
    },
    command: ['/opt/homeport/homeport'],
  });
  options.beforeReady?.(electron);
  electron.becomeReady();
  options.whenReady?.(electron);
  await started;
  const own = (): string => host?.addresses()['control'] ?? '';
  return {
    ...{ electron, dataDir, inbox, downloads, moody, kept: stored, log, own },
    host() {
      if (host === undefined) throw new Error('the host was not opened');
      return host;
    },
    async session() {
      const secret = await electron.call('session', undefined, { url: `${own()}/`, parent: null });
      return typeof secret === 'string' ? { 'Homeport-Session': secret } : {};
    },
    sees: (expectation) => vi.waitFor(expectation, { timeout: 10_000, interval: 20 }),
    async [Symbol.asyncDispose]() {
      if (electron.exits.length === 0) {
        electron.parts.app.quit();
        await vi.waitFor(() => expect(electron.exits).not.toEqual([]), { timeout: 15_000, interval: 20 });
      }
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
