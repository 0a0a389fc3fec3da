import * as m from '#messages/desktop';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as electron from 'electron';
import Store from 'electron-store';
import updater from 'electron-updater';
import { currentPlatform } from '../../services/kit/platform/current-platform.ts';
import { runProgram } from '../desktop/tray-presence.ts';
import { getDataDir } from '../host/platform/data-folder.ts';
import { parseCommandLine } from '../host/cli/command-line.ts';
import { watchNpm } from '../npm-parent.ts';
import { stopSignals } from '../stop-signals.ts';
import { startDesktop } from './desktop.ts';

/** Runs the program under Electron: the desktop app, or another command. Throws nothing. */
export async function run(argv: readonly string[]): Promise<void> {
  const { app, dialog } = electron;
  try {
    await start(argv);
  } catch (error) {
    console.error(error);
    dialog.showErrorBox(m.startFailed(), error instanceof Error ? error.message : String(error));
    app.exit(1);
  }
}

async function start(argv: readonly string[]): Promise<void> {
  const { app } = electron;
  const command = parseCommandLine(argv);
  if (command.name !== 'start' || command.headless) {
    // The shell itself does not load the sources of the services.
    const { main } = await import('../headless.ts');
    await main(argv, app.getAppPath());
    // A host without a window ends by a signal; every other command has ended here.
    if (command.name !== 'start') app.exit(Number(process.exitCode ?? 0));
    return;
  }
  const { port, safeMode } = command;
  const dataDir = getDataDir(command.dataDir, process.env, currentPlatform);
  for (const signal of stopSignals) process.on(signal, () => app.quit());
  watchNpm(() => app.quit());
  await startDesktop({
    parts: electron,
    argv,
    dataDir,
    root: app.getAppPath(),
    platform: currentPlatform,
    environment: process.env,
    hidden: command.hidden,
    hostArgv: [
      ...['--data-dir', dataDir],
      ...(port === undefined ? [] : ['--port', String(port)]),
      ...(safeMode ? ['--safe-mode'] : []),
    ],
    openStore: (folder) => new Store({ cwd: folder, name: 'preferences' }),
    // electron-builder writes this file when a feed is configured.
    updater: existsSync(join(process.resourcesPath, 'app-update.yml')) ? updater.autoUpdater : undefined,
    run: runProgram,
    command: app.isPackaged ? [process.execPath] : [process.execPath, app.getAppPath()],
  });
}
