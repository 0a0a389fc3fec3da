import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Child extends AsyncDisposable {
  /** Resolves when the child has written this line; rejects when it ends before. */
  waitForLine(line: string): Promise<void>;
  /** Sends SIGKILL and waits for the end of the process. */
  kill(): Promise<void>;
}

/**
 * Runs a test script, given by the address of its file, in a separate process, which receives `input` as JSON in
 * `process.argv[2]`.
 */
export function startChild(script: string, input: unknown): Child {
  const child = spawn(process.execPath, [fileURLToPath(script), JSON.stringify(input)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const heard = new Map<string, () => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    heard.get(line)?.();
  });
  const kill = async (): Promise<void> => {
    if (hasEnded(child)) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return {
    waitForLine: (line) =>
      new Promise((resolve, reject) => {
        if (lines.includes(line)) return resolve();
        heard.set(line, resolve);
        child.once('exit', () => reject(new Error(`the child ended without saying "${line}"`)));
      }),
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
