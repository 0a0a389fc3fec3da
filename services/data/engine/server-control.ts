import * as m from '#messages/data-problems';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunningChild } from '../../contracts/children.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { pauseFor } from '../../kit/pause.ts';
import { removeTree } from '../../kit/platform/file-replacement.ts';
import { exists } from './exists.ts';
import { buildCommand } from './server-command.ts';

const startSeconds = '120';
const stopSeconds = '60';
const pollIntervalMs = 50;
const logName = 'homeport-server.log';
const pidFileName = 'postmaster.pid';
/** Lines of the file of a running server: its process id, the time of its start, and its state. */
const [idLine, startTimeLine, stateLine] = [0, 2, 7] as const;

/** Context of `pg_ctl`, with the folders of the programs and of the data. */
export interface ServerControl {
  readonly context: Pick<Context, 'children' | 'clock' | 'log'>;
  readonly programs: string;
  readonly folder: string;
}

/**
 * Starts a server with `pg_ctl`, for Windows: it gives up administrator rights, with which the server refuses to run.
 * @throws Problem `data.engine_failed` (503) with the end of the server's output.
 */
export async function startByControl(control: ServerControl, options: readonly string[]): Promise<void> {
  const { folder } = control;
  const log = join(folder, logName);
  // Windows does not end this server together with a crashed host.
  if (await exists(join(folder, pidFileName))) await runControl(control, (data) => buildStopArguments(data, 'fast'));
  // A killed server leaves its file behind, and a power failure leaves it in the state of a running server.
  const previous = await readStatus(folder);
  // While another program reads the log, the output is appended to it.
  await removeTree(log).catch(() => undefined);
  const child = await startControl(control, (data) => [
    ...['start', '-D', data, '-w', '-t', startSeconds, '-l', join(data, logName), '-o', options.join(' ')],
  ]);
  // The server can inherit the output of pg_ctl on Windows, whose end is then not reported.
  const isStarted = await Promise.race([
    child.exited.then(({ code }) => code === 0),
    waitUntilReady(control, child, previous?.identity),
  ]);
  if (isStarted) return;
  const output = await readFile(log, 'utf8').catch(() => '');
  throw new Problem('data.engine_failed', 503, () => m.serverNotStarted({ output: output.trim().slice(-4000) }));
}

/**
 * Stops a server with `pg_ctl`, for Windows: a killed server recovers at its next start, which empties unlogged tables.
 */
export async function stopByControl(control: ServerControl): Promise<void> {
  if (!(await exists(join(control.folder, pidFileName)))) return;
  if (await runControl(control, (data) => buildStopArguments(data, 'fast'))) return;
  control.context.log.warn('postgresql stop failed');
  await runControl(control, (data) => buildStopArguments(data, 'immediate'));
}

function buildStopArguments(data: string, mode: 'fast' | 'immediate'): readonly string[] {
  return ['stop', '-D', data, '-m', mode, '-w', '-t', stopSeconds];
}

async function startControl(
  { context, programs, folder }: ServerControl,
  args: (dataFolder: string) => readonly string[],
): Promise<RunningChild> {
  const child = await context.children.start({
    ...buildCommand('pg_ctl', join(programs, 'pg_ctl'), folder, args),
    shortLived: true,
  });
  child.stdout.resume();
  child.stderr.resume();
  return child;
}

async function runControl(control: ServerControl, args: (dataFolder: string) => readonly string[]): Promise<boolean> {
  return (await (await startControl(control, args)).exited).code === 0;
}

/**
 * Resolves when a server accepts connections that is not the previous one. Its file states that in the same words in
 * every language.
 */
async function waitUntilReady(
  { folder, context }: ServerControl,
  child: RunningChild,
  previousIdentity: string | undefined,
): Promise<boolean> {
  const exit = new AbortController();
  void child.exited.then(() => exit.abort());
  while (!exit.signal.aborted) {
    const status = await readStatus(folder);
    if (status?.state === 'ready' && status.identity !== previousIdentity) return true;
    await pauseFor(pollIntervalMs, context.clock, exit.signal);
  }
  return (await child.exited).code === 0;
}

/** Reads the file of a running server; undefined if there is none. */
async function readStatus(
  folder: string,
): Promise<{ readonly identity: string; readonly state: string | undefined } | undefined> {
  const text = await readFile(join(folder, pidFileName), 'utf8').catch(() => undefined);
  const lines = text?.split('\n').map((line) => line.trim());
  return lines && { identity: `${lines[idLine]}/${lines[startTimeLine]}`, state: lines[stateLine] };
}
