import type { ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { findOwn } from '../../../services/contracts/find-own.ts';

/** Connection-specific headers, which HTTP/2 does not have. */
const connectionHeaders = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);
const headEnd = Buffer.from('\r\n\r\n');

/**
 * Presents an HTTP/2 stream as a connection: the bytes that Node's HTTP/1.1 response writes become an HTTP/2
 * response. Services and their frameworks see ordinary requests.
 */
export class StreamSocket extends Duplex {
  readonly encrypted = true;
  readonly remoteAddress: string | undefined;
  readonly remoteFamily: string | undefined;
  readonly remotePort: number | undefined;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
  bytesRead = 0;
  bytesWritten = 0;
  readonly #stream: ServerHttp2Stream;
  #headSent = false;
  /** The end of the stream waits for its trailers. */
  #awaitsTrailers = false;
  #trailers: Record<string, string | string[]> = {};

  constructor(stream: ServerHttp2Stream, socket: TLSSocket) {
    super({ allowHalfOpen: true, emitClose: true });
    this.#stream = stream;
    ({
      remoteAddress: this.remoteAddress,
      remoteFamily: this.remoteFamily,
      remotePort: this.remotePort,
      localAddress: this.localAddress,
      localPort: this.localPort,
    } = socket);
    stream.once('close', () => this.destroy());
  }

  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  destroySoon(): void {
    this.end();
  }

  /**
   * Requests are read from the stream itself; this side stays open, since its end would mean that the client
   * disconnected.
   */
  override _read(): void {
    return undefined;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return void done();
    let rest = chunk;
    while (!this.#headSent) {
      const end = rest.indexOf(headEnd);
      if (end < 0) return void done(new Error('The head of a response came in pieces.'));
      this.#sendHead(rest.toString('latin1', 0, end));
      rest = rest.subarray(end + headEnd.length);
      if (rest.length === 0) return void done();
    }
    this.bytesWritten += rest.length;
    stream.write(rest, () => done());
  }

  /** Sets the trailers that follow the body. */
  setTrailers(trailers: Readonly<Record<string, string | string[]>>): void {
    this.#trailers = { ...trailers };
  }

  override _final(done: () => void): void {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return void done();
    const finish = (): void => {
      done();
      if (stream.readableEnded || stream.closed) return;
      if (stream.endAfterHeaders) return void stream.resume();
      // Nothing reads the rest of an answered request. A reset in the same turn would overtake the trailers.
      setImmediate(() => {
        if (!stream.closed) stream.close(constants.NGHTTP2_NO_ERROR);
      });
    };
    if (!this.#awaitsTrailers) return void stream.end(finish);
    stream.once('wantTrailers', () => {
      stream.sendTrailers(this.#trailers);
      finish();
    });
    stream.end();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const stream = this.#stream;
    // Closing a stream would first end its writable side, which signals a complete response to the client.
    if (!stream.closed && !this.writableFinished) stream.destroy(error ?? new Error('The answer was broken off.'));
    done(error);
  }

  #sendHead(head: string): void {
    const [first = '', ...lines] = head.split('\r\n');
    const status = Number(first.slice(9, 12));
    const headers: Record<string, string | string[] | number> = { ':status': status };
    for (const line of lines) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).toLowerCase();
      if (connectionHeaders.has(name)) continue;
      const value = line.slice(colon + 1).trim();
      const before = findOwn(headers, name);
      if (before === undefined) headers[name] = value;
      else if (name === 'set-cookie') headers[name] = [before, value].flat().map(String);
      else headers[name] = `${String(before)}, ${value}`;
    }
    if (status < 200) return void this.#stream.additionalHeaders(headers);
    this.#headSent = true;
    this.bytesWritten += head.length;
    // A message without a body ends with its headers.
    const endStream = headers['content-length'] === '0';
    this.#stream.respond(headers, { endStream, waitForTrailers: !endStream });
    // Node ends the stream when no body may follow: HEAD, 204, 205 and 304.
    this.#awaitsTrailers = !this.#stream.writableEnded;
  }
}
