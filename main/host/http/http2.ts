import { IncomingMessage, ServerResponse } from 'node:http';
import {
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ListenerLimits } from './limits.ts';
import { StreamSocket } from './stream-socket.ts';

/** At one time on one connection; browsers open one connection. */
const mostStreams = 128;
/** How much a client may send of a body before it was taken, bytes; the protocol's own 64 KiB make uploads slow. */
const window = 512 * 1024;

/** The HTTP/2 side of a listener. */
export interface Http2 {
  /** No new requests; a connection ends with its last answer. */
  close(): void;
}

/**
 * Lets a TLS server speak HTTP/2 with clients that ask for it; the others go on with HTTP/1.1. Its requests become those of
 * HTTP/1.1, without passing through its syntax.
 */
export function speakHttp2(
  server: HttpsServer,
  limits: ListenerLimits,
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
): Http2 {
  const sessions = new Set<ServerHttp2Session>();
  let closing = false;
  const http2 = createServer({
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
    maxHeaderListPairs: 200,
    settings: {
      enablePush: false,
      initialWindowSize: window,
      maxConcurrentStreams: mostStreams,
      maxHeaderListSize: limits.maxHeaderBytes,
    },
  });
  http2.on('session', (session) => {
    if (closing) return void session.close();
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    session.on('error', leave);
    session.setLocalWindowSize(window * 4);
    let open = 0;
    session.on('stream', (stream) => {
      open += 1;
      stream.once('close', () => (open -= 1));
    });
    // Without a request it is idle; a stream may be silent for hours.
    session.setTimeout(limits.keepAliveMs, () => {
      if (open === 0) session.close();
    });
  });
  http2.on('sessionError', leave);
  http2.on('stream', (stream, headers, _flags, raw) => {
    stream.on('error', leave);
    const socket = stream.session?.socket as TLSSocket | undefined;
    if (socket === undefined || stream.destroyed) return;
    const streamSocket = new StreamSocket(stream, socket);
    const request = requestOf(stream, headers, raw, streamSocket);
    if (request === undefined) return void refuse(stream);
    if (!stream.endAfterHeaders) watchBody(stream, request, limits);
    onRequest(request, responseTo(request, streamSocket));
  });

  const [http1] = server.listeners('secureConnection') as ((socket: TLSSocket) => void)[];
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') http2.emit('connection', socket);
    else http1?.call(server, socket);
  });

  return {
    close() {
      closing = true;
      for (const session of sessions) session.close();
    },
  };
}

/** The cause is over with the stream. */
function leave(): void {
  return undefined;
}

function refuse(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 400, 'content-length': 0 }, { endStream: true });
  stream.close(constants.NGHTTP2_NO_ERROR);
}

/** Undefined for what has no form in HTTP/1.1: a tunnel, a target that is no path, two names of the host. */
function requestOf(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  raw: readonly string[],
  socket: StreamSocket,
): IncomingMessage | undefined {
  const { ':method': method, ':path': path = '', ':authority': authority, host = authority } = headers;
  if (method === undefined || method === 'CONNECT' || !/^(?:\/[\x21-\x7e\x80-\xff]*|\*)$/.test(path)) return undefined;
  if (authority !== undefined && host !== authority) return undefined;
  const request = new IncomingMessage(socket as unknown as Socket);
  request.method = method;
  request.url = path;
  request.httpVersion = '1.1';
  request.httpVersionMajor = 1;
  request.httpVersionMinor = 1;
  request.rawHeaders = authority === undefined ? [] : ['host', authority];
  for (let index = 0; index < raw.length; index += 2) {
    const [name = '', value = ''] = raw.slice(index, index + 2);
    const isNamedTwice = name === 'host' && authority !== undefined;
    if (!name.startsWith(':') && !isNamedTwice) request.rawHeaders.push(name, value);
  }
  const plain: NodeJS.Dict<string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) if (!name.startsWith(':')) plain[name] = value;
  if (host !== undefined) plain['host'] = host;
  if (!stream.endAfterHeaders && plain['content-length'] === undefined) {
    // In HTTP/1.1 a body is announced.
    plain['transfer-encoding'] = 'chunked';
    request.rawHeaders.push('transfer-encoding', 'chunked');
  }
  request.headers = plain;
  read(request, stream, socket);
  if (plain['expect']?.toString().toLowerCase() === '100-continue') stream.additionalHeaders({ ':status': 100 });
  return request;
}

/** Gives up a body that stands still while the service waits for it. */
function watchBody(stream: ServerHttp2Stream, request: IncomingMessage, { bodyStallMs }: ListenerLimits): void {
  // Not as the call-back of `setTimeout`, which is called once: a service that was slow may be waited for later.
  stream.on('timeout', () => {
    if (request.complete) stream.setTimeout(0);
    // A call of gRPC may be silent in both directions once it was accepted.
    else if (stream.headersSent && isGrpc(request)) stream.setTimeout(bodyStallMs);
    // What lies in either of the two has come; it is the service who has not taken it.
    else if (request.readableLength === 0 && stream.readableLength === 0) stream.close(constants.NGHTTP2_CANCEL);
    else stream.setTimeout(bodyStallMs);
  });
  stream.setTimeout(bodyStallMs);
}

/** Takes of the body what the service asks for, so that one that is slow slows the client down. */
function read(request: IncomingMessage, stream: ServerHttp2Stream, socket: StreamSocket): void {
  const whole = (): void => {
    request.complete = true;
    request.push(null);
  };
  if (stream.endAfterHeaders) return whole();
  stream.once('trailers', (_headers, _flags, raw: string[]) => (request.rawTrailers = raw));
  let listening = false;
  // Its own property: frameworks give requests another prototype.
  request._read = () => {
    if (listening) return void stream.resume();
    listening = true;
    stream.on('data', (chunk: Buffer) => {
      socket.bytesRead += chunk.length;
      if (!request.push(chunk)) stream.pause();
    });
    stream.once('end', () => {
      if (!stream.aborted) whole();
    });
  };
  stream.once('aborted', () => request.destroy());
  stream.once('close', () => {
    if (!request.complete) request.destroy();
  });
}

function isGrpc({ headers }: IncomingMessage): boolean {
  return headers['content-type']?.startsWith('application/grpc') === true;
}

function toTrailers(pairs: Parameters<ServerResponse['addTrailers']>[0]): Record<string, string[]> {
  const trailers = new Map<string, string[]>();
  const entries = Array.isArray(pairs) ? pairs : Object.entries(pairs);
  for (const [name = '', value = ''] of entries) {
    const lower = String(name).toLowerCase();
    trailers.set(lower, [...(trailers.get(lower) ?? []), String(value)]);
  }
  return Object.fromEntries(trailers);
}

function responseTo(request: IncomingMessage, stream: StreamSocket): ServerResponse {
  const response = new ServerResponse(request);
  const { socket } = request;
  response.assignSocket(socket);
  // HTTP/2 frames bodies itself.
  response.removeHeader('Transfer-Encoding');
  response.addTrailers = (trailers) => stream.setTrailers(toTrailers(trailers));
  socket.on('drain', () => response.emit('drain'));
  socket.on('error', leave);
  response.once('finish', () => socket.end());
  return response;
}
