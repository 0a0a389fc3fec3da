import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { GatewayState } from '../../services/contracts/gateway/api.ts';
import { freePort } from '../support/free-port.ts';
import { lan, readPlainly, sharing } from '../support/gateway/phone.ts';
import { adminAuthorization } from '../support/host.ts';
import { startHostProcess, type HostProcess } from '../support/host-process.ts';
import { toolPath } from '../support/tools.ts';
import { cpuSeconds, inFreshFolder, residentMegabytes, untilIdle } from './measure.ts';
import type { BenchOptions } from './run.ts';

const connections = 32;
const gibibyte = 1024 ** 3;

/** Address of a TLS listener. */
interface Place {
  readonly host: string;
  readonly port: number;
  readonly name: string;
  readonly ca: string;
}

/** Measures the gateway beside Caddy in front of the same service in the same run. */
export function benchGateway({ quick, print }: BenchOptions): Promise<void> {
  const seconds = quick ? 4 : 15;
  return inFreshFolder(async (folder) => {
    const downloads = join(folder, 'Downloads');
    mkdirSync(downloads);
    writeFileSync(join(downloads, 'film.mp4'), '');
    truncateSync(join(downloads, 'film.mp4'), gibibyte);
    const environment = sharing({ GATEWAY_OPEN: 'push,downloads', HOMEPORT_ALLOWED_HOSTS: 'localhost' });
    await using host = await startHostProcess(folder, { environment: { ...environment, DOWNLOAD_DIR: downloads } });
    const pid = host.child.pid ?? 0;
    const state = await fetchState(host);
    const url = state.services.find(({ id }) => id === 'push')?.addresses.find(({ by }) => by === 'name')?.url ?? '';
    const ca = (await readPlainly(`${state.trustUrl ?? ''}/homeport.crt`)).body;
    const gatewayAt = (id: string): Place => ({
      host: lan,
      port: Number(new URL(url).port),
      name: `${id}.nas.local`,
      ca,
    });
    const caddy = await startCaddy(folder, host);
    try {
      const long = `/v1/health?${'x'.repeat(1000)}`;
      const cost = async (toTarget: Place, pids: readonly number[]): Promise<{ micros: number; rate: number }> => {
        await load(toTarget, long, 1);
        for (const each of pids) await untilIdle(each);
        const before = pids.map(cpuSeconds);
        const count = await load(toTarget, long, seconds);
        const used = pids.reduce((sum, each, index) => sum + cpuSeconds(each) - (before[index] ?? 0), 0);
        return { micros: (used / count) * 1e6, rate: count / seconds };
      };
      const own = await cost(gatewayAt('push'), [pid]);
      const caddyCost = caddy && (await cost(caddy.push, [pid, caddy.pid]));
      print(
        {
          what: 'a request of 1 kB by TLS, service and all (CPU)',
          measured: own.micros,
          unit: 'us',
          peer: caddyCost?.micros,
          goal: { at: 'most', value: 0.7, of: 'ratio' },
        },
        { what: 'requests at 32 connections', measured: own.rate, unit: '/s', peer: caddyCost?.rate },
      );
      const before = residentMegabytes(pid);
      const film = '/download/film.mp4';
      const measureCost = async (toTarget: Place, pids: readonly number[]): Promise<{ speed: number; cpu: number }> => {
        const began = pids.map(cpuSeconds);
        const speed = await download(toTarget, film);
        return { speed, cpu: pids.reduce((sum, each, index) => sum + cpuSeconds(each) - (began[index] ?? 0), 0) };
      };
      const passed = await measureCost(gatewayAt('downloads'), [pid]);
      const after = residentMegabytes(pid);
      const besideIt = caddy && (await measureCost(caddy.downloads, [pid, caddy.pid]));
      print(
        {
          what: 'download of 1 GiB by TLS',
          measured: passed.speed,
          unit: 'MB/s',
          peer: besideIt?.speed,
          goal: { at: 'least', value: 1, of: 'ratio' },
        },
        { what: '… CPU, service and all', measured: passed.cpu, unit: 's', peer: besideIt?.cpu },
        { what: 'memory that it takes', measured: after - before, unit: 'MB', goal: { at: 'most', value: 64 } },
      );
      // Ten, or as many as complete in the given time on a busy computer.
      const end = performance.now() + (quick ? 20_000 : 150_000);
      let [most, gibibytes] = [0, 1];
      while (gibibytes < 10 && performance.now() < end) {
        await download(gatewayAt('downloads'), film);
        gibibytes += 1;
        most = Math.max(most, residentMegabytes(pid));
      }
      print({
        what: `… while ${String(gibibytes)} GiB pass`,
        measured: most - before,
        unit: 'MB',
        goal: { at: 'most', value: 64 },
      });
      const count = quick ? 1000 : 5000;
      await untilIdle(pid);
      const empty = residentMegabytes(pid);
      const sockets = await idleSockets(gatewayAt('push'), count);
      await untilIdle(pid);
      const full = residentMegabytes(pid);
      for (const socket of sockets) socket.terminate();
      print({
        what: `an idle WebSocket by TLS (of ${String(count)})`,
        measured: ((full - empty) / count) * 1000,
        unit: 'kB',
        goal: { at: 'most', value: 30 },
      });
    } finally {
      caddy?.child.kill();
    }
  });
}

async function fetchState(host: HostProcess): Promise<GatewayState> {
  for (let turn = 0; turn < 100; turn += 1) {
    const reply = await fetch(`${host.url('control')}/api/gateway`, { headers: { authorization: adminAuthorization } });
    if (reply.ok) {
      const state = (await reply.json()) as GatewayState;
      const isOpen = state.services.filter(({ exposure }) => exposure !== 'off').every(({ running }) => running);
      if (isOpen && state.trustUrl !== null) return state;
    }
    await sleep(200);
  }
  throw new Error('the gateway did not open');
}

/** Starts Caddy with a self-signed certificate before the same services; undefined if it is not installed. */
async function startCaddy(
  folder: string,
  host: HostProcess,
): Promise<{ child: ChildProcess; pid: number; push: Place; downloads: Place } | undefined> {
  const [push, downloads] = [await freePort(), await freePort()];
  const site = (port: number, service: string): string =>
    `https://localhost:${String(port)} {\n bind 127.0.0.1\n tls internal\n reverse_proxy ${host.url(service).replace('http://', '')}\n}\n`;
  const file = join(folder, 'Caddyfile');
  const head = '{\n admin off\n auto_https disable_redirects\n skip_install_trust\n}\n';
  writeFileSync(file, head + site(push, 'push') + site(downloads, 'downloads'));
  const child = spawn(toolPath('caddy'), ['run', '--config', file, '--adapter', 'caddyfile'], {
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: 'ignore',
  });
  const failed = await Promise.race([once(child, 'error').then(() => true), sleep(4000, false)]);
  if (failed || child.pid === undefined) return undefined;
  const toTarget = (port: number): Place => ({ host: '127.0.0.1', port, name: 'localhost', ca: '' });
  return { child, pid: child.pid, push: toTarget(push), downloads: toTarget(downloads) };
}

function options({ host, port, name, ca }: Place): object {
  const trust = ca === '' ? { rejectUnauthorized: false } : { ca };
  return { host, port, servername: name, ...trust, headers: { Host: `${name}:${String(port)}` } };
}

/** Sends requests over several connections for a given time; returns the number of responses. */
async function load(toTarget: Place, path: string, seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const end = performance.now() + seconds * 1000;
  let count = 0;
  const work = async (): Promise<void> => {
    while (performance.now() < end) {
      const [answer] = (await once(request({ ...options(toTarget), agent, path }).end(), 'response')) as [
        IncomingMessage,
      ];
      answer.resume();
      await once(answer, 'end');
      if (answer.statusCode !== 200) throw new Error(`answered ${String(answer.statusCode)}`);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  agent.destroy();
  return count;
}

/** Throughput in MB per second. */
async function download(toTarget: Place, path: string): Promise<number> {
  const began = performance.now();
  const outgoing = request({ ...options(toTarget), path, agent: false }).end();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  let length = 0;
  answer.on('data', (chunk: Buffer) => (length += chunk.length));
  await once(answer, 'end');
  if (length !== gibibyte) throw new Error(`${String(length)} bytes came`);
  return length / 1e6 / ((performance.now() - began) / 1000);
}

async function idleSockets(toTarget: Place, count: number): Promise<readonly WebSocket[]> {
  const sockets: WebSocket[] = [];
  for (let index = 0; index < count; index += 50) {
    const batch = Array.from({ length: Math.min(50, count - index) }, () => {
      const socket = new WebSocket(`wss://${toTarget.name}:${String(toTarget.port)}/idle/ws`, {
        ca: toTarget.ca,
        headers: { Authorization: adminAuthorization },
        lookup: (_name: string, how: any, done: any) =>
          how.all ? done(null, [{ address: toTarget.host, family: 4 }]) : done(null, toTarget.host, 4),
      });
      return socket;
    });
    await Promise.all(batch.map((socket) => once(socket, 'open')));
    sockets.push(...batch);
  }
  return sockets;
}
