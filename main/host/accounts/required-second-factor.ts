import * as m from '#messages/account-problems';
import { Problem } from '../../../services/contracts/problem.ts';
import type { HostSettings } from '../config/host-settings.ts';
import type { Member } from './directory.ts';
import type { SessionRow } from './tables.ts';

/** Accounts that the setting requires to have a second factor. */
export type SecondFactorPolicy = HostSettings['requireSecondFactor'];

/** Decides which sign-ins lack the second factor that the administrator requires. */
export class RequiredSecondFactor {
  readonly #policy: () => SecondFactorPolicy;

  /** @param policy called for each use, since the setting may change */
  constructor(policy: () => SecondFactorPolicy) {
    this.#policy = policy;
  }

  /** Returns whether the password of an account is not enough until a second factor is enrolled. */
  isMissing({ account, hasSecondFactor, passwordHash }: Member): boolean {
    if (hasSecondFactor || account.kind !== 'person' || passwordHash === null) return false;
    const policy = this.#policy();
    return policy === 'everybody' || (policy === 'administrators' && account.role === 'admin');
  }

  /** Returns whether a session may only enrol a second factor. Sessions of a provider or the window are exempt. */
  limits(member: Member, row: Pick<SessionRow, 'by_password'>): boolean {
    return row.by_password === 1 && this.isMissing(member);
  }
}

/** @param status 401 for programs that can send another credential, 403 for sign-ins and sessions */
export function buildSecondFactorRequiredProblem(status: 401 | 403): Problem {
  return new Problem('accounts.second_factor_required', status, m.enrollmentNeeded);
}
