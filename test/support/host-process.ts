import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { testEnvironment, type TestHostOptions } from './host.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export const command = join(root, 'main/homeport.mjs');

/** Node flags of `npm start`. */
const flags = manifest.scripts.start.split(' ').filter((word) => word.startsWith('--'));

export interface HostProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  /** Lines of stdout so far, including the `ready` line. */
  readonly output: readonly string[];
  readonly errors: readonly string[];
  url(service: string): string;
  port(service: string): number;
  /** Ends the process as a power failure would. */
  kill(): Promise<void>;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<number | null>;
}

/**
 * Starts the real program in a separate process and resolves at its `ready` line.
 * @throws Error with its output when it exits before.
 */
export async function startHostProcess(
  dataDir: string,
  options: Pick<TestHostOptions, 'environment' | 'administrator'> & {
    readonly args?: readonly string[];
    /** Entry file; default: that of `npm start`. */
    readonly program?: string;
  } = {},
): Promise<HostProcess> {
  const child = spawn(
    process.execPath,
    [...flags, options.program ?? command, '--headless', '--data-dir', dataDir, ...(options.args ?? [])],
    {
      env: testEnvironment(dataDir, options),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const output: string[] = [];
  const errors: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  const addresses = await new Promise<Map<string, string>>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      output.push(line);
      if (line.startsWith('ready ')) {
        resolve(
          new Map(
            line
              .split(' ')
              .slice(1)
              .map((pair) => pair.split(/=(.*)/s, 2) as [string, string]),
          ),
        );
      }
    });
    child.on('exit', (code, signal) =>
      reject(new Error(`exited (${code ?? signal}) before it was ready\n${[...output, ...errors].join('\n')}`)),
    );
    child.on('error', reject);
  });
  const ended = async (): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child.exitCode;
  };
  const url = (service: string): string => {
    const address = addresses.get(service);
    if (address === undefined) throw new Error(`${service} is not up\n${[...output, ...errors].join('\n')}`);
    return address;
  };
  return {
    child,
    output,
    errors,
    url,
    port: (service) => Number(new URL(url(service)).port),
    async kill() {
      child.kill('SIGKILL');
      await ended();
    },
    async stop() {
      child.kill('SIGTERM');
      return ended();
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended();
    },
  };
}
