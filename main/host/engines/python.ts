import { runCommand } from './command.ts';
import { ytdlp } from './pins.ts';
import { systemPath } from './places.ts';

const [major, minor] = ytdlp.python;
export const oldestPython = `${major}.${minor}`;

/** Absolute path of a Python that is new enough for yt-dlp (and has pip, when asked for); undefined when there is none. */
export async function findPython(options: { readonly pip?: boolean } = {}): Promise<string | undefined> {
  const check = `import sys; assert sys.version_info >= (${major}, ${minor}); ${options.pip === true ? 'import pip; ' : ''}print(sys.executable)`;
  for (const name of ['python3', '/usr/bin/python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11']) {
    const path = name.startsWith('/') ? name : await systemPath(name);
    if (path === undefined) continue;
    // A shim (pyenv, asdf) depends on the current folder; the interpreter behind it does not.
    const result = await runCommand(path, ['-I', '-c', check], { timeoutMs: 30_000 });
    const executable = result.stdout.trim();
    if (result.ok && executable !== '') return executable;
  }
  return undefined;
}
