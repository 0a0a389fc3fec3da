import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Milliseconds, as seen by the load. `loadCpuMs`: what the load itself spent on each message. */
export interface Delivered {
  readonly p50: number;
  readonly p99: number;
  /** Median over the messages, from publish to the last reader. */
  readonly last: number;
  readonly loadCpuMs: number;
}

export interface Published {
  readonly perSecond: number;
  /** Answers other than 200. */
  readonly refused: number;
  readonly p50: number;
  readonly p99: number;
  readonly loadCpuMs: number;
}

/** Streams that are open. */
export interface Streams extends AsyncDisposable {
  /** Publishes one message after the other and waits each time until all have it. */
  deliver(): Promise<Delivered>;
}

/** What drives a server; see `load.c`. Requests are whole HTTP requests, byte by byte. */
export interface Load {
  publish(port: number, connections: number, count: number, request: string): Promise<Published>;
  poll(port: number, times: number, request: string): Promise<{ readonly messages: number; readonly p50: number }>;
  listen(
    port: number,
    given: { connections: number; messages: number; pauseMs: number; stream: string; publish: string },
  ): Promise<Streams>;
}

/** Builds the load in a folder. @throws Error where there is no C compiler. */
export function buildLoad(folder: string): Load {
  const program = join(folder, 'load');
  const source = fileURLToPath(new URL('load.c', import.meta.url));
  const { status, stderr } = spawnSync('gcc', ['-O2', '-o', program, source], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the load could not be built: ${stderr}`);

  const start = (...words: readonly (string | number)[]) => {
    const child = spawn(program, words.map(String), { stdio: ['pipe', 'pipe', 'pipe'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const errors: string[] = [];
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString()));
    const line = async (): Promise<string> => {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`the load ended: ${errors.join('')}`);
      return String(value);
    };
    return { child, line };
  };
  const result = async <T>(...words: readonly (string | number)[]): Promise<T> =>
    JSON.parse(await start(...words).line()) as T;

  return {
    publish: (port, connections, count, request) => result('publish', port, connections, count, request),
    poll: (port, times, request) => result('poll', port, times, request),
    async listen(port, { connections, messages, pauseMs, stream, publish }) {
      const { child, line } = start('listen', port, connections, messages, pauseMs, stream, publish);
      const said = await line();
      if (said !== 'open') throw new Error(`the load said ${said}`);
      return {
        async deliver() {
          child.stdin.write('go\n');
          return JSON.parse(await line()) as Delivered;
        },
        async [Symbol.asyncDispose]() {
          const ended = once(child, 'exit');
          child.stdin.end();
          await ended;
        },
      };
    },
  };
}
