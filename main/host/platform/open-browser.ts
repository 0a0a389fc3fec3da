import { spawn } from 'node:child_process';

/** Opens a page in the user's browser if there is a display; otherwise does nothing. */
export function openInBrowser(url: string, environment: NodeJS.ProcessEnv, platform: NodeJS.Platform): void {
  const hasDisplay = platform !== 'linux' || Boolean(environment['DISPLAY'] || environment['WAYLAND_DISPLAY']);
  if (!hasDisplay) return;
  const [command, ...args] =
    platform === 'darwin' ? ['open', url] : platform === 'win32' ? ['explorer.exe', url] : ['xdg-open', url];
  const child = spawn(command ?? 'xdg-open', args, { stdio: 'ignore', detached: true });
  // No opener is installed; the address was printed as well.
  child.on('error', () => undefined);
  child.unref();
}
