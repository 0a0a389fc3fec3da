import * as m from '#messages/git-problems';
import { createHash, randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import { PageProblem } from '../domain/page-problem.ts';
import type { Context } from '../../contracts/service.ts';
import { compileGlob } from '../domain/glob.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { DeliveryRow, WebhookRow } from '../store/hooks.ts';
import type { Tables } from '../store/tables.ts';
import type { ChatOptions } from './chat-messages.ts';
import { deliver } from './delivery-job.ts';
import { getSubscribedName, type HookEvent, type HookEventName } from './events.ts';

/** Owner of a hook: a repository, or a repository owner whose hooks receive the events of all repositories. */
export type HookScope = { readonly repository: number } | { readonly owner: number };

/** Values of a new or changed hook. */
export interface HookValues {
  readonly type: string;
  /** Undefined keeps the current address. */
  readonly url: string | undefined;
  readonly options?: ChatOptions;
  readonly contentType: 'json' | 'form';
  readonly branchFilter: string;
  readonly events: readonly HookEventName[];
  readonly active: boolean;
  readonly local: boolean;
  /** Undefined keeps the current secret. */
  readonly secret: string | undefined;
  readonly authorization: string | undefined;
}

const maxDeliveries = 200;
const secretPurpose = 'git.hook';
/** Replaces a password in displayed addresses. */
const redactedPassword = '***';

/** Webhooks and their deliveries. */
export class Hooks {
  readonly #context: Pick<Context, 'clock' | 'commit' | 'jobs' | 'vault'>;
  readonly #db: Kysely<Tables>;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db' | 'jobs' | 'vault'>) {
    this.#context = context;
    this.#db = context.db;
  }

  /**
   * Enqueues an event for the subscribed hooks of a repository and of its owner. Deliveries are stored in the caller's
   * transaction, so that they are sent only if it is committed. A second call with the same `key` has no effect.
   */
  async emit(
    transaction: Kysely<Tables>,
    event: HookEvent,
    repository: Pick<Repository, 'id' | 'ownerId'>,
    payload: object,
    key: string = randomUUID(),
  ): Promise<void> {
    const subscribedName = getSubscribedName(event);
    const rows = (await listActiveHooks(transaction, repository)).filter(
      (hook) => (JSON.parse(hook.events) as string[]).includes(subscribedName) && matchesBranch(hook, event.branch),
    );
    if (rows.length === 0) return;
    const body = JSON.stringify(payload, null, 2);
    for (const hook of rows) {
      await this.#enqueue(transaction, {
        id: deriveUuid(`${key}:${hook.id}`),
        hook_id: hook.id,
        event: event.name,
        event_type: event.type ?? event.name,
        body,
      });
    }
  }

  /** Returns true if any active hook receives events of the repository. */
  async hasHooks(transaction: Kysely<Tables>, repository: Pick<Repository, 'id' | 'ownerId'>): Promise<boolean> {
    return (await listActiveHooks(transaction, repository)).length > 0;
  }

  list(scope: HookScope): Promise<WebhookRow[]> {
    return this.#select(scope).orderBy('id').execute();
  }

  async find(scope: HookScope, id: number): Promise<WebhookRow | undefined> {
    return this.#select(scope).where('id', '=', id).executeTakeFirst();
  }

  async create(scope: HookScope, values: HookValues): Promise<WebhookRow> {
    const now = this.#context.clock.now();
    return this.#context.commit((transaction: Kysely<Tables>) =>
      transaction
        .insertInto('webhooks')
        .values({
          repository_id: 'repository' in scope ? scope.repository : null,
          owner_id: 'owner' in scope ? scope.owner : null,
          ...this.#columns(values),
          url: this.#seal(values.url ?? ''),
          options: JSON.stringify(values.options ?? {}),
          secret: this.#seal(values.secret ?? ''),
          authorization: this.#seal(values.authorization ?? ''),
          created_at: now,
          updated_at: now,
        })
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
  }

  async change({ id }: WebhookRow, values: HookValues): Promise<WebhookRow> {
    const { url, options, secret, authorization } = values;
    return this.#context.commit((transaction: Kysely<Tables>) =>
      transaction
        .updateTable('webhooks')
        .set({
          ...this.#columns(values),
          ...(url === undefined ? {} : { url: this.#seal(url) }),
          ...(options === undefined ? {} : { options: JSON.stringify(options) }),
          ...(secret === undefined ? {} : { secret: this.#seal(secret) }),
          ...(authorization === undefined ? {} : { authorization: this.#seal(authorization) }),
          updated_at: this.#context.clock.now(),
        })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
  }

  async remove({ id }: WebhookRow): Promise<void> {
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.deleteFrom('webhooks').where('id', '=', id).execute(),
    );
  }

  /** Decrypts a sealed column. */
  unseal(sealed: string): string {
    return sealed === '' ? '' : this.#context.vault.open(sealed, secretPurpose);
  }

  /** Returns the address of a webhook, decrypted if necessary. */
  getAddress({ url }: Pick<WebhookRow, 'url'>): string {
    return isUnsealed(url) ? url : this.unseal(url);
  }

  /** Returns the address for display, without its password. */
  getDisplayAddress(row: Pick<WebhookRow, 'url'>): string {
    const address = this.getAddress(row);
    const url = URL.parse(address);
    if (url === null || url.password === '') return address;
    url.password = redactedPassword;
    return url.href;
  }

  /** Seals addresses that were stored before addresses were sealed. */
  async sealAddresses(): Promise<void> {
    const rows = await this.#db.selectFrom('webhooks').select(['id', 'url']).execute();
    const unsealed = rows.filter(({ url }) => isUnsealed(url));
    if (unsealed.length === 0) return;
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      for (const { id, url } of unsealed) {
        await transaction
          .updateTable('webhooks')
          .set({ url: this.#seal(url) })
          .where('id', '=', id)
          .execute();
      }
    });
  }

  /** Lists deliveries, newest first. */
  deliveries({ id }: WebhookRow, limit: number): Promise<DeliveryRow[]> {
    return this.#db
      .selectFrom('hook_deliveries')
      .selectAll()
      .where('hook_id', '=', id)
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .limit(limit)
      .execute();
  }

  /**
   * Sends the content of a delivery again as a new delivery.
   * @throws Problem `git.unknown` (404)
   */
  async replay({ id: hook }: WebhookRow, delivery: string): Promise<void> {
    const row = await this.#db
      .selectFrom('hook_deliveries')
      .select(['event', 'event_type', 'body'])
      .where('id', '=', delivery)
      .where('hook_id', '=', hook)
      .executeTakeFirst();
    if (row === undefined) throw new PageProblem('git.unknown', 404, m.deliveryNotFound());
    await this.#context.commit((transaction: Kysely<Tables>) =>
      this.#enqueue(transaction, { ...row, id: randomUUID(), hook_id: hook }),
    );
  }

  /** Sends an event to one hook, even if it is not subscribed to the event. */
  async send({ id: hook_id }: WebhookRow, event: HookEvent, payload: object): Promise<void> {
    const body = JSON.stringify(payload, null, 2);
    const row = { id: randomUUID(), hook_id, event: event.name, event_type: event.type ?? event.name, body };
    await this.#context.commit((transaction: Kysely<Tables>) => this.#enqueue(transaction, row));
  }

  async #enqueue(
    transaction: Kysely<Tables>,
    row: Pick<DeliveryRow, 'id' | 'hook_id' | 'event' | 'event_type' | 'body'>,
  ): Promise<void> {
    const { clock, jobs } = this.#context;
    const inserted = await transaction
      .insertInto('hook_deliveries')
      .values({ ...row, state: 'waiting', attempts: 0, created_at: clock.now() })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .executeTakeFirst();
    if (inserted === undefined) return;
    await jobs.enqueue(transaction, deliver, { delivery: row.id }, { key: row.id });
    // Limit the delivery history of a hook.
    const oldest = await transaction
      .selectFrom('hook_deliveries')
      .select('created_at')
      .where('hook_id', '=', row.hook_id)
      .orderBy('created_at', 'desc')
      .offset(maxDeliveries)
      .limit(1)
      .executeTakeFirst();
    if (oldest === undefined) return;
    await transaction
      .deleteFrom('hook_deliveries')
      .where('hook_id', '=', row.hook_id)
      .where('state', '!=', 'waiting')
      .where('created_at', '<=', oldest.created_at)
      .execute();
  }

  #select(scope: HookScope) {
    const rows = this.#db.selectFrom('webhooks').selectAll();
    return 'repository' in scope
      ? rows.where('repository_id', '=', scope.repository)
      : rows.where('owner_id', '=', scope.owner);
  }

  #columns(values: HookValues) {
    return {
      type: values.type,
      content_type: values.contentType,
      branch_filter: values.branchFilter,
      events: JSON.stringify(values.events),
      active: Number(values.active),
      local: Number(values.local),
    };
  }

  #seal(text: string): string {
    return text === '' ? '' : this.#context.vault.seal(text, secretPurpose);
  }
}

function isUnsealed(url: string): boolean {
  return /^https?:/i.test(url);
}

function listActiveHooks(
  db: Kysely<Tables>,
  { id, ownerId }: Pick<Repository, 'id' | 'ownerId'>,
): Promise<WebhookRow[]> {
  return db
    .selectFrom('webhooks')
    .selectAll()
    .where('active', '=', 1)
    .where((is) => is.or([is('repository_id', '=', id), is('owner_id', '=', ownerId)]))
    .orderBy('id')
    .execute();
}

function matchesBranch({ branch_filter: filter }: WebhookRow, branch: string | undefined): boolean {
  if (branch === undefined || filter === '' || filter === '*') return true;
  return compileGlob(filter, { bySegment: false })?.test(branch) ?? false;
}

/** Derives a UUID from a text. The same text always gives the same UUID. */
function deriveUuid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
