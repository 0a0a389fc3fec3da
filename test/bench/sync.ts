import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { sharedEngines } from '../support/engines.ts';
import { adminAuthorization } from '../support/host.ts';
import { startHostProcess } from '../support/host-process.ts';
import { inFreshFolder, percentile, treeMegabytes, untilIdle } from './measure.ts';
import type { BenchOptions } from './run.ts';

const smallFiles = 10_000;
const gibibyte = 1024 ** 3;

/** Measures the overhead before rclone: the same calls to a plain `rclone rcd` and to the whole host, alternately. */
export async function benchSync({ quick, print }: BenchOptions): Promise<void> {
  const { path: program } = await sharedEngines().find('rclone');
  if (program === null) throw new Error('rclone is not here: set RCLONE_PATH, or put it into PATH');
  const rounds = quick ? 3 : 7;
  const calls = quick ? 500 : 2000;
  await inFreshFolder(async (folder) => {
    const data = join(folder, 'data');
    mkdirSync(data);
    await using host = await startHostProcess(data, { environment: { RCLONE_PATH: program } });
    using plain = await startPlain(program, folder);
    const ours = caller(host.url('sync'), adminAuthorization);
    const plainRclone = caller(plain.url, `Basic ${Buffer.from('bench:bench').toString('base64')}`);
    const compare = async (
      times: number,
      work: (call: Call, side: string) => Promise<void>,
      before: (side: string) => void = () => undefined,
    ): Promise<{ measured: number; peer: number }> => {
      const took = { ours: [] as number[], theirs: [] as number[] };
      for (let round = 0; round < times; round += 1) {
        const sides = [
          ['ours', ours],
          ['theirs', plainRclone],
        ] as const;
        for (const [side, call] of round % 2 === 0 ? sides : sides.toReversed()) {
          before(side);
          const start = performance.now();
          await work(call, side);
          took[side].push(performance.now() - start);
        }
      }
      return { measured: percentile(took.ours, 0.5), peer: percentile(took.theirs, 0.5) };
    };
    await Promise.all([ours('core/pid', {}), plainRclone('core/pid', {})]);
    for (const path of ['rc/noop', 'core/pid'] as const) {
      await compare(calls / 5, (call) => call(path, {}));
      const { measured, peer } = await compare(calls, (call) => call(path, {}));
      print({ what: `sync: one call of ${path}, beside rclone rcd`, measured, peer, unit: 'ms' });
      print({
        what: `sync: what stands before it adds to ${path}`,
        measured: measured - peer,
        unit: 'ms',
        goal: { at: 'most', value: 1 },
      });
    }
    const source = join(folder, 'small');
    for (let index = 0; index < smallFiles; index += 1) {
      const below = join(source, String(Math.floor(index / 100)));
      if (index % 100 === 0) mkdirSync(below, { recursive: true });
      writeFileSync(join(below, String(index)), 'x'.repeat(1024));
    }
    const copies = (side: string): string => join(folder, `copy-${side}`);
    const sync = (from: string) => (call: Call, side: string) =>
      call('sync/sync', { srcFs: from, dstFs: copies(side) });
    const remove = (side: string): void => rmSync(copies(side), { recursive: true, force: true });
    const goal = { at: 'most', value: 1.03, of: 'ratio' } as const;
    print({
      what: 'sync: 10,000 new files of 1 KiB',
      ...(await compare(rounds, sync(source), remove)),
      unit: 'ms',
      goal,
    });
    print({
      what: 'sync: the same with nothing to do',
      ...(await compare(rounds * 3, sync(source))),
      unit: 'ms',
      goal,
    });
    const large = join(folder, 'large');
    mkdirSync(large);
    writeFileSync(join(large, 'file'), '');
    truncateSync(join(large, 'file'), gibibyte);
    print({
      what: 'sync: one new file of 1 GiB',
      ...(await compare(quick ? 3 : 5, sync(large), remove)),
      unit: 'ms',
      goal,
    });
    await untilIdle(host.child.pid ?? 0);
    print({
      what: 'sync: the whole host with a running rclone',
      measured: treeMegabytes(host.child.pid ?? 0),
      unit: 'MB',
    });
    await host.stop();
  });
}

type Call = (path: string, input: object) => Promise<void>;

/** Creates a client with one persistent connection, for both servers. */
function caller(url: string, authorization: string): Call {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return async (path, input) => {
    const body = JSON.stringify(input);
    const headers = { authorization, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    await new Promise<void>((resolve, reject) => {
      request(`${url}/${path}`, { method: 'POST', agent, headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${path} answered ${String(response.statusCode)}`));
        response.resume().once('end', resolve);
      })
        .once('error', reject)
        .end(body);
    });
  };
}

async function startPlain(program: string, folder: string): Promise<Disposable & { readonly url: string }> {
  const child: ChildProcess = spawn(
    program,
    [
      'rcd',
      '--rc-addr',
      '127.0.0.1:0',
      '--rc-user',
      'bench',
      '--rc-pass',
      'bench',
      '--config',
      join(folder, 'rclone.conf'),
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let output = '';
  for (;;) {
    const [chunk] = (await once(child.stderr ?? child, 'data')) as [Buffer];
    output += chunk.toString();
    const url = /Serving remote control on (http:\/\/127\.0\.0\.1:\d+)\//.exec(output)?.[1];
    if (url !== undefined) return { url, [Symbol.dispose]: () => void child.kill() };
  }
}
