import { join } from 'node:path';
import { measureFigure, inTurn, least, atMost, type Both } from './compare.ts';
import { buildLoad, type Delivered, type Load } from './load.ts';
import { cpuSeconds, inFreshFolder, proportionalKilobytes, untilIdle } from './measure.ts';
import { startHomeport, startNtfy, type PushServer } from './push-servers.ts';
import type { BenchOptions, Figure } from './run.ts';

const inFlight = 32;
const cached = 10_000;
const topic = 'bench-info-monitoring';

type Servers<T = PushServer> = Both<T>;
/** Numbers of rounds and items of a full and of a quick run. */
type Rounds = (full: number) => number;

interface Given {
  readonly load: Load;
  readonly servers: Servers;
  readonly rounds: Rounds;
}

/**
 * Measures the push server and a real ntfy alternately. The servers and their load share the cores of this computer, so
 * ratios and CPU time per unit are more meaningful than rates.
 */
export function benchPush({ ntfy, quick, print }: BenchOptions): Promise<void> {
  return inFreshFolder(async (folder) => {
    const load = buildLoad(folder);
    const rounds: Rounds = (full) => (quick ? Math.ceil(full / 3) : full);
    const compareServers = async (name: string, work: (options: Given) => AsyncIterable<Figure>) => {
      await using homeport = await startHomeport(join(folder, `homeport-${name}`));
      await using peer = ntfy === undefined ? undefined : await startNtfy(ntfy, join(folder, `ntfy-${name}`));
      for await (const figure of work({ load, servers: { ours: homeport, peer }, rounds })) print(figure);
    };
    await compareServers('publish', publishing);
    await compareServers('password', passwords);
    await compareServers('poll', polling);
    await compareServers('json', streaming);
    await compareServers('ws', webSockets);
  });
}

async function* publishing({ load, servers, rounds }: Given): AsyncGenerator<Figure> {
  // Compilation during the warm-up counts for neither program.
  await inTurn(servers, 1, (server) => load.publish(server.port, inFlight, rounds(10_000), publication(server)));
  const results = await inTurn(servers, rounds(5), async (server, name) => {
    const count = rounds(name === 'ours' ? 4000 : 600);
    const cpu = cpuSeconds(server.pid);
    const published = await load.publish(server.port, inFlight, count, publication(server));
    await untilIdle(server.pid);
    return {
      ...published,
      refused: (published.refused / count) * 100,
      cpuMs: ((cpuSeconds(server.pid) - cpu) / count) * 1000,
    };
  });
  yield* [
    measureFigure('push: publish, token, 32 connections', '/s', results, ({ perSecond }) => perSecond, least(5)),
    measureFigure('push: publish, p99', 'ms', results, ({ p99 }) => p99),
    measureFigure('push: publish, refused', '%', results, ({ refused }) => refused),
    measureFigure('push: publish (CPU each, with the inbox)', 'ms', results, ({ cpuMs }) => cpuMs, atMost(0.25)),
    measureFigure('push: publish (CPU of the load)', 'ms', results, ({ loadCpuMs }) => loadCpuMs),
  ];
}

async function* passwords({ load, servers, rounds }: Given): AsyncGenerator<Figure> {
  const results = await inTurn(servers, rounds(3), async (server, name) => {
    const count = rounds(name === 'ours' ? 3000 : 100);
    const rate = async (authorization: string): Promise<number> =>
      (await load.publish(server.port, inFlight, count, publication(server, { authorization }))).perSecond;
    return (await rate(server.token)) / (await rate(server.password));
  });
  const { what, measured, unit, peer } = measureFigure(
    'push: token against password',
    'times',
    results,
    (times) => times,
  );
  yield { what, measured, unit, peer, goal: { at: 'most', value: 2 } };
}

async function* polling({ load, servers, rounds }: Given): AsyncGenerator<Figure> {
  const results = await inTurn(servers, 1, async (server) => {
    await load.publish(server.port, inFlight, cached, publication(server));
    await untilIdle(server.pid);
    return server;
  });
  const polls = 5;
  const times = await inTurn({ ours: results.ours[0], peer: results.peer[0] }, rounds(5), async (server) => {
    const cpu = cpuSeconds(server.pid);
    // With HTTP/1.0 the response arrives in one piece.
    const request = `GET /${topic}/json?poll=1&since=all HTTP/1.0\r\nHost: 127.0.0.1\r\nAuthorization: ${server.token}\r\n\r\n`;
    const { messages, p50 } = await load.poll(server.port, polls, request);
    // A server that refuses requests under load completes fewer.
    if (messages < 0.95 * cached) throw new Error(`a poll brought ${messages} messages`);
    return { p50, cpuMs: ((cpuSeconds(server.pid) - cpu) / polls) * 1000 };
  });
  yield* [
    measureFigure('push: poll of 10,000 messages', 'ms', times, ({ p50 }) => p50, atMost(0.2)),
    measureFigure('push: poll of 10,000 messages (CPU)', 'ms', times, ({ cpuMs }) => cpuMs),
  ];
}

async function* streaming({ load, servers, rounds }: Given): AsyncGenerator<Figure> {
  yield await measureStreamMemory(load, servers, 'json', 5000);
  yield* delivering({ load, servers, rounds }, 1000, { messages: 30, pauseMs: 30 });
  yield* delivering({ load, servers, rounds }, 10_000, { messages: 5, pauseMs: 300 });
}

async function* webSockets({ load, servers }: Given): AsyncGenerator<Figure> {
  yield await measureStreamMemory(load, servers, 'ws', 5000);
}

/** Returns the memory of an idle stream without garbage, in kB. */
async function measureStreamMemory(
  load: Load,
  servers: Servers,
  kind: 'json' | 'ws',
  streams: number,
): Promise<Figure> {
  const results = await inTurn(servers, 1, async (server) => {
    const open = (connections: number) =>
      load.listen(server.port, { connections, messages: 0, pauseMs: 0, ...requests(server, kind) });
    // Code that the first stream loads does not count.
    await (await open(100))[Symbol.asyncDispose]();
    await server.collect();
    const before = proportionalKilobytes(server.pid);
    await using _ = await open(streams);
    await server.collect();
    return (proportionalKilobytes(server.pid) - before) / streams;
  });
  const { what, measured, unit, peer } = measureFigure(
    `push: idle stream, ${kind}`,
    'KB',
    results,
    (kilobytes) => kilobytes,
  );
  return { what, measured, unit, peer, goal: { at: 'most', value: kind === 'ws' ? 20 : 25 } };
}

async function* delivering(
  { load, servers, rounds }: Given,
  connections: number,
  pace: { messages: number; pauseMs: number },
): AsyncGenerator<Figure> {
  const open = (server: PushServer) => load.listen(server.port, { connections, ...pace, ...requests(server, 'json') });
  await using homeport = await open(servers.ours);
  await using peer = servers.peer === undefined ? undefined : await open(servers.peer);
  const results = await inTurn<typeof homeport, Delivered & { cpuUs: number }>(
    { ours: homeport, peer },
    rounds(6),
    async (streams, name) => {
      const { pid } = servers[name] ?? servers.ours;
      const cpu = cpuSeconds(pid);
      const delivered = await streams.deliver();
      return { ...delivered, cpuUs: ((cpuSeconds(pid) - cpu) / (connections * pace.messages)) * 1e6 };
    },
  );
  const goal = atMost(connections > 1000 ? 1 : 0.5);
  const to = `push: to ${connections.toLocaleString('en')} JSON streams`;
  yield* [
    measureFigure(`${to}, p50`, 'ms', results, ({ p50 }) => p50, goal),
    measureFigure(`${to}, p99`, 'ms', results, ({ p99 }) => p99, goal),
    measureFigure(`${to}, the last`, 'ms', results, ({ last }) => last),
    measureFigure(`${to} (CPU each)`, 'us', results, ({ cpuUs }) => cpuUs),
    measureFigure(`${to} (CPU of the load)`, 'us', results, ({ loadCpuMs }) => loadCpuMs * 1000),
  ];
}

function publication(server: PushServer, { authorization = server.token, body = 'x'.repeat(64) } = {}): string {
  const headers = `Host: 127.0.0.1\r\nAuthorization: ${authorization}\r\nTitle: Load\r\nTags: a,b\r\nPriority: 4`;
  return `POST /${topic} HTTP/1.1\r\n${headers}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

function requests(server: PushServer, kind: 'json' | 'ws'): { stream: string; publish: string } {
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
  const head = `GET /${topic}/${kind} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${server.token}\r\n`;
  return {
    stream: `${head}${kind === 'ws' ? upgrade : ''}\r\n`,
    publish: publication(server, { body: `MARKER######${'x'.repeat(52)}` }),
  };
}
