import * as m from '#messages/engine-texts';
import type { Text } from '../../../services/contracts/text.ts';
import { execFile } from 'node:child_process';
import { buildCleanEnvironment } from '../../../services/kit/clean-environment.ts';

export interface CommandResult {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** Reason of a failure on one line; empty on success. */
  readonly reason: Text;
}

/** Runs a program until it ends. Never throws; a timeout (ms) kills it and counts as failure. */
export async function runCommand(
  file: string,
  args: readonly string[],
  options: { readonly timeoutMs: number; readonly environment?: Readonly<Record<string, string>> },
): Promise<CommandResult> {
  return await new Promise((resolve) => {
    execFile(
      file,
      args,
      {
        timeout: options.timeoutMs,
        killSignal: 'SIGKILL',
        env: buildCleanEnvironment(options.environment),
        maxBuffer: 4 * 1024 * 1024,
        windowsHide: true,
      },
      (error, stdout, stderr) => {
        resolve({ ok: error === null, stdout, stderr, reason: error ? getReason(error, stderr) : '' });
      },
    );
  });
}

function getReason(error: Error & { killed?: boolean; code?: unknown }, stderr: string): Text {
  if (error.killed === true) return m.timedOut;
  if (error.code === 'ENOENT') return m.notFound;
  if (error.code === 'EACCES') return m.notExecutable;
  const lines = stderr.trim().split('\n');
  return lines.findLast((line) => /error/i.test(line))?.trim() ?? lines.at(-1)?.trim() ?? error.message;
}
