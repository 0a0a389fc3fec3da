import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { refuse } from '../domain/refusals.ts';
import { isTopic } from '../domain/topics.ts';
import type { RateVisitors } from '../access/subscriber-rate-limits.ts';
import { readBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import type { PublishRoutes } from './publish.ts';

export const matrixPath = '/_matrix/push/v1/notify';

/** As the Matrix push gateway API has it; only the first device counts, as at the peer. */
const Notification = z.object({
  notification: z.object({ devices: z.array(z.object({ pushkey: z.string().min(1) })).min(1) }),
});

export interface MatrixParts {
  readonly publish: Pick<PublishRoutes, 'gateway'>;
  /** Where this server is reached; undefined while nobody knows. */
  readonly baseUrl: () => string | undefined;
  readonly messageSizeLimit: () => number;
  readonly rates: Pick<RateVisitors, 'isGivenUp'>;
}

/** GET and POST of the Matrix push gateway: a Matrix server tells a client with a topic here that something happened. */
export async function serveMatrix(
  exchange: Exchange,
  { publish, baseUrl, messageSizeLimit, rates }: MatrixParts,
): Promise<void> {
  const { request } = exchange;
  if (request.method === 'GET') return reply(exchange, { unifiedpush: { gateway: 'matrix' } });
  if (request.method !== 'POST') throw refuse('not_found');
  const base = baseUrl();
  if (base === undefined) throw refuse('base_url_missing');
  const body = await readBody(request, messageSizeLimit());
  if (body.long) throw refuse('matrix_too_large');
  const pushkey = readPushkey(body.text ?? '');
  const topic = topicOf(pushkey, base);
  // Its server is to forget a key that leads elsewhere.
  if (topic === undefined) return reply(exchange, { rejected: [pushkey] });
  try {
    await publish.gateway(exchange, topic, body.bytes);
  } catch (error) {
    // It is there for nobody any more.
    if (error instanceof Problem && error.status === 507 && rates.isGivenUp(topic)) {
      return reply(exchange, { rejected: [pushkey] });
    }
    throw error;
  }
  reply(exchange, { rejected: [] });
}

function readPushkey(text: string): string {
  try {
    const parsed = Notification.safeParse(JSON.parse(text));
    const key = parsed.success ? parsed.data.notification.devices[0]?.pushkey : undefined;
    if (key !== undefined) return key;
    throw refuse('matrix_invalid');
  } catch (cause) {
    throw cause instanceof Problem ? cause : refuse('matrix_invalid', undefined, { cause });
  }
}

function topicOf(pushkey: string, base: string): string | undefined {
  if (!pushkey.startsWith(`${base}/`)) return undefined;
  const [topic = ''] = pushkey.slice(base.length + 1).split(/[?#]/);
  return isTopic(topic) ? topic : undefined;
}

/** The peer allows no other origin here, since no page calls it. */
function reply({ response }: Exchange, value: unknown): void {
  const text = `${JSON.stringify(value)}\n`;
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }).end(text);
}
