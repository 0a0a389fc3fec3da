import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { watchNpm } from '../npm-parent.ts';
import { stopSignals } from '../stop-signals.ts';

/** A desktop app that can be started here: Electron's program, and the built app. */
export interface DesktopShell {
  readonly program: string;
  readonly app: string;
}

export interface Surroundings {
  /** Folder of the project. */
  readonly root: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** Number of the user, where the system has such; 0 is root. */
  readonly user: number | undefined;
}

/** Finds what a desktop app needs here. `missing` is the rest of a sentence: "Homeport runs without a window, …". */
export function desktopShell(surroundings: Surroundings): DesktopShell | { readonly missing: string } {
  const { root, environment, platform, user } = surroundings;
  const program = electronProgram(surroundings);
  if (!existsSync(program)) return { missing: 'since Electron’s program is not installed here' };
  if (platform === 'linux' && !environment['DISPLAY'] && !environment['WAYLAND_DISPLAY'])
    return { missing: 'since there is no display' };
  // Chromium's sandbox does not start as root, and the app never runs without it.
  if (user === 0) return { missing: 'since a window does not open for the user root' };
  const app = join(root, 'dist', 'app');
  if (!existsSync(join(app, 'main', 'index.js'))) return { missing: 'since the desktop app is not built' };
  return { program, app };
}

/** Where Electron's program would be: the npm package's place, or that of a copy brought along. */
export function electronProgram({ root, environment, platform }: Omit<Surroundings, 'user'>): string {
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
  // Before the program is there: on a busy machine it may be asked to end as soon as it has begun.
  for (const signal of stopSignals) process.on(signal, end);
  const child = spawn(program, [app, ...argv], { stdio: 'inherit' });
  watchNpm(end);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
