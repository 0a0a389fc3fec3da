import { setTimeout as sleep } from 'node:timers/promises';
import { buildProgram } from './program.ts';

/** Times in ms as measured by the load generator. `loadCpuMs`: its own CPU time per message. */
export interface Delivered {
  readonly p50: number;
  readonly p99: number;
  /** Median time per message, from the publish request to the last subscriber. */
  readonly last: number;
  readonly loadCpuMs: number;
}

export interface Published {
  readonly perSecond: number;
  /** Number of responses with a status other than 200. */
  readonly refused: number;
  readonly p50: number;
  readonly p99: number;
  readonly loadCpuMs: number;
}

/** Number of open streams. */
export interface Streams extends AsyncDisposable {
  /** Publishes messages sequentially and waits for all subscribers after each one. */
  deliver(): Promise<Delivered>;
}

/** Load generator for a server; see `load.c`. Requests are complete HTTP requests in bytes. */
export interface Load {
  publish(port: number, connections: number, count: number, request: string): Promise<Published>;
  poll(port: number, times: number, request: string): Promise<{ readonly messages: number; readonly p50: number }>;
  listen(
    port: number,
    options: { connections: number; messages: number; pauseMs: number; stream: string; publish: string },
  ): Promise<Streams>;
}

/** Builds the load generator in a folder. @throws Error without a C compiler. */
export function buildLoad(folder: string): Load {
  const start = buildProgram(folder, 'load');
  const result = async <T>(...words: readonly (string | number)[]): Promise<T> =>
    JSON.parse(await start(...words).line()) as T;

  return {
    publish: (port, connections, count, request) => result('publish', port, connections, count, request),
    poll: (port, times, request) => result('poll', port, times, request),
    async listen(port, { connections, messages, pauseMs, stream, publish }) {
      const open = start('listen', port, connections, messages, pauseMs, stream, publish);
      const line = await open.line();
      if (line !== 'open') throw new Error(`the load said ${line}`);
      return {
        async deliver() {
          open.print('go');
          return JSON.parse(await open.line()) as Delivered;
        },
        [Symbol.asyncDispose]: () => open[Symbol.asyncDispose](),
      };
    },
  };
}

/** Sends mails. Only the number in each mail differs; see `mails.c`. */
export type SendMails = (
  port: number,
  connections: number,
  count: number,
  recipient: string,
  mail: string,
) => Promise<Published>;

/** Builds the mail senders in a folder. @throws Error without a C compiler. */
export function buildMails(folder: string): SendMails {
  const start = buildProgram(folder, 'mails');
  return async (...words) => JSON.parse(await start(...words).line()) as Published;
}

/** Destination of the deliveries of the measured programs; see `sink.c`. */
export interface Sink extends AsyncDisposable {
  readonly port: number;
  /** Number of received deliveries. */
  count(): Promise<{ readonly requests: number; readonly unanswered: number; readonly cpuMs: number }>;
}

/** Waits for a number of requests, at most half a minute after the last one. */
export async function untilArrived(sink: Sink, requests: number): Promise<void> {
  let lastCount = -1;
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const now = (await sink.count()).requests;
    if (now >= requests) return;
    if (now > lastCount) attempt = 0;
    lastCount = now;
    await sleep(100);
  }
}

/** Builds the destination in a folder. A fixed port lets it return on the same port. */
export function buildSink(folder: string): (port?: number) => Promise<Sink> {
  const start = buildProgram(folder, 'sink');
  return async (port = 0) => {
    const sink = start(port);
    const bound = Number(await sink.line());
    return {
      port: bound,
      async count() {
        sink.print('count');
        return JSON.parse(await sink.line()) as Awaited<ReturnType<Sink['count']>>;
      },
      [Symbol.asyncDispose]: () => sink[Symbol.asyncDispose](),
    };
  };
}
