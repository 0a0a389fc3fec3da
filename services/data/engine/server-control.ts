import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunningChild } from '../../contracts/children.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { pauseFor } from '../../kit/pause.ts';
import { exists } from './exists.ts';
import { buildCommand } from './server-command.ts';

const startSeconds = '120';
const stopSeconds = '60';
const pollIntervalMs = 50;
const logName = 'homeport-server.log';
const pidFileName = 'postmaster.pid';
/** Line of the file of a running server that contains its state. */
const stateLine = 7;

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
  const { folder, context } = control;
  const log = join(folder, logName);
  // Windows does not end this server together with a crashed host.
  if (await exists(join(folder, pidFileName))) await runControl(control, (data) => buildStopArguments(data, 'fast'));
  await rm(log, { force: true });
  const child = await startControl(control, (data) => [
    ...['start', '-D', data, '-w', '-t', startSeconds, '-l', join(data, logName), '-o', options.join(' ')],
  ]);
  // The server can inherit the output of pg_ctl on Windows, whose end is then not reported.
  const isStarted = await Promise.race([
    child.exited.then(({ code }) => code === 0),
    waitUntilReady(folder, context, child),
  ]);
  if (isStarted) return;
  const output = await readFile(log, 'utf8').catch(() => '');
  throw new Problem('data.engine_failed', 503, `PostgreSQL does not start: ${output.trim().slice(-4000)}`);
}

/**
 * Stops a server with `pg_ctl`, for Windows: a killed server recovers at its next start, which empties unlogged tables.
 */
export async function stopByControl(control: ServerControl): Promise<void> {
  if (!(await exists(join(control.folder, pidFileName)))) return;
  if (await runControl(control, (data) => buildStopArguments(data, 'fast'))) return;
  control.context.log.warn('postgresql did not stop in time');
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

/** Resolves when the server accepts connections; its file states that in the same words in every language. */
async function waitUntilReady(
  folder: string,
  { clock }: Pick<Context, 'clock'>,
  child: RunningChild,
): Promise<boolean> {
  const exit = new AbortController();
  void child.exited.then(() => exit.abort());
  while (!exit.signal.aborted) {
    const lines = (await readFile(join(folder, pidFileName), 'utf8').catch(() => '')).split('\n');
    if (lines[stateLine]?.trim() === 'ready') return true;
    await pauseFor(pollIntervalMs, clock, exit.signal);
  }
  return (await child.exited).code === 0;
}
