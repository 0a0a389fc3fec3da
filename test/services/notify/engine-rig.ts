import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isMissing, needs } from '../../support/requirements.ts';

const tools = fileURLToPath(new URL('../../../.cache/tools/', import.meta.url));
const run = promisify(execFile);

/** Returns the folder of a release of the real library, as the test tools installed it. */
export function getLibraryFolder(release: 'apprise-1' | 'apprise-2'): string {
  return join(tools, release);
}

export const lacksLibrary = isMissing(existsSync(getLibraryFolder('apprise-2')));

export const python = !lacksLibrary
  ? execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim()
  : '';

/**
 * Creates an installed engine in a folder: a launcher beside the packages. `interpreter` runs instead of Python.
 * Returns the path of the launcher for the setting.
 */
export function placeEngine(folder: string, packages: string, interpreter = python, version = '2.2.0'): string {
  mkdirSync(folder, { recursive: true });
  symlinkSync(packages, join(folder, 'packages'));
  const launcher = join(folder, 'apprise');
  writeFileSync(
    launcher,
    `#!/bin/sh\n[ "$1" = --version ] && echo "Apprise v${version}" && exit 0\nexec '${interpreter}' -c 'main'\n`,
  );
  chmodSync(launcher, 0o755);
  return launcher;
}

const singleScript = `
import json, sys
sys.path.insert(0, sys.argv[1])
import apprise
asset = apprise.AppriseAsset(app_id='Homeport', app_desc='Homeport Notifications', app_url='', async_mode=False,
                             image_url_mask=None, image_url_logo=None)
service = apprise.Apprise(asset=asset)
service.add(sys.argv[2])
service.notify(**json.loads(sys.argv[3]))
`;

needs('Apprise library');

/** Sends through the library, as a separate program would. */
export async function sendAlone(
  library: string,
  url: string,
  message: Readonly<Record<string, unknown>>,
): Promise<void> {
  await run(python, ['-c', singleScript, library, url, JSON.stringify(message)], { timeout: 60_000 });
}

/** Returns the IDs of the worker processes that were started by this process or, with `parent`, by another. */
export async function workers(parent: number = process.pid): Promise<readonly number[]> {
  const { stdout } = await run('ps', ['-eo', 'pid=,ppid=,args='], { maxBuffer: 16 * 1024 * 1024 });
  return stdout
    .split('\n')
    .filter((line) => line.includes('Sends notifications by the Apprise library'))
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, ppid]) => ppid === parent)
    .map(([pid = 0]) => pid);
}

/** Returns the arguments of a process, which all users of the computer can read. */
export async function readArguments(pid: number): Promise<string> {
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8')) + (await readFile(`/proc/${pid}/environ`, 'utf8'));
}
