import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import type { Problem } from '../../contracts/problem.ts';
import type { Clock } from '../../contracts/service.ts';
import type { UpgradeListener } from '../../contracts/listeners.ts';
import { refuse } from '../domain/refusals.ts';
import { isTopicList } from '../domain/topics.ts';
import { pongTimeoutMs } from '../subscribe/keep-alive.ts';
import type { Outlet } from '../subscribe/subscriber.ts';
import type { RequestContext } from './exchange.ts';
import type { SubscribeRoutes } from './subscribe.ts';

export interface WebSocketDependencies {
  readonly subscribe: Pick<SubscribeRoutes, 'readWebSocket'>;
  /** Parses and authenticates the request; the path is decoded. */
  readonly readRequest: (
    request: IncomingMessage,
  ) => Promise<{ readonly path: string; readonly requestContext: RequestContext }>;
  /** Converts an error into a problem and counts it. */
  readonly toProblem: (error: unknown) => Problem;
  readonly clock: Pick<Clock, 'now'>;
  /** Called when a rate limit refuses a client. */
  readonly onRateLimited: () => void;
}

/** Maximum size of a frame in bytes; clients of a stream send no data. */
const maxFrameBytes = 64;
/**
 * Maximum number of bytes that a client may send between two pings. Pings of the client are answered and frame
 * fragments are buffered, so a client that sends without reading would fill the memory.
 */
const maxBytesPerPing = 64 * 1024;
const goingAwayCode = 1001;

/** Serves GET `/<topics>/ws` as an upgrade. Refused requests get a status without a body. */
export function webSocketListener(dependencies: WebSocketDependencies): UpgradeListener {
  let server: WebSocketServer | undefined;

  const serve = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const { path, requestContext } = await dependencies.readRequest(request);
    const [topics = '', verb, ...rest] = path.slice(1).split('/');
    if (request.method !== 'GET' || verb !== 'ws' || rest.length > 0 || !isTopicList(topics)) throw refuse('not_found');
    await dependencies.subscribe.readWebSocket(requestContext, topics, async () => {
      server ??= await createServer();
      const accepted = server;
      return new Promise<Outlet>((resolve) => {
        accepted.handleUpgrade(request, socket, head, (webSocket) =>
          resolve(createOutlet(webSocket, socket, dependencies.clock)),
        );
      });
    });
  };

  return (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    serve(request, socket, head).catch((error: unknown) => {
      const { status, headers } = dependencies.toProblem(error);
      if (status === 429) dependencies.onRateLimited();
      const retry = headers['Retry-After'];
      if (socket.destroyed) return;
      socket.end(
        `HTTP/1.1 ${String(status)} ${reasons[status] ?? 'Refused'}\r\nConnection: close\r\nContent-Length: 0\r\n` +
          `${retry === undefined ? '' : `Retry-After: ${retry}\r\n`}\r\n`,
      );
    });
  };
}

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** Loaded on the first WebSocket stream. */
async function createServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws');
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxFrameBytes,
    skipUTF8Validation: true,
  });
}

/** Writes messages to the socket as frames shared by all clients; the library handles the rest of the protocol. */
function createOutlet(webSocket: WebSocket, socket: Duplex, clock: Pick<Clock, 'now'>): Outlet {
  /** Time of the ping that is not answered yet. */
  let pingedAt: number | undefined;
  webSocket.on('pong', () => (pingedAt = undefined));
  let receivedBytes = 0;
  socket.on('data', (chunk: Buffer) => {
    receivedBytes += chunk.length;
    if (receivedBytes > maxBytesPerPing) webSocket.terminate();
  });
  // Invalid or oversized frame: the library closes the connection.
  webSocket.on('error', () => undefined);
  return {
    stream: socket,
    end: () => webSocket.close(goingAwayCode),
    lifetime: {
      ping() {
        pingedAt ??= clock.now();
        receivedBytes = 0;
        if (webSocket.readyState === webSocket.OPEN) webSocket.ping();
      },
      check() {
        if (pingedAt !== undefined && clock.now() - pingedAt >= pongTimeoutMs) webSocket.terminate();
      },
    },
  };
}
