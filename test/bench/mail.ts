import { join } from 'node:path';
import { startHostProcess } from '../support/host-process.ts';
import { measureFigure, inTurn, least, type Both } from './compare.ts';
import { buildMails, buildSink, untilArrived, type Published } from './load.ts';
import { mail } from './mail-text.ts';
import { inFreshFolder, treeCpuSeconds, untilIdle } from './measure.ts';
import { startMailrise, type Peer } from './notify-peers.ts';
import { addKey } from './notify-requests.ts';
import type { BenchOptions } from './run.ts';

/** Measurements of a round. */
const thorough = { ours: 2000, peer: 200 } as const;
const quickLimits = { ours: 500, peer: 40 } as const;

/**
 * Measures the mail gateway and a real Mailrise alternately: mails with a short text for one web address on this
 * computer. Homeport syncs each mail before its 250 response and delivers it later; the peer responds after the
 * delivery.
 */
export function benchMail({ quick, print }: BenchOptions): Promise<void> {
  const mails = quick ? quickLimits : thorough;
  const rounds = quick ? 1 : 5;
  return inFreshFolder(async (folder) => {
    const send = buildMails(folder);
    await using sink = await buildSink(folder)();
    const destination = `json://127.0.0.1:${sink.port}/`;
    await using host = await startHostProcess(join(folder, 'homeport'));
    await addKey(host.port('notify'), 'aggregator', [destination]);
    await using peer = await startMailrise(join(folder, 'mailrise'), destination);
    const servers: Both<Peer> = {
      ours: { pid: host.child.pid ?? 0, port: host.port('mail'), [Symbol.asyncDispose]: async () => {} },
      peer,
    };
    const round = async (
      server: Peer,
      name: keyof Both<Peer>,
      connections: number,
    ): Promise<Published & { readonly cpuMs: number }> => {
      const count = mails[name];
      const to = name === 'ours' ? 'alerts@nas.lan' : 'alerts@mailrise.xyz';
      const before = { cpu: treeCpuSeconds(server.pid), came: (await sink.count()).requests };
      // Each round has different mails, since a repeated one is delivered only once.
      const sent = await send(server.port, connections, count, to, mail(String(before.came)));
      // On a slow disk, a program can look idle between two deliveries.
      await untilArrived(sink, before.came + count);
      await untilIdle(server.pid);
      const delivered = (await sink.count()).requests - before.came;
      if (sent.refused > 0 || delivered !== count) {
        throw new Error(`${String(sent.refused)} refused, ${String(delivered)} of ${String(count)} delivered`);
      }
      return { ...sent, cpuMs: ((treeCpuSeconds(server.pid) - before.cpu) / count) * 1000 };
    };
    // Compilation during the warm-up counts for neither program.
    await inTurn(servers, 1, (server, name) => round(server, name, 8));
    for (const connections of [4, 8]) {
      const results = await inTurn(servers, rounds, (server, name) => round(server, name, connections));
      const label = `mail: ${String(connections)} connections`;
      print(
        measureFigure(label, '/s', results, ({ perSecond }) => perSecond, least(10)),
        measureFigure(`${label}, p50`, 'ms', results, ({ p50 }) => p50),
        measureFigure(`${label}, p99`, 'ms', results, ({ p99 }) => p99),
        measureFigure(`${label}, CPU each, delivered`, 'ms', results, ({ cpuMs }) => cpuMs),
        measureFigure(`${label}, CPU of the load`, 'ms', results, ({ loadCpuMs }) => loadCpuMs),
      );
    }
  });
}
