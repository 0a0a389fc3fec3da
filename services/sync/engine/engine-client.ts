import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { parseJson } from '../../contracts/parse-json.ts';
import { FailureProblem, failures } from '../domain/failures.ts';

/** Largest response that is held in memory. */
const maxResponseBytes = 512 * 1024 * 1024;

/** Address of a running engine with its credentials. */
export interface EngineAddress {
  readonly port: number;
  readonly authorization: string;
}

/** Response of the engine. */
export interface EngineResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** Size of the response in bytes. */
  readonly length?: number;
}

/** Returns the engine's error message. */
export function getErrorMessage({ error }: EngineResponse['body']): string {
  return typeof error === 'string' ? error : 'rclone failed';
}

export interface EngineCall {
  /** Aborts the call. */
  readonly signal?: AbortSignal;
  /** Prevents the call from starting once aborted, even if the engine is still starting. */
  readonly startSignal?: AbortSignal;
  /** Request body that is streamed instead of JSON, with its headers and query. */
  readonly stream?: { readonly body: Readable; readonly headers: Record<string, string>; readonly query: string };
}

/** Content of a file that the engine sends. */
export interface EngineFile {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: IncomingMessage;
}

/** Sends HTTP requests to the engine. */
export class EngineClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  close(): void {
    this.#agent.destroy();
  }

  /**
   * Requests a file, or the range that the header `Range` names.
   * @throws Problem `sync.engine_gone` (502).
   */
  requestFile(
    { authorization, port }: EngineAddress,
    { fs, remote, range }: { readonly fs: string; readonly remote: string; readonly range: string | undefined },
  ): Promise<EngineFile> {
    const { promise, resolve, reject } = Promise.withResolvers<EngineFile>();
    const path = `/${encodeURIComponent(`[${fs}]`)}/${remote.split('/').map(encodeURIComponent).join('/')}`;
    const clientRequest = httpRequest(
      {
        host: '127.0.0.1',
        port,
        agent: this.#agent,
        path,
        headers: { authorization, ...(range === undefined ? {} : { range }) },
      },
      (incoming) => resolve({ status: incoming.statusCode ?? 502, headers: incoming.headers, body: incoming }),
    );
    clientRequest.once('error', (cause) => reject(new FailureProblem(502, failures.engineGone.create({}), { cause })));
    clientRequest.end();
    return promise;
  }

  /**
   * Makes a call with JSON, or with a streamed body.
   * @throws Problem `sync.engine_gone` (502); the signal's reason.
   */
  request(
    { authorization, port }: EngineAddress,
    path: string,
    input: object,
    { signal, stream }: EngineCall,
  ): Promise<EngineResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<EngineResponse>();
    const text = stream === undefined ? JSON.stringify(input) : '';
    const onError = (cause: unknown): void => {
      if (signal?.aborted === true) reject(signal.reason as Error);
      else reject(new FailureProblem(502, failures.engineGone.create({}), { cause }));
    };
    const clientRequest = httpRequest(
      {
        host: '127.0.0.1',
        port,
        agent: this.#agent,
        method: 'POST',
        path: `/${path}${stream?.query ?? ''}`,
        headers: {
          authorization,
          ...(stream?.headers ?? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        },
        ...(signal === undefined ? {} : { signal }),
      },
      (incoming) => {
        readResponse(incoming).then(resolve, onError);
      },
    );
    clientRequest.once('error', onError);
    if (stream === undefined) clientRequest.end(text);
    else {
      stream.body.once('error', (error) => clientRequest.destroy(error));
      stream.body.pipe(clientRequest);
    }
    return promise;
  }
}

async function readResponse(incoming: IncomingMessage): Promise<EngineResponse> {
  const chunks: Buffer[] = [];
  let length = 0;
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  // Uses events because iterating over the stream takes 0.1 ms, and most calls take only a few milliseconds.
  incoming.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > maxResponseBytes) incoming.destroy(new Error('the answer is too large'));
    else chunks.push(chunk);
  });
  incoming
    .once('end', resolve)
    .once('error', reject)
    .once('close', () => reject(new Error('the answer broke off')));
  await ended;
  const body = parseJson(Buffer.concat(chunks).toString('utf8'));
  if (typeof body !== 'object' || body === null) throw new Error('the answer is no JSON');
  return { status: incoming.statusCode ?? 502, body: body as Record<string, unknown>, length };
}
