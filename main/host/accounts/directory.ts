import { TokenScopes, type Account, type Identity } from '../../../services/contracts/control/accounts.ts';
import { compileGrants, type CompiledGrants } from './grants.ts';
import { getSource } from './source.ts';
import { findAccountByHash, currentRevision, load, type Db, type StoredAccount } from './store.ts';
import type { SessionRow, TokenRow } from './tables.ts';
import { SerialQueue } from '../../../services/kit/serial-queue.ts';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Token or session with the identity object that all its requests share. */
export interface Credential<Row> {
  readonly row: Mutable<Row>;
  readonly member: Member;
  readonly identity: Identity;
}

/** `scopes`: subset of the account's rights; undefined for all. */
export interface TokenCredential extends Credential<TokenRow> {
  readonly scopes: CompiledGrants | undefined;
}

/** Account in memory. Any change creates a new object, which invalidates caches of the old one. */
export interface Member {
  readonly account: Account;
  readonly passwordHash: string | null;
  readonly grants: CompiledGrants;
  /** Keyed by id. */
  readonly tokens: Map<string, TokenCredential>;
  readonly sessions: Map<string, Credential<SessionRow>>;
  /** As in the stored account. */
  readonly declared: ReadonlySet<string>;
  readonly hasSecondFactor: boolean;
}

/**
 * All accounts in memory, since permissions are checked for every request. Loads run sequentially, so that older data
 * never replaces newer data.
 */
export class Directory {
  readonly #db: Db;
  #members = new Map<string, Member>();
  readonly #tokens = new Map<string, TokenCredential>();
  readonly #sessions = new Map<string, Credential<SessionRow>>();
  #revision = -1;
  readonly #loading = new SerialQueue();
  #synchronizing: Promise<readonly string[]> | undefined;
  #generation = 0;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Changes with each load: caches of derived results are dropped when it differs. */
  get generation(): number {
    return this.#generation;
  }

  member(name: string): Member | undefined {
    return this.#members.get(name);
  }

  /** Sorted by name. */
  members(): readonly Member[] {
    return [...this.#members.values()].toSorted((a, b) => (a.account.name < b.account.name ? -1 : 1));
  }

  async token(hash: string, now: number): Promise<TokenCredential | undefined> {
    const existing =
      this.#tokens.get(hash) ?? ((await this.#lookUp('tokens', hash)) ? this.#tokens.get(hash) : undefined);
    return existing !== undefined && (existing.row.expires_at === null || existing.row.expires_at > now)
      ? existing
      : undefined;
  }

  async session(hash: string, now: number): Promise<Credential<SessionRow> | undefined> {
    const existing = this.#sessions.get(hash);
    if (existing !== undefined && existing.row.expires_at > now) return existing;
    // Another host may have created or extended it.
    const matchingSession = (await this.#lookUp('sessions', hash)) ? this.#sessions.get(hash) : undefined;
    return matchingSession !== undefined && matchingSession.row.expires_at > now ? matchingSession : undefined;
  }

  /** Reloads one account after a change, or all when other changes came in between. */
  refresh(name: string, revision: number): Promise<void> {
    return this.#loading.run(async () => {
      if (revision <= this.#revision) return;
      if (revision > this.#revision + 1) return await this.#loadAll();
      await this.#loadOne(name);
      this.#revision = revision;
    });
  }

  /** Reloads all accounts when another host has changed something, and returns the names of the changed ones. */
  synchronize(): Promise<readonly string[]> {
    // Callers share a run that has not started.
    return (this.#synchronizing ??= this.#loading.run(async () => {
      this.#synchronizing = undefined;
      if ((await currentRevision(this.#db)) === this.#revision) return [];
      const before = this.#members;
      await this.#loadAll();
      const names = new Set([...before.keys(), ...this.#members.keys()]);
      return [...names].filter((name) => describe(before.get(name)) !== describe(this.#members.get(name)));
    }));
  }

  /** Resolves when no load is running, even after a failure. */
  async settled(): Promise<void> {
    await this.#loading.settled();
  }

  /** Denies everything to an account whose state is unknown, until the next {@link synchronize}. */
  forget(name: string): void {
    this.#replace(name, undefined);
    this.#revision = -1;
  }

  async #lookUp(table: 'tokens' | 'sessions', hash: string): Promise<boolean> {
    const account = await findAccountByHash(this.#db, table, hash);
    if (account === undefined) return false;
    await this.#loading.run(() => this.#loadOne(account));
    return true;
  }

  async #loadAll(): Promise<void> {
    // The revision is read first: a change in between is loaded again instead of missed.
    const revision = await currentRevision(this.#db);
    const all = await load(this.#db);
    const old = this.#members;
    this.#members = new Map();
    this.#tokens.clear();
    this.#sessions.clear();
    for (const storedAccount of all) this.#add(storedAccount, old.get(storedAccount.account.name));
    this.#revision = revision;
    this.#generation += 1;
  }

  async #loadOne(name: string): Promise<void> {
    const [storedAccount] = await load(this.#db, name);
    this.#replace(name, storedAccount);
  }

  #replace(name: string, storedAccount: StoredAccount | undefined): void {
    const old = this.#members.get(name);
    for (const { row } of old?.tokens.values() ?? []) this.#tokens.delete(row.hash);
    for (const { row } of old?.sessions.values() ?? []) this.#sessions.delete(row.hash);
    this.#members.delete(name);
    if (storedAccount !== undefined) this.#add(storedAccount, old);
    this.#generation += 1;
  }

  #add(
    { account, passwordHash, tokens, sessions, declared, hasSecondFactor }: StoredAccount,
    old: Member | undefined,
  ): void {
    const member: Member = {
      account,
      passwordHash,
      grants: compileGrants(account.grants),
      tokens: new Map(),
      sessions: new Map(),
      declared,
      hasSecondFactor,
    };
    this.#members.set(account.name, member);
    for (const row of tokens) {
      // Last uses are written to the database later than to memory.
      const before = old?.tokens.get(row.id)?.row;
      const used = (before?.last_used_at ?? 0) > (row.last_used_at ?? 0) ? before : row;
      const loadedNames = { last_used_at: used?.last_used_at ?? null, last_used_from: used?.last_used_from ?? null };
      const scopes = row.scopes === null ? undefined : TokenScopes.parse(JSON.parse(row.scopes));
      const proven = identify(account, 'token', row.id);
      const credential = {
        row: { ...row, ...loadedNames },
        member,
        identity:
          scopes === undefined ? proven : Object.freeze({ ...proven, role: 'user' as const, limited: true as const }),
        scopes: scopes && compileGrants(scopes),
      };
      member.tokens.set(row.id, credential);
      this.#tokens.set(row.hash, credential);
    }
    for (const row of sessions) {
      const before = old?.sessions.get(row.id)?.row;
      const { used_at, expires_at } = before !== undefined && before.used_at > row.used_at ? before : row;
      const credential = {
        row: { ...row, used_at, expires_at },
        member,
        identity: identify(account, 'session', row.id),
      };
      member.sessions.set(row.id, credential);
      this.#sessions.set(row.hash, credential);
    }
  }
}

/** Returns whether a session was opened from a source, or a token was last used there. */
export function hasSignedIn(member: Member | undefined, source: string): boolean {
  if (member === undefined) return false;
  const places = [
    ...[...member.sessions.values()].map(({ row }) => row.address),
    ...[...member.tokens.values()].map(({ row }) => row.last_used_from),
  ];
  return places.some((place) => place !== null && getSource({ remoteAddress: place }) === source);
}

export function identify(account: Account, via: Identity['via'], credentialId?: string): Identity {
  const { name, kind, role } = account;
  return Object.freeze({ account: name, kind, role, via, ...(credentialId === undefined ? {} : { credentialId }) });
}

/** Returns the fields of an account on which its rights depend. */
function describe(member: Member | undefined): string {
  if (member === undefined) return '';
  const { account, passwordHash, tokens, sessions, declared, hasSecondFactor } = member;
  const rows = [...tokens.values()].map(({ row: { id, scopes, expires_at } }) => [id, scopes, expires_at]);
  return JSON.stringify([account, passwordHash, rows, [...sessions.keys()], [...declared], hasSecondFactor]);
}
