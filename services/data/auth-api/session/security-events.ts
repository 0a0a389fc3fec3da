import type { SecurityEventName } from '../../../contracts/control/security-log.ts';
import type { AuthCall } from '../http/auth-call.ts';
import { AuthError } from '../http/auth-error.ts';
import type { AuthDependencies } from '../dependencies.ts';

/** Records a sign-in of an app user, or an attempt, in the security log. */
export function recordSignIn(
  { context }: Pick<AuthDependencies, 'context'>,
  { address }: Pick<AuthCall, 'address'>,
  signIn: { readonly event: SecurityEventName; readonly user: string; readonly method: string },
): void {
  const { event, user, method } = signIn;
  // An app user is not an account, even where the names are equal.
  context.accounts.record({ event, account: user, by: user, address, service: 'data', detail: `app user, ${method}` });
}

/**
 * Runs an attempt to sign in, and records it when the credentials are refused.
 * @param user the email address or id that the client gave
 */
export async function recordFailures<T>(
  deps: Pick<AuthDependencies, 'context'>,
  call: Pick<AuthCall, 'address'>,
  signIn: { readonly user: string; readonly method: string },
  attempt: () => Promise<T>,
): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof AuthError) {
      if (failures.has(error.errorCode)) recordSignIn(deps, call, { event: 'sign_in_failed', ...signIn });
      else if (error.status === 429) recordSignIn(deps, call, { event: 'sign_in_blocked', ...signIn });
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
