import * as m from '#messages/gateway-problems';
import type { IncomingMessage } from 'node:http';
import type { Kysely } from 'kysely';
import type { Identity } from '../../contracts/control/accounts.ts';
import { gatewayChanged, type SignedInDevice } from '../../contracts/gateway/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { SessionRow, Tables } from '../store/tables.ts';

type SignedInDependencies = Pick<Context, 'accounts' | 'bus' | 'caller' | 'clock' | 'db'>;

/** Lists the browsers that signed in on pages of the gateway and whose sessions are valid. */
export class SignedInAccounts {
  readonly #deps: SignedInDependencies;
  readonly #db: Kysely<Tables>;
  /** Last use of each session since the start. */
  readonly #lastUsed = new Map<string, number>();

  constructor(deps: SignedInDependencies) {
    this.#deps = deps;
    this.#db = deps.db as Kysely<Tables>;
  }

  async add({ credentialId, account }: Identity, request: IncomingMessage): Promise<void> {
    const { bus, caller, clock } = this.#deps;
    if (credentialId === undefined) return;
    const row: SessionRow = {
      id: credentialId,
      account,
      made_at: clock.now(),
      address: caller(request).remoteAddress,
      host: (request.headers.host ?? '').slice(0, 255),
      user_agent: (request.headers['user-agent'] ?? '').slice(0, 256),
    };
    await this.#db.insertInto('sessions').values(row).execute();
    bus.publish(gatewayChanged, {});
  }

  /** Records the use of a session. */
  recordUse({ via, credentialId }: Identity): void {
    if (via === 'session' && credentialId !== undefined) this.#lastUsed.set(credentialId, this.#deps.clock.now());
  }

  /** Lists entries, newest first. */
  async list(): Promise<SignedInDevice[]> {
    const rows = await this.#db.selectFrom('sessions').selectAll().orderBy('made_at', 'desc').execute();
    const endedIds = rows.filter((row) => !this.#deps.accounts.isStillValid(toIdentity(row))).map(({ id }) => id);
    for (const id of endedIds) this.#lastUsed.delete(id);
    if (endedIds.length > 0) await this.#db.deleteFrom('sessions').where('id', 'in', endedIds).execute();
    return rows
      .filter(({ id }) => !endedIds.includes(id))
      .map((row) => ({
        id: row.id,
        account: row.account,
        host: row.host,
        address: row.address,
        userAgent: row.user_agent,
        signedInAt: Number(row.made_at),
        seenAt: this.#lastUsed.get(row.id) ?? Number(row.made_at),
      }));
  }

  /**
   * Ends a session and its open connections.
   * @throws Problem `gateway.unknown_session` (404)
   */
  async end(id: string): Promise<void> {
    const row = await this.#db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst();
    if (row === undefined) throw new Problem('gateway.unknown_session', 404, m.sessionNotFound());
    await this.#deps.accounts.signOut(toIdentity(row));
    await this.#db.deleteFrom('sessions').where('id', '=', id).execute();
    this.#lastUsed.delete(id);
    this.#deps.bus.publish(gatewayChanged, {});
  }
}

function toIdentity({ id, account }: SessionRow): Identity {
  return { account, kind: 'person', role: 'user', via: 'session', credentialId: id };
}
