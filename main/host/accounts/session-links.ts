import * as m from '#messages/account-problems';
import type { Identity } from '../../../services/contracts/control/accounts.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Vault } from '../../../services/contracts/service.ts';
import type { SessionLink } from '../../../services/contracts/session.ts';
import { LruMap } from '../../../services/kit/lru-map.ts';
import type { Directory } from './directory.ts';
import type { RequiredSecondFactor } from './required-second-factor.ts';
import type { SessionLimit } from './session-limit.ts';

const lifetimeMs = 24 * 60 * 60_000;
const purpose = 'session link';

export interface SessionLinkDependencies {
  readonly directory: Directory;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly limit: SessionLimit;
  readonly required: RequiredSecondFactor;
}

/**
 * Links that let a browser read one path without headers, for images, players and downloads. A link does not contain
 * the session secret; it is valid for its path only, for a day, and as long as the session.
 */
export class SessionLinks {
  readonly #parts: SessionLinkDependencies;
  readonly #cache = new LruMap<string, { readonly text: string; readonly until: number }>(5000);

  constructor(parts: SessionLinkDependencies) {
    this.#parts = parts;
  }

  /** @throws Problem `accounts.session_needed` (403). */
  readonly make = ({ account, via, credentialId }: Identity, path: string): string => {
    if (via !== 'session' || credentialId === undefined) {
      const detail = m.linkNeedsSession();
      throw new Problem('accounts.session_needed', 403, detail);
    }
    const key = `${credentialId} ${path}`;
    const now = this.#parts.clock.now();
    const cached = this.#cache.get(key);
    if (cached !== undefined && cached.until - now > lifetimeMs / 2 && cached.until - now <= lifetimeMs)
      return cached.text;
    const until = now + lifetimeMs;
    const text = this.#parts.vault.seal(`${String(until)} ${account} ${key}`, purpose);
    this.#cache.set(key, { text, until });
    return text;
  };

  /** Returns the identity of the link's session; undefined when the link is not valid for this path. */
  open({ path, text }: SessionLink): Identity | undefined {
    const read = /^(\d+) (\S+) (\S+) (.+)$/.exec(this.#unsealed(text));
    if (read === null) return undefined;
    const [, until, account = '', id = '', of] = read;
    const remainingMs = Number(until) - this.#parts.clock.now();
    if (of !== path || remainingMs <= 0 || remainingMs > lifetimeMs) return undefined;
    const member = this.#parts.directory.member(account);
    const session = member?.sessions.get(id);
    if (member?.account.enabled !== true || session === undefined) return undefined;
    if (this.#parts.required.limits(member, session.row)) return undefined;
    return this.#parts.limit.isOver(session.row, this.#parts.clock.now()) ? undefined : session.identity;
  }

  #unsealed(text: string): string {
    try {
      return this.#parts.vault.open(text, purpose);
    } catch (error) {
      // Forged, modified, or of another key: treated as missing.
      if (error instanceof Problem) return '';
      throw error;
    }
  }
}
