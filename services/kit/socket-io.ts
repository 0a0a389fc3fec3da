import type { IncomingMessage, RequestListener } from 'node:http';
import type { Socket } from 'socket.io';
import { Problem } from '../contracts/problem.ts';
import type { Log } from '../contracts/service.ts';
import type { UpgradeListener } from '../contracts/listeners.ts';
import { markLongLived } from './http/long-lived-response.ts';

/** Path and limits of a Socket.IO server. */
export interface SocketIoOptions {
  /** Path of upgrade requests, such as `/socket.io`; other paths are answered with 404. */
  readonly path: string;
  readonly maxMessageBytes: number;
  /**
   * Accepts a client.
   * @throws Problem whose detail is sent to the refused client
   */
  readonly admit: (request: IncomingMessage) => Promise<void> | void;
  readonly onConnection: (socket: Socket) => void;
  readonly log: Log;
}

/** Handlers of a Socket.IO server, which is loaded for the first client. */
export interface SocketIo extends AsyncDisposable {
  /** Answers requests below its path. */
  readonly http: RequestListener;
  readonly upgrade: UpgradeListener;
}

/**
 * Creates a server of Socket.IO 4 over engine.io 4 on a listener of the host. Loaded on demand, since most
 * installations have no such client and it uses much memory.
 */
export function createSocketIo(options: SocketIoOptions): SocketIo {
  const { path, log } = options;
  let opened: Promise<OpenedServer> | undefined;
  const serve = (call: (opened: OpenedServer) => void, end: () => void): void => {
    opened ??= openServer(options).catch((error: unknown) => {
      // The next client retries.
      opened = undefined;
      throw error;
    });
    opened.then(call).catch((error: unknown) => {
      log.error('websocket request failed', { error });
      end();
    });
  };
  return {
    http(request, response) {
      markLongLived(response);
      serve(
        ({ transport }) => transport.handleRequest(request, response),
        () => response.destroy(),
      );
    },
    upgrade(request, socket, head) {
      if (request.url?.startsWith(`${path}/`) !== true && request.url?.startsWith(`${path}?`) !== true) {
        socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
        return;
      }
      socket.on('error', () => socket.destroy());
      serve(
        ({ transport }) => transport.handleUpgrade(request, socket, head),
        () => socket.destroy(),
      );
    },
    async [Symbol.asyncDispose]() {
      const running = await opened;
      await running?.server.close();
      running?.transport.close();
    },
  };
}

type OpenedServer = Awaited<ReturnType<typeof openServer>>;

/** Loads Socket.IO and creates its server. */
async function openServer({ maxMessageBytes, admit, onConnection }: SocketIoOptions) {
  const [{ Server: Transport }, { Server }] = await Promise.all([import('engine.io'), import('socket.io')]);
  const checkAdmission = async (request: IncomingMessage): Promise<void> => await admit(request);
  const transport = new Transport({
    maxHttpBufferSize: maxMessageBytes,
    allowRequest(request, answer) {
      checkAdmission(request).then(
        () => answer(undefined, true),
        (error: unknown) => answer(error instanceof Problem ? error.detail : 'Refused', false),
      );
    },
  });
  const server = new Server({ serveClient: false, connectTimeout: 10_000, cleanupEmptyChildNamespaces: true });
  server.bind(transport);
  server.on('connection', onConnection);
  return { transport, server };
}
