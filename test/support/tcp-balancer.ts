import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { HostProcess } from './host-process.ts';

/** Interval of the health checks in ms, and the time in which a host must respond. */
const checkEveryMs = 250;
const checkTimeoutMs = 2000;
/** Number of consecutive checks without a response after which the connections of a host are closed. */
const maxFailedChecks = 2;
/** Time in ms in which a host must accept a connection before another one is tried. */
const connectTimeoutMs = 500;

/** Health of a host: `draining` hosts keep their connections, those of `down` hosts are closed. */
type Health = 'ready' | 'draining' | 'down';

interface Backend {
  readonly host: HostProcess;
  readonly sockets: Set<Socket>;
  health: Health;
  failedChecks: number;
  isChecking: boolean;
}

/** TCP load balancer in front of some hosts: round robin, without knowledge of HTTP. */
export interface TcpBalancer extends AsyncDisposable {
  /** Address of a service behind the balancer. */
  url(service: string): string;
  port(service: string): number;
  /** Adds a host, which receives connections when it is ready. */
  add(host: HostProcess): void;
  /** Removes a host and closes its connections. */
  remove(host: HostProcess): void;
  /** Returns whether a host receives connections. */
  isReady(host: HostProcess): boolean;
}

/** Opens a port for each of some services. `/health/ready` of each host decides whether it receives connections. */
export async function openTcpBalancer(services: readonly string[]): Promise<TcpBalancer> {
  const backends = new Map<HostProcess, Backend>();
  let turn = 0;
  /** Returns the hosts that are ready, beginning with the next one. */
  const order = (): readonly Backend[] => {
    const ready = [...backends.values()].filter(({ health }) => health === 'ready');
    turn += 1;
    return ready.map((_, index) => ready[(turn + index) % ready.length] as Backend);
  };
  const opened = await Promise.all(
    services.map(async (service) => [service, await listen((client) => forward(client, service, order()))] as const),
  );
  const servers = new Map(opened);
  const timer = setInterval(() => {
    for (const backend of backends.values()) void check(backend);
  }, checkEveryMs);
  const port = (service: string): number => {
    const server = servers.get(service);
    if (server === undefined) throw new Error(`the balancer has no port for ${service}`);
    return (server.address() as AddressInfo).port;
  };
  return {
    port,
    url: (service) => `http://127.0.0.1:${String(port(service))}`,
    add(host) {
      const backend: Backend = {
        host,
        sockets: new Set(),
        health: 'down',
        failedChecks: 0,
        isChecking: false,
      };
      backends.set(host, backend);
      void check(backend);
    },
    remove(host) {
      for (const socket of backends.get(host)?.sockets ?? []) socket.destroy();
      backends.delete(host);
    },
    isReady: (host) => backends.get(host)?.health === 'ready',
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      for (const { sockets } of backends.values()) for (const socket of sockets) socket.destroy();
      await Promise.all([...servers.values()].map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

async function listen(accept: (client: Socket) => Promise<void>): Promise<Server> {
  // A client that only closes its side still receives the response.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on('error', () => undefined);
    void accept(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Connects a client to the first host that accepts; without one, the connection is closed. */
async function forward(client: Socket, service: string, candidates: readonly Backend[]): Promise<void> {
  for (const backend of candidates) {
    const socket = await open(backend.host.port(service));
    if (socket === undefined) continue;
    backend.sockets.add(socket);
    socket.on('close', () => {
      backend.sockets.delete(socket);
      client.destroy();
    });
    client.on('close', () => socket.destroy());
    client.pipe(socket).pipe(client);
    return;
  }
  client.destroy();
}

function open(port: number): Promise<Socket | undefined> {
  const { promise, resolve } = Promise.withResolvers<Socket | undefined>();
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  const timer = setTimeout(() => {
    socket.destroy();
    resolve(undefined);
  }, connectTimeoutMs);
  socket.on('error', () => resolve(undefined));
  socket.once('connect', () => {
    clearTimeout(timer);
    resolve(socket);
  });
  return promise.finally(() => clearTimeout(timer));
}

async function check(backend: Backend): Promise<void> {
  // A host that hangs is not asked again before the last check has timed out.
  if (backend.isChecking) return;
  backend.isChecking = true;
  const url = `${backend.host.url('control')}/health/ready`;
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(checkTimeoutMs) });
    backend.health = status === 200 ? 'ready' : 'draining';
    backend.failedChecks = 0;
  } catch {
    backend.failedChecks += 1;
    if (backend.failedChecks < maxFailedChecks) return;
    backend.health = 'down';
    for (const socket of backend.sockets) socket.destroy();
  } finally {
    backend.isChecking = false;
  }
}
