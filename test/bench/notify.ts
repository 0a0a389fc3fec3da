import { join } from 'node:path';
import { startHostProcess } from '../support/host-process.ts';
import { measureFigure, inTurn, least, atMost, type Both } from './compare.ts';
import { buildLoad, buildMails, buildSink, untilArrived, type Load, type Published, type Sink } from './load.ts';
import { inFreshFolder, treeCpuSeconds, untilIdle } from './measure.ts';
import { benchFaults } from './notify-faults.ts';
import { benchMemory } from './notify-memory.ts';
import { startApprise, type Peer } from './notify-peers.ts';
import { addKey, notification } from './notify-requests.ts';
import type { BenchOptions, Figure } from './run.ts';

const connections = 8;
/** Number of concurrent callers of a busy household; one commit then contains several notifications. */
const manyConnections = 64;
/** Number of warm-ups: V8 compiles during the first 16,000 notifications; later rounds do not differ. */
const thorough = { rounds: 5, fewRounds: 3, warmUps: 4, share: 1 } as const;
const quickSettings = { rounds: 1, fewRounds: 1, warmUps: 2, share: 0.25 } as const;
/**
 * Keys by number of destinations, with the notifications per round for Homeport and the peer. The peer receives enough
 * for each of its workers to be replaced, which it does after 1,000 requests: that is part of its cost.
 */
const keys = [
  { key: 'one', destinations: 1, ours: 4000, peer: 3000 },
  { key: 'twenty', destinations: 20, ours: 500, peer: 1100 },
] as const;
/**
 * The same with destinations that respond after 50 ms, which is fast for an internet service. One destination receives
 * one message at a time, so these few take Homeport most of a minute to deliver.
 */
const farKeys = [
  { key: 'one-far', destinations: 1, ours: 1000, peer: 1000 },
  { key: 'twenty-far', destinations: 20, ours: 500, peer: 500 },
] as const;

/** Measurements of a round. Times are in milliseconds. */
interface Round extends Published {
  /** CPU time of all processes until they are idle again, so that deliveries are included. */
  readonly cpuMs: number;
  /** CPU time of the destination per delivery. */
  readonly sinkCpuMs: number;
}

/**
 * Measures the aggregator and a real Apprise API alternately, with the same keys and one web address on this computer
 * as the destination. A round only counts if every notification arrived at each destination exactly once.
 */
export function benchNotify({ appriseApi, quick, print }: BenchOptions): Promise<void> {
  return inFreshFolder(async (folder) => {
    const load = buildLoad(folder);
    const openSink = buildSink(folder);
    const pace = quick ? quickSettings : thorough;
    for await (const figure of compare({ folder, load, openSink, pace }, appriseApi)) print(figure);
    for await (const figure of benchFaults({ folder, load, openSink, share: pace.share })) print(figure);
    print(...(await benchMemory({ load, send: buildMails(folder), openSink, share: pace.share }, appriseApi)));
  });
}

async function* compare(
  options: {
    readonly folder: string;
    readonly load: Load;
    readonly openSink: () => Promise<Sink>;
    readonly pace: typeof thorough | typeof quickSettings;
  },
  appriseApi: string | undefined,
): AsyncGenerator<Figure> {
  const { folder, load, openSink, pace } = options;
  const { rounds, fewRounds, warmUps, share } = pace;
  await using sink = await openSink();
  await using host = await startHostProcess(join(folder, 'homeport'));
  await using peer = appriseApi === undefined ? undefined : await startApprise(appriseApi, join(folder, 'apprise'));
  const servers: Both<Peer> = {
    ours: { pid: host.child.pid ?? 0, port: host.port('notify'), [Symbol.asyncDispose]: async () => {} },
    peer,
  };
  for (const { key, destinations, ...counts } of keys) {
    const round = roundsTo(sink, load, key, destinations);
    const lines = linesTo(sink, key, destinations);
    // Compilation during the warm-up counts for neither program.
    await inTurn(servers, 1, (server) => addKey(server.port, key, lines));
    await inTurn(servers, warmUps, (server, name) => round(server, connections, counts[name] * share));
    const results = await inTurn(servers, rounds, (server, name) => round(server, connections, counts[name] * share));
    const to = `notify: to ${String(destinations)}`;
    yield* [
      measureFigure(`${to}, CPU each`, 'ms', results, ({ cpuMs }) => cpuMs, atMost(0.1)),
      measureFigure(`${to}, 8 connections`, '/s', results, ({ perSecond }) => perSecond, least(20)),
      measureFigure(`${to}, p50`, 'ms', results, ({ p50 }) => p50),
      measureFigure(`${to}, p99`, 'ms', results, ({ p99 }) => p99),
      measureFigure(`${to}, CPU of the load`, 'ms', results, ({ loadCpuMs }) => loadCpuMs),
      measureFigure(`${to}, CPU of the destination a delivery`, 'ms', results, ({ sinkCpuMs }) => sinkCpuMs),
    ];
    const many = await inTurn(servers, fewRounds, (server, name) =>
      round(server, manyConnections, counts[name] * share),
    );
    yield* [
      measureFigure(`${to}, ${String(manyConnections)} connections`, '/s', many, ({ perSecond }) => perSecond),
      measureFigure(`${to}, ${String(manyConnections)} connections, CPU each`, 'ms', many, ({ cpuMs }) => cpuMs),
      measureFigure(`${to}, ${String(manyConnections)} connections, p50`, 'ms', many, ({ p50 }) => p50),
    ];
    const singleRequests = await inTurn(servers, fewRounds, (server, name) =>
      round(server, 1, Math.ceil((counts[name] / 10) * share)),
    );
    yield* [
      measureFigure(`${to}, one connection, CPU each`, 'ms', singleRequests, ({ cpuMs }) => cpuMs, atMost(0.1)),
      measureFigure(`${to}, one connection, p50`, 'ms', singleRequests, ({ p50 }) => p50),
    ];
  }
  for (const { key, destinations, ...counts } of farKeys) {
    const round = roundsTo(sink, load, key, destinations);
    const lines = linesTo(sink, `far/${key}`, destinations);
    await inTurn(servers, 1, (server) => addKey(server.port, key, lines));
    const results = await inTurn(servers, fewRounds, (server, name) =>
      round(server, connections, counts[name] * share),
    );
    const to = `notify: to ${String(destinations)} far away`;
    yield* [
      measureFigure(`${to}, 8 connections`, '/s', results, ({ perSecond }) => perSecond),
      measureFigure(`${to}, p50`, 'ms', results, ({ p50 }) => p50),
      measureFigure(`${to}, p99`, 'ms', results, ({ p99 }) => p99),
    ];
  }
}

function linesTo(sink: Sink, path: string, destinations: number): readonly string[] {
  return Array.from({ length: destinations }, (_, index) => `json://127.0.0.1:${sink.port}/${path}/${String(index)}`);
}

function roundsTo(sink: Sink, load: Load, key: string, destinations: number) {
  return async (server: Peer, callers: number, count: number): Promise<Round> => {
    const before = { cpu: treeCpuSeconds(server.pid), sink: await sink.count() };
    const posted = await load.publish(server.port, callers, count, notification(key));
    await untilArrived(sink, before.sink.requests + count * destinations);
    await untilIdle(server.pid);
    const after = await sink.count();
    const delivered = after.requests - before.sink.requests;
    if (posted.refused > 0 || delivered !== count * destinations) {
      throw new Error(
        `${String(posted.refused)} refused, ${String(delivered)} of ${count} x ${destinations} delivered`,
      );
    }
    const cpuMs = ((treeCpuSeconds(server.pid) - before.cpu) / count) * 1000;
    return { ...posted, cpuMs, sinkCpuMs: (after.cpuMs - before.sink.cpuMs) / delivered };
  };
}
