import * as m from '#messages/git-texts';
import { createHmac } from 'node:crypto';
import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { DeliveryRow, WebhookRow } from '../store/hooks.ts';
import type { Tables } from '../store/tables.ts';
import { buildChatRequest, isChatType, type ChatOptions } from './chat-messages.ts';
import { deliver } from './delivery-job.ts';
import type { Hooks } from './hooks.ts';

const timeoutMs = 10_000;
/** Maximum length of a response that is stored for display. */
const maxStoredLength = 16 * 1024;

export interface DeliveryDependencies {
  readonly context: Pick<Context, 'clock' | 'commit' | 'db' | 'fetch' | 'inHostLanguage' | 'jobs'>;
  readonly hooks: Hooks;
  /** Returns true if hooks of all accounts may call this computer and its network. */
  readonly mayReachLocal: () => boolean;
}

/** Sends pending deliveries and records the result of each attempt. */
export function handleDeliveries(deps: DeliveryDependencies): Disposable {
  const { context } = deps;
  return context.jobs.handle(
    deliver,
    ({ payload: { delivery }, attempt, signal }) => attemptDelivery(deps, delivery, attempt, signal),
    { onDead: ({ payload: { delivery } }) => updateDelivery(context, delivery, { state: 'failed' }) },
  );
}

/** @throws Problem `git.hook_refused` (502), or the error of the request */
async function attemptDelivery(
  deps: DeliveryDependencies,
  id: string,
  attempt: number,
  signal: AbortSignal,
): Promise<void> {
  const { context } = deps;
  const db: Kysely<Tables> = context.db;
  const delivery = await db.selectFrom('hook_deliveries').selectAll().where('id', '=', id).executeTakeFirst();
  const hook =
    delivery && (await db.selectFrom('webhooks').selectAll().where('id', '=', delivery.hook_id).executeTakeFirst());
  // The hook was removed, or the delivery was already sent.
  if (delivery === undefined || hook === undefined || delivery.state === 'delivered') return;
  const sentAt = context.clock.now();
  const start = performance.now();
  const measure = () => ({
    attempts: attempt,
    sent_at: sentAt,
    duration_ms: Math.round(performance.now() - start),
  });
  try {
    const reply = await sendRequest(deps, hook, delivery, signal);
    const isDelivered = reply.status >= 200 && reply.status < 300;
    const refusal = (): string => m.hookResponded({ status: String(reply.status) });
    await updateDelivery(context, id, {
      ...measure(),
      state: isDelivered ? 'delivered' : 'waiting',
      status: reply.status,
      response_headers: JSON.stringify(reply.headers),
      response_body: Buffer.from(reply.body).toString('utf8').slice(0, maxStoredLength),
      error: isDelivered ? null : refusal(),
    });
    // All failures except 410 (Gone) may be temporary.
    if (!isDelivered) throw new Problem('git.hook_refused', 502, refusal, { retryable: reply.status !== 410 });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'git.hook_refused') {
      await updateDelivery(context, id, {
        ...measure(),
        status: null,
        response_headers: null,
        response_body: null,
        // Only this text is stored, because the failures of requests have many causes.
        error: await context.inHostLanguage(() => (error instanceof Problem ? error.detail : m.hookRequestFailed())),
      });
    }
    throw error;
  }
}

async function updateDelivery(
  { commit }: Pick<Context, 'commit'>,
  id: string,
  change: Partial<DeliveryRow>,
): Promise<void> {
  await commit((transaction: Kysely<Tables>) =>
    transaction.updateTable('hook_deliveries').set(change).where('id', '=', id).execute(),
  );
}

function sendRequest(deps: DeliveryDependencies, hook: WebhookRow, delivery: DeliveryRow, signal: AbortSignal) {
  const { context, hooks } = deps;
  const { method, url, body } = buildRequest(hook, delivery, hooks);
  return context.fetch(url, {
    method,
    headers: buildHeaders(hook, delivery, body, hooks),
    body,
    trust: deps.mayReachLocal() || hook.local === 1 ? 'owner' : 'other',
    timeoutMs,
    maxBytes: 1024 * 1024,
    keepMethod: true,
    signal,
  });
}

/** Builds the request of a delivery: Gitea's payload, or a message in the format of a chat service. */
function buildRequest(hook: WebhookRow, delivery: DeliveryRow, hooks: Hooks) {
  const url = hooks.getAddress(hook);
  if (!isChatType(hook.type)) return { method: 'POST', url, body: buildBody(hook, delivery.body) } as const;
  return buildChatRequest(hook.type, url, JSON.parse(hook.options) as ChatOptions, delivery);
}

function buildBody({ content_type: type }: Pick<WebhookRow, 'content_type'>, json: string): string {
  return type === 'form' ? new URLSearchParams({ payload: json }).toString() : json;
}

/**
 * Builds the headers of Gitea, Gogs and GitHub, because receivers check different ones. Signatures cover the sent JSON.
 */
function buildHeaders(hook: WebhookRow, delivery: DeliveryRow, body: string, hooks: Hooks): Record<string, string> {
  const secret = hooks.unseal(hook.secret);
  // The payload of a form is signed, as Gitea does.
  const isForm = hook.content_type === 'form' && !isChatType(hook.type);
  const signedContent = isForm ? delivery.body : body;
  const hmac = (algorithm: string): string =>
    secret === '' ? '' : createHmac(algorithm, secret).update(signedContent).digest('hex');
  const sha256 = hmac('sha256');
  const target = hook.repository_id === null ? 'organization' : 'repository';
  const authorization = hooks.unseal(hook.authorization);
  const headers: Record<string, string> = {
    'Content-Type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
    'User-Agent': 'Homeport',
    'X-Gitea-Signature': sha256,
    'X-Gogs-Signature': sha256,
    'X-Hub-Signature': `sha1=${hmac('sha1')}`,
    'X-Hub-Signature-256': `sha256=${sha256}`,
    'X-Gitea-Hook-Installation-Target-Type': target,
    'X-GitHub-Hook-Installation-Target-Type': target,
    ...(authorization === '' ? {} : { Authorization: authorization }),
  };
  for (const family of ['Gitea', 'Gogs', 'GitHub']) {
    headers[`X-${family}-Delivery`] = delivery.id;
    headers[`X-${family}-Event`] = delivery.event;
    headers[`X-${family}-Event-Type`] = delivery.event_type;
  }
  return headers;
}
