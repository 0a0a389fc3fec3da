import { isRecord } from '../../contracts/is-record.ts';
import type { Fetch } from '../../contracts/outgoing.ts';
import { parseJson } from '../../contracts/parse-json.ts';
import { Problem } from '../../contracts/problem.ts';
import { DnsProviderError } from './provider.ts';

const timeoutMs = 30_000;
const maxReasonLength = 300;

/** Reply of a provider's API. */
export interface ApiReply {
  readonly status: number;
  readonly content: unknown;
}

interface ApiOptions {
  readonly fetch: Fetch;
  /** Base address without a trailing slash. */
  readonly base: string;
  /** Value of the `Authorization` header. */
  readonly authorization: string;
}

/** Client of a provider's JSON API. */
export class JsonApi {
  readonly #options: ApiOptions;

  constructor(options: ApiOptions) {
    this.#options = options;
  }

  /**
   * Sends a request. Statuses in `accepts` are returned although they report an error.
   * @throws DnsProviderError
   */
  async send(
    method: string,
    path: string,
    { body, signal, accepts = [] }: { body?: unknown; signal: AbortSignal; accepts?: readonly number[] },
  ): Promise<ApiReply> {
    const { fetch, base, authorization } = this.#options;
    const reply = await runRequest(signal, () =>
      fetch(`${base}${path}`, {
        method,
        signal,
        timeoutMs,
        headers: {
          Authorization: authorization,
          Accept: 'application/json',
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
    const { status, headers } = reply;
    const content = parseJson(Buffer.from(reply.body).toString('utf8'));
    if (status < 400 || accepts.includes(status)) return { status, content };
    const seconds = Number(headers['retry-after'] ?? Number.NaN);
    throw new DnsProviderError(status === 401 || status === 403 ? 'token' : 'failed', getReason(status, content), {
      ...(seconds > 0 ? { retryAfterMs: seconds * 1000 } : {}),
    });
  }
}

/** Sends a request, and turns its failure into that of the provider. */
export async function runRequest<Reply>(signal: AbortSignal, send: () => Promise<Reply>): Promise<Reply> {
  try {
    return await send();
  } catch (cause) {
    if (signal.aborted || !(cause instanceof Problem)) throw cause;
    throw new DnsProviderError('failed', cause.detail, { cause });
  }
}

/** Returns the message of an error reply, in one of the shapes that the providers use. */
function getReason(status: number, content: unknown): string {
  const candidates = isRecord(content)
    ? [
        content['message'],
        content['detail'],
        content['error'],
        ...(Array.isArray(content['errors']) ? (content['errors'] as unknown[]) : []),
      ]
    : [];
  const messages = candidates.map((each) => (isRecord(each) ? each['message'] : each));
  const message = messages.find((each): each is string => typeof each === 'string' && each !== '');
  return `HTTP ${String(status)}${message === undefined ? '' : `: ${message.slice(0, maxReasonLength)}`}`;
}
