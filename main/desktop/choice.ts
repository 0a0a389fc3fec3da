import * as m from '#messages/command-line';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { watchNpm } from '../npm-parent.ts';
import { stopSignals } from '../stop-signals.ts';

/** Desktop app that can be started here: Electron's program, and the built app. */
export interface DesktopShell {
  readonly program: string;
  readonly app: string;
}

export interface DesktopEnvironment {
  /** Folder of the project. */
  readonly root: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** User id, where the system has one; 0 is root. */
  readonly user: number | undefined;
}

/** Finds the desktop app. `missing` says why Homeport runs without a window. */
export function chooseDesktopShell(surroundings: DesktopEnvironment): DesktopShell | { readonly missing: string } {
  const { root, environment, platform, user } = surroundings;
  const program = electronProgram(surroundings);
  if (!existsSync(program)) return { missing: m.headlessNoElectron() };
  if (platform === 'linux' && !environment['DISPLAY'] && !environment['WAYLAND_DISPLAY'])
    return { missing: m.headlessNoDisplay() };
  // Chromium's sandbox does not start as root, and the app never runs without it.
  if (user === 0) return { missing: m.headlessRoot() };
  const app = join(root, 'dist', 'app');
  if (!existsSync(join(app, 'host', 'main-index.js'))) return { missing: m.headlessNotBuilt() };
  return { program, app };
}

/** Returns the path of Electron's program: in the npm package, or in a bundled copy. */
export function electronProgram({ root, environment, platform }: Omit<DesktopEnvironment, 'user'>): string {
  const folder = environment['ELECTRON_OVERRIDE_DIST_PATH'] || join(root, 'node_modules', 'electron', 'dist');
  const names: Partial<Record<NodeJS.Platform, string>> = {
    darwin: join('Electron.app', 'Contents', 'MacOS', 'Electron'),
    win32: 'electron.exe',
  };
  return join(folder, names[platform] ?? 'electron');
}

/** Runs the desktop app until it ends; resolves with its exit code. */
export function runDesktopShell({ program, app }: DesktopShell, argv: readonly string[]): Promise<number> {
  const end = (): void => void child.kill('SIGTERM');
  // Registered before the program starts: on a busy computer the signal may arrive immediately afterwards.
  for (const signal of stopSignals) process.on(signal, end);
  const child = spawn(program, [app, ...argv], { stdio: 'inherit' });
  watchNpm(end);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
