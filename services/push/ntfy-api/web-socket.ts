import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import type { Problem } from '../../contracts/problem.ts';
import type { Clock } from '../../contracts/service.ts';
import type { UpgradeListener } from '../../contracts/listeners.ts';
import { refuse } from '../domain/refusals.ts';
import { isTopicList } from '../domain/topics.ts';
import type { Outlet } from '../subscribe/subscriber.ts';
import type { Asked } from './exchange.ts';
import type { SubscribeRoutes } from './subscribe.ts';

export interface WebSocketParts {
  readonly subscribe: Pick<SubscribeRoutes, 'readWebSocket'>;
  /** Who asks for what; the path is decoded. */
  readonly asks: (request: IncomingMessage) => Promise<{ readonly path: string; readonly asked: Asked }>;
  /** Makes a problem of what went wrong, and counts it. */
  readonly fail: (error: unknown) => Problem;
  readonly clock: Pick<Clock, 'now'>;
}

/** Readers of a stream have nothing to say; bytes. */
const longestFrame = 64;
/**
 * All that they may send between two signs of life; bytes. Each ping of theirs is answered, and pieces of a frame are kept
 * until its end: who sends without end and reads nothing would fill our memory.
 */
const mostSent = 64 * 1024;
/** A reader that does not answer a ping for this long is gone; ms. */
export const longestSilence = 60_000;
const goingAway = 1001;

/** GET `/<topics>/ws` as an upgrade. What is refused gets a status without a body. */
export function webSocketListener(parts: WebSocketParts): UpgradeListener {
  let server: WebSocketServer | undefined;

  const serve = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const { path, asked } = await parts.asks(request);
    const [topics = '', verb, ...rest] = path.slice(1).split('/');
    if (request.method !== 'GET' || verb !== 'ws' || rest.length > 0 || !isTopicList(topics)) throw refuse('not_found');
    await parts.subscribe.readWebSocket(asked, topics, async () => {
      server ??= await createServer();
      const accepted = server;
      return new Promise<Outlet>((resolve) => {
        accepted.handleUpgrade(request, socket, head, (webSocket) => resolve(outletOf(webSocket, socket, parts.clock)));
      });
    });
  };

  return (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    serve(request, socket, head).catch((error: unknown) => {
      const { status, headers } = parts.fail(error);
      const retry = headers['Retry-After'];
      if (socket.destroyed) return;
      socket.end(
        `HTTP/1.1 ${String(status)} ${reasons[status] ?? 'Refused'}\r\nConnection: close\r\nContent-Length: 0\r\n${retry === undefined ? '' : `Retry-After: ${retry}\r\n`}\r\n`,
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

/** Loaded at the first stream of this kind. */
async function createServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws');
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: longestFrame,
    skipUTF8Validation: true,
  });
}

/** Messages are written to the socket as frames that all readers share; the rest of the protocol is the library's. */
function outletOf(webSocket: WebSocket, socket: Duplex, clock: Pick<Clock, 'now'>): Outlet {
  /** When the ping was sent that is still to be answered. */
  let asked: number | undefined;
  webSocket.on('pong', () => (asked = undefined));
  let sent = 0;
  socket.on('data', (chunk: Buffer) => {
    sent += chunk.length;
    if (sent > mostSent) webSocket.terminate();
  });
  // A frame that is too long or makes no sense: the library closes the connection.
  webSocket.on('error', () => undefined);
  return {
    stream: socket,
    end: () => webSocket.close(goingAway),
    life: {
      ask() {
        asked ??= clock.now();
        sent = 0;
        if (webSocket.readyState === webSocket.OPEN) webSocket.ping();
      },
      check() {
        if (asked !== undefined && clock.now() - asked >= longestSilence) webSocket.terminate();
      },
    },
  };
}
