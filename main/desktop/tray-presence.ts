import { execFile } from 'node:child_process';

/** Runs a program and returns its output; rejects when it fails or does not exist. */
export type Run = (program: string, args: readonly string[]) => Promise<string>;

const name = 'org.kde.StatusNotifierWatcher';
const bus = 'org.freedesktop.DBus';

/**
 * Returns whether tray icons are shown. On Linux that requires a watcher on the session bus; GNOME without an
 * extension has none, and an app that hides there would be unreachable. A failed check counts as absent.
 */
export async function hasTray(platform: NodeJS.Platform, run: Run): Promise<boolean> {
  if (platform !== 'linux') return true;
  const questions: readonly (readonly [program: string, ...args: string[]])[] = [
    ['gdbus', 'call', '--session', '--dest', bus, '--object-path', '/', '--method', `${bus}.NameHasOwner`, name],
    ['dbus-send', '--session', '--print-reply', `--dest=${bus}`, '/', `${bus}.NameHasOwner`, `string:${name}`],
    ['busctl', '--user', 'call', bus, '/', bus, 'NameHasOwner', 's', name],
  ];
  for (const [program, ...args] of questions) {
    const answer = await run(program, args).catch(() => undefined);
    if (answer !== undefined) return /\btrue\b/.test(answer);
  }
  return false;
}

/** Runs a program of the system for {@link hasTray}. */
export const runProgram: Run = (program, args) =>
  new Promise((resolve, reject) => {
    execFile(program, args, { timeout: 2000 }, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(new Error(error.message));
    });
  });
