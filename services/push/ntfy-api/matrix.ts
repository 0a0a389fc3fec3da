import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { sendReply } from '../../kit/http/respond.ts';
import { refuse } from '../domain/refusals.ts';
import { isTopic } from '../domain/topics.ts';
import type { SubscriberRateLimits } from '../access/subscriber-rate-limits.ts';
import { readBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import type { PublishRoutes } from './publish.ts';
import { parseJson } from '../../contracts/parse-json.ts';

export const matrixPath = '/_matrix/push/v1/notify';

/** Request of the Matrix push gateway API; only the first device is used, as in ntfy. */
const Notification = z.object({
  notification: z.object({ devices: z.array(z.object({ pushkey: z.string().min(1) })).min(1) }),
});

export interface MatrixDependencies {
  readonly publish: Pick<PublishRoutes, 'gateway'>;
  /** Public address of this server; undefined without a listener. */
  readonly baseUrl: () => string | undefined;
  readonly messageSizeLimit: () => number;
  readonly subscriberRateLimits: Pick<SubscriberRateLimits, 'isAbandoned'>;
}

/**
 * Serves GET and POST of the Matrix push gateway, through which a Matrix server notifies a client with a topic on this
 * server.
 */
export async function serveMatrix(
  exchange: Exchange,
  { publish, baseUrl, messageSizeLimit, subscriberRateLimits }: MatrixDependencies,
): Promise<void> {
  const { request } = exchange;
  if (request.method === 'GET') return reply(exchange, { unifiedpush: { gateway: 'matrix' } });
  if (request.method !== 'POST') throw refuse('not_found');
  const base = baseUrl();
  if (base === undefined) throw refuse('base_url_missing');
  const body = await readBody(request, messageSizeLimit());
  if (body.isTruncated) throw refuse('matrix_too_large');
  const pushkey = readPushkey(body.text ?? '');
  const topic = findTopic(pushkey, base);
  // A key of another server is rejected, so that the Matrix server deletes it.
  if (topic === undefined) return reply(exchange, { rejected: [pushkey] });
  try {
    await publish.gateway(exchange, topic, body.bytes);
  } catch (error) {
    // No client has subscribed for a long time.
    if (error instanceof Problem && error.status === 507 && subscriberRateLimits.isAbandoned(topic)) {
      return reply(exchange, { rejected: [pushkey] });
    }
    throw error;
  }
  reply(exchange, { rejected: [] });
}

function readPushkey(text: string): string {
  const key = Notification.safeParse(parseJson(text)).data?.notification.devices[0]?.pushkey;
  if (key === undefined) throw refuse('matrix_invalid');
  return key;
}

function findTopic(pushkey: string, base: string): string | undefined {
  if (!pushkey.startsWith(`${base}/`)) return undefined;
  const [topic = ''] = pushkey.slice(base.length + 1).split(/[?#]/);
  return isTopic(topic) ? topic : undefined;
}

/** Sends no CORS header, as in ntfy, because no page calls this route. */
function reply({ response }: Exchange, value: unknown): void {
  const text = `${JSON.stringify(value)}\n`;
  sendReply(response, { status: 200, headers: { 'Content-Type': 'application/json' }, body: text });
}
