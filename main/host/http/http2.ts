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

/** Concurrent streams per connection; browsers open one connection. */
const maxStreams = 128;
/** Bytes of a body that a client may send before they are read; the protocol's default of 64 KiB makes uploads slow. */
const windowBytes = 512 * 1024;

/** HTTP/2 side of a listener. */
export interface Http2 {
  /** Refuses new requests; a connection ends with its last response. */
  close(): void;
}

/**
 * Enables HTTP/2 on a TLS server for clients that negotiate it; others continue with HTTP/1.1. Requests are converted
 * to HTTP/1.1 objects without serialization.
 */
export function enableHttp2(
  server: HttpsServer,
  limits: ListenerLimits,
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
): Http2 {
  const sessions = new Set<ServerHttp2Session>();
  let closing = false;
  const http2 = createServer({
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
    // Browsers send each cookie as one field; `maxHeaderListSize` limits the bytes.
    maxHeaderListPairs: 1000,
    settings: {
      enablePush: false,
      initialWindowSize: windowBytes,
      maxConcurrentStreams: maxStreams,
      maxHeaderListSize: limits.maxHeaderBytes,
    },
  });
  http2.on('session', (session) => {
    if (closing) return void session.close();
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    session.on('error', ignoreError);
    session.setLocalWindowSize(windowBytes * 4);
    let open = 0;
    session.on('stream', (stream) => {
      open += 1;
      stream.once('close', () => (open -= 1));
    });
    // A connection without requests is idle; a stream may be silent for hours.
    session.setTimeout(limits.keepAliveMs, () => {
      if (open === 0) session.close();
    });
  });
  http2.on('sessionError', ignoreError);
  http2.on('stream', (stream, headers, _flags, raw) => {
    stream.on('error', ignoreError);
    const socket = stream.session?.socket as TLSSocket | undefined;
    if (socket === undefined || stream.destroyed) return;
    const streamSocket = new StreamSocket(stream, socket);
    const request = toHttp1Request(stream, headers, raw, streamSocket);
    if (request === undefined) return void refuse(stream);
    if (!stream.endAfterHeaders) watchBody(stream, request, limits);
    onRequest(request, createResponse(request, streamSocket));
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

/** Errors are handled by the `close` event of the stream. */
function ignoreError(): void {
  return undefined;
}

function refuse(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 400, 'content-length': 0 }, { endStream: true });
  stream.close(constants.NGHTTP2_NO_ERROR);
}

/**
 * Returns undefined for requests without an equivalent in HTTP/1.1: a tunnel, a target that is not a path, two host
 * names.
 */
function toHttp1Request(
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
  const http1Headers: NodeJS.Dict<string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) if (!name.startsWith(':')) http1Headers[name] = value;
  if (host !== undefined) http1Headers['host'] = host;
  if (!stream.endAfterHeaders && http1Headers['content-length'] === undefined) {
    // HTTP/1.1 announces a body.
    http1Headers['transfer-encoding'] = 'chunked';
    request.rawHeaders.push('transfer-encoding', 'chunked');
  }
  request.headers = http1Headers;
  read(request, stream, socket);
  if (http1Headers['expect']?.toString().toLowerCase() === '100-continue') stream.additionalHeaders({ ':status': 100 });
  return request;
}

/** Cancels a body that stalls while the service waits for it. */
function watchBody(stream: ServerHttp2Stream, request: IncomingMessage, { bodyStallMs }: ListenerLimits): void {
  // Registered as a listener, since the callback of `setTimeout` is called only once and a slow service can cause
  // several timeouts.
  stream.on('timeout', () => {
    if (request.complete) stream.setTimeout(0);
    // A gRPC call may be silent in both directions once it was accepted.
    else if (stream.headersSent && isGrpc(request)) stream.setTimeout(bodyStallMs);
    // Buffered data has arrived, so the service is the slow side.
    else if (request.readableLength === 0 && stream.readableLength === 0) stream.close(constants.NGHTTP2_CANCEL);
    else stream.setTimeout(bodyStallMs);
  });
  stream.setTimeout(bodyStallMs);
}

/** Reads the body on demand, so that a slow service slows down the client. */
function read(request: IncomingMessage, stream: ServerHttp2Stream, socket: StreamSocket): void {
  const http1Request = (): void => {
    request.complete = true;
    request.push(null);
  };
  if (stream.endAfterHeaders) return http1Request();
  stream.once('trailers', (_headers, _flags, raw: string[]) => (request.rawTrailers = raw));
  let listening = false;
  // Own property, since frameworks replace the prototype of requests.
  request._read = () => {
    if (listening) return void stream.resume();
    listening = true;
    stream.on('data', (chunk: Buffer) => {
      socket.bytesRead += chunk.length;
      if (!request.push(chunk)) stream.pause();
    });
    stream.once('end', () => {
      if (!stream.aborted) http1Request();
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

function createResponse(request: IncomingMessage, stream: StreamSocket): ServerResponse {
  const response = new ServerResponse(request);
  const { socket } = request;
  response.assignSocket(socket);
  // HTTP/2 frames bodies itself.
  response.removeHeader('Transfer-Encoding');
  response.addTrailers = (trailers) => stream.setTrailers(toTrailers(trailers));
  socket.on('drain', () => response.emit('drain'));
  socket.on('error', ignoreError);
  response.once('finish', () => socket.end());
  return response;
}
