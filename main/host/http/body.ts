import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { Problem } from '../../../services/contracts/problem.ts';
import { buildAbortedProblem } from '../../../services/kit/http/disconnect-signal.ts';
import { parseJsonOrThrow } from '../../../services/contracts/parse-json.ts';

export interface BodyLimits {
  readonly maxBytes: number;
  /** Maximum pause within the body. Default 60,000 ms. */
  readonly stallMs?: number;
}

/**
 * Reads the body of a request.
 * @throws Problem `http.too_large` (413), `http.stalled` (408), `http.aborted` (400).
 */
export function readBody(request: IncomingMessage, { maxBytes, stallMs = 60_000 }: BodyLimits): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge(maxBytes));
  if (request.destroyed && !request.complete) return Promise.reject(buildAbortedProblem());
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    const stalled = setTimeout(
      () => stop(new Problem('http.stalled', 408, 'The request body stopped coming.', closed)),
      stallMs,
    );
    const stop = (problem: Problem): void => {
      onDisconnect();
      // The remaining body is discarded; the connection ends with the response.
      request.resume();
      reject(problem);
    };
    const onData = (part: Buffer): void => {
      size += part.length;
      if (size > maxBytes) return stop(tooLarge(maxBytes));
      parts.push(part);
      stalled.refresh();
    };
    const onEnd = (): void => {
      onDisconnect();
      resolve(Buffer.concat(parts, size));
    };
    const onClose = (): void => stop(buildAbortedProblem());
    const onDisconnect = (): void => {
      clearTimeout(stalled);
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      request.on('error', () => undefined);
    };
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

/**
 * Reads a JSON body; undefined when there is none. Only `application/json` is accepted: a form of another site cannot
 * send it without a preflight.
 * @throws Problem as {@link readBody}; `http.not_json` (415), `http.bad_json` (400).
 */
export async function readJson(request: IncomingMessage, limits: BodyLimits): Promise<unknown> {
  if (request.headers['content-encoding'] !== undefined && request.headers['content-encoding'] !== 'identity') {
    throw new Problem('http.not_json', 415, 'Send the body without a content encoding.', closed);
  }
  const isJson = /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i.test(request.headers['content-type'] ?? '');
  const body = await readBody(request, isJson ? limits : { ...limits, maxBytes: Math.min(limits.maxBytes, 64 * 1024) });
  if (body.length === 0) return undefined;
  if (!isJson) throw new Problem('http.not_json', 415, 'Send the body as application/json.');
  const toError = (cause?: unknown): Problem =>
    new Problem('http.bad_json', 400, 'The body is not valid JSON in UTF-8.', { cause });
  if (!isUtf8(body)) throw toError();
  return parseJsonOrThrow(new TextDecoder().decode(body), toError);
}

const closed = { headers: { Connection: 'close' } };

function tooLarge(maxBytes: number): Problem {
  return new Problem('http.too_large', 413, `The body is larger than ${maxBytes} bytes.`, closed);
}
