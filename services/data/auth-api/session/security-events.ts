import type { SecurityEventName } from '../../../contracts/control/security-log.ts';
import type { Call } from '../http/auth-call.ts';
import { Refusal } from '../http/auth-error.ts';
import type { AuthParts } from '../dependencies.ts';

/** Records a sign-in of an app user, or an attempt, in the security log. */
export function recordSignIn(
  { context }: Pick<AuthParts, 'context'>,
  { address }: Pick<Call, 'address'>,
  given: { readonly event: SecurityEventName; readonly user: string; readonly method: string },
): void {
  const { event, user, method } = given;
  // An app user is not an account, even where the names are equal.
  context.accounts.record({ event, account: user, by: user, address, service: 'data', detail: `app user, ${method}` });
}

/**
 * Runs an attempt to sign in, and records it when the credentials are refused.
 * @param user the email address or id that the client gave
 */
export async function recordFailures<T>(
  parts: Pick<AuthParts, 'context'>,
  call: Pick<Call, 'address'>,
  given: { readonly user: string; readonly method: string },
  attempt: () => Promise<T>,
): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof Refusal) {
      if (failures.has(error.slug)) recordSignIn(parts, call, { event: 'sign_in_failed', ...given });
      else if (error.status === 429) recordSignIn(parts, call, { event: 'sign_in_blocked', ...given });
    }
    throw error;
  }
}

const failures: ReadonlySet<string> = new Set([
  'invalid_credentials',
  'otp_expired',
  'mfa_verification_failed',
  'bad_code_verifier',
  'flow_state_not_found',
  'user_banned',
]);
