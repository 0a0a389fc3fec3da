import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as electron from 'electron';
import Store from 'electron-store';
import updater from 'electron-updater';
import { main } from '../headless.ts';
import { runProgram } from '../desktop/tray-presence.ts';
import { dataDirOf, parseCommandLine } from '../host/cli/command-line.ts';
import { openHost } from '../host/host.ts';
import { registry } from '../host/services/registry.ts';
import { startDesktop } from './desktop.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The program under Electron: the desktop app, or what else the command line asks for. */
export async function run(argv: readonly string[]): Promise<void> {
  const { app } = electron;
  const command = parseCommandLine(argv);
  if (command.name !== 'start' || command.headless) {
    await main(argv);
    // A host without a window ends by a signal; every other command has ended here.
    if (command.name !== 'start') app.exit(Number(process.exitCode ?? 0));
    return;
  }
  const dataDir = dataDirOf(command.dataDir, process.env, process.platform);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => app.quit());
  await startDesktop({
    parts: electron,
    argv,
    dataDir,
    root,
    platform: process.platform,
    environment: process.env,
    hidden: command.hidden,
    openHost: (desktop) =>
      openHost({
        ...desktop,
        dataDir,
        descriptors: registry,
        pages: join(root, 'dist', 'renderer'),
        safeMode: command.safeMode,
        commandLine: command.port === undefined ? {} : { port: command.port },
      }),
    openStore: (folder) => new Store({ cwd: folder, name: 'preferences' }),
    // electron-builder leaves this file where a feed was named; without it there is nothing to ask.
    updater: existsSync(join(process.resourcesPath, 'app-update.yml')) ? updater.autoUpdater : undefined,
    run: runProgram,
    command: app.isPackaged ? [process.execPath] : [process.execPath, app.getAppPath()],
  });
}
