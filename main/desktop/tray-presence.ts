import { execFile } from 'node:child_process';

/** Runs a program and gives what it printed; rejects when it fails or is not there. */
export type Run = (program: string, args: readonly string[]) => Promise<string>;

const name = 'org.kde.StatusNotifierWatcher';
const bus = 'org.freedesktop.DBus';

/**
 * Whether tray icons are shown here. On Linux that is so when someone on the session bus collects them; GNOME without
 * an extension does not, and an app that hid there would be out of reach. Who cannot be asked counts as absent.
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

/** A program of the system, for {@link hasTray}. */
export const runProgram: Run = (program, args) =>
  new Promise((resolve, reject) => {
    execFile(program, args, { timeout: 2000 }, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(new Error(error.message));
    });
  });
