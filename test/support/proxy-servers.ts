import { createServer as createHttpServer, request, type IncomingMessage } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

interface ProxyOptions {
  readonly username?: string;
  readonly password?: string;
}

/** Proxy on a free port of the loopback interface. */
interface TestProxy extends AsyncDisposable {
  readonly port: number;
  /** Targets of the requests as the client named them, such as `https://…` or `localhost:443`. */
  readonly targets: readonly string[];
}

/** Opens an HTTP proxy that forwards requests and tunnels CONNECT. With a user name it requires Basic authentication. */
export async function openHttpProxy({ username, password = '' }: ProxyOptions = {}): Promise<TestProxy> {
  const targets: string[] = [];
  const expected = username === undefined ? undefined : `Basic ${btoa(`${username}:${password}`)}`;
  const isAllowed = ({ headers }: IncomingMessage): boolean =>
    expected === undefined || headers['proxy-authorization'] === expected;
  const server = createHttpServer((incoming, outgoing) => {
    if (!isAllowed(incoming)) return void outgoing.writeHead(407).end();
    targets.push(incoming.url ?? '');
    const { 'proxy-authorization': _, ...headers } = incoming.headers;
    const forwarded = request(incoming.url ?? '', { method: incoming.method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.writeHead(502).end());
    incoming.pipe(forwarded);
  });
  server.on('connect', (incoming, client: Socket) => {
    client.on('error', () => undefined);
    if (!isAllowed(incoming)) return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    targets.push(incoming.url ?? '');
    const { hostname, port } = new URL(`http://${incoming.url ?? ''}`);
    const target = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      target.pipe(client).pipe(target);
    });
    target.on('error', () => client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
  });
  return start(server, targets);
}

/** Opens a SOCKS proxy for versions 4, 4a and 5. With a user name it requires version 5 and RFC 1929. */
export function openSocksProxy({ username, password = '' }: ProxyOptions = {}): Promise<TestProxy> {
  const targets: string[] = [];
  const server = createServer((client) => {
    client.on('error', () => undefined);
    const read = createReader(client);
    void (async () => {
      const [version = 0] = await read(1);
      if (version === 4 && username === undefined) await handleSocks4(client, read, targets);
      else if (version === 5) await handleSocks5({ client, read, targets, username, password });
      else client.destroy();
    })().catch(() => client.destroy());
  });
  return start(server, targets);
}

type Read = (length: number) => Promise<Buffer>;

/** Returns a function that reads exact numbers of bytes. */
function createReader(socket: Socket): Read {
  return async (length) => {
    for (;;) {
      const part = socket.read(length) as Buffer | null;
      if (part !== null) return part;
      if (socket.readableEnded || socket.destroyed) throw new Error('closed');
      await new Promise((resolve) => {
        socket.once('readable', resolve);
        socket.once('close', resolve);
      });
    }
  };
}

async function readText(read: Read): Promise<string> {
  let text = '';
  for (let [byte = 0] = await read(1); byte !== 0; [byte = 0] = await read(1)) text += String.fromCharCode(byte);
  return text;
}

async function handleSocks4(client: Socket, read: Read, targets: string[]): Promise<void> {
  const head = await read(7);
  await readText(read);
  const address = head.subarray(3, 7);
  const isNamed = address.readUInt32BE(0) < 256;
  const host = isNamed ? await readText(read) : address.join('.');
  tunnel(client, host, head.readUInt16BE(1), targets, (ok) => Buffer.from([0, ok ? 90 : 91, 0, 0, 0, 0, 0, 0]));
}

interface Socks5Connection {
  readonly client: Socket;
  readonly read: Read;
  readonly targets: string[];
  readonly username: string | undefined;
  readonly password: string;
}

async function handleSocks5({ client, read, targets, username, password }: Socks5Connection): Promise<void> {
  const [count = 0] = await read(1);
  const methods = await read(count);
  const method = username === undefined ? 0 : 2;
  if (!methods.includes(method)) return void client.end(Buffer.from([5, 0xff]));
  client.write(Buffer.from([5, method]));
  if (username !== undefined) {
    await read(1);
    const name = (await read((await read(1))[0] ?? 0)).toString();
    const secret = (await read((await read(1))[0] ?? 0)).toString();
    const isCorrect = name === username && secret === password;
    client.write(Buffer.from([1, isCorrect ? 0 : 1]));
    if (!isCorrect) return void client.end();
  }
  const kind = (await read(4))[3];
  if (kind !== 1 && kind !== 3) return void client.end(Buffer.from([5, 8, 0, 1, 0, 0, 0, 0, 0, 0]));
  const host = kind === 1 ? (await read(4)).join('.') : (await read((await read(1))[0] ?? 0)).toString();
  const port = (await read(2)).readUInt16BE(0);
  tunnel(client, host, port, targets, (ok) => Buffer.from([5, ok ? 0 : 5, 0, 1, 0, 0, 0, 0, 0, 0]));
}

function tunnel(
  client: Socket,
  host: string,
  port: number,
  targets: string[],
  buildReply: (ok: boolean) => Buffer,
): void {
  targets.push(`${host}:${String(port)}`);
  const target = connect(port, host, () => {
    client.write(buildReply(true));
    target.pipe(client).pipe(target);
  });
  target.on('error', () => client.end(buildReply(false)));
}

async function start(server: Server, targets: readonly string[]): Promise<TestProxy> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    targets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
