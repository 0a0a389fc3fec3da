import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const restartModule = new URL('../../main/restart-process.ts', import.meta.url).href;
const identityModule = new URL('../../services/kit/platform/process-identity.ts', import.meta.url).href;

/** Prints a line about itself and restarts once. */
const program = (platform: NodeJS.Platform): string => `
  import { existsSync, writeFileSync } from 'node:fs';
  import { restartProcess, waitForPredecessor } from '${restartModule}';
  import { isProcessAlive } from '${identityModule}';
  const predecessor = Number(process.env.HOMEPORT_PREDECESSOR);
  await waitForPredecessor();
  const [marker] = process.argv.slice(2);
  const { pid, argv, execArgv } = process;
  const npm = process.env.npm_lifecycle_event ?? null;
  const inherited = process.env.HOMEPORT_PREDECESSOR ?? null;
  console.log(JSON.stringify({ pid, predecessor, alive: isProcessAlive(predecessor), args: argv.slice(2), execArgv, npm, inherited }));
  if (!existsSync(marker)) {
    writeFileSync(marker, '');
    // The end of a process takes longer than the start of its successor.
    process.on('exit', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000));
    restartProcess('A service did not stop in time.', '${platform}');
  }
`;

interface Line {
  readonly pid: number;
  readonly predecessor: number | null;
  readonly alive: boolean;
  readonly npm: string | null;
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-restart-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the program until all its instances have ended. */
async function run(platform: NodeJS.Platform): Promise<readonly Line[]> {
  const script = join(folder, 'program.mjs');
  writeFileSync(script, program(platform));
  const args = ['--no-warnings', script, join(folder, 'restarted'), '--port', '54321'];
  const env = { ...process.env, npm_lifecycle_event: 'start' };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const output = await text(child.stdout);
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

describe('restartProcess', () => {
  it('starts a new process on Windows, which waits for the end of the former one', async () => {
    const [first, second, ...more] = await run('win32');
    expect(more).toEqual([]);
    expect(second?.pid).not.toBe(first?.pid);
    expect(second).toMatchObject({ predecessor: first?.pid, alive: false, inherited: null });
    expect(second).toMatchObject({ args: [join(folder, 'restarted'), '--port', '54321'], execArgv: ['--no-warnings'] });
    expect([first?.npm, second?.npm]).toEqual(['start', null]);
  });

  it.runIf(process.platform !== 'win32')('keeps the process id where the system can replace a process', async () => {
    const [first, second, ...more] = await run('linux');
    expect(more).toEqual([]);
    expect(second).toMatchObject({ pid: first?.pid, predecessor: null, npm: 'start' });
  });
});
