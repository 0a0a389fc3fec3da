import { everyone, type Accounts, type Identity } from '../../../services/contracts/control/accounts.ts';
import type { Clock } from '../../../services/contracts/service.ts';
import { LruMap } from '../../../services/kit/lru-map.ts';
import type { Directory, Member } from './directory.ts';
import { decide, type Access } from './grants.ts';
import type { RequiredSecondFactor } from './required-second-factor.ts';
import type { SessionLimit } from './session-limit.ts';

/** Maximum length of a resource whose decision is cached. */
const maxCachedLength = 256;

/** Password hash by which an identity was authenticated; open streams end when it changes. */
export type ProvenPasswords = WeakMap<Identity, string>;

export interface PermissionDependencies {
  readonly directory: Directory;
  readonly clock: Clock;
  readonly proven: ProvenPasswords;
  readonly limit: SessionLimit;
  readonly required: RequiredSecondFactor;
}

/** Checks permissions against the current state, not that of the sign-in. */
export class Permissions {
  readonly #directory: Directory;
  readonly #clock: Clock;
  readonly #proven: ProvenPasswords;
  readonly #limit: SessionLimit;
  readonly #required: RequiredSecondFactor;
  readonly #decisions = new LruMap<string, boolean>(20_000);
  #generation = -1;

  constructor({ directory, clock, proven, limit, required }: PermissionDependencies) {
    this.#limit = limit;
    this.#required = required;
    this.#directory = directory;
    this.#clock = clock;
    this.#proven = proven;
  }

  readonly may: Accounts['may'] = (identity, service, access, resource) => {
    const member = identity === undefined ? undefined : this.#directory.member(identity.account);
    if (identity !== undefined) {
      if (member === undefined || !this.#isValid(identity, member)) return false;
      const scopes = identity.via === 'token' ? member.tokens.get(identity.credentialId ?? '')?.scopes : undefined;
      if (scopes !== undefined && decide(scopes, service, access, resource) !== true) return false;
      if (member.account.role === 'admin') return true;
    }
    if (this.#generation !== this.#directory.generation) {
      this.#generation = this.#directory.generation;
      this.#decisions.clear();
    }
    if (resource.length > maxCachedLength) return this.#decide(member, service, access, resource);
    // The resource comes last, so that it cannot imitate another field.
    const key = `${member?.account.name ?? everyone}\0${service}\0${access}\0${resource}`;
    let decision = this.#decisions.get(key);
    if (decision === undefined) {
      decision = this.#decide(member, service, access, resource);
      this.#decisions.set(key, decision);
    }
    return decision;
  };

  readonly isStillValid: Accounts['isStillValid'] = (identity) => {
    const member = this.#directory.member(identity.account);
    return member !== undefined && this.#isValid(identity, member);
  };

  #decide(member: Member | undefined, service: string, access: Access, resource: string): boolean {
    const own = member === undefined ? undefined : decide(member.grants, service, access, resource);
    if (own !== undefined) return own;
    const all = this.#directory.member(everyone);
    return all !== undefined && (decide(all.grants, service, access, resource) ?? false);
  }

  #hasSession(member: Member, id: string): boolean {
    const session = member.sessions.get(id);
    if (session === undefined || this.#required.limits(member, session.row)) return false;
    return !this.#limit.isOver(session.row, this.#clock.now());
  }

  /** Returns whether the credentials of the identity are still valid. */
  #isValid(identity: Identity, member: Member): boolean {
    if (!member.account.enabled) return false;
    const id = identity.credentialId ?? '';
    switch (identity.via) {
      case 'token': {
        const token = member.tokens.get(id);
        return token !== undefined && (token.row.expires_at === null || token.row.expires_at > this.#clock.now());
      }
      case 'session':
        return this.#hasSession(member, id);
      case 'password': {
        const proven = this.#proven.get(identity);
        return proven === undefined || (proven === member.passwordHash && !this.#required.isMissing(member));
      }
    }
  }
}
